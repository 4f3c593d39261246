//! The page docs/escalator-migration.md.

use super::options::{AWS, EscalatorOption, FLAGS, GROUP};

/// What each option of Escalator becomes, in Markdown.
pub fn page() -> String {
    let mut page = include_str!("page.md").to_owned();
    for (title, options) in [("Options of a node group", GROUP), ("Options under `aws`", AWS), ("Flags", FLAGS)] {
        page.push_str(&format!("\n## {title}\n\n| Escalator | Headroom | what differs |\n|---|---|---|\n"));
        options.iter().for_each(|option| page.push_str(&row(option)));
    }
    page
}

fn row(option: &EscalatorOption) -> String {
    let becomes = option.becomes.map_or_else(|| "-".to_owned(), |key| format!("`{key}`"));
    format!("| `{}` | {becomes} | {} |\n", option.key, option.differs)
}
