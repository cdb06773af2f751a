//! A `google.protobuf.Struct` that stays the bytes it came in.

use std::fmt;

use bytes::{Buf, BufMut, Bytes};
use prost::DecodeError;
use prost::encoding::{self, DecodeContext, WireType};

/// The number of the only field of a Struct, `fields`.
const FIELDS: u32 = 1;

/// An encoded `google.protobuf.Struct`: its entries as they came, unread.
///
/// Stands in for the Struct of the official files, and merges like it: further entries are added, and of those with the
/// same key the last wins when it is read. Decoded from [`Bytes`] it shares them. Two are equal if their bytes are.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct RawStruct {
    entries: Vec<Bytes>,
}

impl RawStruct {
    /// True if no key is set.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The same in as much memory as it needs, for whoever keeps it.
    pub(crate) fn compact(self) -> Self {
        let mut bytes = Bytes::from(prost::Message::encode_to_vec(&self));
        // Each entry is behind its key and length, and ends where the next one's key stands.
        let entries = self.entries.iter().map(|entry| {
            let head = encoding::bytes::encoded_len(FIELDS, entry) - entry.len();
            bytes.advance(head);
            bytes.split_to(entry.len())
        });
        Self { entries: entries.collect() }
    }

    /// The encoded entries (`Struct.FieldsEntry`), in the order they came.
    pub(super) fn entries(&self) -> &[Bytes] {
        &self.entries
    }
}

/// How much it holds, never what: objects hold secrets.
impl fmt::Debug for RawStruct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawStruct({} entries, {} bytes)", self.entries.len(), prost::Message::encoded_len(self))
    }
}

impl prost::Message for RawStruct {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        for entry in &self.entries {
            encoding::encode_key(FIELDS, WireType::LengthDelimited, buf);
            encoding::encode_varint(entry.len() as u64, buf);
            buf.put_slice(entry);
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        if tag != FIELDS {
            return encoding::skip_field(wire_type, tag, buf, ctx);
        }
        let mut entry = Bytes::new();
        encoding::bytes::merge(wire_type, &mut entry, buf, ctx)?;
        self.entries.push(entry);
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        self.entries.iter().map(|entry| encoding::bytes::encoded_len(FIELDS, entry)).sum()
    }

    fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;
    use prost::Message;

    use super::RawStruct;
    use crate::wire::proto::v1::Resource;
    use crate::wire::to_struct;

    #[test]
    fn decoding_shares_the_bytes() {
        let resource = Resource { resource: to_struct(&BTreeMap::from([("a", "b")])).ok(), ..Default::default() };
        let encoded = Bytes::from(resource.encode_to_vec());
        let decoded = Resource::decode(encoded.clone()).unwrap();
        let entries = decoded.resource.unwrap().entries;
        assert!(encoded.as_ptr_range().contains(&entries[0].as_ptr()));
    }

    #[test]
    fn debug_output_holds_no_content() {
        let secret = BTreeMap::from([("password", "hunter2")]);
        let resource = Resource {
            resource: to_struct(&secret).ok(),
            connection_details: [("key".to_owned(), b"hunter2".to_vec())].into(),
            ..Default::default()
        };
        let text = format!("{resource:?}");
        assert!(text.contains("RawStruct(1 entries, 23 bytes)"), "{text}");
        assert!(!text.contains("hunter2") && !text.contains("104"), "{text}");
    }

    #[test]
    fn fields_that_a_struct_does_not_have_are_dropped() {
        let decoded = RawStruct::decode(&[0x10, 1, 0x0a, 0, 0x1b, 0x1c][..]).unwrap();
        assert_eq!(decoded.encode_to_vec(), [0x0a, 0]);
        assert!(RawStruct::decode(&[0x08, 1][..]).is_err());
        assert!(RawStruct::decode(&[0x0a, 5, 0][..]).is_err());
    }
}
