//! The committed code in `src/wire/proto/` is what the official files in `proto/` generate. `BLESS=1` rewrites it.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;

use protox::prost::Message as _;

const FILES: [&str; 2] = ["proto/fn/v1/run_function.proto", "proto/fn/v1beta1/zz_generated_run_function.proto"];

/// Their generated `Debug` would print what they carry: secrets. `src/wire/proto.rs` has another.
const SECRET: [&str; 2] = [".apiextensions.fn.proto.v1.CredentialData", ".apiextensions.fn.proto.v1.Resource"];

#[test]
fn generated_code_is_what_the_proto_files_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fresh = tempfile::tempdir().expect("a directory to generate into");
    generate(root, fresh.path());
    for (name, committed) in [
        ("apiextensions.r#fn.proto.v1.rs", "v1.rs"),
        ("apiextensions.r#fn.proto.v1beta1.rs", "v1beta1.rs"),
        ("descriptors.bin", "descriptors.bin"),
    ] {
        compare(&fresh.path().join(name), &root.join("src/wire/proto").join(committed));
    }
}

/// Writes the code of both packages, and the encoded descriptors with all they import.
fn generate(root: &Path, out: &Path) {
    let mut compiler = protox::Compiler::new([root]).expect("the project is a directory");
    compiler.include_imports(true).include_source_info(true).open_files(FILES.map(|file| root.join(file))).unwrap();
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .btree_map(".")
        .extern_path(".google.protobuf.Struct", "crate::wire::RawStruct")
        .extern_path(".apiextensions.fn.proto.v1beta1", "crate::wire::proto::v1")
        .skip_debug(SECRET)
        .out_dir(out)
        .compile_fds(compiler.file_descriptor_set())
        .unwrap();
    compiler.include_source_info(false);
    fs::write(out.join("descriptors.bin"), compiler.file_descriptor_set().encode_to_vec()).unwrap();
}

fn compare(fresh: &Path, committed: &Path) {
    let expected = fs::read(fresh).unwrap();
    if std::env::var_os("BLESS").is_some() {
        fs::write(committed, &expected).unwrap();
    }
    let actual = fs::read(committed).unwrap_or_default();
    assert!(actual == expected, "{} is stale: run `BLESS=1 cargo test --test generated`", committed.display());
}
