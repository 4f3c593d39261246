//! What pods are like: the keys that workloads and DaemonSets share.

use std::sync::Arc;

use headroom_core::quantity::Resources;
use headroom_core::snapshot::{
    Expression, HostPort, LabelSelector, Labels, NodeTerm, Operator, PodSpec, PodTerm, Spread, Toleration,
};

use crate::config::file::taint::effect;
use crate::config::kind::{Kind, count, integer, labels, list, map, requested, requested_cpu, text, words, written};
use crate::config::record::Record;

/// The label by which the pods of one workload are told from others; its value is the workload's name.
const APP: &str = "app";

/// What all pods of a workload or DaemonSet have in common.
#[derive(Default)]
pub(super) struct Pod {
    pub(super) requests: Resources,
    namespace: Arc<str>,
    tolerations: Vec<Toleration>,
    labels: Labels,
    node_selector: Labels,
    node_affinity: Vec<Vec<Expression>>,
    spread: Vec<(Spread, Option<Labels>)>,
    affinity: Vec<(PodTerm, Option<Labels>)>,
    anti_affinity: Vec<(PodTerm, Option<Labels>)>,
    host_ports: Vec<u16>,
    priority: i64,
    spare_copies: Option<String>,
}

/// Adds the keys that describe pods.
pub(super) fn pod_fields<T: AsMut<Pod> + 'static>(record: Record<T>) -> Record<T> {
    record
        .field("requests", requests(), |t| &mut t.as_mut().requests, "What one pod asks for.")
        .field("namespace", text(), |t| &mut t.as_mut().namespace, "Their namespace.")
        .field(
            "labels",
            labels(),
            |t| &mut t.as_mut().labels,
            "Their labels, besides `app`, whose value is the name that stands here.",
        )
        .field("nodeSelector", labels(), |t| &mut t.as_mut().node_selector, "Labels that the node must have.")
        .field(
            "nodeAffinity",
            list(list(expression())),
            |t| &mut t.as_mut().node_affinity,
            "Required node affinity: all requirements of one of these lists must hold.",
        )
        .field("tolerations", list(toleration()), |t| &mut t.as_mut().tolerations, "Taints that they tolerate.")
        .field(
            "spread",
            list(spread()),
            |t| &mut t.as_mut().spread,
            "Topology spread (`DoNotSchedule`): all of these must hold.",
        )
        .field("podAffinity", list(term()), |t| &mut t.as_mut().affinity, "Required affinity: pods to be near to.")
        .field(
            "podAntiAffinity",
            list(term()),
            |t| &mut t.as_mut().anti_affinity,
            "Required anti-affinity: pods to keep away from.",
        )
        .field("hostPorts", list(port()), |t| &mut t.as_mut().host_ports, "Ports of the node that each takes (TCP).")
        .field(
            "priority",
            integer(i32::MIN.into(), i32::MAX.into()),
            |t| &mut t.as_mut().priority,
            "Higher goes first.",
        )
        .field(
            "spareCopies",
            text().optional(),
            |t| &mut t.as_mut().spare_copies,
            "Their annotation `headroom.dev/spare-copies`: for so many spare copies of each, or for such a percentage of \
             them, room is kept where `slack` is set.",
        )
}

impl Pod {
    /// A pod that asks for nothing.
    pub(super) fn new(namespace: &str, tolerations: Vec<Toleration>) -> Self {
        Pod { namespace: namespace.into(), tolerations, requests: resources(), ..Pod::default() }
    }

    /// What the pods of the workload or DaemonSet called `name` are like.
    pub(super) fn spec(self, name: &str) -> PodSpec {
        let has_affinity =
            !(self.node_affinity.is_empty() && self.affinity.is_empty() && self.anti_affinity.is_empty());
        let own = Labels::from_iter([(APP, name)]);
        let selector = |labels: Option<Labels>| Some(selector(labels.as_ref().unwrap_or(&own)));
        let spread = self.spread.into_iter();
        let spread = spread.map(|(spread, labels)| Spread { selector: selector(labels), ..spread }).collect();
        let terms = |terms: Vec<(PodTerm, Option<Labels>)>| {
            terms.into_iter().map(|(term, labels)| PodTerm { selector: selector(labels), ..term }).collect()
        };
        let ports = self.host_ports.into_iter();
        PodSpec {
            namespace: self.namespace,
            labels: own.iter().chain(self.labels.iter()).collect(),
            requests: self.requests,
            node_selector: self.node_selector,
            node_affinity: self
                .node_affinity
                .into_iter()
                .map(|labels| NodeTerm { labels, fields: Vec::new() })
                .collect(),
            has_affinity,
            tolerations: self.tolerations,
            spread,
            pod_affinity: terms(self.affinity),
            pod_anti_affinity: terms(self.anti_affinity),
            host_ports: ports.map(|port| HostPort { port, ..HostPort::default() }).collect(),
            priority: i32::try_from(self.priority).unwrap_or(i32::MAX),
            spare_copies: self.spare_copies.map(Into::into),
            ..PodSpec::default()
        }
    }
}

/// One pod, which asks for nothing.
pub(super) fn resources() -> Resources {
    Resources { pods: 1, ..Resources::default() }
}

/// Amounts of extended resources that a pod asks for.
pub(super) fn extended() -> Kind<Vec<(Arc<str>, i64)>> {
    map(requested()).map(|mut amounts| {
        amounts.retain(|(_, amount)| *amount > 0);
        amounts.sort();
        amounts
    })
}

/// Pods with all of these labels.
fn selector(labels: &Labels) -> LabelSelector {
    let equals =
        |(key, value): (&str, &str)| Expression { key: key.into(), operator: Operator::In, values: vec![value.into()] };
    LabelSelector(labels.iter().map(equals).collect())
}

fn spread() -> Kind<(Spread, Option<Labels>)> {
    Record::new("spread[]", "No domain has many more of the pods than another.", || (Spread::default(), None))
        .required(
            "topologyKey",
            text(),
            |(spread, _): &mut (Spread, Option<Labels>)| &mut spread.topology_key,
            "The node label whose values are the domains, such as `topology.kubernetes.io/zone`.",
        )
        .field(
            "maxSkew",
            count(1),
            |(spread, _)| &mut spread.max_skew,
            "So many more than in the emptiest domain are allowed.",
        )
        .field(
            "minDomains",
            count(1),
            |(spread, _)| &mut spread.min_domains,
            "With fewer domains than this, the emptiest one counts as empty.",
        )
        .field(
            "labels",
            labels().optional(),
            |(_, labels)| labels,
            "Which pods are counted. Left out: those with the same `app`.",
        )
        .kind()
}

fn term() -> Kind<(PodTerm, Option<Labels>)> {
    Record::new("podAffinity[], podAntiAffinity[]", "Pods of the same namespace, and how near is meant.", || {
        (PodTerm::default(), None)
    })
    .required(
        "topologyKey",
        text(),
        |(term, _): &mut (PodTerm, Option<Labels>)| &mut term.topology_key,
        "The node label whose value makes two nodes one place, such as `kubernetes.io/hostname`.",
    )
    .field(
        "labels",
        labels().optional(),
        |(_, labels)| labels,
        "Which pods are meant. Left out: those with the same `app`.",
    )
    .kind()
}

fn port() -> Kind<u16> {
    let parse = |text: &str| text.parse().ok().filter(|port| *port > 0).ok_or("write a number up to 65535".to_owned());
    written("port", r"^\d+$", parse, u16::to_string)
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

fn requests() -> Kind<Resources> {
    Record::new("requests", "What one pod asks for.", resources)
        .field("cpu", requested_cpu(), |requests: &mut Resources| &mut requests.cpu, "Cpus.")
        .field("memory", requested(), |requests| &mut requests.memory, "Memory.")
        .field("ephemeralStorage", requested(), |requests| &mut requests.ephemeral_storage, "Disk.")
        .field("extended", extended(), |requests| &mut requests.extended, "Extended resources by name.")
        .kind()
}
