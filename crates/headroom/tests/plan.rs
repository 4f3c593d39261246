//! The commands `plan` and `explain`: what they print and how they exit. Each file of `plan` is a page of examples.

#[test]
fn plan_and_explain() {
    trycmd::TestCases::new().case("tests/plan/*.trycmd").case("tests/plan/*.toml");
}

/// docs/output.md names every field that a plan has and every kind of action, reason, refusal and warning.
#[test]
fn the_output_is_documented() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/output.md")).unwrap();
    let mut missing = Vec::new();
    for example in [include_str!("plan/for-programs.trycmd"), include_str!("plan/exit-codes.trycmd")] {
        for json in example.split("```console").filter(|block| block.contains("-o json\n{")) {
            let json = &json[json.find('{').unwrap()..=json.rfind('}').unwrap()];
            let json: serde_json::Value = serde_json::from_str(json).unwrap();
            undocumented(&json, &page, &mut missing);
        }
    }
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../headroom-core/src/plan");
    for (file, kind) in
        [("mod.rs", "Action"), ("reason.rs", "Reason"), ("refusal.rs", "Why"), ("warning.rs", "Warning")]
    {
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
