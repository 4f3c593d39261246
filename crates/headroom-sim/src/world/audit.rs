//! Checks of the world's own books, for tests.

use super::fit::fits;
use super::*;
use crate::ledger::Levels;

impl World {
    /// Everything that there is, for comparing.
    pub(crate) fn picture(&self) -> String {
        format!("{:#?}\n{:#?}\n{:#?}\n{:#?}", self.groups, self.machines, self.pods, self.waiting)
    }

    /// Nodes with their pods by name, then the pods that wait.
    pub(crate) fn sketch(&self) -> Vec<String> {
        let name = |id: &PodId| self.pods.get(id).map(|pod| pod.name.to_string()).unwrap_or_default();
        let lines = self.machines.values().map(|machine| match &machine.node {
            None => format!("{} boots", machine.name),
            Some(node) => {
                let ready = if node.outages == 0 { "" } else { " not ready" };
                let pods: Vec<String> = node.pods.iter().map(name).collect();
                let colon = if pods.is_empty() { "" } else { ": " };
                format!("{}{ready}{colon}{}", machine.name, pods.join(" "))
            }
        });
        let waiting: Vec<String> =
            self.pods.iter().filter(|(_, pod)| pod.machine.is_none()).map(|(id, _)| name(id)).collect();
        let waiting = (!waiting.is_empty()).then(|| format!("waiting: {}", waiting.join(" ")));
        lines.chain(waiting).collect()
    }

    /// What is wrong with the books: sums that are not those of what there is, or pods that wait although they fit.
    pub(crate) fn audit(&mut self) -> Result<(), String> {
        for group in 0..self.groups.len() {
            let counted = self.count_levels(group);
            let booked = self.ledger.levels(group).clone();
            if counted != booked {
                return Err(format!("group {group} is {counted:?} and is booked as {booked:?}"));
            }
        }
        for pod in self.pods.values().filter(|pod| pod.machine.is_none()) {
            let nodes = self.machines.values().filter_map(|machine| machine.node.as_ref());
            if let Some(node) = nodes.into_iter().find(|node| fits(&pod.spec, &node.object, &node.used)) {
                return Err(format!("{} waits and fits on {}", pod.name, node.object.name));
            }
        }
        Ok(())
    }

    fn count_levels(&self, group: usize) -> Levels {
        let state = &self.groups[group];
        let mut levels = Levels { wanted: state.target, machines: cloud::count(&state.machines), ..Levels::default() };
        let machines = state.machines.iter().filter_map(|id| self.machines.get(id));
        for node in machines.filter_map(|machine| machine.node.as_ref()) {
            levels.nodes += 1;
            levels.capacity += &node.object.allocatable;
            let pods: Vec<&Pod> = node.pods.iter().filter_map(|id| self.pods.get(id)).collect();
            pods.iter().for_each(|pod| levels.requested += &pod.spec.requests);
            levels.used += u32::from(pods.iter().any(|pod| pod.spec.kind == PodKind::Workload));
        }
        levels
    }
}
