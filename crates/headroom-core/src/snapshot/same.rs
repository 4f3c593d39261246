//! Whether a change changes anything.

use super::{Change, Place, Pod, Snapshot};

impl Snapshot {
    /// Whether the cluster is as this change says already, so that taking it in changes nothing. Most of what a cluster
    /// reports is about what no decision depends on, such as the heartbeats of nodes.
    pub fn has(&self, change: &Change) -> bool {
        match change {
            Change::Pod(pod) if pod.ended() => self.pod_index(&pod.spec.namespace, &pod.name).is_none(),
            Change::Pod(pod) => self.has_pod(pod),
            Change::PodGone { namespace, name } => self.pod_index(namespace, name).is_none(),
            Change::Node(node) => self.node(&node.name).is_some_and(|view| view.node == &**node),
            Change::NodeGone(name) => self.node(name).is_none(),
            Change::Group(group) => self.groups.get(&group.name) == Some(&**group),
            Change::GroupGone(name) => !self.groups.contains_key(name),
            Change::Namespace { name, labels } => self.namespace_labels.get(name) == Some(labels),
            Change::NamespaceGone(name) => !self.namespace_labels.contains_key(name),
            Change::DisruptionBudget(budget) => {
                let known = self.disruption_budgets.get(&budget.namespace).and_then(|known| known.get(&budget.name));
                known == Some(&**budget)
            }
            Change::DisruptionBudgetGone { namespace, name } => {
                self.disruption_budgets.get(namespace).is_none_or(|known| !known.contains_key(name))
            }
            Change::Volume(volume) => self.volume(&volume.name) == Some(&**volume),
            Change::VolumeGone(name) => self.volume(name).is_none(),
            Change::Claim(claim) => self.claim(&claim.namespace, &claim.name) == Some(&**claim),
            Change::ClaimGone { namespace, name } => self.claim(namespace, name).is_none(),
            Change::StorageClass(class) => self.storage_class(&class.name) == Some(class),
            Change::StorageClassGone(name) => self.storage_class(name).is_none(),
            Change::AttachLimits(limits) => self.attach_limits.get(&limits.node) == Some(limits),
            Change::AttachLimitsGone(node) => !self.attach_limits.contains_key(node),
            Change::DaemonSet { name, spec } => {
                self.daemon_sets.get(&(spec.namespace.clone(), name.clone())) == Some(spec)
            }
            Change::DaemonSetGone { namespace, name } => {
                !self.daemon_sets.contains_key(&(namespace.clone(), name.clone()))
            }
            Change::Workload(workload) => {
                self.workload(&workload.spec.namespace, &workload.reference()) == Some(&**workload)
            }
            Change::WorkloadGone { namespace, reference } => self.workload(namespace, reference).is_none(),
            Change::CapacityBuffer(buffer) => {
                let known = self.buffers.get(&buffer.namespace).and_then(|known| known.get(&buffer.name));
                known == Some(&**buffer)
            }
            Change::CapacityBufferGone { namespace, name } => {
                self.buffers.get(namespace).is_none_or(|known| !known.contains_key(name))
            }
            // What was never said is not the same as what is taken for granted.
            Change::Coverage(kind, coverage) => self.coverage.get(kind) == Some(coverage),
        }
    }

    fn has_pod(&self, pod: &Pod) -> bool {
        let Pod { name, spec, node, phase, created, deleting, gated, devices, nominated, unready, ends_by } = pod;
        let Some((_, entry)) = self.pod_index(&spec.namespace, name).and_then(|index| self.pods.get_index(index))
        else {
            return false;
        };
        let at_place = match (entry.place, node) {
            (Place::Node(at), Some(node)) => {
                self.nodes.get_index(at as usize).is_some_and(|(known, _)| **known == **node)
            }
            (Place::Aside, None) => *gated || *deleting,
            (Place::Pending, None) => !*gated && !*deleting,
            _ => false,
        };
        let known_devices = self.devices.get(&spec.namespace).and_then(|known| known.get(name));
        let known_node = self.nominated.get(&spec.namespace).and_then(|known| known.get(name));
        let known_end = self.ends_by.get(&spec.namespace).and_then(|known| known.get(name));
        at_place
            && (entry.phase, entry.created, entry.deleting, entry.unready) == (*phase, *created, *deleting, *unready)
            && self.classes.get(entry.class as usize).is_some_and(|class| class.spec == *spec)
            && known_devices.map_or(&[][..], |known| known) == devices.as_slice()
            // Only noted of pods that wait, and of those that are being deleted.
            && known_node == nominated.as_ref().filter(|_| entry.place == Place::Pending)
            && known_end == ends_by.as_ref().filter(|_| *deleting)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::snapshot::{Builder, Coverage, Kind, Node, Phase, PodSpec, SharedSpec};

    #[test]
    fn a_pod_is_the_same_only_if_all_of_it_is() {
        let pod = |name: &str| Pod { name: name.into(), ..Pod::default() };
        let priority = SharedSpec::new(PodSpec { priority: 1, ..PodSpec::default() });
        let second = Timestamp::from_second(1).ok();
        // No two of them are the same: each is taken in after the others.
        let states = [
            pod("p"),
            Pod { spec: priority, ..pod("p") },
            Pod { node: Some("a".into()), ..pod("p") },
            Pod { node: Some("b".into()), ..pod("p") },
            Pod { node: Some("b".into()), phase: Phase::Running, ..pod("p") },
            Pod { node: Some("b".into()), phase: Phase::Running, unready: true, ..pod("p") },
            Pod { node: Some("b".into()), deleting: true, ..pod("p") },
            Pod { node: Some("b".into()), deleting: true, ends_by: second, ..pod("p") },
            Pod { gated: true, ..pod("p") },
            Pod { deleting: true, ..pod("p") },
            Pod { created: second, ..pod("p") },
            Pod { nominated: Some("a".into()), ..pod("p") },
            Pod { devices: vec![1], ..pod("p") },
            Pod { phase: Phase::Succeeded, ..pod("p") },
        ];
        for (at, state) in states.iter().enumerate() {
            let mut builder = Builder::new();
            builder.apply(Change::Pod(pod("other")));
            builder.apply(Change::Pod(state.clone()));
            let same: Vec<_> = states.iter().map(|other| builder.snapshot().has(&Change::Pod(other.clone()))).collect();
            let expected: Vec<_> = (0..states.len()).map(|other| other == at).collect();
            assert_eq!(same, expected, "{state:?}");
        }
    }

    #[test]
    fn what_is_taken_for_granted_was_not_said() {
        let mut builder = Builder::new();
        let complete = Change::Coverage(Kind::Nodes, Coverage::Complete);
        assert!(!builder.snapshot().has(&complete));
        builder.apply(complete.clone());
        assert!(builder.snapshot().has(&complete));
        // A node that only its pods name is not known.
        builder.apply(Change::Pod(Pod { name: "p".into(), node: Some("n".into()), ..Pod::default() }));
        assert!(builder.snapshot().has(&Change::NodeGone("n".into())));
        let node = Change::Node(Box::new(Node { name: "n".into(), ..Node::default() }));
        builder.apply(node.clone());
        assert!(builder.snapshot().has(&node));
        assert!(!builder.snapshot().has(&Change::Node(Box::new(Node { deleting: true, ..Node::default() }))));
    }
}
