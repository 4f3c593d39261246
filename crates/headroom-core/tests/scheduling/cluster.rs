//! Reads small clusters from text, one thing a line: a word, a name, settings.
//!
//! - `node NAME` and `template NAME` with `cpu memory disk pods ext=NAME:AMOUNT zone LABEL=VALUE taint=KEY=VALUE:EFFECT
//!   cordoned noHostname attach=DRIVER:COUNT`.
//! - `pod NAME` with `count ns on deleting nominated priority controller kind` and what one asks for: `cpu memory disk
//!   ext=NAME:AMOUNT`, `LABEL=VALUE`, `select=KEY=VALUE`, `in notIn exists absent gt lt` for node affinity (`or` begins
//!   another term, `name=NODE` and `notName=NODE` are fields), `prefer=WEIGHT:KEY=VALUE`, `tolerates=KEY=VALUE:EFFECT`,
//!   `port=IP:PORT/PROTOCOL`, `near` and `apart` (`KEY;SELECTOR;ns=..;nsIn=KEY=VALUE;same=KEY;other=KEY`), `spread`
//!   (`KEY;SELECTOR;skew=..;min=..;same=KEY;honorTaints;ignoreAffinity`), `claim`, `device`. A selector is `LABEL=VALUE`
//!   with `|` between values and `&` between labels, `*` for all pods, `-` for none.
//! - `daemon NAME` is a pod that every template gets.
//! - `claim NAME` with `ns bound lost prebound deleting class size alone takes=SELECTOR selected`; `volume NAME` with
//!   `zone in driver handle class size available keptFor LABEL=VALUE`; `class NAME` with `by wait in`; `namespace NAME LABEL=VALUE`; `unknown KIND`.
//! - `upcoming NODE TEMPLATE`, `absent NODE`, `cutoff PRIORITY`.

use std::sync::Arc;

use headroom_core::quantity::{Resources, Round, parse_milli, parse_units};
use headroom_core::scheduling::{HOSTNAME, NewNode, Placement, Setup, Standing, TemplateId};
use headroom_core::snapshot::{
    AccessModes, AttachLimits, Builder, Change, Claim, ClaimState, ClassId, Coverage, Effect, Expression, HostPort,
    Kind, LabelSelector, Labels, Node, NodeTerm, NodeView, Operator, Phase, Pod, PodKind, PodSpec, PodTerm, Preference,
    Protocol, SharedSpec, Spread, StorageClass, Taint, Template, Toleration, Volume,
};

const ZONE: &str = "topology.kubernetes.io/zone";

/// A cluster that was read.
#[derive(Default)]
pub(crate) struct Cluster {
    builder: Builder,
    templates: Vec<ReadTemplate>,
    daemon_sets: Vec<SharedSpec>,
    /// Waiting pods: name, spec, count.
    waiting: Vec<(String, SharedSpec, u32)>,
    unknown: Vec<Kind>,
    cutoff: Option<i32>,
    /// Nodes that count as upcoming machines of a template.
    upcoming: Vec<(String, String)>,
    /// Nodes that do not count.
    absent: Vec<String>,
}

struct ReadTemplate {
    name: String,
    template: Template,
    attach: Vec<(Arc<str>, u32)>,
}

/// The settings of a line.
pub(crate) struct Words<'l>(Vec<(&'l str, &'l str)>);

impl<'l> Words<'l> {
    pub(crate) fn of(text: &'l str) -> Self {
        Words(text.split_whitespace().map(|word| word.split_once('=').unwrap_or((word, ""))).collect())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'l str> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn all(&self, key: &str) -> impl Iterator<Item = &'l str> {
        self.0.iter().filter(move |(known, _)| *known == key).map(|(_, value)| *value)
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.get(key).map(|text| text.parse().unwrap_or_else(|_| panic!("{key}={text} is no number")))
    }

    /// Settings that are none of `known`: labels.
    fn labels(&self, known: &[&str]) -> Labels {
        let own = self.0.iter().filter(|(key, _)| !known.contains(key)).map(|(key, value)| (long(key), *value));
        own.collect()
    }
}

/// The label keys of this world may be written short.
fn long(key: &str) -> &str {
    match key {
        "zone" => ZONE,
        "host" => HOSTNAME,
        other => other,
    }
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Cluster { builder: Builder::new(), ..Cluster::default() }
    }

    /// Reads one line; false when its word is not one of a cluster's.
    pub(crate) fn line(&mut self, word: &str, rest: &str) -> bool {
        let (name, settings) = rest.split_once(' ').unwrap_or((rest, ""));
        let words = Words::of(settings);
        match word {
            "node" => self.node(name, &words),
            "template" => self.template(name, &words),
            "pod" => self.pod(name, &words),
            "daemon" => self.daemon_sets.push(SharedSpec::new(PodSpec { kind: PodKind::DaemonSet, ..spec(&words) })),
            "claim" => self.builder.apply(Change::Claim(Box::new(claim(name, &words)))),
            "volume" => self.builder.apply(Change::Volume(Box::new(volume(name, &words)))),
            "class" => self.builder.apply(Change::StorageClass(StorageClass {
                name: name.into(),
                provisioner: words.get("by").unwrap_or("disk").into(),
                wait_for_first_consumer: words.has("wait"),
                allowed_topologies: node_terms(&words),
            })),
            "namespace" => {
                self.builder.apply(Change::Namespace { name: name.into(), labels: words.labels(&[]) });
            }
            "unknown" => self.unknown.extend(Kind::ALL.into_iter().find(|kind| kind.kubectl_name() == name)),
            "cutoff" => self.cutoff = name.parse().ok(),
            "absent" => self.absent.push(name.to_owned()),
            "upcoming" => self.upcoming.push((name.to_owned(), settings.to_owned())),
            _ => return false,
        }
        true
    }

    /// Runs `ask` on a placement of the cluster.
    pub(crate) fn place<R>(&self, ask: impl FnOnce(&mut Placement) -> R) -> R {
        let mut builder = self.builder.clone();
        for kind in Kind::ALL.into_iter().filter(|kind| !self.unknown.contains(kind)) {
            builder.apply(Change::Coverage(kind, Coverage::Complete));
        }
        let new: Vec<NewNode<'_>> = self.templates.iter().map(|read| self.new_node(read)).collect();
        let number = |template: &str| self.templates.iter().position(|read| read.name == template).unwrap();
        let standing = |view: &NodeView<'_>| match self.upcoming.iter().find(|(name, _)| **name == *view.node.name) {
            Some((_, template)) => Standing::Upcoming(TemplateId(number(template) as u32)),
            None if self.absent.iter().any(|name| **name == *view.node.name) => Standing::Absent,
            None => Standing::Present,
        };
        let setup = Setup { templates: &new, expendable_below: self.cutoff, standing: &standing, ..Setup::default() };
        ask(&mut Placement::new(builder.snapshot(), &setup))
    }

    fn new_node<'a>(&'a self, read: &'a ReadTemplate) -> NewNode<'a> {
        NewNode { template: &read.template, daemon_sets: &self.daemon_sets, attach_limits: &read.attach }
    }

    /// The waiting pods that no preemption helps, as classes with their names.
    pub(crate) fn waiting(&self, placement: &Placement) -> Vec<(String, ClassId, u32)> {
        let snapshot = self.builder.snapshot();
        let class = |name: &str, spec: &SharedSpec| snapshot.pod(&spec.namespace, &format!("{name}-0")).unwrap().class;
        let waiting = self.waiting.iter().map(|(name, spec, count)| (name.clone(), class(name, spec), *count));
        let still = waiting.map(|(name, class, count)| (name, class, count - placement.nominated(class).min(count)));
        still.collect()
    }

    /// The classes of the pods that are bound to a node.
    pub(crate) fn on(&self, node: &str) -> Vec<ClassId> {
        let view = self.builder.snapshot().node(node).unwrap();
        view.pods().iter().map(|pod| pod.class).collect()
    }

    fn node(&mut self, name: &str, words: &Words<'_>) {
        let hostname = (!words.has("noHostname")).then_some((HOSTNAME, name));
        let labels = words.labels(&NODE);
        let labels: Labels = hostname.into_iter().chain(labels.iter()).collect();
        self.builder.apply(Change::Node(Box::new(Node {
            name: name.into(),
            labels,
            taints: words.all("taint").map(taint).collect(),
            unschedulable: words.has("cordoned"),
            allocatable: amounts(words, words.number("pods").unwrap_or(100)),
            ..Node::default()
        })));
        let limits = attach(words);
        if !limits.is_empty() {
            self.builder.apply(Change::AttachLimits(AttachLimits { node: name.into(), limits }));
        }
    }

    fn template(&mut self, name: &str, words: &Words<'_>) {
        let template = Template {
            allocatable: amounts(words, words.number("pods").unwrap_or(100)),
            labels: words.labels(&NODE),
            taints: words.all("taint").map(taint).collect(),
            ..Template::default()
        };
        self.templates.push(ReadTemplate { name: name.to_owned(), template, attach: attach(words) });
    }

    fn pod(&mut self, name: &str, words: &Words<'_>) {
        let spec = SharedSpec::new(spec(words));
        let count = words.number("count").unwrap_or(1);
        for at in 0..count {
            self.builder.apply(Change::Pod(Pod {
                name: format!("{name}-{at}").into(),
                spec: spec.clone(),
                node: words.get("on").map(Box::from),
                phase: Phase::Running,
                deleting: words.has("deleting"),
                gated: words.has("gated"),
                nominated: words.get("nominated").map(Box::from),
                ..Pod::default()
            }));
        }
        if !words.has("on") && !words.has("gated") && !words.has("deleting") {
            self.waiting.push((name.to_owned(), spec, count));
        }
    }
}

const NODE: [&str; 9] = ["cpu", "memory", "disk", "pods", "ext", "taint", "cordoned", "noHostname", "attach"];
const POD: [&str; 30] = [
    "count",
    "ns",
    "on",
    "deleting",
    "gated",
    "nominated",
    "priority",
    "controller",
    "kind",
    "cpu",
    "memory",
    "disk",
    "ext",
    "select",
    "in",
    "notIn",
    "exists",
    "absent",
    "gt",
    "lt",
    "or",
    "name",
    "notName",
    "prefer",
    "tolerates",
    "port",
    "near",
    "apart",
    "spread",
    "claim",
];

fn spec(words: &Words<'_>) -> PodSpec {
    let own = words.labels(&POD);
    PodSpec {
        namespace: words.get("ns").unwrap_or("default").into(),
        labels: own.iter().filter(|(key, _)| *key != "device").collect(),
        requests: amounts(words, 1),
        node_selector: words.all("select").map(pair).collect(),
        node_affinity: node_terms(words),
        preferred_node_affinity: words.all("prefer").map(preference).collect(),
        tolerations: words.all("tolerates").map(toleration).collect(),
        pod_affinity: words.all("near").map(pod_term).collect(),
        pod_anti_affinity: words.all("apart").map(pod_term).collect(),
        spread: words.all("spread").map(spread).collect(),
        host_ports: words.all("port").map(host_port).collect(),
        claims: words.all("claim").map(Box::from).collect(),
        resource_claims: words.all("device").map(Box::from).collect(),
        priority: words.number("priority").unwrap_or(0),
        controller: words.get("controller").map(Box::from),
        kind: if words.get("kind") == Some("daemonSet") { PodKind::DaemonSet } else { PodKind::Workload },
        ..PodSpec::default()
    }
}

fn amounts(words: &Words<'_>, pods: i64) -> Resources {
    let units = |key| words.get(key).map_or(0, |text| parse_units(text, Round::Up).unwrap().value);
    let mut amounts = Resources {
        cpu: words.get("cpu").map_or(0, |text| parse_milli(text, Round::Up).unwrap().value),
        memory: units("memory"),
        ephemeral_storage: units("disk"),
        pods,
        ..Resources::default()
    };
    for (name, amount) in words.all("ext").map(|text| text.split_once(':').unwrap()) {
        amounts.set_extended(name, amount.parse().unwrap());
    }
    amounts
}

fn attach(words: &Words<'_>) -> Vec<(Arc<str>, u32)> {
    let limits = words.all("attach").map(|text| text.split_once(':').unwrap());
    limits.map(|(driver, limit)| (driver.into(), limit.parse().unwrap())).collect()
}

fn pair(text: &str) -> (&str, &str) {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    (long(key), value)
}

fn expression(operator: Operator, text: &str) -> Expression {
    let (key, values) = pair(text);
    let values = if values.is_empty() { Vec::new() } else { values.split('|').map(Box::from).collect() };
    Expression { key: key.into(), operator, values }
}

/// Expressions in the order of the line; `or` begins another term.
fn node_terms(words: &Words<'_>) -> Vec<NodeTerm> {
    let mut terms: Vec<NodeTerm> = Vec::new();
    let mut open = false;
    for (word, text) in &words.0 {
        let operator = match *word {
            "in" | "name" => Operator::In,
            "notIn" | "notName" => Operator::NotIn,
            "exists" => Operator::Exists,
            "absent" => Operator::DoesNotExist,
            "gt" => Operator::Gt,
            "lt" => Operator::Lt,
            "or" => {
                // A term may be left empty.
                if !open {
                    terms.push(NodeTerm::default());
                }
                open = false;
                continue;
            }
            _ => continue,
        };
        if !open {
            terms.push(NodeTerm::default());
            open = true;
        }
        let term = terms.last_mut().unwrap();
        match *word {
            "name" | "notName" => term.fields.push(Expression {
                key: "metadata.name".into(),
                operator,
                values: text.split('|').map(Box::from).collect(),
            }),
            _ => term.labels.push(expression(operator, text)),
        }
    }
    terms
}

fn preference(text: &str) -> Preference {
    let (weight, label) = text.split_once(':').unwrap();
    let term = NodeTerm { labels: vec![expression(Operator::In, label)], fields: Vec::new() };
    Preference { weight: weight.parse().unwrap(), term }
}

fn effect(text: &str) -> Effect {
    match text {
        "NoSchedule" => Effect::NoSchedule,
        "NoExecute" => Effect::NoExecute,
        "PreferNoSchedule" => Effect::PreferNoSchedule,
        other => panic!("no effect: {other}"),
    }
}

fn taint(text: &str) -> Taint {
    let (label, only) = text.split_once(':').unwrap_or((text, "NoSchedule"));
    let (key, value) = label.split_once('=').unwrap_or((label, ""));
    Taint { key: key.into(), value: value.into(), effect: effect(only) }
}

/// `KEY=VALUE:EFFECT`, of which `KEY` alone tolerates every value and `*` every key.
fn toleration(text: &str) -> Toleration {
    let (label, only) = text.split_once(':').map_or((text, None), |(label, only)| (label, Some(effect(only))));
    let (key, value) = label.split_once('=').map_or((label, None), |(key, value)| (key, Some(value)));
    Toleration {
        key: if key == "*" { "".into() } else { key.into() },
        exists: value.is_none(),
        value: value.unwrap_or_default().into(),
        effect: only,
    }
}

fn host_port(text: &str) -> HostPort {
    let (address, protocol) = text.split_once('/').unwrap_or((text, "TCP"));
    let (ip, port) = address.rsplit_once(':').unwrap_or(("", address));
    let protocol = match protocol {
        "UDP" => Protocol::Udp,
        "SCTP" => Protocol::Sctp,
        _ => Protocol::Tcp,
    };
    HostPort { port: port.parse().unwrap(), protocol, ip: ip.into() }
}

fn selector(text: &str) -> Option<LabelSelector> {
    match text {
        "-" => None,
        "*" => Some(LabelSelector::default()),
        _ => Some(LabelSelector(text.split('&').map(|part| expression(Operator::In, part)).collect())),
    }
}

fn keys(words: &Words<'_>, word: &str) -> Vec<Box<str>> {
    words.all(word).map(Box::from).collect()
}

fn pod_term(text: &str) -> PodTerm {
    let text = text.replace(';', " ");
    let (key, rest) = text.split_once(' ').unwrap();
    let (pods, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let words = Words::of(rest);
    PodTerm {
        topology_key: long(key).into(),
        selector: selector(pods),
        namespaces: words.all("ns").map(Arc::from).collect(),
        namespace_selector: words.get("nsIn").map(|label| selector(label).unwrap()),
        match_label_keys: keys(&words, "same"),
        mismatch_label_keys: keys(&words, "other"),
    }
}

fn spread(text: &str) -> Spread {
    let text = text.replace(';', " ");
    let (key, rest) = text.split_once(' ').unwrap();
    let (pods, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let words = Words::of(rest);
    Spread {
        topology_key: long(key).into(),
        max_skew: words.number("skew").unwrap_or(1),
        min_domains: words.number("min").unwrap_or(1),
        selector: selector(pods),
        match_label_keys: keys(&words, "same"),
        ignore_node_affinity: words.has("ignoreAffinity"),
        honor_node_taints: words.has("honorTaints"),
    }
}

fn claim(name: &str, words: &Words<'_>) -> Claim {
    Claim {
        namespace: words.get("ns").unwrap_or("default").into(),
        name: name.into(),
        state: match words.get("bound") {
            Some(volume) => ClaimState::Bound(volume.into()),
            None if words.has("lost") => ClaimState::Lost,
            None if words.has("prebound") => ClaimState::Prebound,
            None => ClaimState::Unbound,
        },
        deleting: words.has("deleting"),
        storage_class: words.get("class").unwrap_or_default().into(),
        request: words.number("size").unwrap_or(1),
        modes: AccessModes { read_write_once_pod: words.has("alone"), ..AccessModes::default() },
        selector: words.get("takes").and_then(selector),
        selected_node: words.get("selected").map(Box::from),
    }
}

fn volume(name: &str, words: &Words<'_>) -> Volume {
    Volume {
        name: name.into(),
        labels: words.labels(&["in", "driver", "handle", "class", "size", "available", "keptFor"]),
        node_affinity: node_terms(words),
        driver: words.get("driver").map(Arc::from),
        handle: words.get("handle").unwrap_or_default().into(),
        storage_class: words.get("class").unwrap_or_default().into(),
        capacity: words.number("size").unwrap_or(1),
        available: words.has("available"),
        kept_for: words.get("keptFor").map(|claim| ("default".into(), claim.into())),
        ..Volume::default()
    }
}
