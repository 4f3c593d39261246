//! Checks of the world's own books, for tests.

use headroom_core::scheduling::Setup;
use headroom_core::snapshot::Builder;

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
        let waiting: Vec<&Pod> = self.pods.values().filter(|pod| pod.machine.is_none()).collect();
        let mut builder = Builder::new();
        self.changes(self.everything()).into_iter().for_each(|change| builder.apply(change));
        let extra: Vec<SharedSpec> = waiting.iter().map(|pod| pod.spec.clone()).collect();
        let setup = Setup { extra: &extra, ..Setup::default() };
        let placement = headroom_core::scheduling::Placement::new(builder.snapshot(), &setup);
        for (at, pod) in waiting.iter().enumerate() {
            if placement.extra(at).is_some_and(|class| placement.fits_any(class).is_ok()) {
                return Err(format!("{} waits and fits on a node", pod.name));
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
