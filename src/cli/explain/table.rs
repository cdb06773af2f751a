//! Lines as aligned columns: `scaling.minReplicaCount  5  flavor high-throughput  (over default 0)`.

use serde_json::Value;

use crate::cli::print;
use crate::path::{Path, Step};
use crate::problem::Source;
use crate::resolve::explain::{HIDDEN, Line, Over, Shown};

/// The widest a column gets for the sake of alignment; what is longer pushes its own line only.
const WIDEST: usize = 48;

/// How much of an overridden value is shown, in characters.
const LONGEST_OVERRIDDEN: usize = 80;

/// The spec, and the settings under a heading of their own.
pub fn whole(spec: &[Line], settings: &[Line]) -> String {
    let mut text = format!("# spec\n{}", table(spec));
    if !settings.is_empty() {
        text.push_str(&format!("\n# platform settings\n{}", table(settings)));
    }
    text
}

/// The lines of one field; nothing if there is none.
pub fn part(spec: &[Line], field: &Path) -> Option<String> {
    let inside: Vec<Line> = spec.iter().filter(|line| is_inside(&line.path, field)).cloned().collect();
    (!inside.is_empty()).then(|| table(&inside))
}

/// True if `path` is `field` or below it, or the line of an entry that holds it.
fn is_inside(path: &Path, field: &Path) -> bool {
    let same = path.steps().iter().zip(field.steps()).all(|(a, b)| a.to_string() == b.to_string());
    let whole_entry = || matches!(path.steps().last(), Some(Step::Entry(_) | Step::Index(_)));
    same && (path.steps().len() >= field.steps().len() || whole_entry())
}

fn table(lines: &[Line]) -> String {
    let rows: Vec<[String; 4]> = lines.iter().map(row).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.filter(|width| *width <= WIDEST).max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2)];
    rows.iter().map(|row| aligned(row, widths)).collect()
}

fn aligned(row: &[String; 4], widths: [usize; 3]) -> String {
    let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
    let line = cells.collect::<String>() + &row[3];
    format!("{}\n", line.trim_end())
}

fn row(line: &Line) -> [String; 4] {
    let over: Vec<String> = line.over.iter().map(over).collect();
    let over = if over.is_empty() { String::new() } else { format!("({})", over.join(", ")) };
    [line.path.to_string(), shown(&line.value), source(&line.by), over]
}

fn over(over: &Over) -> String {
    let by = source(&over.by);
    match &over.value {
        _ if over.same => format!("also {by}"),
        Shown::Value(_) => format!("over {by} {}", cut(&shown(&over.value))),
        Shown::Hidden | Shown::Whole => format!("over {by}"),
    }
}

fn source(source: &Source) -> String {
    match source {
        Source::Nobody => "nobody".to_owned(),
        Source::Default => "default".to_owned(),
        Source::Flavor(name) => format!("flavor {name}"),
        Source::Actor => "actor".to_owned(),
        Source::Input => "input".to_owned(),
        Source::Platform(name) => format!("EnvironmentConfig {name}"),
        Source::Observed(name) => format!("observed {name}"),
    }
}

/// A value on one line: strings as YAML has them, maps and lists as compact JSON.
fn shown(value: &Shown) -> String {
    match value {
        Shown::Hidden => HIDDEN.to_owned(),
        Shown::Whole => "(whole field)".to_owned(),
        Shown::Value(Value::String(text)) => print::string(text, None),
        Shown::Value(value) => value.to_string(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_OVERRIDDEN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
