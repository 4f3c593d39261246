//! The reference page docs/scenarios.md.

use super::file;
use crate::config::reference::sections;
use crate::config::shape::Shape;

const INTRODUCTION: &str = include_str!("reference.md");

/// Keys of which the page of the configuration file tells, with what to say of them here.
const OF_CONFIGURATION: [(&str, &str); 4] = [
    ("prices", "[map](configuration.md#prices)"),
    ("limits", "[map](configuration.md#limits)"),
    ("backoff", "[map](configuration.md#backoff)"),
    ("groups", "list of groups"),
];

/// The page: an introduction, and a table for each map of a scenario file.
pub fn reference() -> String {
    let mut shape = file::file().kind().shape;
    if let Shape::Record(record) = &mut shape {
        for field in &mut record.fields {
            let told = OF_CONFIGURATION.into_iter().find(|(key, _)| *key == field.key);
            told.into_iter().for_each(|(_, expected)| field.shape = Shape::Written { expected, pattern: "." });
        }
    }
    let mut page = INTRODUCTION.to_owned();
    sections(&shape, &mut page);
    page
}
