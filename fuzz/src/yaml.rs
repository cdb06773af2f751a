//! A file is read or told to be wrong, and what was read is what is printed.

use function_asya::cli::files;
use function_asya::cli::print;
use function_asya::path::Path;
use serde_json::Value;

const FILE: &str = "file.yaml";

/// Reads `bytes` as a file that somebody names on the command line.
///
/// # Panics
/// If what was read is printed as something else, or stands on a line that is not there.
pub fn check(bytes: &[u8]) {
    let documents = match files::parse(FILE, bytes) {
        Ok(documents) => documents,
        Err(failure) => {
            let told = failure.to_string();
            assert!(told.starts_with("error: ") && told.contains("hint: "), "{told}");
            return;
        }
    };
    let lines = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + bytes.len();
    for document in &documents {
        assert!(document.value.is_object());
        assert!((1..=lines + 1).contains(&document.line), "line {}", document.line);
        assert!(document.line_of(&Path::keys("metadata.name")) >= 1);
    }
    let read: Vec<Value> = documents.into_iter().map(|document| document.value).collect();
    if read.is_empty() || read.iter().any(is_list) {
        return;
    }
    let printed = print::yaml(&read);
    let again = files::parse(FILE, printed.as_bytes()).unwrap_or_else(|failure| panic!("{failure}\n{printed}"));
    let again: Vec<Value> = again.into_iter().map(|document| document.value).collect();
    assert_eq!(read, again, "{printed}");
}

/// A list of objects is read as its items, and would be again.
fn is_list(object: &Value) -> bool {
    object["kind"].as_str().is_some_and(|kind| kind.ends_with("List"))
}
