//! Where a value stands in an object, and how that is written for people.

use std::cmp::Ordering;
use std::fmt;

/// One step into an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A key of a map.
    Key(String),
    /// A position in a list, from 0.
    Index(usize),
    /// An entry of a keyed list, named by its identity (an env name, a volume name, a mount path).
    Entry(String),
}

/// The way from an object's root to a value: `spec.env[MODEL_PATH].value`, `spec.resources.limits."nvidia.com/gpu"`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(Vec<Step>);

impl Path {
    /// The path to the object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path of map keys, written with dots: `Path::keys("spec.scaling")`. For names that hold no dot.
    pub fn keys(dotted: &str) -> Self {
        Self(dotted.split('.').map(|key| Step::Key(key.to_owned())).collect())
    }

    /// Reads a path as it is printed: `scaling.minReplicaCount`, `env[NAME].value`, `limits."nvidia.com/gpu"`.
    pub fn read(text: &str) -> Option<Self> {
        let (mut path, mut rest) = (Self::root(), text);
        loop {
            let (step, behind) = read_step(rest)?;
            path = path.with(step);
            rest = match behind.strip_prefix('.') {
                Some(behind) if !behind.starts_with('[') => behind,
                None if behind.is_empty() => return Some(path),
                None if behind.starts_with('[') => behind,
                _ => return None,
            };
        }
    }

    /// This path and one key more.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    /// This path and one list position more.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    /// This path and one entry of a keyed list more.
    #[must_use]
    pub fn entry(&self, identity: &str) -> Self {
        self.with(Step::Entry(identity.to_owned()))
    }

    /// This path and one step more.
    #[must_use]
    pub fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// This path below `prefix`.
    #[must_use]
    pub fn below(&self, prefix: &Path) -> Self {
        Self(prefix.0.iter().chain(&self.0).cloned().collect())
    }

    /// This path below `step`.
    #[must_use]
    pub fn under(mut self, step: Step) -> Self {
        self.0.insert(0, step);
        self
    }

    /// The steps, from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// This path without its first step; the root stays the root.
    #[must_use]
    pub fn tail(&self) -> Self {
        Self(self.0.iter().skip(1).cloned().collect())
    }

    /// The first step, when it is a key.
    pub fn first_key(&self) -> Option<&str> {
        match self.0.first() {
            Some(Step::Key(key)) => Some(key),
            _ => None,
        }
    }
}

/// Where a walk through an object is. A [`Path`] costs allocations, so it is written down only where it is told.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// Where the walk began.
    Start(&'a Path),
    /// At a key.
    Key(&'a Place<'a>, &'a str),
    /// At a position in a list.
    Index(&'a Place<'a>, usize),
}

impl Place<'_> {
    /// As a path.
    pub fn path(&self) -> Path {
        match self {
            Self::Start(path) => (*path).clone(),
            Self::Key(above, key) => above.path().key(key),
            Self::Index(above, index) => above.path().index(*index),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) if is_plain(key) => f.write_str(key),
            Step::Key(key) => write!(f, "{key:?}"),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Entry(identity) => write!(f, "[{identity}]"),
        }
    }
}

/// The first step of a printed path, and what stands behind it.
fn read_step(text: &str) -> Option<(Step, &str)> {
    if let Some(inside) = text.strip_prefix('[') {
        let (name, behind) = inside.split_once(']')?;
        let step = name.parse().map_or_else(|_| Step::Entry(name.to_owned()), Step::Index);
        return Some((step, behind)).filter(|_| !name.is_empty());
    }
    if let Some(inside) = text.strip_prefix('"') {
        return inside.split_once('"').map(|(key, behind)| (Step::Key(key.to_owned()), behind));
    }
    let (key, behind) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    Some((Step::Key(key.to_owned()), behind)).filter(|_| !key.is_empty())
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '$'))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            if position > 0 && matches!(step, Step::Key(_)) {
                f.write_str(".")?;
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

/// Printed order, but positions compare as numbers: `tolerations[2]` comes before `tolerations[10]`. They come before all
/// names, of which `1x` would otherwise stand behind 10 and before 2, and no sort can have that.
impl Ord for Path {
    fn cmp(&self, other: &Self) -> Ordering {
        for (mine, theirs) in self.0.iter().zip(&other.0) {
            let order = match (mine, theirs) {
                (Step::Index(a), Step::Index(b)) => a.cmp(b),
                (Step::Index(_), Step::Entry(_)) => Ordering::Less,
                (Step::Entry(_), Step::Index(_)) => Ordering::Greater,
                _ => mine.to_string().cmp(&theirs.to_string()),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        self.0.len().cmp(&other.0.len())
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, Step};

    #[test]
    fn keys_with_dots_are_quoted() {
        let path = Path::keys("resources.limits").key("nvidia.com/gpu");
        assert_eq!(path.to_string(), "resources.limits.\"nvidia.com/gpu\"");
        assert_eq!(Path::keys("env").entry("A.B").key("value").to_string(), "env[A.B].value");
    }

    #[test]
    fn a_printed_path_reads_back() {
        for text in ["scaling", "env[MODEL_PATH].value", "tolerations[2].key", "resources.limits.\"nvidia.com/gpu\""] {
            assert_eq!(Path::read(text).map(|path| path.to_string()).as_deref(), Some(text));
        }
        for text in ["", ".", "scaling.", "scaling..x", "env[", "env[]", "env[A]b", "\"open", "scaling.[0]"] {
            assert_eq!(Path::read(text), None, "{text:?}");
        }
    }

    #[test]
    fn positions_sort_as_numbers() {
        let list = Path::keys("tolerations");
        assert!(list.index(2) < list.index(10));
        assert!(list < list.index(0));
    }

    #[test]
    fn any_three_paths_have_one_order() {
        let steps = ["2", "10", "1x", "x", "/tmp", "[", "A"].map(str::to_owned);
        let steps = steps.iter().flat_map(|name| {
            let index = name.parse().ok().map(Step::Index);
            [Step::Key(name.clone()), Step::Entry(name.clone())].into_iter().chain(index)
        });
        let paths: Vec<_> = steps.map(|step| Path::root().with(step)).collect();
        for a in &paths {
            for b in &paths {
                assert_eq!(a.cmp(b), b.cmp(a).reverse(), "{a} {b}");
                assert_eq!(a == b, a.cmp(b).is_eq(), "{a} {b}");
                for c in &paths {
                    assert!(a >= b || b >= c || a < c, "{a} < {b} < {c}");
                }
            }
        }
    }
}
