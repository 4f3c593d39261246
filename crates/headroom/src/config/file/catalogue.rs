//! A price list in a file of its own: our own format, or that of Karpenter's kwok provider.

use std::path::Path;

use headroom_core::pricing::PriceTable;

use super::{karpenter, machine_price};
use crate::config::kind::{list, unexpected};
use crate::config::problem::{ConfigErrors, Problem, Problems};
use crate::config::text_of;
use crate::config::tree::{self, Content};

const HINT: &str = "write `- { instanceType: m5.large, price: 0.096 }` for each machine type, or give the file of \
                    instance types that Karpenter's kwok provider reads";

/// Why there are no prices.
pub(super) enum Failure {
    /// The file cannot be read at all.
    Unreadable(Problem),
    /// What stands in it is wrong.
    Wrong(ConfigErrors),
}

/// The prices in the file at `path`.
pub(super) fn load(path: &Path) -> Result<PriceTable, Failure> {
    let name = path.display().to_string();
    let text = text_of(path, &name).map_err(Failure::Unreadable)?;
    parse(&name, &text).map_err(Failure::Wrong)
}

fn parse(name: &str, text: &str) -> Result<PriceTable, ConfigErrors> {
    let mut problems = Problems::default();
    // JSON may be indented with tabs and YAML may not. No string of JSON has one, and places stay where they are.
    let json = text.trim_start().starts_with(['[', '{']);
    let spaced = if json { text.replace('\t', " ") } else { text.to_owned() };
    let root = tree::read(&spaced, &mut problems);
    if root.is_none() && problems.is_empty() {
        problems.add(Problem::of_file(format!("{name} is empty"), HINT));
    }
    let entries = root.and_then(|root| match &root.content {
        Content::List(items) if items.is_empty() => {
            problems.add(Problem::at(root.place.clone(), "there is no price in this list", HINT));
            None
        }
        Content::List(items) if items.iter().any(|item| karpenter::is_instance_type(item)) => {
            Some(karpenter::prices(items, &mut problems))
        }
        Content::List(_) => {
            let entries = (list(machine_price::kind().sound().placed()).read)(&root, &mut problems)?;
            machine_price::check(&entries, &mut problems);
            Some(entries.into_iter().map(|(_, entry)| entry).collect())
        }
        Content::Map(_) | Content::Scalar(_) | Content::Broken => {
            unexpected("a list of prices", &root, HINT, &mut problems)
        }
    });
    problems.none_or(name, text, entries).map(PriceTable::from)
}
