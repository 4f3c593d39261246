//! Where the node groups stand in what the user gives: a file for `--nodegroups`, or a ConfigMap that embeds one.

use std::rc::Rc;

use crate::config::problem::{Problem, Problems};
use crate::config::tree::{self, Content, Node};
use crate::migrate::config_map::{embedded, is_config_map};

/// The text that holds the node groups, what messages call it, and what is wrong with it so far.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) root: Option<Rc<Node>>,
    pub(super) problems: Problems,
}

/// Reads `text`. A ConfigMap is replaced by the first of its files that has node groups.
pub(super) fn read(name: &str, text: &str) -> Source {
    let source = parse(name, text);
    let Some(config_map) = source.root.as_deref().filter(|root| is_config_map(root)) else { return source };
    match embedded(config_map, |_, text| text.contains("node_groups")) {
        Some((key, text)) => parse(&format!("{name} (data.{key})"), text),
        None => source,
    }
}

fn parse(name: &str, text: &str) -> Source {
    let mut problems = Problems::default();
    let root = tree::read(text, &mut problems);
    if root.is_none() && problems.is_empty() {
        problems.add(Problem::of_file(format!("{name} is empty"), "give the file of Escalator's --nodegroups"));
    }
    Source { name: name.to_owned(), text: text.to_owned(), root, problems }
}

/// The list under `node_groups`.
pub(super) fn node_groups<'n>(root: &'n Node, problems: &mut Problems) -> &'n [Rc<Node>] {
    let hint = "give a file for Escalator's --nodegroups, or a ConfigMap with one in it";
    match root.get("node_groups").map(|node| (&node.content, &node.place)) {
        Some((Content::List(items), place)) => {
            if items.is_empty() {
                problems.add(Problem::at(place.clone(), "there is no node group", hint));
            }
            items
        }
        Some((_, place)) => {
            problems.add(Problem::at(place.clone(), "`node_groups` must be a list", hint));
            &[]
        }
        None => {
            problems.add(Problem::at(root.place.clone(), "there is no list `node_groups` here", hint));
            &[]
        }
    }
}
