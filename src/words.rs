//! What the user of an actor wrote: its spec, in the form it came in until somebody needs all of it. A process remembers
//! the words of many actors, and a tree takes ten times the memory.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::inputs::{CROSSPLANES, Said};
use crate::tree;
use crate::wire::Items;
use crate::wire::read::from_entries;

/// A spec without [`CROSSPLANES`].
#[derive(Clone, Default)]
pub struct Words {
    /// Its `flavors`, whatever they are.
    flavors: Option<Value>,
    /// Its `actor`, whatever that is.
    actor: Option<Value>,
    form: Form,
}

#[derive(Clone)]
enum Form {
    Tree(Arc<Value>),
    /// The entries of an encoded Struct, which could be read.
    Encoded(Vec<u8>),
}

impl Default for Form {
    fn default() -> Self {
        Form::Tree(Arc::default())
    }
}

impl Words {
    /// Words from a tree, which need not be a map.
    pub fn of_tree(spec: Value) -> Self {
        let part = |key| spec.get(key).cloned();
        Self { flavors: part("flavors"), actor: part("actor"), form: Form::Tree(spec.into()) }
    }

    /// Words from an encoded spec that was read as this `tree`.
    pub(crate) fn of_encoded(spec: Items<'_>, tree: &Value) -> Self {
        let part = |key| tree.get(key).cloned();
        Self { flavors: part("flavors"), actor: part("actor"), form: Form::Encoded(spec.without(CROSSPLANES)) }
    }

    /// The flavors that are listed, names or not.
    pub fn flavors(&self) -> &[Value] {
        self.flavors.as_ref().and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The actor's name, if one is written, a text or not.
    pub fn actor(&self) -> Option<&Value> {
        self.actor.as_ref()
    }

    /// All of it.
    pub fn tree(&self) -> Arc<Value> {
        match &self.form {
            Form::Tree(tree) => Arc::clone(tree),
            Form::Encoded(entries) => {
                let read: Result<Said, _> = from_entries(entries, std::marker::PhantomData);
                read.unwrap_or_default().0.into()
            }
        }
    }

    /// True if an encoded spec says the same.
    pub(crate) fn are(&self, spec: Items<'_>) -> bool {
        match &self.form {
            Form::Tree(_) => false,
            Form::Encoded(entries) => Items::new(entries).equal(spec, CROSSPLANES),
        }
    }

    /// About how much memory they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let parts = [&self.flavors, &self.actor].into_iter().flatten().map(tree::size).sum::<usize>();
        size_of::<Self>()
            + parts
            + match &self.form {
                Form::Tree(tree) => tree::size(tree),
                Form::Encoded(entries) => entries.len(),
            }
    }
}

/// How much there is, never what: specs hold secrets.
impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({} bytes)", self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::{Encoded, to_struct};

    #[test]
    fn both_forms_say_the_same() {
        let spec =
            json!({"actor": "a", "flavors": ["x", 1], "env": [{"name": "A", "value": "1"}], "claimRef": {"name": "a"}});
        let said = json!({"actor": "a", "flavors": ["x", 1], "env": [{"name": "A", "value": "1"}]});
        let object = to_struct(&json!({ "spec": spec })).expect("an object");
        let Some(Encoded::Map(encoded)) = object.at(&["spec"]) else { panic!("a map") };
        let (tree, encoded) = (Words::of_tree(said.clone()), (Words::of_encoded(encoded, &said), encoded));
        assert!(encoded.0.are(encoded.1) && !tree.are(encoded.1));
        for words in [tree, encoded.0] {
            assert_eq!(*words.tree(), said);
            assert_eq!((words.actor(), words.flavors()), (Some(&json!("a")), &[json!("x"), json!(1)][..]));
        }
        let odd = Words::of_tree(json!("text"));
        assert_eq!((odd.actor(), odd.flavors().len(), &*odd.tree()), (None, 0, &json!("text")));
    }
}
