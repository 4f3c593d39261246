//! The commands `plan` and `explain`: what they print and how they exit. Each file of `plan` is a page of examples.

use std::fs::File;
use std::process::Command;

#[test]
fn plan_and_explain() {
    trycmd::TestCases::new().case("tests/plan/*.trycmd").case("tests/plan/*.toml");
}

/// The README's first example is what the program prints about a cluster that it gets on standard input.
#[test]
fn the_readme_shows_what_is_printed() {
    let readme = include_str!("../../../README.md");
    let (_, example) = readme.split_once("    $ kubectl get nodes,pods -A -o json | headroom plan -f -\n").unwrap();
    let shown = example.lines().map_while(|line| if line.is_empty() { Some("") } else { line.strip_prefix("    ") });
    let dump = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/clusters/waiting.yaml")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_headroom")).args(["plan", "-f", "-"]).stdin(dump).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(shown.collect::<Vec<_>>().join("\n").trim_end(), printed.trim_end());
}

/// docs/output.md names every field that a plan has and every kind of action, reason, refusal, warning, limit and misfit.
#[test]
fn the_output_is_documented() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/output.md")).unwrap();
    let mut missing = Vec::new();
    let examples = [
        include_str!("plan/for-programs.trycmd"),
        include_str!("plan/exit-codes.trycmd"),
        include_str!("plan/spare-room.trycmd"),
    ];
    for example in examples {
        for json in example.split("```console").filter(|block| block.contains("-o json\n{")) {
            let json = &json[json.find('{').unwrap()..=json.rfind('}').unwrap()];
            let json: serde_json::Value = serde_json::from_str(json).unwrap();
            undocumented(&json, &page, &mut missing);
        }
    }
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../headroom-core/src");
    let kinds = [
        ("plan/mod.rs", "Action"),
        ("plan/reason.rs", "Reason"),
        ("plan/refusal.rs", "Why"),
        ("plan/kept.rs", "Kept"),
        ("plan/kept.rs", "Unmovable"),
        ("plan/kept.rs", "Waits"),
        ("plan/kept.rs", "Event"),
        ("plan/warning.rs", "Warning"),
        ("plan/warning.rs", "BufferProblem"),
        ("plan/slack.rs", "Placeholder"),
        ("limits.rs", "Bound"),
        ("scheduling/misfit.rs", "Misfit"),
    ];
    for (file, kind) in kinds {
        let source = std::fs::read_to_string(format!("{core}/{file}")).unwrap();
        let start = source.find(&format!("pub enum {kind} {{")).unwrap();
        let body = &source[start..start + source[start..].find("\n}").unwrap()];
        let variants = body.lines().filter(|line| line.starts_with("    ") && line.as_bytes()[4].is_ascii_uppercase());
        for variant in variants {
            let name = variant.trim().trim_end_matches([' ', '{', ',']);
            let name = name[..1].to_lowercase() + &name[1..];
            missing.extend((!page.contains(&format!("`{name}`"))).then_some(name));
        }
    }
    assert_eq!(missing, [] as [&str; 0]);
}

/// The keys of `value` that `page` does not name. The names of kinds of objects are not fields.
fn undocumented(value: &serde_json::Value, page: &str, missing: &mut Vec<String>) {
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| undocumented(item, page, missing)),
        serde_json::Value::Object(fields) => {
            for (key, field) in fields {
                missing.extend((!page.contains(&format!("`{key}`"))).then(|| key.clone()));
                if key != "objects" && key != "coverage" {
                    undocumented(field, page, missing);
                }
            }
        }
        _ => {}
    }
}
