//! `headroom migrate`: what the configurations of other autoscalers become, and what is said about bad ones.
//!
//! Each file in a folder beside this one is an input, a line, and what is made of it; `UPDATE_EXPECT=1` writes the latter.

mod cluster_autoscaler;
mod escalator;
mod manifest;

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use headroom::config::{self, ConfigErrors};

const LINE: &str = "==========\n";

/// Compares what `migrate` makes of the inputs in `folder` with what is recorded. What it makes has to load.
fn compare(folder: &str, at_least: usize, migrate: impl Fn(&str) -> Result<String, ConfigErrors>) {
    let mut seen = 0;
    for path in cases(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let input = text.split(LINE).next().unwrap();
        let result = match migrate(input) {
            Ok(yaml) => {
                config::parse("headroom.yaml", &yaml)
                    .unwrap_or_else(|errors| panic!("{}: {errors}\n{yaml}", path.display()));
                yaml
            }
            Err(errors) => format!("{errors}\n"),
        };
        expect_file![&path].assert_eq(&format!("{input}{LINE}{result}"));
        seen += 1;
    }
    assert!(seen >= at_least, "only {seen} cases were found");
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/migrate").join(folder);
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
