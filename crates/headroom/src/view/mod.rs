//! How results are shown: text and tables for people, JSON and YAML for programs.
//!
//! Texts may hold colour codes; whoever prints them leaves those out where they do not belong. Colour never says
//! anything that the words do not.

mod actions;
mod assumed;
pub(crate) mod called;
mod caveats;
mod columns;
mod comparison;
mod diary;
pub mod explain;
mod output;
mod plan;
mod refusals;
mod scale_down;
mod scale_ups;
mod slack;
mod summary;
pub(crate) mod words;

use anstyle::{AnsiColor, Style};

pub use comparison::comparison;
pub use diary::Diary;
pub use output::Output;
pub use plan::plan;
pub use summary::summary;

const TITLE: Style = Style::new().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// A title and indented lines, followed by an empty line; nothing at all without lines.
fn section(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("{TITLE}{title}{TITLE:#}\n{lines}\n")
}

/// `text; hint: what to do`
fn with_hint(text: String, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{text}; {HINT}hint:{HINT:#} {hint}"),
        None => text,
    }
}
