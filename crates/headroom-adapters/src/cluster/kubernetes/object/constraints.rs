//! What pods ask of nodes and of other pods.

use serde::Deserialize;

use super::{Map, Text, or_default};

/// `spec.affinity`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity<'a> {
    /// To nodes.
    #[serde(borrow)]
    pub node_affinity: Option<NodeAffinity<'a>>,
    /// To other pods.
    #[serde(borrow)]
    pub pod_affinity: Option<PodAffinity<'a>>,
    /// Away from other pods.
    #[serde(borrow)]
    pub pod_anti_affinity: Option<PodAffinity<'a>>,
}

/// `spec.affinity.nodeAffinity`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeAffinity<'a> {
    /// Where the pod must run.
    #[serde(borrow, rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<NodeSelector<'a>>,
    /// Where it would rather run.
    #[serde(borrow, rename = "preferredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub preferred: Vec<PreferredNodeTerm<'a>>,
}

/// One preferred term of a node affinity.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PreferredNodeTerm<'a> {
    /// From 1 to 100.
    pub weight: Option<i32>,
    /// What is preferred.
    #[serde(borrow, deserialize_with = "or_default")]
    pub preference: NodeSelectorTerm<'a>,
}

/// A required node affinity, of a pod or of a volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector<'a> {
    /// One of them must hold.
    #[serde(borrow, deserialize_with = "or_default")]
    pub node_selector_terms: Vec<NodeSelectorTerm<'a>>,
}

/// One of `nodeSelectorTerms`: all of its expressions must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm<'a> {
    /// On labels.
    #[serde(borrow, deserialize_with = "or_default")]
    pub match_expressions: Vec<Requirement<'a>>,
    /// On fields.
    #[serde(borrow, deserialize_with = "or_default")]
    pub match_fields: Vec<Requirement<'a>>,
}

/// One expression over labels or fields.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Requirement<'a> {
    /// The label or field.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`; over nodes also `Gt` or `Lt`.
    #[serde(borrow)]
    pub operator: Text<'a>,
    /// What the value is compared with.
    #[serde(borrow, deserialize_with = "or_default")]
    pub values: Vec<Text<'a>>,
}

/// `spec.affinity.podAffinity` or `podAntiAffinity`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodAffinity<'a> {
    /// All of them must hold.
    #[serde(borrow, rename = "requiredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub required: Vec<PodAffinityTerm<'a>>,
    /// What the pod would rather have.
    #[serde(borrow, rename = "preferredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub preferred: Vec<PreferredPodTerm<'a>>,
}

/// One preferred term of a pod affinity or anti-affinity.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreferredPodTerm<'a> {
    /// From 1 to 100.
    pub weight: Option<i32>,
    /// What is preferred.
    #[serde(borrow, deserialize_with = "or_default")]
    pub pod_affinity_term: PodAffinityTerm<'a>,
}

/// One term of a pod affinity or anti-affinity.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodAffinityTerm<'a> {
    /// The node label whose value makes two nodes one place.
    #[serde(borrow)]
    pub topology_key: Text<'a>,
    /// Which pods; none without it.
    #[serde(borrow)]
    pub label_selector: Option<LabelSelector<'a>>,
    /// In these namespaces.
    #[serde(borrow, deserialize_with = "or_default")]
    pub namespaces: Vec<Text<'a>>,
    /// And in namespaces with these labels.
    #[serde(borrow)]
    pub namespace_selector: Option<LabelSelector<'a>>,
    /// Labels in which the other pods equal this one.
    #[serde(borrow, deserialize_with = "or_default")]
    pub match_label_keys: Vec<Text<'a>>,
    /// Labels in which they differ from it.
    #[serde(borrow, deserialize_with = "or_default")]
    pub mismatch_label_keys: Vec<Text<'a>>,
}

/// Expressions over labels that must all hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector<'a> {
    /// Labels with one value each.
    #[serde(borrow)]
    pub match_labels: Map<'a, Text<'a>>,
    /// Everything else.
    #[serde(borrow, deserialize_with = "or_default")]
    pub match_expressions: Vec<Requirement<'a>>,
}

/// One of `spec.topologySpreadConstraints`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySpreadConstraint<'a> {
    /// The node label whose values are the domains.
    #[serde(borrow)]
    pub topology_key: Text<'a>,
    /// How many more pods than in the emptiest domain may be in one.
    pub max_skew: Option<i64>,
    /// With fewer domains, the emptiest one counts as empty.
    pub min_domains: Option<i64>,
    /// `DoNotSchedule` (also when empty) or `ScheduleAnyway`.
    #[serde(borrow)]
    pub when_unsatisfiable: Text<'a>,
    /// Which pods are counted; none without it.
    #[serde(borrow)]
    pub label_selector: Option<LabelSelector<'a>>,
    /// Labels in which counted pods equal this one.
    #[serde(borrow, deserialize_with = "or_default")]
    pub match_label_keys: Vec<Text<'a>>,
    /// `Honor` (also when empty) or `Ignore`.
    #[serde(borrow)]
    pub node_affinity_policy: Text<'a>,
    /// `Ignore` (also when empty) or `Honor`.
    #[serde(borrow)]
    pub node_taints_policy: Text<'a>,
}
