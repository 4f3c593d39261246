//! What pods ask of their neighbours: selectors over pods, affinity, spread, host ports.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Expression, NodeTerm, Operator};

/// Expressions over the labels of pods or namespaces that must all hold; one without expressions selects everything.
/// A `matchLabels` entry is an `In` with one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LabelSelector(pub Vec<Expression>);

impl LabelSelector {
    /// A label, by key and value, that everything has which is selected; None when no expression asks for exactly one.
    pub(crate) fn single(&self) -> Option<(&str, &str)> {
        let mut listed = self.0.iter().filter(|expression| expression.operator == Operator::In);
        listed.find_map(|expression| match &*expression.values {
            [only] => Some((&*expression.key, &**only)),
            _ => None,
        })
    }
}

/// One term of a pod's affinity or anti-affinity to other pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodTerm {
    /// The node label whose value makes two nodes one place, for example `topology.kubernetes.io/zone`.
    pub topology_key: Box<str>,
    /// Which pods; None selects none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// In these namespaces. Together with no `namespace_selector`, empty means the pod's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<Arc<str>>,
    /// And in namespaces with these labels; None adds none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    /// Labels in which the other pods must equal this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_label_keys: Vec<Box<str>>,
    /// Labels in which the other pods must differ from this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mismatch_label_keys: Vec<Box<str>>,
}

/// A topology spread constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spread {
    /// The node label whose values are the domains.
    pub topology_key: Box<str>,
    /// So many more pods than in the emptiest domain are allowed in a domain, where it keeps a pod waiting.
    pub max_skew: u32,
    /// With fewer domains than this, the emptiest one counts as empty.
    pub min_domains: u32,
    /// Which pods are counted, in the pod's own namespace; None counts none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Labels in which counted pods must equal this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_label_keys: Vec<Box<str>>,
    /// `nodeAffinityPolicy: Ignore`: nodes count that the pod's node selector and affinity exclude.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_node_affinity: bool,
    /// `nodeTaintsPolicy: Honor`: nodes do not count whose taints the pod does not tolerate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub honor_node_taints: bool,
}

impl Default for Spread {
    /// Kubernetes' defaults, and a skew of one.
    fn default() -> Self {
        Spread {
            topology_key: Box::default(),
            max_skew: 1,
            min_domains: 1,
            selector: None,
            match_label_keys: Vec::new(),
            ignore_node_affinity: false,
            honor_node_taints: false,
        }
    }
}

/// A port of the node that a pod takes for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostPort {
    /// The port.
    pub port: u16,
    /// What speaks on it.
    pub protocol: Protocol,
    /// The address that it listens on; empty means every address.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub ip: Box<str>,
}

impl fmt::Display for HostPort {
    /// `8080/TCP` or `10.0.0.1:8080/TCP`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match self.protocol {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
            Protocol::Sctp => "SCTP",
        };
        match &*self.ip {
            "" => write!(f, "{}/{protocol}", self.port),
            ip => write!(f, "{ip}:{}/{protocol}", self.port),
        }
    }
}

/// A transport protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Protocol {
    #[default]
    Tcp,
    Udp,
    Sctp,
}

/// A preferred node affinity: nodes that match are better by `weight`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preference {
    /// From 1 to 100.
    pub weight: i32,
    /// What is preferred.
    pub term: NodeTerm,
}

/// A preferred affinity or anti-affinity to other pods: each such pod in a place makes it better or worse by `weight`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodPreference {
    /// From 1 to 100.
    pub weight: i32,
    /// Which pods, and what makes two nodes one place.
    pub term: PodTerm,
}
