//! Where pods come from.

use std::sync::Arc;

use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Expression, Labels, NodeTerm, Operator, PodKind, PodSpec, SharedSpec, Toleration};
use headroom_sim::scenario::{Burst, DaemonSet, Demand, Shape, Span, When, Workload};
use jiff::SignedDuration;

use super::time::{Points, schedule, span, when};
use crate::config::file::taint::effect;
use crate::config::kind::{Kind, count, flag, labels, list, map, requested, requested_cpu, text, words};
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
}

/// What all pods of a workload or DaemonSet have in common.
#[derive(Default)]
struct Pod {
    requests: Resources,
    namespace: Arc<str>,
    node_selector: Labels,
    node_affinity: Vec<Vec<Expression>>,
    tolerations: Vec<Toleration>,
    priority: u32,
}

pub(super) fn workload() -> Kind<Draft> {
    let start = || Draft {
        replicas: None,
        arrivals: None,
        bursts: None,
        ramp: false,
        sizes: None,
        runs_for: None,
        pod: Pod { namespace: "default".into(), requests: resources(), ..Pod::default() },
        owned: true,
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
    pod_fields(record)
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
        let namespace = "kube-system".into();
        DaemonDraft(Pod { namespace, tolerations, requests: resources(), ..Pod::default() })
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
        let pod = self.pod.spec();
        let sizes = self.sizes.unwrap_or_else(|| vec![(1, pod.requests.clone())]);
        let shape = |(weight, requests): (u32, Resources)| {
            let spec = PodSpec { requests, controller: controller.clone(), ..pod.clone() };
            Shape { weight, spec: SharedSpec::new(spec) }
        };
        let shapes = sizes.into_iter().map(shape).collect();
        Workload { name: Arc::clone(name), shapes, demand, runs_for: self.runs_for }
    }
}

impl DaemonDraft {
    /// The DaemonSet called `name`.
    pub(super) fn named(self, name: &Arc<str>) -> DaemonSet {
        let controller = Some(format!("DaemonSet/{name}").into());
        let spec = PodSpec { kind: PodKind::DaemonSet, controller, ..self.0.spec() };
        DaemonSet { name: Arc::clone(name), spec: SharedSpec::new(spec) }
    }
}

impl Pod {
    fn spec(self) -> PodSpec {
        let has_affinity = !self.node_affinity.is_empty();
        let terms = self.node_affinity.into_iter();
        PodSpec {
            namespace: self.namespace,
            requests: self.requests,
            node_selector: self.node_selector,
            node_affinity: terms.map(|labels| NodeTerm { labels, fields: Vec::new() }).collect(),
            has_affinity,
            tolerations: self.tolerations,
            priority: i32::try_from(self.priority).unwrap_or(i32::MAX),
            ..PodSpec::default()
        }
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

/// The keys that workloads and DaemonSets share.
fn pod_fields<T: AsMut<Pod> + 'static>(record: Record<T>) -> Record<T> {
    record
        .field("requests", requests(), |t| &mut t.as_mut().requests, "What one pod asks for.")
        .field("namespace", text(), |t| &mut t.as_mut().namespace, "Their namespace.")
        .field("nodeSelector", labels(), |t| &mut t.as_mut().node_selector, "Labels that the node must have.")
        .field(
            "nodeAffinity",
            list(list(expression())),
            |t| &mut t.as_mut().node_affinity,
            "Required node affinity: all requirements of one of these lists must hold.",
        )
        .field("tolerations", list(toleration()), |t| &mut t.as_mut().tolerations, "Taints that they tolerate.")
        .field("priority", count(0), |t| &mut t.as_mut().priority, "Higher goes first.")
}

impl AsMut<Pod> for Draft {
    fn as_mut(&mut self) -> &mut Pod {
        &mut self.pod
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

fn expression() -> Kind<Expression> {
    let start = || Expression { key: "".into(), operator: Operator::Exists, values: Vec::new() };
    let operators = words(&[
        ("In", Operator::In, "its value is one of `values`"),
        ("NotIn", Operator::NotIn, "its value is none of `values`"),
        ("Exists", Operator::Exists, "the node has it"),
        ("DoesNotExist", Operator::DoesNotExist, "the node does not have it"),
        ("Gt", Operator::Gt, "its value is a number above that of `values`"),
        ("Lt", Operator::Lt, "its value is a number below that of `values`"),
    ]);
    Record::new("nodeAffinity[][]", "One requirement on a label of the node.", start)
        .required("key", text(), |e: &mut Expression| &mut e.key, "The label.")
        .required("operator", operators, |e| &mut e.operator, "What must hold.")
        .field("values", list(text()), |e| &mut e.values, "What it is compared with.")
        .kind()
}

fn toleration() -> Kind<Toleration> {
    let value = text().optional();
    Record::new("tolerations[]", "A taint that is tolerated.", || (Toleration::default(), None))
        .field("key", text(), |t: &mut (Toleration, Option<Box<str>>)| &mut t.0.key, "Its key. Left out: every taint.")
        .field("value", value, |t| &mut t.1, "Its value. Left out: any.")
        .field("effect", effect().optional(), |t| &mut t.0.effect, "What it does. Left out: anything.")
        .kind()
        .map(|(toleration, value)| Toleration {
            exists: value.is_none(),
            value: value.unwrap_or_default(),
            ..toleration
        })
}

fn resources() -> Resources {
    Resources { pods: 1, ..Resources::default() }
}

fn requests() -> Kind<Resources> {
    Record::new("requests", "What one pod asks for.", resources)
        .field("cpu", requested_cpu(), |requests: &mut Resources| &mut requests.cpu, "Cpus.")
        .field("memory", requested(), |requests| &mut requests.memory, "Memory.")
        .field("ephemeralStorage", requested(), |requests| &mut requests.ephemeral_storage, "Disk.")
        .field("extended", extended(), |requests| &mut requests.extended, "Extended resources by name.")
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

fn extended() -> Kind<Vec<(Arc<str>, i64)>> {
    map(requested()).map(|mut amounts| {
        amounts.retain(|(_, amount)| *amount > 0);
        amounts.sort();
        amounts
    })
}
