//! Node groups: what `--nodes` names, or one in place of those that Cluster Autoscaler finds itself.

use super::cloud::Cloud;
use super::values::Values;
use crate::config::problem::{Problem, Problems};
use crate::config::tree::{Place, shorten};
use crate::migrate::yaml::{comment, scalar};

/// What the group is called that stands where none is named.
pub(super) const EXAMPLE: &str = "example";

/// The label that stands where nobody but the user knows one.
const PLACEHOLDER: &str = "example.com/node-group";

/// A node group.
#[derive(Clone, Debug)]
pub(super) struct NodeGroup {
    /// As the cloud calls it.
    pub(super) id: String,
    min: u32,
    max: u32,
    place: Place,
}

/// The groups that `--nodes` names.
pub(super) fn named(values: &Values, problems: &mut Problems) -> Vec<NodeGroup> {
    let mut groups: Vec<NodeGroup> = Vec::new();
    for given in values.each("nodes") {
        match parse(&given.value) {
            Ok((min, max, id)) => {
                if let Some(first) = groups.iter().find(|group| group.id == id) {
                    let message = format!("`--nodes` names `{}` a second time", shorten(id));
                    let problem = Problem::at(given.place.clone(), message, "give each group once");
                    problems.add(problem.also(first.place.clone(), "first here"));
                    continue;
                }
                groups.push(NodeGroup { id: id.to_owned(), min, max, place: given.place.clone() });
            }
            Err(hint) => {
                let message = format!("`--nodes` cannot be `{}`", shorten(&given.value));
                problems.add(Problem::at(given.place.clone(), message, hint));
            }
        }
    }
    groups
}

fn parse(text: &str) -> Result<(u32, u32, &str), &'static str> {
    let form = "write MIN:MAX:NAME, for example 1:10:web-nodes";
    let mut parts = text.splitn(3, ':');
    let (Some(min), Some(max), Some(name)) = (parts.next(), parts.next(), parts.next()) else { return Err(form) };
    let (Ok(min), Ok(max)) = (min.parse(), max.parse()) else { return Err(form) };
    match name {
        "" => Err(form),
        _ if min > max => Err("make the minimum at most the maximum"),
        _ => Ok((min, max, name)),
    }
}

/// What all groups have in common.
pub(super) struct Shared<'v> {
    pub(super) cloud: Cloud,
    /// Where more groups are found, see [`Cloud::searches`].
    pub(super) searches: Vec<String>,
    /// `bootTimeout`, where it is given.
    pub(super) boot_timeout: Option<String>,
    pub(super) startup_taints: Vec<String>,
    pub(super) values: &'v Values,
}

impl Shared<'_> {
    /// The lists under `groups` and `discover`.
    pub(super) fn write(&self, groups: &[NodeGroup]) -> String {
        // An external provider says itself which groups there are.
        let groups = if let Cloud::ExternalGrpc(_) = self.cloud { &[] } else { groups };
        let mut out = String::new();
        if !groups.is_empty() || self.searches.is_empty() {
            out.push_str(&self.listed(groups));
        }
        if !self.searches.is_empty() {
            out.push_str(&self.discovered());
        }
        out
    }

    /// The groups that are found.
    fn discovered(&self) -> String {
        let mut out = String::from("discover:\n");
        if self.cloud != Cloud::Aws && self.values.has("nodes") {
            out.push_str(&comment(
                2,
                "--nodes did nothing: the provider says which groups there are, and how large they may be.",
            ));
        }
        for search in &self.searches {
            out.push_str(&format!("  - cloud: {search}\n"));
            self.settings(&mut out);
        }
        out
    }

    /// The groups that are named.
    fn listed(&self, groups: &[NodeGroup]) -> String {
        let mut out = String::from("groups:\n");
        if let Some(why) = self.cloud.unknown() {
            out.push_str(&comment(2, &why));
        }
        let rules = self.values.each("node-group-auto-discovery").iter();
        for given in rules.filter(|given| !self.cloud.discovers(&given.value)) {
            let hint = super::cloud::listing(&given.value);
            let text =
                format!("DECIDE: {} found groups by itself. Here each is an entry of its own{hint}.", given.show());
            out.push_str(&comment(2, &text));
        }
        if groups.is_empty() {
            if !self.values.has("node-group-auto-discovery") {
                let text = "DECIDE: no --nodes says which groups there are. Write an entry for each.";
                out.push_str(&comment(2, text));
            }
            let text = "This one shows the form, and is left alone until you give it a mode.";
            out.push_str(&comment(2, text));
            let example = NodeGroup { id: EXAMPLE.to_owned(), min: 1, max: 10, place: 0..0 };
            self.group(&example, EXAMPLE, &[], &mut out);
        }
        let names = self.cloud.names(groups);
        let labels: Vec<_> = groups.iter().map(|group| self.cloud.label(&group.id)).collect();
        for (at, (group, name)) in groups.iter().zip(&names).enumerate() {
            self.group(group, name, labels.get(..=at).unwrap_or_default(), &mut out);
        }
        out
    }

    /// One group. `labels` are those that the names of the groups before it tell, and its own at the end.
    fn group(&self, group: &NodeGroup, name: &str, labels: &[Option<(&str, String, &str)>], out: &mut String) {
        out.push_str(&format!("  - name: {}\n", scalar(name)));
        let own = labels.split_last().and_then(|(own, before)| own.as_ref().filter(|_| !before.contains(own)));
        let select = match own {
            Some((key, value, of)) => {
                let text = format!("By its name this is {of}, whose nodes carry this label.");
                out.push_str(&comment(4, &text));
                format!("label: {{ {}: {} }}", scalar(key), scalar(value))
            }
            None if self.cloud == Cloud::Aws => "machines: true".to_owned(),
            None => {
                let text = "DECIDE: write the label that its nodes carry and no other node does.";
                out.push_str(&comment(4, text));
                format!("label: {{ {PLACEHOLDER}: {} }}", scalar(&group.id))
            }
        };
        out.push_str(&format!("    select: {{ {select} }}\n"));
        if let Some(cloud) = self.cloud.key(&group.id, name) {
            out.push_str(&format!("    cloud: {cloud}\n"));
        }
        out.push_str(&format!("    size: {{ min: {}, max: {} }}\n", group.min, group.max));
        if labels.is_empty() {
            out.push_str("    mode: \"off\"\n");
        }
        self.settings(out);
    }

    /// What is said of all groups alike.
    fn settings(&self, out: &mut String) {
        out.push_str("    strategy: { pending: {} }\n");
        if let Some(timeout) = &self.boot_timeout {
            out.push_str(&format!("    bootTimeout: {timeout}\n"));
        }
        if !self.startup_taints.is_empty() {
            let taints: Vec<String> = self.startup_taints.iter().map(|key| scalar(key)).collect();
            out.push_str(&format!("    startupTaints: [{}]\n", taints.join(", ")));
        }
    }
}
