//! What the reader takes, what it refuses, and in which words.

use serde_json::json;

use super::*;
use crate::path::Path as Where;

fn values(text: &str) -> Vec<Value> {
    parse("f.yaml", text.as_bytes()).expect(text).into_iter().map(|document| document.value).collect()
}

fn failure(text: &str) -> String {
    parse("f.yaml", text.as_bytes()).expect_err(text).to_string()
}

#[test]
fn documents_are_read_as_kubectl_reads_them() {
    for (text, expected, why) in [
        (
            "a: yes\n---\n---\n# nothing\n---\nb: \"yes\"\n",
            json!([{"a": true}, {"b": "yes"}]),
            "empty ones are skipped",
        ),
        ("# a\n---\n# b\n", json!([]), "comments only are no document"),
        ("{\"a\": [1, 2.5, null], \"b\": \"c\"}", json!([{"a": [1, 2.5, null], "b": "c"}]), "JSON is YAML"),
        ("{\n\t\"a\":\n\t\t{\"b\":\"x/\\u00e9\"}\n}\n", json!([{"a": {"b": "x/é"}}]), "JSON may be indented with tabs"),
        ("{\"a\": \"\\ud83d\\ude00 \\/\"}", json!([{"a": "😀 /"}]), "JSON escapes"),
        ("\u{feff}a: 1\r\nb: 2\r\n", json!([{"a": 1, "b": 2}]), "byte order mark, Windows line ends"),
        ("%YAML 1.1\n---\na: 014\n", json!([{"a": 12}]), "a directive"),
        (
            "1: a\ntrue: b\n1.5: c\noff: d\n",
            json!([{"1": "a", "true": "b", "1.5": "c", "false": "d"}]),
            "keys are text",
        ),
        (
            "a:\nb: ~\nc: ''\nd: !!str\n",
            json!([{"a": null, "b": null, "c": "", "d": ""}]),
            "nothing, or an empty string",
        ),
        (
            "a: !foo 12\nb: !!str 12\nc: !!int \"12\"\nd: ! 1",
            json!([{"a": "12", "b": "12", "c": 12, "d": "1"}]),
            "tags",
        ),
        ("a: &x [1]\nb: *x\n", json!([{"a": [1], "b": [1]}]), "alias"),
        ("a: &x k\n*x : 1\n", json!([{"a": "k", "k": 1}]), "alias as a key"),
        ("a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}\n", json!([{"a": {"k": 1, "l": 2}, "b": {"k": 3, "l": 2}}]), "merge"),
        ("a: {<<: [{k: 1}, {k: 2, l: 3}]}\n", json!([{"a": {"k": 1, "l": 3}}]), "of several merged the first counts"),
        ("a: {\"<<\": {b: 1}}\n", json!([{"a": {"<<": {"b": 1}}}]), "a quoted merge key is a key"),
        ("a: |\n  x\n  y\nb: >-\n  x\n  y\n", json!([{"a": "x\ny\n", "b": "x y"}]), "block scalars"),
        ("kind: List\nitems: [{kind: A}, {kind: B}]\n", json!([{"kind": "A"}, {"kind": "B"}]), "a list is its items"),
        ("kind: List\nitems: []\n", json!([]), "an empty list"),
        (
            "kind: PodList\napiVersion: v1\nitems: [{a: 1}]\n",
            json!([{"kind": "Pod", "apiVersion": "v1", "a": 1}]),
            "items take their kind from a typed list",
        ),
    ] {
        assert_eq!(Value::Array(values(text)), expected, "{why}: {text}");
    }
}

#[test]
fn mistakes_are_told_with_their_line_and_what_to_do() {
    for (text, expected, why) in [
        ("", "f.yaml: is empty", "nothing at all"),
        (" \n\n", "f.yaml: is empty", "blanks only"),
        ("a: b\0", "f.yaml: is not text (byte 5)", "binary"),
        ("a: 1\nb: 2\na: 3\n", "f.yaml:3:1: the key `a` stands twice in one map, first in line 1", "duplicate key"),
        ("{\"a\": 1, \"a\": 1}", "f.yaml:1:10: the key `a` stands twice", "duplicate key in JSON"),
        ("a: 1\n'a': 3\n", "f.yaml:2:1: the key `a` stands twice", "quotes make no other key"),
        ("a:\n\tb: 1\n", "f.yaml:2:2: a tab where YAML wants spaces\n  hint: indent with spaces", "tab"),
        ("a: 1\n  b: 2\n", "f.yaml:2:4: a `: ` where no value can begin", "indentation"),
        ("  a: 1\nb: 2\n", "f.yaml:2:1: a line that belongs to no object", "kubectl would silently drop it"),
        ("{\"a\": 1}\n{\"b\": 1}", "put `---` between objects", "two JSON objects"),
        ("a: [1\nb: 2\n", "f.yaml:", "unclosed list"),
        ("a: \"x\n", "a quote is never closed", "unclosed quote"),
        ("a: *x\n", "f.yaml:1:4: an alias without its anchor before it", "unknown anchor"),
        ("a: &x [*x]\n", "f.yaml:1:8: an alias inside the value it stands for", "endless value"),
        ("a: .nan\n", "f.yaml:1:4: infinity or not-a-number", "not in JSON"),
        ("a: 18446744073709551616\n", "f.yaml:1:4: an integer that does not fit", "too big"),
        ("a: !!int b\n", "f.yaml:1:", "wrong type for the tag"),
        ("a: !!binary aGk=\n", "`!!binary`", "bytes"),
        ("[a]: 1\n", "f.yaml:1:", "a list as a key"),
        ("? {a: b}\n: 1\n", "a list or a map as a key", "a map as a key"),
        ("~: 1\n", "f.yaml:1:1: an empty key", "null as a key"),
        ("a: {k: 1, <<: {k: 2}}\n", "f.yaml:1:11: `<<` after the key `k`", "tools disagree who wins"),
        ("a: {<<: 1}\n", "f.yaml:1:5: `<<` with something else than a map", "nothing to merge"),
        ("- a\n", "f.yaml:1: a list where an object should be", "a list"),
        ("\nhello\n", "f.yaml:2: text where an object should be", "not YAML at all"),
        ("kind: List\nitems:\n- 1\n", "f.yaml:3: a single value where", "an item that is no object"),
        ("a: @b\n", "f.yaml:1:4: the character '@' cannot start a value", "reserved indicator"),
    ] {
        let message = failure(text);
        assert!(message.starts_with("error: f.yaml") && message.contains("\n  hint: "), "{why}: {message}");
        assert!(message.contains(expected), "{why}: {message}");
    }
    let message = parse("f.yaml", b"a: \xff").expect_err("invalid UTF-8").to_string();
    assert!(message.starts_with("error: f.yaml: is not text (byte 4)\n"), "{message}");
}

#[test]
fn values_are_never_printed() {
    for text in
        ["pw: hunter2: x\n", "pw: 'hunter2\n", "pw: [hunter2\n", "pw: !!int hunter2\n", "hunter2\n", "- hunter2: {\n"]
    {
        assert!(!failure(text).contains("hunter"), "{text}: {}", failure(text));
    }
}

#[test]
fn nesting_is_limited_and_never_overflows_the_stack() {
    let flow = |depth: usize| format!("a: {}1{}", "[".repeat(depth), "]".repeat(depth));
    let maps = |depth: usize| format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth));
    let block: String = (0..20_000).map(|depth| format!("{}a:\n", " ".repeat(depth % 600))).collect();
    assert_eq!(values(&flow(200)).len() + values(&maps(200)).len(), 2);
    for text in [flow(100_000), maps(100_000), flow(256), "[".repeat(100_000), "- ".repeat(50_000), block] {
        let message = failure(&text);
        assert!(message.contains("nested more than 256 deep"), "{message}");
    }
    let nested = format!("a: &x {}1{}\nb: {}*x{}", "[".repeat(200), "]".repeat(200), "[".repeat(200), "]".repeat(200));
    assert!(failure(&nested).contains("nested more than 256 deep"), "aliases count too");
}

#[test]
fn alias_bombs_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..40 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(100_000));
    let anchors: String = (0..200).map(|level| format!("&a{level} [")).collect();
    let nested = format!("a: {anchors}{}{}", "x, ".repeat(10_000), "]".repeat(200));
    for text in [bomb, long, nested] {
        assert!(failure(&text).contains("aliases that repeat too much"));
    }
}

#[test]
fn every_value_knows_its_line() {
    let text = "# first\n---\nkind: A\nspec:\n  env:\n  - name: A\n    value: x\n  - value: y\n    name: B\n  \
                secretRefs:\n  - secretName: s\n    keys:\n    - key: k\n      envVar: C\n  mounts:\n  - mountPath: /m\n";
    let document = parse("f.yaml", text.as_bytes()).expect("reads").remove(0);
    let spec = Where::keys("spec");
    for (path, line, why) in [
        (Where::root(), 3, "the object starts with its first key"),
        (spec.clone(), 4, "a key's own line, not its value's"),
        (spec.key("env").entry("A").key("value"), 7, "entry by name"),
        (spec.key("env").entry("B").key("name"), 9, "entry by name, which comes second"),
        (spec.key("env").index(1), 8, "entry by position"),
        (spec.key("env").entry("Z"), 5, "a missing entry: the list"),
        (spec.key("secretRefs").entry("C"), 11, "entry by envVar"),
        (spec.key("mounts").entry("/m"), 16, "entry by mountPath"),
        (spec.key("image").key("tag"), 4, "a missing field: what would hold it"),
    ] {
        assert_eq!(document.line_of(&path), line, "{path}: {why}");
    }
}

#[test]
fn lines_survive_lists_merges_and_aliases() {
    let list = parse("f.yaml", b"kind: List\nitems:\n- kind: A\n- kind: B\n  a: 1\n").expect("reads");
    assert_eq!((list[1].line, list[1].line_of(&Where::keys("a"))), (4, 5));
    let merged = parse("f.yaml", b"a: &a\n  k: 1\nb:\n  <<: *a\nc: *a\n").expect("reads").remove(0);
    assert_eq!(merged.line_of(&Where::keys("b.k")), 2, "where the value is written");
    assert_eq!(merged.line_of(&Where::keys("c")), 5, "the key's line");
}

#[test]
fn a_directory_is_its_manifests_sorted_and_all_faults_are_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let no_stdin = || std::io::empty();
    let empty = read(&[directory.path().into()], &mut Stdin::new(&mut no_stdin())).expect_err("empty");
    assert!(empty.to_string().contains("holds no *.yaml, *.yml or *.json file"), "{empty}");

    for (name, text) in [("b.yml", "a: 2"), ("a.yaml", "a: 1"), ("c.json", "{\"a\": 3}"), ("d.txt", "no: [")] {
        std::fs::write(path(name), text).expect("written");
    }
    std::fs::create_dir(path("sub.yaml")).expect("a directory");
    let inputs = [directory.path().to_owned(), "-".into()];
    let all = read(&inputs, &mut Stdin::new(&mut "a: 4".as_bytes())).expect("reads");
    assert_eq!(all.iter().map(|document| document.value["a"].as_i64()).collect::<Vec<_>>(), [1, 2, 3, 4].map(Some));
    assert_eq!(all[3].file, "standard input");

    std::fs::write(path("b.yml"), "a: [").expect("written");
    let inputs = [directory.path().to_owned(), path("gone.yaml"), "-".into(), "-".into()];
    let failure = read(&inputs, &mut Stdin::new(&mut "a: {".as_bytes())).expect_err("four faults");
    assert_eq!(failure.faults().len(), 4, "{failure}");
    assert!(failure.to_string().contains("gone.yaml: no such file or directory"), "{failure}");
    assert!(failure.to_string().contains("error: standard input: `-` is named twice"), "{failure}");
}
