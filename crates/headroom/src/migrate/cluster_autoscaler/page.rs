//! The page docs/cluster-autoscaler-migration.md.

use super::flags::{Fate, Flag, SUBJECTS};

/// What each flag of Cluster Autoscaler becomes, in Markdown.
pub fn page() -> String {
    let mut page = include_str!("page.md").to_owned();
    for (title, flags) in SUBJECTS {
        let all_gone = flags.iter().all(|flag| flag.fate == Fate::Gone);
        let head = match all_gone {
            true => "| flag | why |\n|---|---|\n",
            false => "| flag | Headroom | what differs |\n|---|---|---|\n",
        };
        page.push_str(&format!("\n## {title}\n\n{head}"));
        flags.iter().for_each(|flag| page.push_str(&row(flag, all_gone)));
    }
    page
}

fn row(flag: &Flag, all_gone: bool) -> String {
    let becomes = match flag.fate {
        Fate::Key { path, .. } | Fate::Keys(path) => {
            path.split(", ").map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
        }
        Fate::Gone => "-".to_owned(),
    };
    match all_gone {
        true => format!("| `--{}` | {} |\n", flag.name, flag.differs),
        false => format!("| `--{}` | {becomes} | {} |\n", flag.name, flag.differs),
    }
}
