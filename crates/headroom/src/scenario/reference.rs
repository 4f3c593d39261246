//! The reference page docs/scenarios.md.

use super::file;
use crate::config::reference::sections;
use crate::config::shape::Shape;

const INTRODUCTION: &str = include_str!("reference.md");

/// The page: an introduction, and a table for each map of a scenario file.
pub fn reference() -> String {
    let mut shape = file::file().kind().shape;
    if let Shape::Record(record) = &mut shape {
        // The groups have a page of their own.
        let groups = record.fields.iter_mut().find(|field| field.key == "groups");
        groups.into_iter().for_each(|field| field.shape = Shape::Written { expected: "list of groups", pattern: "." });
    }
    let mut page = INTRODUCTION.to_owned();
    sections(&shape, &mut page);
    page
}
