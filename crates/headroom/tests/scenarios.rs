//! The scenarios in scenarios/: each with its outcome beside it, NAME.out. `UPDATE_EXPECT=1` writes the outcomes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::expect_file;

#[test]
fn every_scenario_ends_as_recorded() {
    for file in scenarios() {
        let output = headroom(&["simulate", "-o", "wide", path(&file)]);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && stderr.is_empty(), "{}: {stderr}", file.display());
        expect_file![file.with_extension("out")].assert_eq(&stdout);
    }
}

#[test]
fn every_outcome_has_its_scenario() {
    for file in files("out") {
        assert!(file.with_extension("yaml").exists(), "{} is the outcome of nothing", file.display());
    }
}

#[test]
fn every_scenario_says_what_it_shows() {
    for file in scenarios() {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# "), "{} does not start with a comment", file.display());
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{} has a long line", file.display());
    }
}

#[test]
fn every_scenario_is_listed() {
    let page = include_str!("../../../docs/scenarios.md");
    let missing: Vec<PathBuf> = scenarios()
        .into_iter()
        .filter(|file| !page.contains(&format!("(../scenarios/{})", file.file_name().unwrap().to_str().unwrap())))
        .collect();
    assert!(missing.is_empty(), "docs/scenarios.md does not list {missing:?}");
}

#[test]
fn every_option_of_the_utilisation_strategy_is_in_a_scenario() {
    let schema: serde_json::Value = serde_json::from_str(&headroom::config::schema()).unwrap();
    let groups = &schema["properties"]["groups"]["items"]["properties"];
    let strategies = groups["strategy"]["oneOf"].as_array().unwrap();
    let utilization =
        strategies.iter().find_map(|strategy| strategy["properties"]["utilization"]["properties"].as_object()).unwrap();
    let all: String = scenarios().iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let missing: Vec<&String> = utilization.keys().filter(|key| !all.contains(&format!("{key}: "))).collect();
    assert!(missing.is_empty(), "no scenario has {missing:?}");
}

#[test]
fn every_recorded_round_is_decided_again_as_it_was() {
    let recording = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scenario.jsonl");
    for file in scenarios() {
        assert!(headroom(&["simulate", "--record", path(&recording), path(&file)]).status.success());
        let output = headroom(&["replay", path(&recording)]);
        assert!(output.status.success(), "{}: {}", file.display(), text(&output.stdout));
    }
}

fn scenarios() -> Vec<PathBuf> {
    let files = files("yaml");
    assert!(files.len() >= 15, "only {} scenarios were found", files.len());
    files
}

fn files(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|is| is == extension)).collect();
    files.sort();
    files
}

fn headroom(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headroom")).args(args).output().unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
