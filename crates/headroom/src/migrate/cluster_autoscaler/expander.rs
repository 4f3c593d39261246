//! The chain of `--expander`, and the ConfigMap of its expander `priority`.

use regex_lite::Regex;

use super::file::Keys;
use super::values::Values;
use crate::config::problem::{ConfigErrors, Problem, Problems};
use crate::config::suggest::nearest;
use crate::config::tree::{self, Content, Node, shorten};
use crate::migrate::config_map::{embedded, is_config_map};
use crate::migrate::yaml::scalar;

const KNOWN: [&str; 7] = ["random", "most-pods", "least-waste", "least-nodes", "price", "priority", "grpc"];

/// Regular expressions for names of groups, under the number of their priority: what the ConfigMap
/// `cluster-autoscaler-priority-expander` holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Priorities(Vec<(i64, Vec<String>)>);

impl Priorities {
    /// The name of the ConfigMap.
    pub const CONFIG_MAP: &'static str = "cluster-autoscaler-priority-expander";

    /// The key in it.
    pub const KEY: &'static str = "priorities";

    /// Reads the ConfigMap, or what stands in it; `name` is what errors call it.
    pub fn read(name: &str, text: &str) -> Result<Self, ConfigErrors> {
        let mut problems = Problems::default();
        let root = tree::read(text, &mut problems);
        if let Some(root) = root.as_deref().filter(|root| is_config_map(root)) {
            return match embedded(root, |key, _| key == Self::KEY) {
                Some((key, text)) => Self::read(&format!("{name} (data.{key})"), text),
                None => {
                    let hint = "give the ConfigMap cluster-autoscaler-priority-expander";
                    problems.add(Problem::at(root.place.clone(), "there is no key `priorities` under `data`", hint));
                    problems.none_or(name, text, None)
                }
            };
        }
        if root.is_none() && problems.is_empty() {
            problems.add(Problem::of_file(format!("{name} is empty"), "write `10: [.*]`"));
        }
        let priorities = root.map(|root| Priorities(entries(&root, &mut problems)));
        problems.none_or(name, text, priorities)
    }
}

fn entries(root: &Node, problems: &mut Problems) -> Vec<(i64, Vec<String>)> {
    let Some(entries) = root.entries() else {
        let hint = "write a list of regular expressions under each number: `10: [.*]`";
        problems.add(Problem::at(root.place.clone(), format!("priorities cannot be {}", root.describe()), hint));
        return Vec::new();
    };
    let mut priorities = Vec::new();
    for (key, entry) in entries {
        let Ok(number) = key.parse() else {
            let message = format!("`{}` is no whole number", shorten(key));
            problems.add(Problem::at(entry.key_place.clone(), message, "write digits"));
            continue;
        };
        let patterns: Option<Vec<String>> = match &entry.value.content {
            Content::List(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
            Content::Scalar(_) | Content::Map(_) | Content::Broken => None,
        };
        match patterns {
            Some(patterns) => priorities.push((number, patterns)),
            None => {
                let hint = "write a list of regular expressions: `10: [.*]`";
                problems.add(Problem::at(entry.value.place.clone(), "this is no list of texts", hint));
            }
        }
    }
    priorities
}

/// Writes the expanders, and the priorities as far as they match one of the groups, which are called `names`. None is groups
/// that are not known here.
pub(super) fn write(
    values: &Values,
    priorities: Option<&Priorities>,
    names: Option<&[String]>,
    keys: &mut Keys,
    problems: &mut Problems,
) {
    let wanted: Vec<&str> = values.text("expander").split(',').map(str::trim).collect();
    check(values, &wanted, problems);
    let mut notes = Vec::new();
    let mut chain: Vec<&str> = wanted.iter().copied().filter(|name| *name != "grpc").collect();
    if chain.len() < wanted.len() {
        notes.push(
            "DECIDE: no expander asks another program, so that `grpc` is left out. Cluster Autoscaler took all options \
             where that program did not answer."
                .to_owned(),
        );
    }
    if wanted.contains(&"priority") {
        let (matching, others) = priorities.map(|priorities| sort(priorities, names)).unwrap_or_default();
        if matching.is_empty() {
            chain.retain(|name| *name != "priority");
            notes.push(match priorities {
                None => format!(
                    "DECIDE: `priority` is left out, since the ConfigMap {} was not given. Without it Cluster Autoscaler \
                     took all options. `headroom migrate cluster-autoscaler --priorities FILE` reads it.",
                    Priorities::CONFIG_MAP
                ),
                Some(_) => "DECIDE: `priority` is left out, since its expressions match no group that is listed here."
                    .to_owned(),
            });
        }
        for (number, patterns) in matching {
            let patterns: Vec<String> = patterns.iter().map(|pattern| scalar(pattern)).collect();
            keys.set(&format!("priorities.{number}"), format!("[{}]", patterns.join(", ")));
        }
        notes.extend(others);
    }
    if chain.contains(&"price") {
        notes.push(
            "DECIDE: say under `prices`, or as `price` of each group, what machines cost: Headroom has no price list. What \
             nobody says is estimated."
                .to_owned(),
        );
    }
    if chain.last() != Some(&"random") {
        chain.push("random");
    }
    keys.noted("expander", format!("[{}]", chain.join(", ")), notes);
}

/// Reports what Cluster Autoscaler does not start with.
fn check(values: &Values, wanted: &[&str], problems: &mut Problems) {
    let mut report = |message: String, hint: String| {
        problems.add(Problem::at(values.place("expander"), message, hint));
    };
    for (at, name) in wanted.iter().enumerate() {
        let before = wanted.get(..at).unwrap_or_default();
        if !KNOWN.contains(name) {
            let hint = match nearest(name, KNOWN) {
                Some(meant) => format!("was {meant} meant?"),
                None => format!("the expanders are {}", KNOWN.join(", ")),
            };
            report(format!("`{}` is no expander", shorten(name)), hint);
        } else if before.contains(name) {
            report(format!("the expander `{name}` stands here twice"), "name it once".to_owned());
        } else if before.contains(&"random") {
            report("nothing can follow `random`, which leaves one group".to_owned(), "put it last".to_owned());
        }
    }
}

/// Those patterns that match a group, and a comment for each that Headroom would refuse.
fn sort(priorities: &Priorities, names: Option<&[String]>) -> (Vec<(i64, Vec<String>)>, Vec<String>) {
    let (mut matching, mut others) = (Vec::<(i64, Vec<String>)>::new(), Vec::new());
    for (number, patterns) in &priorities.0 {
        let mut kept = Vec::new();
        for pattern in patterns {
            match Regex::new(pattern) {
                _ if pattern.is_empty() => others.push(format!("{number}: an empty expression is left out; write .*")),
                _ if pattern.contains(char::is_control) => {
                    others.push(format!("{number}: an expression with control characters is left out"));
                }
                Ok(regex) if names.is_none_or(|names| names.iter().any(|name| regex.is_match(name))) => {
                    kept.push(pattern.clone())
                }
                Ok(_) => {
                    others.push(format!("{number}: {}: left out, since it matches no group here", shorten(pattern)));
                }
                Err(error) => {
                    others.push(format!("DECIDE: {number}: {}: left out, since {error}", shorten(pattern)));
                }
            }
        }
        match matching.iter_mut().find(|(known, _)| known == number) {
            Some((_, known)) => known.extend(kept),
            None if kept.is_empty() => {}
            None => matching.push((*number, kept)),
        }
    }
    (matching, others)
}
