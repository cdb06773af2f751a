//! The encoding below the serializer: fields of a message, whose length goes in front once it is known.

use std::fmt;

use prost::encoding::{encode_varint, encoded_len_varint};

use super::WriteError;

/// Keys (number and wire type) of the fields of a Value.
pub(super) const NULL: u8 = 1 << 3;
pub(super) const NUMBER: u8 = 2 << 3 | 1;
pub(super) const STRING: u8 = 3 << 3 | 2;
pub(super) const BOOL: u8 = 4 << 3;
pub(super) const STRUCT: u8 = 5 << 3 | 2;
pub(super) const LIST: u8 = 6 << 3 | 2;
/// The key of field 1 where it is delimited by its length: an entry of a Struct or list, and the key of an entry.
pub(super) const FIRST: u8 = 1 << 3 | 2;
/// The key of the value of an entry.
pub(super) const SECOND: u8 = 2 << 3 | 2;

/// The largest integer up to which a double holds every one.
const EXACT: u64 = 1 << 53;

/// Writes the one field that a Value has, after another.
#[derive(Default)]
pub(super) struct Writer {
    /// What is written so far.
    pub out: Vec<u8>,
    /// How many objects and lists are open.
    pub depth: usize,
}

impl Writer {
    /// Begins a field whose length is not known yet; says where the length goes.
    pub fn open(&mut self, key: u8) -> usize {
        self.out.extend_from_slice(&[key, 0]);
        self.out.len() - 1
    }

    /// Ends the field whose length goes to `at`. A long one moves to make room for its length.
    pub fn close(&mut self, at: usize) {
        let len = (self.out.len() - at - 1) as u64;
        if len < 0x80 {
            self.out[at] = len as u8;
            return;
        }
        let mut varint = [0; 10];
        encode_varint(len, &mut varint.as_mut_slice());
        let (more, end) = (encoded_len_varint(len) - 1, self.out.len());
        self.out.extend_from_slice(&varint[..more]);
        self.out.copy_within(at + 1..end, at + 1 + more);
        self.out[at..=at + more].copy_from_slice(&varint[..=more]);
    }

    /// Writes a field that holds `text`.
    pub fn text(&mut self, key: u8, text: &str) {
        match u8::try_from(text.len()) {
            Ok(len @ ..0x80) => self.out.extend_from_slice(&[key, len]),
            _ => {
                self.out.push(key);
                encode_varint(text.len() as u64, &mut self.out);
            }
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes a number, as a Value.
    pub fn number(&mut self, number: f64) -> Result<(), WriteError> {
        if !number.is_finite() {
            return Err(WriteError::new("a number that is not finite"));
        }
        self.out.push(NUMBER);
        self.out.extend_from_slice(&number.to_le_bytes());
        Ok(())
    }

    /// Writes an integer that a double holds exactly, as a Value.
    pub fn integer(&mut self, integer: impl TryInto<i64> + fmt::Display + Copy) -> Result<(), WriteError> {
        match integer.try_into() {
            Ok(exact) if exact.unsigned_abs() <= EXACT => self.number(exact as f64),
            _ => Err(WriteError::new(format!("{integer} is beyond 2^53 and would be rounded"))),
        }
    }
}
