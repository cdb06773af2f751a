//! Turns YAML and JSON inputs into objects, read as kubectl reads them, and knows the line of every value.
//!
//! `files → bytes → text → tree of nodes with lines → documents`. The tree is ours and not serde's, because only the
//! parser's events tell a quoted `"yes"` from a plain `yes`, and where a key stands.

mod document;
mod failure;
pub(in crate::cli) mod scalar;
mod tree;

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::parallel;

pub use self::document::Document;
pub use self::failure::{Fault, ReadFailure};

const STANDARD_INPUT: &str = "standard input";

/// Reads the objects of all `inputs`, in order. Each is a file, a directory or `-`, which is `stdin`, at most once.
///
/// Of a directory these files count, sorted by name: `*.yaml`, `*.yml` and `*.json`, not those of directories below.
/// A file may hold several documents; empty ones are skipped, and a `List` counts as its items. A file of comments
/// only holds no objects, which is no fault here.
///
/// # Errors
/// One [`Fault`] for each mistake in each input: not there, empty, not text, not YAML, a key twice, not an object.
pub fn read(inputs: &[PathBuf], stdin: &mut Stdin<'_>) -> Result<Vec<Document>, ReadFailure> {
    let read = |input: &PathBuf| if input.as_os_str() == "-" { read_stdin(stdin.0.take()) } else { read_path(input) };
    gather(inputs.iter().map(read))
}

/// Standard input, which all of a command's arguments together can name once.
pub struct Stdin<'a>(Option<&'a mut dyn Read>);

impl<'a> Stdin<'a> {
    /// Standard input that nobody has read yet.
    pub fn new(stdin: &'a mut dyn Read) -> Self {
        Self(Some(stdin))
    }
}

/// All documents, or all faults.
fn gather(results: impl Iterator<Item = Result<Vec<Document>, ReadFailure>>) -> Result<Vec<Document>, ReadFailure> {
    let (mut documents, mut faults) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(found) => documents.extend(found),
            Err(failure) => faults.extend(failure.into_faults()),
        }
    }
    ReadFailure::unless_empty(faults, documents)
}

/// Reads the objects in `bytes`, which `file` held.
///
/// # Errors
/// One [`Fault`] for each mistake, as for [`read`].
pub fn parse(file: &str, bytes: &[u8]) -> Result<Vec<Document>, ReadFailure> {
    let text = text(file, bytes)?;
    let nodes = tree::documents(file, text)?;
    let documents: Vec<_> = nodes.into_iter().flat_map(|node| Document::new(file, node).expand()).collect();
    ReadFailure::unless_empty(documents.iter().filter_map(not_an_object).collect(), documents)
}

fn read_stdin(stdin: Option<&mut dyn Read>) -> Result<Vec<Document>, ReadFailure> {
    let Some(stdin) = stdin else {
        return fail(Fault::whole(STANDARD_INPUT, "`-` is named twice", "name it once, or use a file"));
    };
    let mut bytes = Vec::new();
    match stdin.read_to_end(&mut bytes) {
        Ok(_) => parse(STANDARD_INPUT, &bytes),
        Err(error) => fail(unreadable(STANDARD_INPUT, &error)),
    }
}

fn read_path(path: &Path) -> Result<Vec<Document>, ReadFailure> {
    if !path.is_dir() {
        return read_file(path);
    }
    let name = path.display().to_string();
    match manifests(path) {
        Ok(files) if files.is_empty() => {
            fail(Fault::whole(&name, "holds no *.yaml, *.yml or *.json file", "name a directory that does, or a file"))
        }
        Ok(files) => gather(parallel::map(files, |file| read_file(&file)).into_iter()),
        Err(error) => fail(unreadable(&name, &error)),
    }
}

fn read_file(path: &Path) -> Result<Vec<Document>, ReadFailure> {
    let name = path.display().to_string();
    match std::fs::read(path) {
        Ok(bytes) => parse(&name, &bytes),
        Err(error) => fail(unreadable(&name, &error)),
    }
}

/// The files of a directory that kubectl would read, sorted by name.
fn manifests(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("yaml" | "yml" | "json")) && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn fail<T>(fault: Fault) -> Result<T, ReadFailure> {
    Err(ReadFailure::from(fault))
}

fn unreadable(file: &str, error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::NotFound => Fault::whole(file, "no such file or directory", "check the path, or create it"),
        ErrorKind::PermissionDenied => Fault::whole(file, "you may not read this file", "check who may: `ls -l`"),
        _ => Fault::whole(file, format!("cannot be read: {error}"), "check the file and its disk"),
    }
}

/// The bytes as text without byte order mark.
fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Fault> {
    const TEXT: &str = "give a YAML or JSON file in UTF-8";
    if bytes.trim_ascii().is_empty() {
        return Err(Fault::whole(file, "is empty", "write an object into it, or leave it out"));
    }
    let not_text = |at: usize| Fault::whole(file, format!("is not text (byte {})", at + 1), TEXT);
    let text = std::str::from_utf8(bytes).map_err(|error| not_text(error.valid_up_to()))?;
    match text.char_indices().find(|(_, char)| is_control(*char)) {
        Some((at, _)) => Err(not_text(at)),
        None => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
    }
}

/// What YAML does not let stand in a file, not even in quotes.
fn is_control(char: char) -> bool {
    char.is_control() && !matches!(char, '\t' | '\n' | '\r' | '\u{85}')
}

fn not_an_object(document: &Document) -> Option<Fault> {
    let found = match &document.value {
        Value::Object(_) => return None,
        Value::Array(_) => "a list",
        Value::String(_) => "text",
        Value::Null => "nothing",
        Value::Bool(_) | Value::Number(_) => "a single value",
    };
    let what = format!("{found} where an object should be");
    Some(Fault { line: Some(document.line), ..Fault::whole(&document.file, what, "write an object: `kind: ...`") })
}

#[cfg(test)]
mod tests;
