//! What goes wrong, or is done to the cluster by somebody else.

use std::sync::Arc;

use headroom_core::snapshot::Taint;
use headroom_sim::scenario::{Incident, Mishap, When};
use jiff::SignedDuration;

use super::time::{SECOND, when};
use crate::config::file::taint;
use crate::config::kind::{Kind, count, duration, text};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

/// An event as it is read.
pub(super) struct Draft {
    at: When,
    lasts: Option<SignedDuration>,
    happens: Option<Mishap>,
    pub(super) places: Places,
}

/// What an event can be.
const HAPPENINGS: [&str; 9] =
    ["stockOut", "failBoots", "notReady", "break", "cordon", "taint", "noDelete", "limits", "target"];

pub(super) fn event() -> Kind<Draft> {
    let start =
        || Draft { at: When::After(SignedDuration::ZERO), lasts: None, happens: None, places: Places::default() };
    let doc = "Something that happens: `at` and exactly one of the other keys, `for` left aside. Where nodes of a group \
               are struck, these are its oldest.";
    let record = Record::new("events[]", doc, start)
        .required("at", when(), |event: &mut Draft| &mut event.at, "When it begins; a time of day is every day.")
        .field(
            "for",
            duration(SECOND).optional(),
            |event| &mut event.lasts,
            "After this it is undone. Left out: never.",
        );
    let happens: fn(&mut Draft) -> &mut Option<Mishap> = |event| &mut event.happens;
    record
        .field("stockOut", stock_out().optional(), happens, "The cloud has no more machines of a kind.")
        .field("failBoots", fail_boots().optional(), happens, "The next machines of a group never become nodes.")
        .field("notReady", nodes("events[].notReady", not_ready).optional(), happens, "Nodes turn NotReady.")
        .field(
            "break",
            nodes("events[].break", broken).optional(),
            happens,
            "Machines are gone, with nodes and pods; the cloud replaces them. Never undone.",
        )
        .field("cordon", nodes("events[].cordon", cordoned).optional(), happens, "Somebody cordons nodes.")
        .field("taint", tainted().optional(), happens, "Somebody taints nodes.")
        .field("noDelete", no_delete().optional(), happens, "Somebody asks by annotation that nodes are not removed.")
        .field("limits", limits().optional(), happens, "Somebody changes the limits of the cloud's group.")
        .field("target", target().optional(), happens, "Somebody sets the size of the cloud's group. Never undone.")
        .check(&HAPPENINGS, |_, at, problems| {
            let written: Vec<&str> = HAPPENINGS.into_iter().filter(|key| at.has(key)).collect();
            match written.as_slice() {
                [_] => {}
                [] => {
                    let hint = format!("add one of {}", HAPPENINGS.join(", "));
                    problems.add(Problem::at(at.of("at"), "nothing happens here", hint));
                }
                [first, second, ..] => {
                    let message = format!("`{first}` and `{second}` are two events");
                    let problem = Problem::at(at.of(second), message, "give each an item of its own");
                    problems.add(problem.also(at.of(first), format!("`{first}`")));
                }
            }
        })
        .placed(|event, places| event.places = places.clone())
        .kind()
}

impl Draft {
    pub(super) fn incident(self) -> Option<Incident> {
        Some(Incident { at: self.at, lasts: self.lasts, mishap: self.happens? })
    }

    /// Reports a group or node type that there is not.
    pub(super) fn check(&self, groups: &[&str], node_types: &[&str], problems: &mut Problems) {
        let Some(happens) = &self.happens else { return };
        let (what, name, known) = match happens {
            Mishap::StockOut { node_type, .. } => ("node type", node_type, node_types),
            Mishap::FailBoots { group, .. }
            | Mishap::NotReady { group, .. }
            | Mishap::Break { group, .. }
            | Mishap::Cordon { group, .. }
            | Mishap::Taint { group, .. }
            | Mishap::NoDelete { group, .. }
            | Mishap::Limits { group, .. }
            | Mishap::Target { group, .. } => ("group", group, groups),
        };
        if !name.is_empty() && !known.contains(&&**name) {
            let place = HAPPENINGS.iter().find(|key| self.places.has(key)).map(|key| self.places.of(key));
            let hint = format!("write one of {}", known.join(", "));
            problems.add(Problem::at(place.unwrap_or_default(), format!("there is no {what} `{name}`"), hint));
        }
    }
}

/// Which nodes are struck.
#[derive(Default)]
struct Nodes {
    group: Arc<str>,
    nodes: u32,
}

fn nodes(path: &'static str, happens: fn(Nodes) -> Mishap) -> Kind<Mishap> {
    node_fields(Record::new(path, "Nodes of a group.", || Nodes { nodes: 1, ..Nodes::default() })).kind().map(happens)
}

fn node_fields<T: AsMut<Nodes> + 'static>(record: Record<T>) -> Record<T> {
    record.required("group", text(), |t| &mut t.as_mut().group, "The group.").field(
        "nodes",
        count(1),
        |t| &mut t.as_mut().nodes,
        "How many.",
    )
}

impl AsMut<Nodes> for Nodes {
    fn as_mut(&mut self) -> &mut Nodes {
        self
    }
}

impl<T> AsMut<Nodes> for (Nodes, T) {
    fn as_mut(&mut self) -> &mut Nodes {
        &mut self.0
    }
}

fn not_ready(Nodes { group, nodes }: Nodes) -> Mishap {
    Mishap::NotReady { group, nodes }
}

fn broken(Nodes { group, nodes }: Nodes) -> Mishap {
    Mishap::Break { group, nodes }
}

fn cordoned(Nodes { group, nodes }: Nodes) -> Mishap {
    Mishap::Cordon { group, nodes }
}

fn tainted() -> Kind<Mishap> {
    let start = || (Nodes { nodes: 1, ..Nodes::default() }, None);
    node_fields(Record::new("events[].taint", "Nodes of a group, and the taint.", start))
        .required("taint", taint::kind().optional(), |t: &mut (Nodes, Option<Taint>)| &mut t.1, "The taint.")
        .kind()
        .map(|(Nodes { group, nodes }, taint)| Mishap::Taint { group, nodes, taint: taint.unwrap_or_else(nothing) })
}

/// What a taint that could not be read is taken for; nothing comes of a file with an error.
fn nothing() -> Taint {
    Taint { key: "".into(), value: "".into(), effect: headroom_core::snapshot::Effect::NoSchedule }
}

fn no_delete() -> Kind<Mishap> {
    let start = || (Nodes { nodes: 1, ..Nodes::default() }, Box::from("true"));
    node_fields(Record::new("events[].noDelete", "Nodes of a group.", start))
        .field("value", text(), |t: &mut (Nodes, Box<str>)| &mut t.1, "The annotation's value.")
        .kind()
        .map(|(Nodes { group, nodes }, value)| Mishap::NoDelete { group, nodes, value })
}

fn stock_out() -> Kind<Mishap> {
    type StockOut = (Arc<str>, Option<Arc<str>>);
    Record::new("events[].stockOut", "A kind of machine.", || (Arc::from(""), None))
        .required("nodeType", text(), |out: &mut StockOut| &mut out.0, "The node type.")
        .field(
            "zone",
            text().optional(),
            |out| &mut out.1,
            "Only for groups in this zone (`topology.kubernetes.io/zone` among their labels).",
        )
        .kind()
        .map(|(node_type, zone)| Mishap::StockOut { node_type, zone })
}

fn fail_boots() -> Kind<Mishap> {
    Record::new("events[].failBoots", "Machines that will be launched.", || (Arc::from(""), 1))
        .required("group", text(), |fail: &mut (Arc<str>, u32)| &mut fail.0, "The group.")
        .field("machines", count(1), |fail| &mut fail.1, "How many.")
        .kind()
        .map(|(group, machines)| Mishap::FailBoots { group, machines })
}

fn limits() -> Kind<Mishap> {
    type Limits = (Arc<str>, Option<u32>, Option<u32>);
    Record::new("events[].limits", "The limits of the cloud's group. What is left out stays.", || {
        (Arc::from(""), None, None)
    })
    .required("group", text(), |limits: &mut Limits| &mut limits.0, "The group.")
    .field("min", count(0).optional(), |limits| &mut limits.1, "The new lower limit.")
    .field("max", count(0).optional(), |limits| &mut limits.2, "The new upper limit.")
    .kind()
    .map(|(group, min, max)| Mishap::Limits { group, min, max })
}

fn target() -> Kind<Mishap> {
    Record::new("events[].target", "The size of the cloud's group.", || (Arc::from(""), 0))
        .required("group", text(), |target: &mut (Arc<str>, u32)| &mut target.0, "The group.")
        .required("nodes", count(0), |target| &mut target.1, "How many machines it shall have.")
        .kind()
        .map(|(group, target)| Mishap::Target { group, target })
}
