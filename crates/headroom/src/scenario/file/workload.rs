//! Where pods come from.

use std::sync::Arc;

use headroom_core::quantity::Resources;
use headroom_core::snapshot::{PodKind, PodSpec, SharedSpec, Toleration};
use headroom_sim::scenario::{Burst, DaemonSet, Demand, Life, Shape, Span, When, Workload};
use jiff::SignedDuration;

use super::life::life_fields;
use super::pod::{Pod, extended, pod_fields, resources};
use super::time::{Points, schedule, span, when};
use crate::config::kind::{Kind, count, flag, list, requested, requested_cpu};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

/// A workload but for its name.
pub(super) struct Draft {
    replicas: Option<Points>,
    arrivals: Option<Points>,
    bursts: Option<Vec<Burst>>,
    ramp: bool,
    sizes: Option<Vec<(u32, Resources)>>,
    runs_for: Option<Span>,
    pod: Pod,
    owned: bool,
    life: Life,
}

pub(super) fn workload() -> Kind<Draft> {
    let start = || Draft {
        replicas: None,
        arrivals: None,
        bursts: None,
        ramp: false,
        sizes: None,
        runs_for: None,
        pod: Pod::new("default", Vec::new()),
        owned: true,
        life: Life::default(),
    };
    let doc = "Pods of one origin. Exactly one of `replicas`, `arrivalsPerHour` and `bursts` says when they come.";
    let record = Record::new("workloads.NAME", doc, start)
        .field(
            "replicas",
            schedule().optional(),
            |w: &mut Draft| &mut w.replicas,
            "So many at any time, as a Deployment keeps them.",
        )
        .field("arrivalsPerHour", schedule().optional(), |w| &mut w.arrivals, "So many in an hour, at random instants.")
        .field("bursts", list(burst()).optional(), |w| &mut w.bursts, "Many at once.")
        .field(
            "ramp",
            flag(),
            |w| &mut w.ramp,
            "Numbers move evenly from one time of day to the next, instead of at once.",
        )
        .field(
            "runsFor",
            span().optional(),
            |w| &mut w.runs_for,
            "How long a pod runs once it has a node. Left out: to the end.",
        )
        .field(
            "sizes",
            list(size()).optional(),
            |w| &mut w.sizes,
            "Instead of `requests`: sizes of which each pod gets one at random.",
        )
        .field("owned", flag(), |w| &mut w.owned, "Whether a controller makes a pod again that is lost with its node.");
    pod_fields(life_fields(record))
        .check(&["replicas", "arrivalsPerHour", "bursts"], one_demand)
        .check(&["requests", "sizes"], |w, at, problems| {
            if at.has("sizes") && at.has("requests") {
                let message = "`sizes` take the place of `requests`";
                let problem = Problem::at(at.of("sizes"), message, "keep one of the two");
                problems.add(problem.also(at.of("requests"), "`requests`"));
            } else if w.sizes.as_ref().is_some_and(|sizes| sizes.iter().all(|(weight, _)| *weight == 0)) {
                problems.add(Problem::at(at.of("sizes"), "there is no size to choose", "add one with a weight"));
            }
        })
        .kind()
}

/// A DaemonSet but for its name.
pub(super) struct DaemonDraft(Pod);

pub(super) fn daemon_set() -> Kind<DaemonDraft> {
    let start = || {
        let tolerations = vec![Toleration { exists: true, ..Toleration::default() }];
        DaemonDraft(Pod::new("kube-system", tolerations))
    };
    pod_fields(Record::new("daemonSets.NAME", "One pod on every node that it fits.", start)).kind()
}

impl Draft {
    /// The workload called `name`.
    pub(super) fn named(self, name: &Arc<str>) -> Workload {
        let demand = match (self.replicas, self.arrivals, self.bursts) {
            (Some(points), ..) => Demand::Replicas(points.schedule(self.ramp)),
            (_, Some(points), _) => Demand::Arrivals(points.schedule(self.ramp)),
            (_, _, bursts) => Demand::Bursts(bursts.unwrap_or_default()),
        };
        let kind = if matches!(demand, Demand::Replicas(_)) { "ReplicaSet" } else { "Job" };
        let controller = self.owned.then(|| format!("{kind}/{name}").into());
        let pod = self.pod.spec(name);
        let sizes = self.sizes.unwrap_or_else(|| vec![(1, pod.requests.clone())]);
        let shape = |(weight, requests): (u32, Resources)| {
            let spec = PodSpec { requests, controller: controller.clone(), ..pod.clone() };
            Shape { weight, spec: SharedSpec::new(spec) }
        };
        let shapes = sizes.into_iter().map(shape).collect();
        Workload { name: Arc::clone(name), shapes, demand, runs_for: self.runs_for, life: self.life }
    }
}

impl DaemonDraft {
    /// The DaemonSet called `name`.
    pub(super) fn named(self, name: &Arc<str>) -> DaemonSet {
        let controller = Some(format!("DaemonSet/{name}").into());
        let spec = PodSpec { kind: PodKind::DaemonSet, controller, ..self.0.spec(name) };
        DaemonSet { name: Arc::clone(name), spec: SharedSpec::new(spec) }
    }
}

fn one_demand(w: &Draft, at: &Places, problems: &mut Problems) {
    let keys = ["replicas", "arrivalsPerHour", "bursts"];
    let written: Vec<&str> = keys.into_iter().filter(|key| at.has(key)).collect();
    match written.as_slice() {
        [_] => {}
        [] => {
            let hint = "add `replicas:`, `arrivalsPerHour:` or `bursts:`";
            problems.add(Problem::at(at.of("requests"), "nothing says when pods come", hint));
        }
        [first, second, ..] => {
            let message = format!("`{second}` and `{first}` exclude each other");
            let problem = Problem::at(at.of(second), message, "make two workloads of it");
            problems.add(problem.also(at.of(first), format!("`{first}`")));
        }
    }
    let endless = w.runs_for.is_none() && w.replicas.is_none() && w.arrivals.is_some();
    if endless && written.len() == 1 {
        let hint = "add `runsFor:` with how long each pod runs";
        problems.add(Problem::at(at.of("arrivalsPerHour"), "pods come and none ever ends", hint));
    }
}

impl AsMut<Pod> for Draft {
    fn as_mut(&mut self) -> &mut Pod {
        &mut self.pod
    }
}

impl AsMut<Life> for Draft {
    fn as_mut(&mut self) -> &mut Life {
        &mut self.life
    }
}

impl AsMut<Pod> for DaemonDraft {
    fn as_mut(&mut self) -> &mut Pod {
        &mut self.0
    }
}

fn burst() -> Kind<Burst> {
    let start = || Burst { at: When::After(SignedDuration::ZERO), pods: 0 };
    Record::new("workloads.NAME.bursts[]", "Many pods at once.", start)
        .required("at", when(), |burst: &mut Burst| &mut burst.at, "When.")
        .required("pods", count(1), |burst| &mut burst.pods, "How many.")
        .kind()
}

fn size() -> Kind<(u32, Resources)> {
    let record = Record::new("workloads.NAME.sizes[]", "One size, and how often it is chosen.", || (1, resources()));
    let weighed = record.field(
        "weight",
        count(0),
        |size: &mut (u32, Resources)| &mut size.0,
        "How often it is chosen, compared with the others.",
    );
    weighed
        .field("cpu", requested_cpu(), |size| &mut size.1.cpu, "Cpus.")
        .field("memory", requested(), |size| &mut size.1.memory, "Memory.")
        .field("ephemeralStorage", requested(), |size| &mut size.1.ephemeral_storage, "Disk.")
        .field("extended", extended(), |size| &mut size.1.extended, "Extended resources by name.")
        .kind()
}
