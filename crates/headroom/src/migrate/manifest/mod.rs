//! Manifests in which another autoscaler runs: its container's command line is migrated, with the ConfigMaps beside it.

mod container;
mod node_groups;

use super::cluster_autoscaler::{self, Priorities};
use super::command_line::CommandLine;
use super::config_map::{embedded, is_config_map, name_of};
use super::escalator;
use crate::config::ConfigErrors;
use crate::config::problem::{Problem, Problems};
use crate::config::tree::{self, Content, Node};
use container::{Autoscaler, Found};

const HINT: &str = "give the manifest in which Cluster Autoscaler or Escalator runs, for example by `kubectl -n kube-system \
                    get deployment cluster-autoscaler -o yaml`";

/// The `headroom.yaml` that does what the autoscaler does whose container is in `text`: objects of Kubernetes in YAML or
/// JSON, in several documents or in a List. `name` is what errors call it.
///
/// Errors are that there is no such container or more than one, and those of the command line and ConfigMaps.
pub fn migrate(name: &str, text: &str) -> Result<String, ConfigErrors> {
    let mut problems = Problems::default();
    let documents = tree::read_all(text, &mut problems);
    let mut objects = Vec::new();
    documents.iter().for_each(|document| collect(document, &mut objects));
    let found: Vec<Found<'_>> = objects.iter().flat_map(|object| container::find(object)).collect();
    let Some(found) = only(name, &found, &mut problems) else { return problems.none_or(name, text, None) };
    let words = found.words(&mut problems);
    let line = CommandLine { name: name.to_owned(), text: text.to_owned(), words };
    match found.autoscaler {
        Autoscaler::ClusterAutoscaler => {
            let priorities = priorities(name, &objects)?;
            let yaml = cluster_autoscaler::migrate(&line, priorities.as_ref());
            both(problems, &line, yaml)
        }
        Autoscaler::Escalator => {
            let (flags, file) = escalator::command_line(&line.words, &mut problems);
            let groups = node_groups::find(&objects, found, file.as_deref(), &mut problems);
            let Some((config_map, key, groups)) = groups else { return problems.none_or(name, text, None) };
            both(problems, &line, escalator::migrate(&format!("{name} ({config_map}, data.{key})"), groups, &flags))
        }
    }
}

/// The problems of the manifest and those of what was made of it.
fn both(problems: Problems, line: &CommandLine, yaml: Result<String, ConfigErrors>) -> Result<String, ConfigErrors> {
    match (problems.none_or(&line.name, &line.text, Some(())), yaml) {
        (Ok(()), yaml) => yaml,
        (Err(errors), Ok(_)) => Err(errors),
        (Err(errors), Err(others)) => Err(errors.and(others)),
    }
}

/// The objects of a document, which may be a list of them.
fn collect<'n>(document: &'n Node, objects: &mut Vec<&'n Node>) {
    let items = match &document.content {
        Content::List(items) => Some(items),
        _ => match document.get("items").map(|items| &items.content) {
            Some(Content::List(items)) => Some(items),
            _ => None,
        },
    };
    match items {
        Some(items) => objects.extend(items.iter().map(|item| &**item)),
        None => objects.push(document),
    }
}

/// The only container, or a problem.
fn only<'f, 'n>(name: &str, found: &'f [Found<'n>], problems: &mut Problems) -> Option<&'f Found<'n>> {
    match found {
        [found] => return Some(found),
        [] if problems.is_empty() => {
            let message = format!("no container in {name} is one of Cluster Autoscaler or Escalator");
            problems.add(Problem::of_file(message, HINT));
        }
        [] => {}
        [first, second, ..] => {
            let message = format!("a second container runs an autoscaler: {}", second.describe());
            let hint = "keep one of them in the file; groups of both can then be put together in one headroom.yaml";
            let problem = Problem::at(second.place(), message, hint);
            problems.add(problem.also(first.place(), format!("the first one: {}", first.describe())));
        }
    }
    None
}

/// What the ConfigMap of the expander `priority` says, if it is among the objects.
fn priorities(name: &str, objects: &[&Node]) -> Result<Option<Priorities>, ConfigErrors> {
    let named = |object: &&&Node| is_config_map(object) && name_of(object) == Some(Priorities::CONFIG_MAP);
    let Some(config_map) = objects.iter().find(named) else { return Ok(None) };
    match embedded(config_map, |key, _| key == Priorities::KEY) {
        Some((key, text)) => {
            Priorities::read(&format!("{name} ({}, data.{key})", Priorities::CONFIG_MAP), text).map(Some)
        }
        None => Ok(None),
    }
}
