//! Values read where they stand, one level at a time, for whoever compares them: nothing is built and nothing copied.

use std::fmt;

use bytes::Bytes;
use smallvec::SmallVec;

use super::RawStruct;
use super::entries::Entry;
use super::fields::{Message, only_usual, take_usual};
use super::value::{Value, next_item};
use super::writer::{BOOL, FIRST, LIST, NUMBER, SECOND, STRING, STRUCT};

/// A value in the bytes of a Struct.
#[derive(Clone, Copy, PartialEq)]
pub enum Encoded<'a> {
    /// `null`.
    Nothing,
    /// A boolean.
    Bool(bool),
    /// Any number, finite or not.
    Number(f64),
    /// A text's bytes, not yet checked to be UTF-8.
    Text(&'a [u8]),
    /// A list.
    List(Items<'a>),
    /// An object.
    Map(Items<'a>),
    /// Malformed, or in several pieces: nothing that anybody but an attacker writes. It equals nothing.
    Odd,
}

/// The encoded items of a list, or entries of an object.
#[derive(Clone, Copy, PartialEq)]
pub struct Items<'a>(&'a [u8]);

/// What kind of value it is, never which: objects hold secrets.
impl fmt::Debug for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encoded::Nothing => "null",
            Encoded::Bool(_) => "a boolean",
            Encoded::Number(_) => "a number",
            Encoded::Text(_) => "a text",
            Encoded::List(_) => "a list",
            Encoded::Map(_) => "a map",
            Encoded::Odd => "something odd",
        })
    }
}

impl<'a> Encoded<'a> {
    /// Reads an encoded `google.protobuf.Value`.
    #[inline]
    pub(super) fn read(value: &'a [u8]) -> Self {
        Self::read_usual(value).unwrap_or_else(|| Self::read_any(value))
    }

    /// One field and nothing else: only what is written otherwise is read field by field.
    #[inline]
    fn read_usual(value: &'a [u8]) -> Option<Self> {
        match value {
            [STRING, ..] => only_usual(STRING, value).map(Encoded::Text),
            [STRUCT, ..] => only_usual(STRUCT, value).map(|map| Encoded::Map(Items(map))),
            [LIST, ..] => only_usual(LIST, value).map(|list| Encoded::List(Items(list))),
            [NUMBER, number @ ..] => number.try_into().ok().map(|number| Encoded::Number(f64::from_le_bytes(number))),
            [BOOL, truth @ (0 | 1)] => Some(Encoded::Bool(*truth == 1)),
            _ => None,
        }
    }

    #[cold]
    fn read_any(value: &'a [u8]) -> Self {
        let items = |message: Message<'a>| message.whole().map(Items);
        match Value::read(&Message::new(value)) {
            Ok(Value::Null) => Encoded::Nothing,
            Ok(Value::Bool(truth)) => Encoded::Bool(truth),
            Ok(Value::Number(number)) => Encoded::Number(number),
            Ok(Value::String(text)) => Encoded::Text(text),
            Ok(Value::List(list)) => items(list).map_or(Encoded::Odd, Encoded::List),
            Ok(Value::Struct(map)) => items(map).map_or(Encoded::Odd, Encoded::Map),
            Ok(Value::Root(_)) | Err(_) => Encoded::Odd,
        }
    }

    /// An object, by its encoded entries.
    pub fn of_object(entries: &'a [u8]) -> Self {
        Encoded::Map(Items(entries))
    }

    /// The value at a path of keys. Of keys that stand twice it is the first, not the last as protobuf has it: for what we have
    /// written, and for keys of what is remembered.
    pub fn at(self, keys: &[&str]) -> Option<Encoded<'a>> {
        keys.iter().try_fold(self, |value, key| match value {
            Encoded::Map(map) => map.get(key),
            _ => None,
        })
    }

    /// The object, if it is one; `None` if it is nothing.
    fn object(self) -> Result<Option<Items<'a>>, NoObject> {
        match self {
            Encoded::Map(map) => Ok(Some(map)),
            Encoded::Nothing => Ok(None),
            Encoded::Odd => Err(NoObject::Odd),
            _ => Err(NoObject::Other),
        }
    }

    /// The text, if it is one.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Encoded::Text(text) => str::from_utf8(text).ok(),
            _ => None,
        }
    }

    /// True if both say the same, whatever the order of keys. An object in which a key stands twice says nothing clear.
    pub fn equals(self, other: Encoded<'_>) -> bool {
        match (self, other) {
            (Encoded::Map(ours), Encoded::Map(theirs)) => ours.equal(theirs, &[]),
            (Encoded::List(ours), Encoded::List(theirs)) => {
                let (mut ours, mut theirs) = (ours.items(), theirs.items());
                loop {
                    match (ours.next(), theirs.next()) {
                        (Some(ours), Some(theirs)) if ours.equals(theirs) => {}
                        (ours, theirs) => return ours.is_none() && theirs.is_none(),
                    }
                }
            }
            (Encoded::Odd, _) => false,
            (Encoded::Number(ours), Encoded::Number(theirs)) => ours.to_bits() == theirs.to_bits(),
            (ours, theirs) => ours == theirs,
        }
    }
}

impl<'a> Items<'a> {
    /// The items of a list. What cannot be read is one odd item, and the last.
    #[inline]
    pub fn items(self) -> impl Iterator<Item = Encoded<'a>> {
        self.messages().map(|item| item.map_or(Encoded::Odd, Encoded::read))
    }

    /// The entries of an object as they stand; a value is read when it is asked for. What cannot be read is `None`.
    #[inline]
    pub fn entries(self) -> impl Iterator<Item = Option<(&'a [u8], impl FnOnce() -> Encoded<'a>)>> {
        self.messages().map(|entry| {
            let (key, value) = entry.and_then(parts)?;
            Some((key, move || Encoded::read(value)))
        })
    }

    /// True if there is none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// True if both objects say the same, whatever they say under some of their keys.
    pub fn equal(self, other: Items<'_>, but: &[&str]) -> bool {
        let counts = |key: &[u8]| !but.iter().any(|but| but.as_bytes() == key);
        let mut ours = ByKey::default();
        if !ours.fill(self) {
            return false;
        }
        let mut seen = Places::default();
        let same = other.entries().all(|entry| match entry {
            Some((key, value)) if counts(key) => {
                ours.place(key).is_some_and(|place| seen.add(place) && ours.value(place).equals(value()))
            }
            // It does not count, but has to be readable as if it did.
            Some((_, value)) => value() != Encoded::Odd,
            None => false,
        });
        same && seen.count() == ours.keys().filter(|key| counts(key)).count()
    }

    /// Encoded entries.
    pub(crate) fn new(entries: &'a [u8]) -> Self {
        Self(entries)
    }

    /// A copy of what is encoded.
    pub fn to_vec(self) -> Vec<u8> {
        self.0.to_vec()
    }

    /// A copy of the entries that can be read, but for those under some keys.
    pub(crate) fn without(self, but: &[&str]) -> Vec<u8> {
        let mut kept = Vec::new();
        for entry in self.messages().flatten() {
            if parts(entry).is_some_and(|(key, _)| !but.iter().any(|but| but.as_bytes() == key)) {
                prost::encoding::bytes::encode(1, &Bytes::copy_from_slice(entry), &mut kept);
            }
        }
        kept.shrink_to_fit();
        kept
    }

    fn get(self, key: &str) -> Option<Encoded<'a>> {
        let (_, value) = self.entries().flatten().find(|(name, _)| *name == key.as_bytes())?;
        Some(value())
    }

    /// The value under a key, which may stand once; nothing if there is none.
    fn only(self, key: &str) -> Result<Encoded<'a>, NoObject> {
        let mut only = None;
        for entry in self.messages() {
            let (name, value) = entry.and_then(parts).ok_or(NoObject::Odd)?;
            if name == key.as_bytes() && only.replace(Encoded::read(value)).is_some() {
                return Err(NoObject::Odd);
            }
        }
        Ok(only.unwrap_or(Encoded::Nothing))
    }

    #[inline]
    pub(super) fn messages(self) -> Messages<'a> {
        Messages { rest: self.0 }
    }
}

/// The encoded items or entries, one after the other; what cannot be read is `None`, and the last.
pub(super) struct Messages<'a> {
    rest: &'a [u8],
}

impl<'a> Messages<'a> {
    /// Whatever else is written between them is passed over.
    #[cold]
    fn next_unusual(&mut self) -> Option<Option<&'a [u8]>> {
        let mut fields = Message::new(self.rest).fields();
        let item = next_item(&mut fields);
        self.rest = if item.is_ok() { fields.rest() } else { &[] };
        item.map_or(Some(None), |item| item.map(Some))
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Option<&'a [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Option<&'a [u8]>> {
        if self.rest.is_empty() {
            return None;
        }
        match take_usual(FIRST, &mut self.rest) {
            Some(item) => Some(Some(item)),
            None => self.next_unusual(),
        }
    }
}

/// Why there is no object where one is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoObject {
    /// It stands there twice, or in pieces.
    Odd,
    /// Something else stands there.
    Other,
}

/// The key and the encoded value of an entry, if it is in one piece.
#[inline]
pub(super) fn parts(mut entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let whole = entry;
    if let Some(key) = take_usual(FIRST, &mut entry)
        && let Some(value) = take_usual(SECOND, &mut entry)
        && entry.is_empty()
    {
        return Some((key, value));
    }
    let Entry { key, value } = Entry::read(whole).ok()?;
    Some((key, value.whole()?))
}

/// Up to so many entries are looked through one by one; more are sorted.
const SCANNED: usize = 16;

/// The entries of an object, each at its place.
#[derive(Default)]
pub(crate) struct ByKey<'a> {
    entries: SmallVec<[(&'a [u8], &'a [u8]); SCANNED]>,
}

impl<'a> ByKey<'a> {
    /// Takes the entries of `map`; false if one cannot be read.
    pub fn fill(&mut self, map: Items<'a>) -> bool {
        for entry in map.messages() {
            let Some(entry) = entry.and_then(parts) else { return false };
            self.entries.push(entry);
        }
        if self.entries.len() > SCANNED {
            self.entries.sort_by_key(|(key, _)| *key);
        }
        true
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The keys by place.
    pub fn keys(&self) -> impl Iterator<Item = &'a [u8]> {
        self.entries.iter().map(|(key, _)| *key)
    }

    /// Where a key stands.
    #[inline]
    pub fn place(&self, key: &[u8]) -> Option<usize> {
        if self.entries.len() > SCANNED {
            return self.entries.binary_search_by_key(&key, |(key, _)| *key).ok();
        }
        self.entries.iter().position(|(name, _)| *name == key)
    }

    /// The value at a place.
    pub fn value(&self, place: usize) -> Encoded<'a> {
        self.entries.get(place).map_or(Encoded::Odd, |(_, value)| Encoded::read(value))
    }
}

/// Places that were seen.
#[derive(Default)]
pub(crate) struct Places {
    first: u64,
    further: Vec<u64>,
}

impl Places {
    /// Notes a place; false if it was seen before.
    #[inline]
    pub fn add(&mut self, place: usize) -> bool {
        let bit = 1 << (place % 64);
        let word = match place / 64 {
            0 => &mut self.first,
            word => {
                self.further.resize(self.further.len().max(word), 0);
                &mut self.further[word - 1]
            }
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// True if it was seen.
    #[inline]
    pub fn has(&self, place: usize) -> bool {
        let word = match place / 64 {
            0 => self.first,
            word => self.further.get(word - 1).copied().unwrap_or_default(),
        };
        word & 1 << (place % 64) != 0
    }

    /// How many were seen.
    pub fn count(&self) -> usize {
        self.further.iter().fold(self.first.count_ones(), |count, word| count + word.count_ones()) as usize
    }
}

impl RawStruct {
    /// The value under a key, if every entry is in one piece, every value can be read, and the key stands once.
    pub(super) fn only(&self, key: &str) -> Option<Encoded<'_>> {
        let is_odd = |entry: &Bytes| parts(entry).is_none_or(|(_, value)| Encoded::read(value) == Encoded::Odd);
        let only = self.only_entry(key).ok().flatten().map(|(_, value)| value);
        only.filter(|_| !self.entries().iter().any(is_odd))
    }

    fn only_entry(&self, key: &str) -> Result<Option<(&Bytes, Encoded<'_>)>, NoObject> {
        let mut only = None;
        for entry in self.entries() {
            let (name, value) = parts(entry).ok_or(NoObject::Odd)?;
            if name == key.as_bytes() && only.replace((entry, Encoded::read(value))).is_some() {
                return Err(NoObject::Odd);
            }
        }
        Ok(only)
    }

    /// The object at a path of keys, in the bytes that we hold; `None` if there is nothing.
    pub(crate) fn object_at(&self, keys: &[&str]) -> Result<Option<Bytes>, NoObject> {
        let Some((first, keys)) = keys.split_first() else { return Err(NoObject::Odd) };
        let Some((entry, outermost)) = self.only_entry(first)? else { return Ok(None) };
        let value = keys
            .iter()
            .try_fold(outermost, |value, key| value.object()?.map_or(Ok(Encoded::Nothing), |map| map.only(key)));
        Ok(value?.object()?.map(|Items(object)| entry.slice_ref(object)))
    }

    /// The value at a path of keys, as [`Encoded::at`] has it.
    pub fn at(&self, keys: &[&str]) -> Option<Encoded<'_>> {
        let (first, keys) = keys.split_first()?;
        let mut entries = self.entries().iter().filter_map(|entry| parts(entry));
        let (_, value) = entries.find(|(key, _)| *key == first.as_bytes())?;
        Encoded::read(value).at(keys)
    }

    /// The same as a JSON tree, for an object that we have written.
    pub fn to_value(&self) -> serde_json::Value {
        super::from_struct(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::to_struct;

    #[test]
    fn values_are_read_where_they_stand() {
        let object = to_struct(&json!({"a": {"b": [1, "x", true, null, {}], "c": 0.5}, "d": "y"})).expect("an object");
        assert_eq!(object.at(&["d"]).and_then(Encoded::as_str), Some("y"));
        assert_eq!(object.at(&["a", "c"]), Some(Encoded::Number(0.5)));
        let Some(Encoded::List(list)) = object.at(&["a", "b"]) else { panic!("a list") };
        let expected = [
            Encoded::Number(1.0),
            Encoded::Text(b"x"),
            Encoded::Bool(true),
            Encoded::Nothing,
            Encoded::Map(Items(b"")),
        ];
        assert_eq!(list.items().collect::<Vec<_>>(), expected);
        assert_eq!(object.to_value()["a"]["c"], json!(0.5));
        assert_eq!((object.at(&["a", "x"]), object.at(&["d", "x"])), (None, None));
    }

    #[test]
    fn only_equals_are_equal() {
        let wide = |skipped: usize| -> Value {
            let keys = (0..100).rev().filter(|index| *index != skipped);
            keys.map(|index| (format!("key-{index}"), json!(index))).collect::<serde_json::Map<_, _>>().into()
        };
        let values = [
            json!({"a": 1, "b": {"c": [1, 2]}}),
            json!({"a": 1, "b": {"c": [1, 3]}}),
            json!({"a": 1, "b": {"c": [1]}}),
            json!({"a": 1, "b": {"c": [1, 2, 3]}}),
            json!({"a": 1}),
            json!({"a": -0.0}),
            json!({"a": 0}),
            json!({"a": "1"}),
            json!({"a": null}),
            json!({"a": true}),
            json!({"a": {}}),
            json!({"a": []}),
            json!({}),
            wide(100),
            wide(50),
        ];
        for (place, ours) in values.iter().enumerate() {
            for (other, theirs) in values.iter().enumerate() {
                let both = [ours, theirs].map(|value| to_struct(&json!({ "in": value })).expect("an object"));
                let [ours, theirs] = [&both[0], &both[1]].map(|object| object.at(&["in"]).expect("it was written"));
                assert_eq!(ours.equals(theirs), place == other, "{ours:?} {theirs:?}");
            }
        }
    }

    #[test]
    fn places_are_told_apart() {
        let mut places = Places::default();
        for place in [0, 63, 64, 127, 128, 1000] {
            assert!(!places.has(place) && places.add(place) && places.has(place) && !places.add(place), "{place}");
        }
        assert_eq!((places.count(), places.has(65), places.has(2000)), (6, false, false));
    }

    #[test]
    fn what_is_odd_equals_nothing() {
        let twice = [&[0x0a, 5, 0x0a, 1, b'a', 0x12, 0][..], &[0x0a, 5, 0x0a, 1, b'a', 0x12, 0]].concat();
        let two = to_struct(&json!({"in": {"a": null, "b": null}})).expect("an object");
        let two = two.at(&["in"]).expect("it was written");
        assert!(!two.equals(Encoded::of_object(&twice)) && !Encoded::of_object(&twice).equals(two));
        let broken = Encoded::of_object(&[0x0a, 9, 0]);
        assert!(
            !broken.equals(broken)
                && !Encoded::of_object(&[]).equals(broken)
                && !broken.equals(Encoded::of_object(&[]))
        );
        assert!(!Encoded::Odd.equals(Encoded::Odd));
    }
}
