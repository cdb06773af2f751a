//! Values read where they stand, each as what it should be, with its place for whoever has to put it right.

use serde::de::{Error as _, Expected, Unexpected};
use smol_str::SmolStr;

use super::encoded::parts;
use super::{Encoded, RawStruct, ReadError, from_struct, to_struct};
use crate::path::{Path, Step};
use crate::tree::EXACT;

/// A value, and where it stands.
pub struct At<'p, 'a> {
    value: Encoded<'a>,
    name: Name<'p>,
    above: Option<&'p At<'p, 'a>>,
}

#[derive(Clone, Copy)]
enum Name<'p> {
    Key(&'p str),
    Index(usize),
}

/// Why a value could not be read.
#[derive(Debug)]
pub enum Fault {
    /// It is not what it should be.
    Wrong(ReadError),
    /// It is written as nobody writes it.
    Odd,
}

/// What was read, or nothing if it was not what it should be: for parts of somebody else's object.
pub fn if_right<T: Default>(read: Result<T, Fault>) -> Result<T, Fault> {
    match read {
        Err(Fault::Wrong(_)) => Ok(T::default()),
        read => read,
    }
}

impl<'p, 'a> At<'p, 'a> {
    /// The fields of these names of a whole object, nothing for those that it lacks.
    ///
    /// # Errors
    /// What `read` says of the fields.
    pub fn read<T, const N: usize>(
        object: &RawStruct,
        names: [&str; N],
        read: impl Fn(&RawStruct, [At<'_, '_>; N]) -> Result<T, Fault>,
    ) -> Result<T, ReadError> {
        let once = |object: &RawStruct| {
            let entries = object.entries().iter().map(|entry| Some(&entry[..]));
            read(object, fields(entries, names)?.map(|(name, value)| At { value, name: Name::Key(name), above: None }))
        };
        let read = once(object).or_else(|fault| match fault {
            // The same in usual form is as good, if all of it can be read.
            Fault::Odd => once(&usual(object).map_err(Fault::Wrong)?),
            wrong @ Fault::Wrong(_) => Err(wrong),
        });
        read.map_err(|fault| match fault {
            Fault::Wrong(error) => error,
            Fault::Odd => ReadError::custom("malformed"),
        })
    }

    /// The fields of these names, if it is an object; none of them if it is nothing.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn fields<const N: usize>(&self, names: [&'static str; N]) -> Result<[At<'_, 'a>; N], Fault> {
        let found = match self.value {
            Encoded::Map(map) => fields(map.messages(), names)?,
            Encoded::Nothing => names.map(|name| (name, Encoded::Nothing)),
            _ => return Err(self.wrong(&"a map")),
        };
        Ok(found.map(|(name, value)| At { value, name: Name::Key(name), above: Some(self) }))
    }

    /// The items, if it is a list; none if it is nothing.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn items(&self) -> Result<impl Iterator<Item = At<'_, 'a>>, Fault> {
        let items = match self.value {
            Encoded::List(list) => Some(list),
            Encoded::Nothing => None,
            _ => return Err(self.wrong(&"a sequence")),
        };
        let items = items.into_iter().flat_map(|list| list.items()).enumerate();
        Ok(items.map(|(index, value)| At { value, name: Name::Index(index), above: Some(self) }))
    }

    /// The entries, if it is an object; none if it is nothing.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<(&'a str, At<'_, 'a>), Fault>>, Fault> {
        let entries = match self.value {
            Encoded::Map(map) => Some(map),
            Encoded::Nothing => None,
            _ => return Err(self.wrong(&"a map")),
        };
        Ok(entries.into_iter().flat_map(|map| map.messages()).map(|entry| {
            let (key, value) = entry.and_then(parts).ok_or(Fault::Odd)?;
            let key = str::from_utf8(key).map_err(|_| self.fault("a key that is not UTF-8"))?;
            Ok((key, At { value: Encoded::read(value), name: Name::Key(key), above: Some(self) }))
        }))
    }

    /// The text, if it is one; `None` if it is nothing.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn text(&self) -> Result<Option<&'a str>, Fault> {
        match self.value {
            Encoded::Text(bytes) => str::from_utf8(bytes).map(Some).map_err(|_| self.fault("text that is not UTF-8")),
            Encoded::Nothing => Ok(None),
            _ => Err(self.wrong(&"a string")),
        }
    }

    /// A copy of the text; most are short, and take no memory of their own.
    ///
    /// # Errors
    /// As for [`At::text`].
    pub fn string(&self) -> Result<Option<SmolStr>, Fault> {
        Ok(self.text()?.map(SmolStr::new))
    }

    /// The whole number, if it is one; `None` if it is nothing.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn integer(&self) -> Result<Option<i64>, Fault> {
        match self.value {
            Encoded::Number(number) if number.trunc() == number && number.abs() <= EXACT => Ok(Some(number as i64)),
            Encoded::Nothing => Ok(None),
            _ => Err(self.wrong(&"an integer")),
        }
    }

    /// True if it is an object.
    ///
    /// # Errors
    /// If it is neither that nor nothing: what is `expected`?
    pub fn is_object(&self, expected: &'static str) -> Result<bool, Fault> {
        match self.value {
            Encoded::Map(_) => Ok(true),
            Encoded::Nothing => Ok(false),
            _ => Err(self.wrong(&expected)),
        }
    }

    /// Says that it is not what was `expected`.
    pub fn wrong(&self, expected: &dyn Expected) -> Fault {
        let unexpected = match self.value {
            Encoded::Odd => return Fault::Odd,
            Encoded::Nothing => Unexpected::Unit,
            Encoded::Bool(truth) => Unexpected::Bool(truth),
            Encoded::Number(number) if number.trunc() == number && number.abs() <= EXACT => {
                Unexpected::Signed(number as i64)
            }
            Encoded::Number(number) => Unexpected::Float(number),
            Encoded::Text(bytes) => str::from_utf8(bytes).map_or(Unexpected::Bytes(bytes), Unexpected::Str),
            Encoded::List(_) => Unexpected::Seq,
            Encoded::Map(_) => Unexpected::Map,
        };
        let error = ReadError::invalid_type(unexpected, expected);
        Fault::Wrong(ReadError { path: self.path(), what: error.what })
    }

    fn fault(&self, what: &str) -> Fault {
        Fault::Wrong(ReadError { path: self.path(), what: what.to_owned() })
    }

    fn path(&self) -> Path {
        let above = self.above.map_or_else(Path::root, At::path);
        above.with(match self.name {
            Name::Key(key) => Step::Key(key.to_owned()),
            Name::Index(index) => Step::Index(index),
        })
    }
}

/// The values of these fields; of a key that stands twice the last, as protobuf has it.
fn fields<'a, 'n, const N: usize>(
    entries: impl Iterator<Item = Option<&'a [u8]>>,
    names: [&'n str; N],
) -> Result<[(&'n str, Encoded<'a>); N], Fault> {
    let mut found = names.map(|name| (name, Encoded::Nothing));
    for entry in entries {
        let (key, value) = entry.and_then(parts).ok_or(Fault::Odd)?;
        if let Some((_, field)) = found.iter_mut().find(|(name, _)| name.as_bytes() == key) {
            *field = Encoded::read(value);
        }
    }
    Ok(found)
}

fn usual(object: &RawStruct) -> Result<RawStruct, ReadError> {
    to_struct(&from_struct::<serde_json::Value>(object)?)
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use serde_json::{Value, json};

    use super::*;

    fn read<T>(value: Value, read: impl Fn([At<'_, '_>; 2]) -> Result<T, Fault>) -> Result<T, String> {
        let object = to_struct(&value).expect("an object");
        At::read(&object, ["a", "b"], |_, fields| read(fields)).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_right_is_read() {
        let value = json!({"a": {"text": "x", "list": [1, 2], "none": null}, "b": 5});
        let (text, numbers, none, lacks, b) = read(value, |[a, b]| {
            let [text, list, none, lacks] = a.fields(["text", "list", "none", "lacks"])?;
            let numbers: Result<Vec<_>, _> = list.items()?.map(|item| item.integer()).collect();
            let none = (none.text()?.is_none(), none.items()?.count(), none.is_object("x")?);
            Ok((text.string()?, numbers?, none, lacks.integer()?, b.integer()?))
        })
        .expect("it is right");
        assert_eq!((text.as_deref(), numbers, b), (Some("x"), vec![Some(1), Some(2)], Some(5)));
        assert_eq!((none, lacks), ((true, 0, false), None));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let rows: [(Value, &str); 6] = [
            (json!({"a": 1}), "a: invalid type: integer `1`, expected a map"),
            (json!({"a": {"list": "x"}}), "a.list: invalid type: string \"x\", expected a sequence"),
            (json!({"a": {"list": [true]}}), "a.list[0]: invalid type: boolean `true`, expected an integer"),
            (json!({"a": {"list": [1, 1.5]}}), "a.list[1]: invalid type: floating point `1.5`, expected an integer"),
            (json!({"a": {}, "b": [1]}), "b: invalid type: sequence, expected a string"),
            (json!({"a": {}, "b": {}}), "b: invalid type: map, expected a string"),
        ];
        for (value, told) in rows {
            let error = read(value, |[a, b]| {
                let [list] = a.fields(["list"])?;
                list.items()?.map(|item| item.integer()).collect::<Result<Vec<_>, _>>()?;
                b.text().map(drop)
            });
            assert_eq!(error.expect_err("it is wrong"), told);
        }
        let lenient = read(json!({"a": 1}), |[a, _]| if_right(a.text()).map(|text| text.is_none()));
        assert_eq!(lenient, Ok(true));
    }

    #[test]
    fn what_is_written_oddly_is_read_all_the_same() {
        // The value of `a` in two pieces, which protobuf merges, and `b` twice, of which the last counts.
        let piece =
            |key: u8, number: f64| [&[0x0a, 14, 0x0a, 1, key, 0x12, 9, 0x11], &number.to_le_bytes()[..]].concat();
        let (x, y) = (piece(b'x', 1.0), piece(b'y', 2.0));
        let (x, y) = ([&[0x2a, x.len() as u8][..], &x].concat(), [&[0x2a, y.len() as u8][..], &y].concat());
        let value = [x, y].concat();
        let a = [&[0x0a, 1, b'a', 0x12, value.len() as u8][..], &value].concat();
        let a = [&[0x0a, a.len() as u8][..], &a].concat();
        let text = |text: u8| vec![0x0a, 8, 0x0a, 1, b'b', 0x12, 3, 0x1a, 1, text];
        let object = RawStruct::decode(&*[a, text(b'1'), text(b'2')].concat()).expect("an object");
        let read = At::read(&object, ["a", "b"], |_, [a, b]| {
            let [x, y] = a.fields(["x", "y"])?;
            Ok((x.integer()?, y.integer()?, b.string()?))
        });
        assert_eq!(read.expect("it can be read"), (Some(1), Some(2), Some("2".into())));
    }
}
