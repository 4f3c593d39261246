//! One node group.

use std::sync::Arc;

use headroom_core::policy::{CountPods, Group, Mode, Selection, Size, Spare, Strategy};
use jiff::SignedDuration;

use super::cloud::{self, Cloud};
use super::{kwok, scale_down, select, servers, spare, strategy, template};
use crate::config::kind::{Kind, count, dollars, duration, list, text, words};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

/// A group as it is read.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) group: Group,
    pub(super) cloud: Cloud,
    pub(super) scale_down: scale_down::Settings,
    pub(super) spare: Spare,
    pub(crate) places: Places,
}

/// One of which nothing has been read.
pub(super) fn empty() -> Draft {
    Draft {
        group: Group::new("", Selection::default()),
        cloud: Cloud::default(),
        scale_down: scale_down::Settings::default(),
        spare: Spare::default(),
        places: Places::default(),
    }
}

pub(crate) fn kind() -> Kind<Draft> {
    let record = Record::new("groups[]", "One node group: machines that are alike.", empty)
        .required(
            "name",
            text(),
            |draft| &mut draft.group.name,
            "What reports call it. No two groups may share a name.",
        )
        .required("select", select::kind(), |draft| &mut draft.group.select, "Which nodes are in it.")
        .field("cloud", cloud::kind(), |draft| &mut draft.cloud, "Who makes and ends its machines.");
    keys(record)
        .field(
            "spare",
            spare::kind(),
            |draft| &mut draft.spare,
            "Room that it keeps free for pods to come, with the strategy `pending`.",
        )
        .field(
            "template",
            template::kind().optional(),
            |draft| &mut draft.group.template,
            "What a new machine is like. Left out: what the group's nodes are like, or what the cloud \
             says.",
        )
        .field(
            "price",
            dollars().optional(),
            |draft| &mut draft.group.price,
            "What one node costs, in dollars an hour. Left out: what `prices` or the cloud say.",
        )
        .check(&["select", "cloud"], machines_need_cloud)
        .check(&["select", "strategy"], needs_placed)
        .check(&["name", "cloud"], kwok::needs_plain_name)
        .check(&["name", "cloud"], servers::needs_plain_name)
        .check(&["cloud", "strategy"], servers::same_hardware)
        .check(&["strategy", "spare"], spare_needs_pending)
        .check(&["select", "spare"], spare_needs_label)
        .placed(|draft, places| {
            draft.places = places.clone();
            if select::is_by_machines(&draft.group.select) {
                draft.group.select = select::by_machines(&draft.group.select, &draft.group.name);
            }
        })
        .kind()
}

/// The keys that mean the same for a group that has an entry and for those that have none.
pub(super) fn keys(record: Record<Draft>) -> Record<Draft> {
    record
        .field("size", size(), |draft| &mut draft.group.size, "Limits of its size.")
        .field("mode", mode(), |draft| &mut draft.group.mode, "What Headroom may do to it.")
        .required("strategy", strategy::kind(), |draft| &mut draft.group.strategy, "How its size is decided.")
        .field(
            "scaleDown",
            scale_down::of_group(),
            |draft| &mut draft.scale_down,
            "When its nodes go, with the strategy `pending`.",
        )
        .field(
            "bootTimeout",
            duration(SignedDuration::from_secs(1)),
            |draft| &mut draft.group.boot_timeout,
            "How long a machine may take from its request until its node is usable. Until then it counts \
             as capacity; after that it is not expected any more and may be asked for again.",
        )
        .field(
            "startupTaints",
            list(text()),
            |draft| &mut draft.group.startup_taints,
            "Keys of taints that a node carries only while it starts. It counts as not usable yet while \
             it has one.",
        )
        .check(&["strategy", "scaleDown"], scale_down_needs_pending)
}

fn size() -> Kind<Size> {
    Record::new(
        "groups[].size",
        "Limits of the group's size, in nodes. What is left out is taken from the cloud's own group. \
         `min` and `max` may be equal.",
        Size::default,
    )
    .field("min", count(0).optional(), |size| &mut size.min, "Nodes are not removed below it.")
    .field("max", count(0).optional(), |size| &mut size.max, "Nodes are not added beyond it.")
    .check(&["min", "max"], |size, at, problems| {
        if let (Some(min), Some(max)) = (size.min, size.max)
            && min > max
        {
            let message = format!("the minimum {min} is more than the maximum {max}");
            let problem = Problem::at(at.of("min"), message, "make `min` at most `max`");
            problems.add(problem.also(at.of("max"), "the maximum"));
        }
    })
    .kind()
}

fn mode() -> Kind<Mode> {
    words(&[
        ("auto", Mode::Auto, "grow and shrink it"),
        ("growOnly", Mode::GrowOnly, "grow it, take removal taints off, and remove nothing"),
        ("dryRun", Mode::DryRun, "decide and report, and do nothing"),
        ("off", Mode::Off, "leave it alone"),
    ])
}

/// No pod can ask for a capacity or for the machines of a group.
fn needs_placed(draft: &Draft, at: &Places, problems: &mut Problems) {
    let Strategy::Utilization(utilization) = &draft.group.strategy else { return };
    let select = &draft.group.select;
    let by = match (select.capacity.is_some(), select::is_by_machines(select)) {
        (true, _) => "capacity",
        (false, true) => "machines",
        (false, false) => return,
    };
    if utilization.count_pods != CountPods::Placed {
        let message = format!("a group that is selected by {by} needs `countPods: placed`");
        let hint = "write `strategy: { utilization: { countPods: placed } }`, or select by label alone";
        let problem = Problem::at(at.of("strategy"), message, hint);
        problems.add(problem.also(at.of("select"), format!("selected by {by} here")));
    }
}

fn machines_need_cloud(draft: &Draft, at: &Places, problems: &mut Problems) {
    let listed = matches!(draft.cloud, Cloud::Aws(_) | Cloud::ExternalGrpc(_));
    if select::is_by_machines(&draft.group.select) && !listed {
        let hint = "say `cloud: { aws: {…} }` or `cloud: { externalgrpc: {…} }`, or select by a label";
        let problem = Problem::at(at.of("select"), "nobody says which nodes are the machines of this group", hint);
        problems.add(if at.has("cloud") { problem.also(at.of("cloud"), "another cloud") } else { problem });
    }
}

fn scale_down_needs_pending(draft: &Draft, at: &Places, problems: &mut Problems) {
    if at.has("scaleDown") {
        let hint = match draft.group.strategy {
            Strategy::Pending(_) => return,
            Strategy::Utilization(_) => {
                "say under `utilization` when nodes go: `removeSlowlyBelow`, `softGrace` and the like"
            }
            Strategy::MemoryPool(_) | Strategy::CpuPool(_) => {
                "leave it out: a pool loses the servers that it has too many"
            }
        };
        let message = "`scaleDown` is for groups with the strategy `pending`";
        let problem = Problem::at(at.of("scaleDown"), message, hint);
        problems.add(problem.also(at.of("strategy"), "another strategy"));
    }
}

fn spare_needs_pending(draft: &Draft, at: &Places, problems: &mut Problems) {
    if at.has("spare") {
        let hint = match draft.group.strategy {
            Strategy::Pending(_) => return,
            Strategy::Utilization(_) => "lower `scaleUpAbove`: what it leaves free is the spare room of such a group",
            Strategy::MemoryPool(_) => "set `margin`",
            Strategy::CpuPool(_) => "raise `addBelow` and `removeAbove`",
        };
        let message = "`spare` is for groups with the strategy `pending`";
        let problem = Problem::at(at.of("spare"), message, hint);
        problems.add(problem.also(at.of("strategy"), "another strategy"));
    }
}

/// Only by a label can a placeholder, or any pod, ask for the nodes of one group.
fn spare_needs_label(draft: &Draft, at: &Places, problems: &mut Problems) {
    if at.has("spare") && !select::can_be_asked_for(&draft.group.select) {
        let message = "`spare` needs a label by which pods can ask for the nodes of the group";
        let problem = Problem::at(at.of("spare"), message, "add a `label` to `select`, or use `slack` at the top");
        problems.add(problem.also(at.of("select"), "no label here"));
    }
}

impl Draft {
    /// Its name, unless it is missing.
    pub(super) fn name(&self) -> Option<&Arc<str>> {
        Some(&self.group.name).filter(|name| !name.is_empty())
    }

    /// What messages call it.
    pub(super) fn called(&self) -> String {
        self.name().map_or_else(|| "a group that is discovered".to_owned(), |name| format!("`{name}`"))
    }
}
