//! The container of an autoscaler, and its command line.

use crate::config::problem::{Problem, Problems};
use crate::config::tree::{Content, Node, Place, shorten};
use crate::migrate::command_line::Word;
use crate::migrate::config_map::name_of;

/// An autoscaler that can be migrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Autoscaler {
    ClusterAutoscaler,
    Escalator,
}

/// A container of one.
pub(super) struct Found<'n> {
    pub(super) autoscaler: Autoscaler,
    object: &'n Node,
    /// The pod's spec.
    pub(super) pod: &'n Node,
    container: &'n Node,
}

/// The containers of autoscalers in the pods of `object`.
pub(super) fn find(object: &Node) -> Vec<Found<'_>> {
    let spec = object.get("spec");
    let template = spec.and_then(|spec| spec.get("template")).and_then(|template| template.get("spec"));
    let Some(pod) = template.or(spec) else { return Vec::new() };
    let containers = items(pod.get("containers"));
    let known = |container| Some(Found { autoscaler: recognise(container)?, object, pod, container });
    containers.filter_map(known).collect()
}

/// By what is run, or by the image where the image says what is run.
fn recognise(container: &Node) -> Option<Autoscaler> {
    let first = items(container.get("command")).chain(items(container.get("args"))).next().and_then(Node::text);
    let program = first.filter(|word| !word.starts_with('-')).map(|word| word.rsplit('/').next().unwrap_or(word));
    let image = container.get("image").and_then(Node::text).unwrap_or_default();
    let image = image.rsplit('/').next().unwrap_or(image).split(['@', ':']).next().unwrap_or_default();
    match (program, image) {
        (Some("cluster-autoscaler"), _) => Some(Autoscaler::ClusterAutoscaler),
        (Some("escalator"), _) | (_, "escalator") => Some(Autoscaler::Escalator),
        (_, image) if image == "cluster-autoscaler" || image.starts_with("cluster-autoscaler-") => {
            Some(Autoscaler::ClusterAutoscaler)
        }
        _ => None,
    }
}

fn items(list: Option<&Node>) -> impl Iterator<Item = &Node> {
    let items = match list.map(|list| &list.content) {
        Some(Content::List(items)) => &**items,
        _ => &[],
    };
    items.iter().map(|item| &**item)
}

impl Found<'_> {
    /// Where the container stands.
    pub(super) fn place(&self) -> Place {
        self.container.place.clone()
    }

    /// `container cluster-autoscaler of Deployment kube-system/cluster-autoscaler`
    pub(super) fn describe(&self) -> String {
        let text = |node: Option<&Node>| node.and_then(Node::text).map_or_else(|| "?".to_owned(), shorten);
        let namespace = self.object.get("metadata").and_then(|metadata| metadata.get("namespace"));
        let namespace = namespace.and_then(Node::text).map(|name| format!("{}/", shorten(name))).unwrap_or_default();
        let (container, kind) = (text(self.container.get("name")), text(self.object.get("kind")));
        format!("container {container} of {kind} {namespace}{}", name_of(self.object).map_or_else(String::new, shorten))
    }

    /// Its command and arguments, with variables filled in.
    pub(super) fn words(&self, problems: &mut Problems) -> Vec<Word> {
        let mut words = Vec::new();
        for item in items(self.container.get("command")).chain(items(self.container.get("args"))) {
            match item.text() {
                Some(text) => {
                    words.push(Word { text: self.filled(text, &item.place, problems), place: item.place.clone() })
                }
                None => {
                    let message = format!("an argument cannot be {}", item.describe());
                    problems.add(Problem::at(
                        item.place.clone(),
                        message,
                        "write text, in quotes where it looks like more",
                    ));
                }
            }
        }
        if let Some(shell) = words.first().filter(|first| is_shell(&first.text)) {
            let message = "the autoscaler is run by a shell, whose script is not read here";
            let hint = "give its flags instead: `headroom migrate cluster-autoscaler -- FLAGS`";
            problems.add(Problem::at(shell.place.clone(), message, hint));
            words.clear();
        }
        words
    }

    /// `$(NAME)` is replaced by the value of the container's environment variable, as the kubelet does it.
    fn filled(&self, text: &str, place: &Place, problems: &mut Problems) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find('$') {
            let (before, from) = rest.split_at(start);
            out.push_str(before);
            let end = from.find(')').filter(|_| from.starts_with("$("));
            match (from.get(1..2), end) {
                (Some("$"), _) => {
                    out.push('$');
                    rest = from.get(2..).unwrap_or_default();
                }
                (_, Some(end)) => {
                    let name = from.get(2..end).unwrap_or_default();
                    match self.variable(name) {
                        // One that is not there stays as it is written.
                        None => out.push_str(from.get(..=end).unwrap_or_default()),
                        Some(Some(value)) => out.push_str(value),
                        Some(None) => {
                            let message = format!("the value of `{}` is not in this file", shorten(name));
                            let hint = "write the value out in its place";
                            problems.add(Problem::at(place.clone(), message, hint));
                        }
                    }
                    rest = from.get(end + 1..).unwrap_or_default();
                }
                _ => {
                    out.push('$');
                    rest = from.get(1..).unwrap_or_default();
                }
            }
        }
        out + rest
    }

    /// The environment variable called `name`, and its value unless it comes from elsewhere.
    fn variable(&self, name: &str) -> Option<Option<&str>> {
        let named = |variable: &&Node| variable.get("name").and_then(Node::text) == Some(name);
        let variable = items(self.container.get("env")).filter(named).last()?;
        Some(match variable.get("valueFrom") {
            Some(_) => None,
            None => Some(variable.get("value").and_then(Node::text).unwrap_or_default()),
        })
    }

    /// The names of the ConfigMaps that are mounted.
    pub(super) fn mounted(&self) -> Vec<&str> {
        let volumes = items(self.pod.get("volumes"));
        volumes.filter_map(|volume| volume.get("configMap")?.get("name")?.text()).collect()
    }
}

fn is_shell(word: &str) -> bool {
    let program = word.rsplit('/').next().unwrap_or(word);
    matches!(program, "sh" | "bash" | "ash" | "dash")
}
