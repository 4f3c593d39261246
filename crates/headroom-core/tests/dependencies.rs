//! The manifest of headroom-core is the proof that it does no I/O: every dependency is on this list on purpose.

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Values, ordered maps, hashing, time without a clock, derive macros for data and errors, and tanh.
const ALLOWED: [&str; 7] = ["indexmap", "jiff", "libm", "rustc-hash", "serde", "smallvec", "thiserror"];

#[test]
fn core_depends_only_on_what_is_on_the_list() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let options = ["--locked".to_owned(), "--offline".to_owned()];
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().other_options(options).exec();
    let packages = metadata.expect("cargo metadata answers").packages;
    let core = packages.iter().find(|package| *package.name == "headroom-core").expect("the crate is in its workspace");
    let normal = core.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
    let strangers: Vec<&str> =
        normal.map(|dependency| dependency.name.as_str()).filter(|name| !ALLOWED.contains(name)).collect();
    assert!(
        strangers.is_empty(),
        "headroom-core depends on {strangers:?}; it decides on values only, so I/O and the like belong in another crate"
    );
}
