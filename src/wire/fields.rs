//! The encoding below the format: fields of a message, one after the other, each a tag and a few bytes.

use super::{MAX_DEPTH, WireError};

/// The content of one field, as its wire type delimits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content<'de> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'de [u8]),
    /// A kind of field that no Struct has: 32 bits wide, or a group.
    Other,
}

/// The encoded fields of one message, in the pieces they came in: nearly always one.
///
/// A message field that occurs again adds its fields to those that are there; so its encoding is the pieces in a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Message<'de> {
    piece: &'de [u8],
    more: Option<Box<Pieces<'de>>>,
}

/// The further pieces; boxed, as there are hardly ever any and messages are moved a lot.
#[derive(Clone, Debug, Default)]
struct Pieces<'de>(Vec<&'de [u8]>);

/// Why bytes are not protobuf. Nothing but a broken client sends such; so this costs the others nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Malformed(pub &'static str);

impl From<Malformed> for WireError {
    #[cold]
    fn from(Malformed(what): Malformed) -> Self {
        WireError::new(format!("malformed protobuf: {what}"))
    }
}

impl<'de> Message<'de> {
    /// A message in one piece.
    pub fn new(piece: &'de [u8]) -> Self {
        Self { piece, more: None }
    }

    /// Adds a further piece.
    pub fn merge(&mut self, piece: &'de [u8]) {
        if self.piece.is_empty() {
            self.piece = piece;
        } else if !piece.is_empty() {
            self.more.get_or_insert_default().0.push(piece);
        }
    }

    /// All of it, if it is in one piece.
    #[inline]
    pub fn whole(&self) -> Option<&'de [u8]> {
        self.more.is_none().then_some(self.piece)
    }

    /// Its fields, one after the other.
    #[inline]
    pub fn fields(&self) -> Fields<'de> {
        let more = self.more.as_ref().map(|more| Box::new(more.0.clone().into_iter()));
        Fields { rest: self.piece, more }
    }
}

/// What is left to read of a message.
#[derive(Clone)]
pub(super) struct Fields<'de> {
    rest: &'de [u8],
    more: Option<Box<std::vec::IntoIter<&'de [u8]>>>,
}

impl<'de> Fields<'de> {
    /// The content of the next field if it is a usual one.
    #[inline]
    pub fn next_usual(&mut self, key: u8) -> Option<&'de [u8]> {
        take_usual(key, &mut self.rest)
    }

    /// What is left of the piece that is being read.
    pub fn rest(&self) -> &'de [u8] {
        self.rest
    }

    /// The number and content of the next field; `None` at the end. `types` are the wire types of fields 1, 2, ….
    #[inline]
    pub fn next(&mut self, types: &[u8]) -> Result<Option<(u32, Content<'de>)>, Malformed> {
        while self.rest.is_empty() {
            match self.more.as_mut().and_then(|more| more.next()) {
                Some(piece) => self.rest = piece,
                None => return Ok(None),
            }
        }
        let (number, wire_type) = take_key(&mut self.rest)?;
        if types.get(number as usize - 1).is_some_and(|expected| *expected != wire_type) {
            return Err(Malformed("a field of another wire type than it has"));
        }
        take_content(&mut self.rest, number, wire_type).map(|content| Some((number, content)))
    }
}

#[inline]
fn take_key(rest: &mut &[u8]) -> Result<(u32, u8), Malformed> {
    let key = u32::try_from(take_varint(rest)?).map_err(|_| Malformed("a field number that is too large"))?;
    match key >> 3 {
        0 => Err(Malformed("a field with the number 0")),
        number => Ok((number, (key & 7) as u8)),
    }
}

#[inline]
fn take_content<'de>(rest: &mut &'de [u8], number: u32, wire_type: u8) -> Result<Content<'de>, Malformed> {
    match wire_type {
        0 => take_varint(rest).map(Content::Varint),
        1 => rest
            .split_off(..8)
            .and_then(|bytes| bytes.try_into().ok())
            .map(Content::Fixed64)
            .ok_or(Malformed("it ends within a number")),
        2 => take_bytes(rest).map(Content::Bytes),
        3 => skip_group(rest, number).map(|()| Content::Other),
        5 => rest.split_off(..4).map(|_| Content::Other).ok_or(Malformed("it ends within a number")),
        4 => Err(Malformed("the end of a group that did not begin")),
        _ => Err(Malformed("a wire type that does not exist")),
    }
}

/// What follows the `key` of a field that fills `bytes` to the end: the shape nearly everything has that is encoded.
#[inline]
pub(super) fn only_field(key: u8, bytes: &[u8]) -> Option<&[u8]> {
    let (first, mut rest) = bytes.split_first()?;
    let len = if *first == key { take_varint(&mut rest).ok()? } else { return None };
    (len == rest.len() as u64).then_some(rest)
}

/// The same, if its length takes one or two bytes.
#[inline]
pub(super) fn only_usual(key: u8, mut bytes: &[u8]) -> Option<&[u8]> {
    take_usual(key, &mut bytes).filter(|_| bytes.is_empty())
}

/// The content of the field at the start if its key is `key` and its length takes one or two bytes, as nearly always.
#[inline]
pub(super) fn take_usual<'de>(key: u8, bytes: &mut &'de [u8]) -> Option<&'de [u8]> {
    let (len, rest) = match bytes {
        [first, len @ ..0x80, rest @ ..] if *first == key => (usize::from(*len), rest),
        [first, low @ 0x80..=0xff, high @ ..0x80, rest @ ..] if *first == key => {
            (usize::from(*low & 0x7f) | usize::from(*high) << 7, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    *bytes = rest;
    Some(content)
}

#[inline]
fn take_bytes<'de>(rest: &mut &'de [u8]) -> Result<&'de [u8], Malformed> {
    let len = take_varint(rest)?;
    usize::try_from(len)
        .ok()
        .and_then(|len| rest.split_off(..len))
        .ok_or(Malformed("a length beyond the end of what holds it"))
}

/// Groups are older than Structs; only a newer field that we do not know could be one. Skipped without recursion.
#[cold]
fn skip_group(rest: &mut &[u8], number: u32) -> Result<(), Malformed> {
    let mut open = vec![number];
    while let Some(innermost) = open.last() {
        let (number, wire_type) = take_key(rest)?;
        match wire_type {
            3 if open.len() == MAX_DEPTH => return Err(Malformed("groups that nest too deep")),
            3 => open.push(number),
            4 if number == *innermost => drop(open.pop()),
            _ => drop(take_content(rest, number, wire_type)?),
        }
    }
    Ok(())
}

#[inline]
fn take_varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    match rest {
        [low @ ..0x80, tail @ ..] => {
            let value = u64::from(*low);
            *rest = tail;
            Ok(value)
        }
        [low, high @ ..0x80, tail @ ..] => {
            let value = u64::from(*low & 0x7f) | u64::from(*high) << 7;
            *rest = tail;
            Ok(value)
        }
        _ => take_long_varint(rest),
    }
}

fn take_long_varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0;
    for (position, byte) in rest.iter().take(10).enumerate() {
        if position == 9 && *byte > 1 {
            break;
        }
        value |= u64::from(byte & 0x7f) << (7 * position);
        if *byte < 0x80 {
            *rest = &rest[position + 1..];
            return Ok(value);
        }
    }
    Err(Malformed("a number that is cut off or longer than 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::{Content, Malformed, Message};

    fn read(bytes: &[u8]) -> Result<Option<(u32, Content<'_>)>, &'static str> {
        Message::new(bytes).fields().next(&[]).map_err(|Malformed(what)| what)
    }

    #[test]
    fn fields_of_every_wire_type_are_delimited() {
        assert_eq!(read(&[0x08, 0x96, 0x01]), Ok(Some((1, Content::Varint(150)))));
        assert_eq!(read(&[0x11, 1, 2, 3, 4, 5, 6, 7, 8]), Ok(Some((2, Content::Fixed64([1, 2, 3, 4, 5, 6, 7, 8])))));
        assert_eq!(read(&[0x1a, 1, 7]), Ok(Some((3, Content::Bytes(&[7])))));
        assert_eq!(read(&[0x23, 0x2b, 0x08, 1, 0x2c, 0x24]), Ok(Some((4, Content::Other))));
        assert_eq!(read(&[0x2d, 1, 2, 3, 4]), Ok(Some((5, Content::Other))));
        assert_eq!(read(&[0xf8, 0xff, 0xff, 0xff, 0x0f, 0]), Ok(Some(((1 << 29) - 1, Content::Varint(0)))));
        let largest = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(read(&largest), Ok(Some((1, Content::Varint(u64::MAX)))));
        assert_eq!(read(&[]), Ok(None));
    }

    #[test]
    fn malformed_fields_are_refused() {
        let cut_off = "a number that is cut off or longer than 64 bits";
        let cases: [(&[u8], &str); 14] = [
            (&[0x08], cut_off),
            (&[0x08, 0x80], cut_off),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02], cut_off),
            (&[0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0], cut_off),
            (&[0xf8, 0xff, 0xff, 0xff, 0x1f, 0], "a field number that is too large"),
            (&[0x00, 0], "a field with the number 0"),
            (&[0x09, 1, 2, 3, 4, 5, 6, 7], "it ends within a number"),
            (&[0x0d, 1, 2, 3], "it ends within a number"),
            (&[0x0a, 1], "a length beyond the end of what holds it"),
            (
                &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
                "a length beyond the end of what holds it",
            ),
            (&[0x0b, 0x08, 1], cut_off),
            (&[0x0b, 0x14], "the end of a group that did not begin"),
            (&[0x0c], "the end of a group that did not begin"),
            (&[0x0e], "a wire type that does not exist"),
        ];
        for (bytes, what) in cases {
            assert_eq!(read(bytes), Err(what), "{bytes:x?}");
        }
        assert_eq!(read(&[0x0b; 1000]), Err("groups that nest too deep"));
    }
}
