//! kube-scheduler's filters written down once more, as plainly as can be: no counters, no shapes, no classes. Every
//! question walks over every pod and node.

use std::sync::Arc;

use headroom_core::scheduling::HOSTNAME;
use headroom_core::snapshot::{
    Claim, ClaimState, Effect, Expression, HostPort, LabelSelector, Labels, Node, NodeTerm, Operator, PodSpec, PodTerm,
    SharedSpec, Spread, StorageClass, Taint, Toleration, Volume,
};

/// A pod on a node.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) spec: SharedSpec,
    /// Index of the node.
    pub(crate) node: usize,
    pub(crate) deleting: bool,
}

#[derive(Clone, Default)]
pub(crate) struct World {
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: Vec<Bound>,
    pub(crate) namespaces: Vec<(Arc<str>, Labels)>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) volumes: Vec<Volume>,
    pub(crate) classes: Vec<StorageClass>,
    /// By node name: driver and limit.
    pub(crate) limits: Vec<(String, String, u32)>,
}

impl std::fmt::Debug for World {
    /// Nodes and pods, one a line, without what is not set.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for node in &self.nodes {
            let taints: Vec<String> = node.taints.iter().map(Taint::to_string).collect();
            let has = &node.allocatable;
            writeln!(f, "node {} {} {taints:?} cordoned={} {has:?}", node.name, node.labels, node.unschedulable)?;
        }
        for pod in &self.pods {
            writeln!(f, "pod on {} deleting={} {}", pod.node, pod.deleting, in_short(&pod.spec))?;
        }
        writeln!(f, "limits {:?}", self.limits)
    }
}

/// A spec without what is not set.
pub(crate) fn in_short(spec: &SharedSpec) -> String {
    serde_json::to_string(spec).unwrap()
}

impl World {
    /// Whether kube-scheduler would let the pod run on the node.
    pub(crate) fn fits(&self, spec: &PodSpec, at: usize) -> bool {
        let node = &self.nodes[at];
        spec.resource_claims.is_empty()
            && (!node.unschedulable || tolerates(spec, "node.kubernetes.io/unschedulable", "", Effect::NoSchedule))
            && untolerated(spec, &node.taints).is_none()
            && node_affinity(spec, node)
            && self.ports(spec, at)
            && self.resources(spec, at)
            && self.volumes(spec, node)
            && self.attach(spec, at)
            && spec.spread.iter().all(|spread| self.spread(spec, spread, at))
            && self.affinity(spec, at)
            && self.anti_affinity(spec, at)
            && self.anti_affinity_of_others(spec, at)
    }

    /// How much the pod would like to be on the node; None where a label is missing that nodes should have.
    pub(crate) fn liking(&self, spec: &PodSpec, at: usize) -> Option<i64> {
        let node = &self.nodes[at];
        let keeps_off = |taint: &&Taint| {
            taint.effect == Effect::PreferNoSchedule && !tolerates(spec, &taint.key, &taint.value, taint.effect)
        };
        let mut liking = -100 * node.taints.iter().filter(keeps_off).count() as i64;
        for preferred in &spec.preferred_node_affinity {
            liking += if terms(std::slice::from_ref(&preferred.term), node) { i64::from(preferred.weight) } else { 0 };
        }
        let near = |term: &PodTerm| {
            let near = self.pods.iter().filter(|pod| {
                self.same_place(&term.topology_key, pod.node, at) && self.term_matches(spec, term, &pod.spec)
            });
            near.count() as i64
        };
        for preferred in &spec.preferred_pod_affinity {
            liking += i64::from(preferred.weight) * near(&preferred.term);
        }
        for preferred in &spec.preferred_pod_anti_affinity {
            liking -= i64::from(preferred.weight) * near(&preferred.term);
        }
        for spread in &spec.preferred_spread {
            let own = node.labels.get(&spread.topology_key)?;
            let domains = self.domains(spec, spread, &spec.preferred_spread);
            liking -= 100 * domains.iter().find(|(value, _)| *value == own).map_or(0, |(_, count)| i64::from(*count));
        }
        Some(liking)
    }

    fn on(&self, at: usize) -> impl Iterator<Item = &Bound> {
        self.pods.iter().filter(move |pod| pod.node == at)
    }

    fn resources(&self, spec: &PodSpec, at: usize) -> bool {
        let has = &self.nodes[at].allocatable;
        let used = |amount: &dyn Fn(&PodSpec) -> i64| self.on(at).map(|pod| amount(&pod.spec)).sum::<i64>();
        let enough =
            |has: i64, amount: &dyn Fn(&PodSpec) -> i64| amount(spec) == 0 || amount(spec) <= has - used(amount);
        enough(has.cpu, &|spec| spec.requests.cpu)
            && enough(has.memory, &|spec| spec.requests.memory)
            && enough(has.ephemeral_storage, &|spec| spec.requests.ephemeral_storage)
            && enough(has.pods, &|spec| spec.requests.pods)
            && spec
                .requests
                .extended
                .iter()
                .all(|(name, _)| enough(has.extended(name), &|spec: &PodSpec| spec.requests.extended(name)))
    }

    fn ports(&self, spec: &PodSpec, at: usize) -> bool {
        let every = |port: &HostPort| port.ip.is_empty() || &*port.ip == "0.0.0.0";
        let clash = |a: &HostPort, b: &HostPort| {
            a.port == b.port && a.protocol == b.protocol && (every(a) || every(b) || a.ip == b.ip)
        };
        let used: Vec<&HostPort> = self.on(at).flat_map(|pod| &pod.spec.host_ports).collect();
        !spec.host_ports.iter().any(|port| port.port != 0 && used.iter().any(|used| clash(used, port)))
    }

    fn spread(&self, spec: &PodSpec, spread: &Spread, at: usize) -> bool {
        let Some(own) = self.nodes[at].labels.get(&spread.topology_key) else { return false };
        let domains = self.domains(spec, spread, &spec.spread);
        let least = domains.iter().map(|(_, count)| *count).min().unwrap_or(0);
        let least = if (domains.len() as u32) < spread.min_domains.max(1) { 0 } else { least };
        let here = domains.iter().find(|(value, _)| *value == own).map_or(0, |(_, count)| *count);
        let selector = with_keys(spread.selector.as_ref(), spec, &spread.match_label_keys, &[]);
        let itself = u32::from(selects(selector.as_ref(), &spec.labels));
        i64::from(here + itself) - i64::from(least) <= i64::from(spread.max_skew)
    }

    /// The domains that a spread constraint looks at, with the pods that it counts there. `all` are those of its kind.
    fn domains(&self, spec: &PodSpec, spread: &Spread, all: &[Spread]) -> Vec<(&str, u32)> {
        let selector = with_keys(spread.selector.as_ref(), spec, &spread.match_label_keys, &[]);
        let counted = |pod: &Bound| {
            pod.spec.namespace == spec.namespace && !pod.deleting && selects(selector.as_ref(), &pod.spec.labels)
        };
        let mut domains: Vec<(&str, u32)> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let has_keys = all.iter().all(|spread| node.labels.get(&spread.topology_key).is_some());
            let included = (spread.ignore_node_affinity || node_affinity(spec, node))
                && (!spread.honor_node_taints || untolerated(spec, &node.taints).is_none());
            if !has_keys || !included {
                continue;
            }
            let value = node.labels.get(&spread.topology_key).unwrap();
            let pods = self.on(index).filter(|pod| counted(pod)).count() as u32;
            match domains.iter_mut().find(|(known, _)| *known == value) {
                Some((_, count)) => *count += pods,
                None => domains.push((value, pods)),
            }
        }
        domains
    }

    fn affinity(&self, spec: &PodSpec, at: usize) -> bool {
        let matches_all = |of: &PodSpec| spec.pod_affinity.iter().all(|term| self.term_matches(spec, term, of));
        let near = |key: &str, to: Option<&str>| {
            self.pods.iter().any(|pod| {
                let value = self.nodes[pod.node].labels.get(key);
                value.is_some() && (to.is_none() || value == to) && matches_all(&pod.spec)
            })
        };
        let labels = &self.nodes[at].labels;
        if spec.pod_affinity.iter().any(|term| labels.get(&term.topology_key).is_none()) {
            return false;
        }
        spec.pod_affinity.iter().all(|term| near(&term.topology_key, labels.get(&term.topology_key)))
            || (matches_all(spec) && !spec.pod_affinity.iter().any(|term| near(&term.topology_key, None)))
    }

    fn anti_affinity(&self, spec: &PodSpec, at: usize) -> bool {
        !spec.pod_anti_affinity.iter().any(|term| {
            self.pods.iter().any(|pod| {
                self.same_place(&term.topology_key, pod.node, at) && self.term_matches(spec, term, &pod.spec)
            })
        })
    }

    fn anti_affinity_of_others(&self, spec: &PodSpec, at: usize) -> bool {
        !self.pods.iter().any(|pod| {
            pod.spec.pod_anti_affinity.iter().any(|term| {
                self.same_place(&term.topology_key, pod.node, at) && self.term_matches(&pod.spec, term, spec)
            })
        })
    }

    fn same_place(&self, key: &str, a: usize, b: usize) -> bool {
        let (a, b) = (self.nodes[a].labels.get(key), self.nodes[b].labels.get(key));
        a.is_some() && a == b
    }

    fn term_matches(&self, owner: &PodSpec, term: &PodTerm, pod: &PodSpec) -> bool {
        let own = term.namespaces.is_empty() && term.namespace_selector.is_none();
        let in_namespace = (own && owner.namespace == pod.namespace)
            || term.namespaces.contains(&pod.namespace)
            || term.namespace_selector.as_ref().is_some_and(|selector| {
                let known = self.namespaces.iter().find(|(name, _)| *name == pod.namespace);
                let labels = known
                    .map(|(_, labels)| labels.clone())
                    .unwrap_or_else(|| [("kubernetes.io/metadata.name", &*pod.namespace)].into_iter().collect());
                selects(Some(selector), &labels)
            });
        let selector = with_keys(term.selector.as_ref(), owner, &term.match_label_keys, &term.mismatch_label_keys);
        in_namespace && selects(selector.as_ref(), &pod.labels)
    }

    fn claim(&self, spec: &PodSpec, name: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.namespace == spec.namespace && *claim.name == *name)
    }

    fn volumes(&self, spec: &PodSpec, node: &Node) -> bool {
        spec.claims.iter().all(|name| {
            let Some(claim) = self.claim(spec, name) else { return false };
            let in_use = |pod: &Bound| pod.spec.namespace == spec.namespace && pod.spec.claims.contains(name);
            if claim.deleting || (claim.modes.read_write_once_pod && self.pods.iter().any(in_use)) {
                return false;
            }
            match &claim.state {
                ClaimState::Lost | ClaimState::Prebound => false,
                ClaimState::Bound(volume) => {
                    let Some(volume) = self.volumes.iter().find(|known| known.name == *volume) else { return false };
                    (volume.node_affinity.is_empty() || terms(&volume.node_affinity, node)) && zone(volume, node)
                }
                ClaimState::Unbound => {
                    let class = self.classes.iter().find(|class| *class.name == *claim.storage_class);
                    let Some(class) = class.filter(|class| class.wait_for_first_consumer) else { return false };
                    let existing = self.volumes.iter().any(|volume| {
                        volume.available
                            && *volume.storage_class == *class.name
                            && volume.capacity >= claim.request
                            && (volume.node_affinity.is_empty() || terms(&volume.node_affinity, node))
                    });
                    let made = &*class.provisioner != "kubernetes.io/no-provisioner"
                        && (class.allowed_topologies.is_empty() || terms(&class.allowed_topologies, node));
                    claim.selected_node.as_ref().is_none_or(|selected| **selected == *node.name) && (existing || made)
                }
            }
        })
    }

    /// Driver and handle of the volumes that a pod attaches.
    fn attached(&self, spec: &PodSpec) -> Vec<(String, String)> {
        let volume = |name: &str| {
            let claim = self.claim(spec, name)?;
            match &claim.state {
                ClaimState::Bound(volume) => {
                    let volume = self.volumes.iter().find(|known| known.name == *volume)?;
                    Some((volume.driver.as_ref()?.to_string(), volume.name.to_string()))
                }
                _ => {
                    let class = self.classes.iter().find(|class| *class.name == *claim.storage_class)?;
                    let makes = &*class.provisioner != "kubernetes.io/no-provisioner";
                    makes.then(|| (class.provisioner.to_string(), format!("{}/{name}", claim.namespace)))
                }
            }
        };
        spec.claims.iter().filter_map(|name| volume(name)).collect()
    }

    fn attach(&self, spec: &PodSpec, at: usize) -> bool {
        let mut there: Vec<(String, String)> = self.on(at).flat_map(|pod| self.attached(&pod.spec)).collect();
        there.sort();
        there.dedup();
        let mut new = self.attached(spec);
        new.sort();
        new.dedup();
        new.retain(|volume| !there.contains(volume));
        self.limits.iter().filter(|(node, ..)| *node == *self.nodes[at].name).all(|(_, driver, limit)| {
            let count = |volumes: &[(String, String)]| volumes.iter().filter(|(of, _)| of == driver).count();
            count(&new) == 0 || count(&there) + count(&new) <= *limit as usize
        })
    }
}

fn tolerates(spec: &PodSpec, key: &str, value: &str, effect: Effect) -> bool {
    spec.tolerations.iter().any(|Toleration { key: own, exists, value: wanted, effect: only }| {
        only.is_none_or(|only| only == effect) && (own.is_empty() || **own == *key) && (*exists || **wanted == *value)
    })
}

fn untolerated<'a>(spec: &PodSpec, taints: &'a [Taint]) -> Option<&'a Taint> {
    let keeps_away = |taint: &&Taint| taint.effect != Effect::PreferNoSchedule;
    taints.iter().filter(keeps_away).find(|taint| !tolerates(spec, &taint.key, &taint.value, taint.effect))
}

fn node_affinity(spec: &PodSpec, node: &Node) -> bool {
    spec.node_selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
        && (spec.node_affinity.is_empty() || terms(&spec.node_affinity, node))
}

fn terms(terms: &[NodeTerm], node: &Node) -> bool {
    terms.iter().any(|term| {
        !(term.labels.is_empty() && term.fields.is_empty())
            && term.labels.iter().all(|expression| holds(expression, node.labels.get(&expression.key)))
            && term.fields.iter().all(|expression| holds(expression, Some(&*node.name)))
    })
}

fn zone(volume: &Volume, node: &Node) -> bool {
    let keys = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];
    keys.iter().all(|key| node.labels.get(key).is_none())
        || volume
            .labels
            .iter()
            .filter(|(key, _)| keys.contains(key))
            .all(|(key, value)| node.labels.get(key).is_some_and(|own| value.split("__").any(|value| value == own)))
}

fn with_keys(
    selector: Option<&LabelSelector>,
    own: &PodSpec,
    same: &[Box<str>],
    different: &[Box<str>],
) -> Option<LabelSelector> {
    let mut selector = selector?.clone();
    let keys = same.iter().map(|key| (key, Operator::In)).chain(different.iter().map(|key| (key, Operator::NotIn)));
    for (key, operator) in keys {
        if let Some(value) = own.labels.get(key) {
            selector.0.push(Expression { key: key.clone(), operator, values: vec![value.into()] });
        }
    }
    Some(selector)
}

fn selects(selector: Option<&LabelSelector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| selector.0.iter().all(|expression| holds(expression, labels.get(&expression.key))))
}

fn holds(expression: &Expression, value: Option<&str>) -> bool {
    let listed = |value: &str| expression.values.iter().any(|known| **known == *value);
    let compare = |wanted: std::cmp::Ordering| {
        let bound: Option<i64> = expression.values.first().and_then(|bound| bound.parse().ok());
        let value: Option<i64> = value.and_then(|value| value.parse().ok());
        value.zip(bound).is_some_and(|(value, bound)| value.cmp(&bound) == wanted)
    };
    match expression.operator {
        Operator::In => value.is_some_and(listed),
        Operator::NotIn => !value.is_some_and(listed),
        Operator::Exists => value.is_some(),
        Operator::DoesNotExist => value.is_none(),
        Operator::Gt => compare(std::cmp::Ordering::Greater),
        Operator::Lt => compare(std::cmp::Ordering::Less),
    }
}

/// A node as a new machine of a template becomes one.
pub(crate) fn new_node(
    name: &str,
    labels: &Labels,
    taints: &[Taint],
    allocatable: &headroom_core::quantity::Resources,
) -> Node {
    let labels = labels.iter().filter(|(key, _)| *key != HOSTNAME).chain([(HOSTNAME, name)]);
    Node {
        name: name.into(),
        labels: labels.collect(),
        taints: taints.to_vec(),
        allocatable: allocatable.clone(),
        ..Node::default()
    }
}
