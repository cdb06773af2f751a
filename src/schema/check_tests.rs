use serde_json::json;

use super::*;

fn schema(node: Value) -> Schema {
    serde_json::from_value(node).expect("a good schema")
}

fn texts(node: Value, value: &Value) -> Vec<String> {
    let breaches = schema(node).breaches(value, &Path::keys("at"), &|_| false);
    breaches.iter().map(ToString::to_string).collect()
}

/// Rows of (why, schema, value, what is wrong with it, or nothing).
fn check(rows: Vec<(&str, Value, Value, &[&str])>) {
    for (why, node, value, expected) in rows {
        assert_eq!(texts(node, &value), expected, "{why}: {value}");
    }
}

#[test]
fn types_are_told_apart() {
    let string = json!({"type": "string"});
    let integer = json!({"type": "integer"});
    let int_or_string = json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    check(vec![
        ("a string is one", string.clone(), json!("a"), &[]),
        ("YAML reads a bare port as a number", string.clone(), json!(80), &["at: must be a string, not an integer"]),
        ("yes and no are strings too", string.clone(), json!(true), &["at: must be a string, not a boolean"]),
        ("null is no string", string.clone(), json!(null), &["at: must be a string, not null"]),
        ("unless it may be null", json!({"type": "string", "nullable": true}), json!(null), &[]),
        ("no type, no rule", json!({"x-kubernetes-preserve-unknown-fields": true}), json!(null), &[]),
        ("quotes make a string", integer.clone(), json!("1"), &["at: must be an integer, not a string"]),
        ("protobuf Structs hold only doubles", integer.clone(), json!(3.0), &[]),
        ("a fraction", integer.clone(), json!(1.5), &["at: must be an integer, not a number with a fraction"]),
        ("a number may have a fraction", json!({"type": "number"}), json!(1.5), &[]),
        ("a list is no map", json!({"type": "object"}), json!([]), &["at: must be a map, not a list"]),
        ("a map is no list", json!({"type": "array"}), json!({}), &["at: must be a list, not a map"]),
        ("a boolean", json!({"type": "boolean"}), json!("true"), &["at: must be a boolean, not a string"]),
        ("a port by number", int_or_string.clone(), json!(80), &[]),
        ("a port by name", int_or_string.clone(), json!("http"), &[]),
        ("a port by list", int_or_string, json!([]), &["at: must be an integer or a string, not a list"]),
    ]);
}

#[test]
fn whole_numbers_are_exact_or_refused() {
    let integer = json!({"type": "integer"});
    let beyond: &[&str] = &["at: is beyond 2^53 and cannot be carried exactly"];
    check(vec![
        ("the last exact one", integer.clone(), json!(9_007_199_254_740_991_i64), &[]),
        ("2^53 itself may have been 2^53 + 1", integer.clone(), json!(9_007_199_254_740_992_i64), beyond),
        ("so may its negative", integer.clone(), json!(-9_007_199_254_740_992_i64), beyond),
        ("beyond any integer type", integer, json!(1e300), beyond),
        ("only one breach of an int32", json!({"type": "integer", "format": "int32"}), json!(1e300), beyond),
        ("a number need not be whole", json!({"type": "number"}), json!(1e300), &[]),
    ]);
}

#[test]
fn numbers_and_strings_keep_their_limits() {
    let replicas = json!({"type": "integer", "format": "int32", "minimum": 1});
    let share =
        json!({"type": "number", "minimum": 0, "exclusiveMinimum": true, "maximum": 1, "exclusiveMaximum": true});
    let name = json!({"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[a-zü]*$"});
    let policy = json!({"type": "string", "enum": ["Always", "IfNotPresent", "Never"]});
    check(vec![
        ("at the bound", replicas.clone(), json!(1), &[]),
        ("below it", replicas.clone(), json!(0), &["at: must be at least 1, not 0"]),
        (
            "the format is a bound",
            replicas,
            json!(2_147_483_648_i64),
            &["at: must be at most 2147483647, not 2147483648"],
        ),
        ("inside", share.clone(), json!(0.5), &[]),
        ("at an end that is out", share.clone(), json!(0), &["at: must be more than 0, not 0"]),
        ("at the other end", share, json!(1), &["at: must be less than 1, not 1"]),
        ("characters count, not bytes", name.clone(), json!("üüü"), &[]),
        ("empty", name.clone(), json!(""), &["at: must be at least 1 character"]),
        (
            "all rules are told",
            name,
            json!("ABCD"),
            &["at: must be at most 3 characters", "at: does not match `^[a-zü]*$`"],
        ),
        ("a pattern matches anywhere", json!({"pattern": "b"}), json!("abc"), &[]),
        ("listed", policy.clone(), json!("Never"), &[]),
        ("not listed", policy, json!("Sometimes"), &["at: \"Sometimes\" is not one of Always, IfNotPresent, Never"]),
        ("a double is the number it is", json!({"enum": [1, 2]}), json!(2.0), &[]),
        ("and looks like it", json!({"minimum": 1}), json!(0.0), &["at: must be at least 1, not 0"]),
        ("a list may be of numbers", json!({"enum": [1, 2]}), json!(3), &["at: 3 is not one of 1, 2"]),
        ("too few", json!({"minItems": 1}), json!([]), &["at: must have at least 1 entry, not 0"]),
        ("too many", json!({"maxItems": 2}), json!([1, 2, 3]), &["at: must have at most 2 entries, not 3"]),
        ("a map counts, too", json!({"minProperties": 1}), json!({}), &["at: must have at least 1 entry, not 0"]),
    ]);
}

#[test]
fn objects_take_what_they_declare() {
    let fields = json!({"name": {"type": "string"}, "port": {"type": "integer", "default": 80}});
    let closed = json!({"type": "object", "properties": fields, "required": ["name", "port"]});
    let open = json!({"type": "object", "properties": fields, "x-kubernetes-preserve-unknown-fields": true});
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true});
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    check(vec![
        ("the API server fills in a default", closed.clone(), json!({"name": "a"}), &[]),
        ("missing", closed.clone(), json!({}), &["at.name: is required"]),
        (
            "all at once, in order of path",
            closed,
            json!({"port": "x", "nam": 1}),
            &["at.nam: unknown field", "at.name: is required", "at.port: must be an integer, not a string"],
        ),
        ("an open one takes anything", open.clone(), json!({"other": null}), &[]),
        ("but minds its own", open, json!({"name": 1}), &["at.name: must be a string, not an integer"]),
        ("an object within", embedded.clone(), json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"x": 1}}), &[]),
        ("takes no more unless told", embedded, json!({"spec": {}}), &["at.spec: unknown field"]),
        ("a map minds its values", map, json!({"a.b": 1}), &["at.\"a.b\": must be a string, not an integer"]),
        (
            "a map that declares nothing is pruned bare",
            json!({"type": "object"}),
            json!({"a": 1}),
            &["at.a: unknown field"],
        ),
        (
            "entries are checked one by one",
            json!({"items": {"type": "string"}}),
            json!(["a", 1, null]),
            &["at[1]: must be a string, not an integer", "at[2]: must be a string, not null"],
        ),
    ]);
}

#[test]
fn forms_are_checked_and_declare_nothing() {
    let fields = json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
    let with = |keyword: &str, forms: Value| json!({"type": "object", "properties": fields, keyword: forms});
    let either = json!([{"required": ["a"]}, {"required": ["b"]}]);
    check(vec![
        ("any: one is enough", with("anyOf", either.clone()), json!({"a": 1}), &[]),
        (
            "any: none",
            with("anyOf", either.clone()),
            json!({}),
            &["at: fits no allowed form: at.a: is required; or at.b: is required"],
        ),
        ("one: just one", with("oneOf", either.clone()), json!({"b": 1}), &[]),
        (
            "one: both",
            with("oneOf", either.clone()),
            json!({"a": 1, "b": 1}),
            &["at: fits 2 of 2 forms of which only one is allowed"],
        ),
        ("all", with("allOf", either), json!({"a": 1}), &["at.b: is required"]),
        ("not", with("not", json!({"required": ["a"]})), json!({"a": 1}), &["at: has a form that is not allowed"]),
        (
            "fields come from outside",
            with("allOf", json!([{"properties": {"a": {"minimum": 1}}}])),
            json!({"a": 1, "b": 1}),
            &[],
        ),
    ]);
}

#[test]
fn hints_say_what_to_do() {
    let fields = |names: &[&str]| -> Value {
        let properties: Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        json!({"type": "object", "properties": properties})
    };
    let many: Vec<String> = (0..13).map(|n| format!("field{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let rows = [
        (
            "a near name",
            fields(&["minReplicaCount"]),
            json!({"minReplicas": 1}),
            Some("`minReplicaCount`; an unknown field would otherwise be dropped"),
        ),
        ("none near, few known", fields(&["b", "a"]), json!({"colour": 1}), Some("known here: a, b")),
        ("none near, many known", fields(&many), json!({"colour": 1}), None),
        ("none known", fields(&[]), json!({"colour": 1}), None),
        ("quotes are missing", json!({"type": "string"}), json!(true), Some("put it in quotes")),
        ("quotes are too many", json!({"type": "integer"}), json!("5"), Some("write it without quotes")),
        ("quotes are not the matter", json!({"type": "integer"}), json!("five"), None),
    ];
    for (why, node, value, expected) in rows {
        let breaches = schema(node).breaches(&value, &Path::root(), &|_| false);
        assert_eq!(breaches.len(), 1, "{why}");
        assert_eq!(breaches[0].hint.as_deref(), expected, "{why}");
    }
}

#[test]
fn secrets_are_never_printed() {
    let node = json!({"type": "object", "properties": {
        "value": {"enum": ["a"], "pattern": "^a", "maxLength": 1},
        "number": {"minimum": 1_000_000},
        "either": {"anyOf": [{"enum": ["a"]}, {"minLength": 99}]},
        "shown": {"enum": ["a"]}}});
    let value = json!({"value": "hunter2", "number": 1234, "either": "hunter2", "shown": "plain"});
    let secret = |path: &Path| path.first_key() != Some("shown");
    let breaches = schema(node).breaches(&value, &Path::root(), &secret);
    let text = format!("{breaches:?}");
    assert!(!text.contains("hunter2") && !text.contains("1234"), "{text}");
    assert!(text.contains("must be one of a") && text.contains("must be at least 1000000\""), "{text}");
    assert!(text.contains("\\\"plain\\\" is not one of a"), "{text}");
}

#[test]
fn a_long_value_is_cut_to_fit_a_message() {
    let breaches = texts(json!({"enum": ["a"]}), &json!("ü".repeat(500)));
    assert!(breaches[0].ends_with("… is not one of a") && breaches[0].len() < 250);
}
