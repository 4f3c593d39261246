//! What the pods of a group ask for (`spec/escalator.md` 2.2 and 2.3).

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::nodes::{is_out_of_service, replaced_on};
use crate::policy::{CountPods, RunsOn, Utilization};
use crate::quantity::{Resources, Totals};
use crate::snapshot::{ClassView, NodeView, Readiness};

/// The demand of a group.
#[derive(Debug, Default)]
pub struct Demand<'a> {
    /// What justifies growing.
    pub grow: Totals,
    /// What justifies keeping: `grow` and waiting pods that could also go to another group.
    pub keep: Totals,
    /// Pods in `keep`.
    pub pods: u64,
    /// Of those, pods that request neither cpu nor memory.
    pub without_requests: u64,
    /// Pods that run on the group's nodes and are not in `keep`: at least so many.
    pub foreign: u64,
    /// Classes with waiting pods that only this group can help.
    pub waiting: Vec<ClassView<'a>>,
}

impl<'a> Demand<'a> {
    /// Sums up. `classes` ask for this group alone, `disputed` for this one among others.
    pub fn of(
        settings: &Utilization,
        marked: &BTreeMap<Arc<str>, Timestamp>,
        nodes: &[NodeView<'a>],
        classes: &[ClassView<'a>],
        disputed: &[ClassView<'a>],
    ) -> Self {
        let on_nomad = settings.runs_on == RunsOn::Nomad;
        let places = on_nomad || settings.count_pods == CountPods::Placed;
        let mut demand = Demand::default();
        let mut bound = 0;
        let mut blocking = 0;
        for view in nodes.iter().filter(|view| counts_on(settings, marked, view)) {
            blocking += u64::from(view.sums.blocking);
            if places {
                add_totals(&mut demand.grow, &view.sums.used, &view.sums.daemon_sets);
            }
            if on_nomad {
                let replaced = replaced_on(view);
                add_totals(&mut demand.grow, &Totals::default(), &replaced);
            }
        }
        if places {
            demand.pods += blocking;
        } else {
            for class in classes {
                demand.count(class, class.bound);
                bound += u64::from(class.bound);
            }
            for (class, on_own_nodes) in bound_here(nodes, disputed) {
                demand.count(&class, on_own_nodes);
                bound += u64::from(on_own_nodes);
            }
            demand.foreign = blocking.saturating_sub(bound);
        }
        for class in classes.iter().filter(|class| class.pending() > 0) {
            demand.count(class, class.pending());
            demand.waiting.push(*class);
        }
        demand.keep = demand.grow.clone();
        for class in disputed {
            demand.keep.add_times(&class.spec.requests, i128::from(class.pending()));
            demand.pods += u64::from(class.pending());
        }
        demand
    }

    fn count(&mut self, class: &ClassView<'_>, pods: u32) {
        self.grow.add_times(&class.spec.requests, i128::from(pods));
        self.pods += u64::from(pods);
        if asks_for_nothing(&class.spec.requests) {
            self.without_requests += u64::from(pods);
        }
    }
}

/// Whether what is on a node counts. On Nomad nothing can be placed on a node that is not ready and eligible, so that neither
/// its capacity nor what is on it counts; but what is on nodes that Headroom marked has to find another place.
pub fn counts_on(settings: &Utilization, marked: &BTreeMap<Arc<str>, Timestamp>, view: &NodeView<'_>) -> bool {
    let serves = || view.node.readiness == Readiness::Ready && !is_out_of_service(view.node);
    settings.runs_on == RunsOn::Kubernetes || marked.contains_key(&view.node.name) || serves()
}

fn asks_for_nothing(requests: &Resources) -> bool {
    requests.cpu == 0 && requests.memory == 0
}

fn add_totals(sum: &mut Totals, used: &Totals, less: &Totals) {
    sum.cpu += used.cpu - less.cpu;
    sum.memory += used.memory - less.memory;
}

/// How many pods of each disputed class run on these nodes: there the dispute is settled.
fn bound_here<'a>(nodes: &[NodeView<'a>], disputed: &[ClassView<'a>]) -> Vec<(ClassView<'a>, u32)> {
    if disputed.iter().all(|class| class.bound == 0) {
        return Vec::new();
    }
    let pods: Vec<_> = nodes.iter().flat_map(NodeView::pods).collect();
    let count = |class: &ClassView<'a>| pods.iter().filter(|pod| std::ptr::eq(pod.spec, class.spec)).count();
    disputed.iter().map(|class| (*class, u32::try_from(count(class)).unwrap_or(u32::MAX))).collect()
}
