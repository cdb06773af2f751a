//! The FIELD argument: which part of the spec to show.

use crate::cli::stop::Stop;
use crate::path::{Path, Step};
use crate::problem::nearest;
use crate::resolve::layers::SPEC;
use crate::resolve::tables::RENAMED;
use crate::schema::Schema;

/// Reads a field as problems and `explain` itself print it; `spec.` in front may be left out.
///
/// # Errors
/// [`Stop`] with the nearest known field if the spec has none of that name.
pub fn read(text: &str) -> Result<Path, Stop> {
    let path = Path::read(text).map(|path| if path.first_key() == Some("spec") { path.tail() } else { path });
    let Some(path) = path else {
        let hint = "write it like `scaling.minReplicaCount`, `env[NAME]` or `resources.limits.\"nvidia.com/gpu\"`";
        return Err(Stop::unreadable(format!("error: {text:?} is no field of a spec\n  hint: {hint}\n")));
    };
    match unknown(&path) {
        None => Ok(path),
        Some(hint) => Err(Stop::unreadable(format!("error: the spec has no field `{path}`\n{hint}"))),
    }
}

/// True for the last of several arguments that is no file but may be a field.
pub fn looks_like_one(text: &str) -> bool {
    let file = text == "-" || std::path::Path::new(text).exists();
    let named_like_a_file =
        [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end)) || text.starts_with(['.', '/']);
    !file && !named_like_a_file && Path::read(text).is_some()
}

/// The hint, with its line, if the schema does not know the path.
fn unknown(path: &Path) -> Option<String> {
    let printed = path.to_string();
    if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == printed) {
        return Some(format!("  hint: {new}\n"));
    }
    let (mut schema, mut above): (&Schema, Path) = (&SPEC, Path::root());
    for step in path.steps() {
        let here = Path::root().with(step.clone());
        let Some(below) = schema.at(&here) else {
            return (!schema.is_open()).then(|| hint(schema, &above, step));
        };
        (schema, above) = (below, above.with(step.clone()));
    }
    None
}

fn hint(schema: &Schema, above: &Path, step: &Step) -> String {
    let Step::Key(key) = step else { return format!("  hint: `{above}` is no list\n") };
    let known = || schema.properties().map(|(key, _)| key);
    match nearest(key, known()) {
        Some(near) => format!("  hint: `{}`\n", above.key(near)),
        None if schema.items().is_some() => format!("  hint: `{above}` is a list: name an entry, as in `{above}[0]`\n"),
        None if known().next().is_none() => format!("  hint: `{above}` has no fields\n"),
        None => format!("  hint: known there: {}\n", known().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_known_or_told_with_the_nearest() {
        for known in
            ["scaling", "spec.scaling", "env[A].value", "resources.limits.\"nvidia.com/gpu\"", "tolerations[0].key"]
        {
            assert!(read(known).is_ok(), "{known}");
        }
        for (text, hint) in [
            ("scalin", "`scaling`"),
            ("scaling.minReplicas", "`minReplicaCount`"),
            ("scaling.pollInterval", "`scaling.pollingInterval`"),
            ("env.A", "`env` is a list: name an entry, as in `env[0]`"),
            ("image.tag", "`image` has no fields"),
            ("scaling[0]", "`scaling` is no list"),
            ("a..b", "write it like"),
        ] {
            let stop = read(text).expect_err(text);
            assert!(stop.message.contains(&format!("hint: {hint}")), "{}", stop.message);
        }
    }
}
