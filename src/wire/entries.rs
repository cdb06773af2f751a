//! The entries of an object: as they stand, or each key once, as protobuf's last occurrence has it.

use std::slice;
use std::vec;

use bytes::Bytes;

use super::fields::{Content, Fields, Malformed, Message, only_field};
use super::value::next_item;

/// One entry of an object.
#[derive(Default)]
pub(super) struct Entry<'de> {
    /// The key, not yet checked to be UTF-8.
    pub key: &'de [u8],
    /// The encoded `google.protobuf.Value`.
    pub value: Message<'de>,
}

impl<'de> Entry<'de> {
    /// Reads one.
    #[inline]
    pub fn read(entry: &'de [u8]) -> Result<Self, Malformed> {
        Self::read_usual(entry).map_or_else(|| Self::read_any(entry), Ok)
    }

    /// A short key, then the value: only what is written otherwise is read field by field.
    #[inline]
    fn read_usual(entry: &'de [u8]) -> Option<Self> {
        let (&[0x0a, len @ ..0x80], rest) = entry.split_first_chunk()? else { return None };
        let (key, rest) = rest.split_at_checked(len.into())?;
        only_field(0x12, rest).map(|value| Entry { key, value: Message::new(value) })
    }

    fn read_any(entry: &'de [u8]) -> Result<Self, Malformed> {
        let mut read = Entry::default();
        let mut fields = Message::new(entry).fields();
        while let Some((number, content)) = fields.next(&[2, 2])? {
            match (number, content) {
                (1, Content::Bytes(key)) => read.key = key,
                (2, Content::Bytes(piece)) => read.value.merge(piece),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Where the encoded entries come from.
#[derive(Clone)]
pub(super) enum Source<'de> {
    /// A `RawStruct`, which keeps them apart.
    Root(slice::Iter<'de, Bytes>),
    /// A Struct inside another.
    Inner(Fields<'de>),
}

impl<'de> Source<'de> {
    #[inline]
    fn next(&mut self) -> Result<Option<Entry<'de>>, Malformed> {
        let encoded = match self {
            Source::Root(entries) => entries.next().map(|entry| &entry[..]),
            Source::Inner(fields) => next_item(fields)?,
        };
        encoded.map(Entry::read).transpose()
    }
}

/// The entries of an object. Objects are unordered, so their order means nothing.
pub(super) enum Entries<'de> {
    /// They are read one by one.
    AsTheyStand(Source<'de>),
    /// They had to be sorted to find out.
    Sorted(vec::IntoIter<Entry<'de>>),
}

/// Up to so many keys are compared with each other, on the stack; more are sorted.
const COMPARED: usize = 24;

impl<'de> Entries<'de> {
    /// The entries from `source` as they stand, for whoever lets the last of a key win or takes none twice.
    pub fn as_they_stand(source: Source<'de>) -> Self {
        Entries::AsTheyStand(source)
    }

    /// The entries from `source`, each key once.
    pub fn each_once(source: Source<'de>) -> Result<Self, Malformed> {
        if are_few_and_distinct(source.clone())? {
            return Ok(Entries::AsTheyStand(source));
        }
        last_of_each(source).map(|entries| Entries::Sorted(entries.into_iter()))
    }

    /// The next entry; `None` at the end.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Entry<'de>>, Malformed> {
        match self {
            Entries::AsTheyStand(source) => source.next(),
            Entries::Sorted(entries) => Ok(entries.next()),
        }
    }
}

fn are_few_and_distinct(mut source: Source<'_>) -> Result<bool, Malformed> {
    let mut seen = [0; COMPARED];
    let mut count = 0;
    while let Some(Entry { key, .. }) = source.next()? {
        let mark = mark(key);
        if count == COMPARED || seen[..count].contains(&mark) {
            return Ok(false);
        }
        seen[count] = mark;
        count += 1;
    }
    Ok(true)
}

/// A number that tells most keys apart: equal keys have equal marks, and others hardly ever.
#[inline]
fn mark(key: &[u8]) -> u64 {
    let word = |bytes: Option<&[u8; 4]>| bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    match key {
        [] => 0,
        [first, .., last] if key.len() < 4 => u64::from_le_bytes([key.len() as u8, *first, key[1], *last, 0, 0, 0, 0]),
        [only] => u64::from(*only) << 8 | 1,
        _ => (word(key.first_chunk()) << 32 | word(key.last_chunk())).wrapping_add((key.len() as u64) << 24),
    }
}

fn last_of_each(mut source: Source<'_>) -> Result<Vec<Entry<'_>>, Malformed> {
    let mut entries = Vec::new();
    while let Some(entry) = source.next()? {
        entries.push(entry);
    }
    entries.reverse();
    entries.sort_by(|a, b| a.key.cmp(b.key));
    entries.dedup_by(|later, kept| later.key == kept.key);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::mark;
    use crate::wire::{from_struct, to_struct};

    #[test]
    fn keys_that_look_alike_are_told_apart() {
        assert_eq!(mark(b"abcd1efgh"), mark(b"abcd2efgh"), "or this shows nothing");
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        struct Alike {
            abcd1efgh: i64,
            abcd2efgh: i64,
        }
        let alike = Alike { abcd1efgh: 1, abcd2efgh: 2 };
        let object = to_struct(&alike).expect("an object");
        assert_eq!(from_struct::<Alike>(&object).expect("it can be read"), alike);
        let map: BTreeMap<String, i64> = from_struct(&object).expect("it can be read");
        assert_eq!(map.len(), 2);
    }
}
