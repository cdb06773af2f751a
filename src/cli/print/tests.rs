//! What is printed must come back the same, through our own reader, which reads as kubectl does.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::cli::files;

fn back(text: &str) -> Vec<Value> {
    files::parse("printed", text.as_bytes()).expect(text).into_iter().map(|document| document.value).collect()
}

#[test]
fn the_look_is_that_of_kubectl() {
    let value = json!({
        "args": ["a", ["b", []], {"name": "x", "list": [1], "value": "1"}],
        "empty": {}, "float": 1.5, "none": null, "on": true,
        "script": "set -e\n\nrun\n", "kept": "a\nb\n\n", "stripped": "a\nb",
        "limits": {"nvidia.com/gpu": "1", "memory": "500Mi"},
    });
    let expected = "---\nargs:\n- a\n- - b\n  - []\n- list:\n  - 1\n  name: x\n  value: \"1\"\nempty: {}\nfloat: 1.5\n\
                    kept: |+\n  a\n  b\n\nlimits:\n  memory: 500Mi\n  nvidia.com/gpu: \"1\"\nnone: null\n\"on\": true\n\
                    script: |\n  set -e\n\n  run\nstripped: |-\n  a\n  b\n";
    assert_eq!(yaml(std::slice::from_ref(&value)), expected);
    assert_eq!(back(&yaml(&[value.clone(), value.clone()])), [value.clone(), value]);
}

#[test]
fn strings_stay_strings() {
    for (text, printed, why) in [
        ("", "\"\"", "else null"),
        ("y", "\"y\"", "else a boolean"),
        ("yes", "\"yes\"", "else a boolean"),
        ("On", "\"On\"", "else a boolean"),
        ("null", "\"null\"", "else null"),
        ("~", "\"~\"", "else null"),
        ("12", "\"12\"", "else a number"),
        ("014", "\"014\"", "else octal"),
        ("0x1F", "\"0x1F\"", "else hex"),
        ("0b-1", "\"0b-1\"", "go-yaml reads even this as a number"),
        ("1_000", "\"1_000\"", "else a number"),
        ("1e3", "\"1e3\"", "else a number"),
        (".5", "\".5\"", "else a number"),
        (".inf", "\".inf\"", "else a float that JSON does not know"),
        ("18446744073709551616", "\"18446744073709551616\"", "else a rounded float"),
        ("2024-01-01", "\"2024-01-01\"", "a timestamp to other readers"),
        ("2024-01-01T00:00:00Z", "\"2024-01-01T00:00:00Z\"", "a timestamp to other readers"),
        ("1:30", "\"1:30\"", "base 60 to other readers"),
        ("=", "\"=\"", "the value key to other readers"),
        ("<<", "\"<<\"", "the merge key"),
        ("500Mi", "500Mi", "a quantity is no number"),
        ("100m", "100m", "a quantity is no number"),
        ("app:v1.2", "app:v1.2", "a colon inside a word"),
        ("--flag=x", "--flag=x", "an argument"),
        ("/var/run", "/var/run", "a path"),
        ("$(POD_NAME)", "$(POD_NAME)", "a Kubernetes variable"),
        ("héllo wörld", "héllo wörld", "letters of all languages"),
        ("a: b", "'a: b'", "else a map"),
        ("a:", "'a:'", "else a map"),
        ("a #b", "'a #b'", "else a comment"),
        (" a", "' a'", "else trimmed"),
        ("a ", "'a '", "else trimmed"),
        ("- a", "'- a'", "else a list"),
        ("-", "'-'", "else a list"),
        ("---", "'---'", "else a new document"),
        ("...", "'...'", "else the end of a document"),
        ("{a}", "'{a}'", "else a map"),
        ("*a", "'*a'", "else an alias"),
        ("!a", "'!a'", "else a tag"),
        ("@a", "'@a'", "reserved"),
        ("it's", "it's", "a quote inside a word"),
        ("'a'", "'''a'''", "quotes are doubled"),
        ("a\tb", "\"a\\tb\"", "tabs are escaped"),
        ("\n", "\"\\n\"", "a block cannot begin blank"),
        (" a\nb", "\" a\\nb\"", "a block cannot begin indented"),
        ("a\n \nb", "\"a\\n \\nb\"", "a blank line with blanks"),
        ("a\r\nb", "\"a\\r\\nb\"", "Windows line ends"),
        ("a\u{85}\u{2028}\u{7f}\u{feff}", "\"a\\u0085\\u2028\\u007f\\ufeff\"", "line ends and controls of YAML 1.1"),
        ("\u{0}\u{1b}", "\"\\u0000\\u001b\"", "controls"),
        ("a\\b\"\n", "|\n  a\\b\"", "nothing is escaped in a block"),
    ] {
        let value = json!({ "k": text });
        let out = yaml(std::slice::from_ref(&value));
        assert_eq!(out, format!("---\nk: {printed}\n"), "{why}");
        assert_eq!(back(&out), [value], "{why}");
        let key = json!({ text: [{ text: [text, [text]] }] });
        assert_eq!(back(&yaml(std::slice::from_ref(&key))), [key], "as a key and in lists: {text:?}");
    }
}

#[test]
fn long_keys_come_back() {
    let value = json!({ "k".repeat(2000): { "x y ".repeat(500): [1, { "l".repeat(1500): "s" }] } });
    assert_eq!(back(&yaml(std::slice::from_ref(&value))), [value]);
}

/// Strings out of what YAML finds special, and any others.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(
            proptest::sample::select(vec![
                "\n", " ", "\t", "a", ":", "#", "-", "?", "'", "\"", "\\", "|", ">", "&", "*", "!", "%", "@", "`", "{",
                "}", "[", "]", ",", "=", "<<", "~", ".", "0", "1", "e", "x", "_", "+", "\r", "é", "\u{85}", "\u{2028}",
                "\u{feff}", "\u{0}", "yes", "😀", "---", "...", "\u{a0}", "\u{3000}",
            ]),
            0..8
        )
        .prop_map(|parts| parts.concat()),
        any::<String>(),
    ]
}

fn number() -> impl Strategy<Value = Value> {
    // A whole float is the same number as the integer, and kubectl makes it one.
    let float = any::<f64>().prop_filter("JSON's, and not whole", |f| f.is_finite() && f.fract() != 0.0);
    prop_oneof![any::<i64>().prop_map(Value::from), any::<u64>().prop_map(Value::from), float.prop_map(Value::from)]
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number(), nasty().prop_map(Value::from),];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(nasty(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_the_same(value in tree(), other in nasty()) {
        let documents = [json!({ "v": value }), json!({ "": other })];
        prop_assert_eq!(back(&yaml(&documents)), documents);
    }

    #[test]
    fn no_bytes_can_panic_the_reader(text in nasty(), bytes: Vec<u8>) {
        let _ = files::parse("f", text.as_bytes());
        let _ = files::parse("f", &bytes);
    }
}
