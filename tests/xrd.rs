//! The packaged schemas and the Rust types say the same, field by field; defaults stand in the types' layers, in the
//! schemas' descriptions, in the install kit's commented settings, and nowhere else.

mod common;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use common::fields::{self, Fields};
use common::report::Report;
use function_asya::inputs::Inputs;
use function_asya::platform::{self, Platform};
use function_asya::resolve::layers;
use function_asya::spec::Spec;
use serde_json::Value;

static XRD: LazyLock<Value> = LazyLock::new(|| yaml(include_str!("../package/xrd.yaml")));
static INPUT: LazyLock<Value> = LazyLock::new(|| yaml(include_str!("../package-function/input.yaml")));

/// What the schemas declare and no type reads: names of old, refused by name, and what every object has.
const UNREAD: [&str; 8] =
    ["scaling.minReplicas", "scaling.maxReplicas", "workload", "timeout", "socket", "apiVersion", "kind", "metadata"];

/// One type for the environment of every container reads this; the schema refuses it for connectors.
const REFUSED_BEFORE: &str = "stateProxy[].connector.env[].valueFrom";

fn yaml(text: &str) -> Value {
    serde_yaml::from_str(text).expect("a packaged file is YAML")
}

fn schema(definition: &Value) -> &Value {
    &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

fn spec() -> &'static Value {
    &schema(&XRD)["properties"]["spec"]
}

/// What a schema declares, in the words of [`fields`]; nothing below what is open.
fn declared(schema: &Value, at: &str, found: &mut Fields) {
    let open = schema["x-kubernetes-preserve-unknown-fields"] == true || schema["x-kubernetes-int-or-string"] == true;
    let mut kind = schema["type"].as_str().unwrap_or("any").to_owned();
    if let Some(values) = schema["enum"].as_array() {
        kind = format!("one of {}", values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "));
    }
    found.insert(at.to_owned(), if open { "any".to_owned() } else { kind });
    if open {
        return;
    }
    for (key, below) in schema["properties"].as_object().into_iter().flatten() {
        let dot = if at.is_empty() { "" } else { "." };
        declared(below, &format!("{at}{dot}{key}"), found);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", ".*")] {
        if schema[key].is_object() {
            declared(&schema[key], &format!("{at}{suffix}"), found);
        }
    }
}

/// True if what a type reads is what the schema declares; texts and enums may be kept as texts, anything as itself.
fn agree(declared: &str, read: &str) -> bool {
    declared == read
        || declared.starts_with("one of ") && read == "string"
        || declared == "any" && read == "string"
        || read == "any"
}

fn compare(schema: &Value, read: &Fields, report: &mut Report) {
    let mut all = Fields::new();
    declared(schema, "", &mut all);
    let below_any = |path: &str, fields: &Fields| {
        fields.iter().any(|(above, kind)| kind == "any" && path != above && path.starts_with(above.as_str()))
    };
    for (path, kind) in &all {
        report.look();
        let old = UNREAD.contains(&path.as_str());
        match read.get(path) {
            Some(found) if agree(kind, found) && !old => {}
            Some(found) => report.fail(path, format!("the schema says {kind}, the type {found}")),
            None if old || below_any(path, read) => {}
            None => report.fail(path, "the schema declares it and no type reads it"),
        }
    }
    for path in read.keys().filter(|path| !all.contains_key(*path) && !below_any(path, &all) && *path != REFUSED_BEFORE)
    {
        report.fail(path, "a type reads it and the schema does not declare it");
    }
}

#[test]
fn the_xrd_declares_what_the_spec_reads() {
    let mut report = Report::default();
    compare(spec(), &fields::of::<Spec>(), &mut report);
    report.end();
}

#[test]
fn the_crd_of_the_settings_declares_what_the_platform_reads() {
    let mut report = Report::default();
    compare(schema(&INPUT), &fields::of::<Platform>(), &mut report);
    report.end();
}

/// Every schema node by its path.
fn nodes<'a>(schema: &'a Value, at: &str, found: &mut BTreeMap<String, &'a Value>) {
    found.insert(at.to_owned(), schema);
    for (key, below) in schema["properties"].as_object().into_iter().flatten() {
        nodes(below, &format!("{at}.{key}"), found);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", ".*")] {
        if schema[key].is_object() {
            nodes(&schema[key], &format!("{at}{suffix}"), found);
        }
    }
}

#[test]
fn no_schema_has_defaults_and_every_field_is_described() {
    let mut report = Report::default();
    for definition in [&*XRD, &*INPUT] {
        let mut found = BTreeMap::new();
        nodes(schema(definition), "", &mut found);
        for (path, node) in found {
            report.look();
            if node.get("default").is_some() {
                report.fail(&path, "has a default: the API server would fill it in before flavors are merged");
            }
            if node.get("uniqueItems").is_some() {
                report.fail(&path, "has uniqueItems, which Kubernetes refuses");
            }
            let described = node["description"].as_str().is_some_and(|text| !text.is_empty());
            if !described && !path.ends_with("[]") && !path.ends_with(".*") && path != ".metadata" {
                report.fail(&path, "has no description");
            }
        }
    }
    report.end();
}

/// The leaves of a tree of settings, by path.
fn leaves(value: &Value, at: &str, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| leaves(value, &format!("{at}.{key}"), found));
        }
        _ => drop(found.insert(at.to_owned(), value.clone())),
    }
}

/// Each default is the one that the field's description tells.
fn defaults_are_told(schema: &Value, defaults: &Value, exceptions: &[&str], report: &mut Report) {
    let (mut found, mut values) = (BTreeMap::new(), BTreeMap::new());
    nodes(schema, "", &mut found);
    leaves(defaults, "", &mut values);
    for (path, value) in values.iter().filter(|(path, _)| !exceptions.contains(&path.as_str())) {
        report.look();
        let text = found.get(path).and_then(|node| node["description"].as_str()).unwrap_or_default();
        let told = match value {
            Value::String(word) if !word.is_empty() => word.clone(),
            other => other.to_string(),
        };
        let lower = text.to_lowercase();
        let says = ["default ", "default: "].map(|word| format!("{word}{}", told.to_lowercase()));
        if !says.iter().any(|wanted| lower.contains(wanted.as_str())) {
            report.fail(path, format!("the default is {told}; the description says {text:?}"));
        }
    }
}

#[test]
fn descriptions_tell_the_built_in_defaults() {
    let mut report = Report::default();
    defaults_are_told(spec(), &layers::defaults().spec, &[], &mut report);
    let (settings, problems) = platform::layers(&Inputs::default());
    assert!(problems.is_empty(), "{problems}");
    // All stages run by default, and the tag of the image changes with every release.
    defaults_are_told(schema(&INPUT), &settings[0].values, &[".stages", ".sidecar.image"], &mut report);
    report.end();
}

/// The install kit's settings with every comment that holds a key taken off, as its first lines tell people to.
fn uncommented() -> String {
    let text = include_str!("../examples/install/platform.yaml").replace("\ndata: {}\n", "\ndata:\n");
    let (head, data) = text.split_once("\ndata:\n").expect("data is empty, and filled by comments alone");
    let bare = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        let key = line.trim_start().strip_prefix("# ").unwrap_or_else(|| panic!("no comment: {line:?}"));
        format!("{}{key}\n", &line[..indent])
    };
    let lines = data.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("##"));
    format!("{head}\ndata:\n{}", lines.map(bare).collect::<String>())
}

#[test]
fn the_install_kit_has_every_setting_with_its_default() {
    let mut report = Report::default();
    let (mut told, mut wanted, mut known) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    leaves(&yaml(&uncommented())["data"], "", &mut told);
    leaves(&platform::layers(&Inputs::default()).0[0].values, "", &mut wanted);
    // What is empty is filled in late: by the kubelet's own rule, and by the flag of `serve`.
    wanted.insert(".sidecar.imagePullPolicy".to_owned(), "IfNotPresent".into());
    wanted.insert(".ttl".to_owned(), "60s".into());
    // These two belong into a step's input; the file says so on top.
    let of_input = ["environmentConfig", "stages"];
    for key in of_input {
        let default = wanted.remove(&format!(".{key}")).expect("a setting");
        let line = format!("\n# {key}: {default}\n");
        report.equal(key, "stands on top", &true, &include_str!("../examples/install/platform.yaml").contains(&line));
    }
    nodes(schema(&INPUT), "", &mut known);
    let machinery = ["", ".apiVersion", ".kind", ".metadata", ".environmentConfig", ".stages"];
    let is_leaf = |node: &Value| node.get("properties").is_none();
    let declared = known.iter().filter(|(path, node)| is_leaf(node) && !machinery.contains(&path.as_str()));
    let declared: Vec<_> = declared.map(|(path, _)| path).filter(|path| !path.contains(['[', '*'])).collect();
    let keys: Vec<_> = told.keys().collect();
    report.equal("platform.yaml", "keys", &declared, &keys);
    for (path, value) in &told {
        report.look();
        report.equal(path, "default", &wanted.get(path), &Some(value));
    }
    report.end();
}

#[test]
fn the_settings_of_the_install_kit_are_taken_and_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("platform.yaml");
    std::fs::write(&file, uncommented()).expect("a file can be written");
    let render = |arguments: &[&std::ffi::OsStr]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_function-asya"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).args([
            "render",
            "examples/minimal/actor.yaml",
            "--simulate",
            "ready",
        ]);
        let output = command.args(arguments).output().expect("the binary runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).expect("text");
        printed
            .lines()
            .filter(|line| !line.contains("asya-platform"))
            .fold(String::new(), |all, line| all + line + "\n")
    };
    assert_eq!(render(&[]), render(&["-e".as_ref(), file.as_os_str()]));
}
