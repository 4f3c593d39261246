//! A snapshot as the changes that make it, for a recording that starts in the middle.

use std::sync::Arc;

use super::{Change, Place, Pod, Snapshot};

impl Snapshot {
    /// Changes that make an equal snapshot out of an empty one, in a fixed order.
    pub fn to_changes(&self) -> Vec<Change> {
        let mut changes: Vec<Change> = self.coverage.iter().map(|(kind, of)| Change::Coverage(*kind, *of)).collect();
        let labels = self.namespace_labels.iter();
        changes
            .extend(labels.map(|(name, labels)| Change::Namespace { name: Arc::clone(name), labels: labels.clone() }));
        changes.extend(self.nodes().map(|view| Change::Node(Box::new(view.node.clone()))));
        let mut pods: Vec<Pod> = (0..self.pods.len()).filter_map(|index| self.whole_pod(index)).collect();
        pods.sort_by(|a, b| (&a.spec.namespace, &a.name).cmp(&(&b.spec.namespace, &b.name)));
        changes.extend(pods.into_iter().map(Change::Pod));
        changes.extend(self.groups.values().map(|group| Change::Group(Box::new(group.clone()))));
        changes.extend(self.disruption_budgets().map(|budget| Change::DisruptionBudget(Box::new(budget.clone()))));
        changes.extend(self.volumes().map(|volume| Change::Volume(Box::new(volume.clone()))));
        let claims = self.claims.values().flat_map(|claims| claims.values());
        changes.extend(claims.map(|claim| Change::Claim(Box::new(claim.clone()))));
        changes.extend(self.storage_classes.values().map(|class| Change::StorageClass(class.clone())));
        changes.extend(self.attach_limits.values().map(|limits| Change::AttachLimits(limits.clone())));
        let daemon_sets = self.daemon_sets.iter();
        changes
            .extend(daemon_sets.map(|((_, name), spec)| Change::DaemonSet { name: name.clone(), spec: spec.clone() }));
        changes.extend(self.workloads().map(|workload| Change::Workload(Box::new(workload.clone()))));
        changes.extend(self.capacity_buffers().map(|buffer| Change::CapacityBuffer(Box::new(buffer.clone()))));
        changes
    }

    fn whole_pod(&self, index: usize) -> Option<Pod> {
        let (_, entry) = self.pods.get_index(index)?;
        let spec = self.classes.get(entry.class as usize)?.spec.clone();
        let view = self.pod_at(u32::try_from(index).ok()?)?;
        let devices = self.devices.get(&spec.namespace).and_then(|pods| pods.get(view.name));
        Some(Pod {
            name: view.name.into(),
            node: view.node.map(Box::from),
            phase: view.phase,
            created: view.created,
            deleting: view.deleting,
            // The other reason to have no node and not to wait for one.
            gated: entry.place == Place::Aside && !view.deleting,
            devices: devices.map(|devices| devices.to_vec()).unwrap_or_default(),
            nominated: view.nominated.map(Box::from),
            unready: view.unready,
            ends_by: view.ends_by,
            spec,
        })
    }
}
