//! Pods are evicted through an API that honours disruption budgets, and take their time to end.

use headroom_core::plan::Evict;
use headroom_core::snapshot::{DisruptionBudget, Expression, LabelSelector, Operator};

use super::*;

/// A workload's disruption budget.
#[derive(Debug)]
pub(super) struct Guard {
    workload: usize,
    /// As it was last told.
    told: Option<DisruptionBudget>,
}

impl World {
    /// Finds the workloads with a disruption budget.
    pub(super) fn guards(&self) -> Vec<Guard> {
        let guarded =
            |(workload, source): (usize, &Source)| source.life().budget.map(|_| Guard { workload, told: None });
        self.sources.iter().enumerate().filter_map(guarded).collect()
    }

    /// The disruption budgets that are others than were last told.
    pub(super) fn changed_budgets(&mut self) -> Vec<DisruptionBudget> {
        let mut guards = std::mem::take(&mut self.guards);
        let mut changed = Vec::new();
        for guard in &mut guards {
            let now = self.budget(guard.workload);
            if now != guard.told {
                changed.extend(now.clone());
                guard.told = now;
            }
        }
        self.guards = guards;
        changed
    }

    /// Evicts pods from a node, those whose disruption budget allows it. The answer is the first that was refused.
    pub(super) fn evict(&mut self, machine: MachineId, pods: &[Evict]) -> Result<(), Refused> {
        let mut refused = Ok(());
        for id in self.named(machine, pods) {
            match self.refuses(id) {
                None => self.begin_end(id),
                Some(why) if refused.is_ok() => refused = Err(why),
                Some(_) => {}
            }
        }
        refused
    }

    /// Why some of these evictions would be refused, one after the other, if so.
    pub(crate) fn refuses_some(&self, node: &str, pods: &[Evict]) -> Option<Refused> {
        let machine = self.by_name.get(node)?;
        let mut used: BTreeMap<usize, u32> = BTreeMap::new();
        self.named(*machine, pods).into_iter().find_map(|id| {
            let workload = self.pods.get(&id)?.workload?;
            let before = used.entry(workload).or_default();
            *before += 1;
            self.refuses_after(id, *before - 1)
        })
    }

    /// Pods of a node by name that are not on their way out already.
    fn named(&self, machine: MachineId, pods: &[Evict]) -> Vec<PodId> {
        let registered = self.machines.get(&machine).and_then(|machine| machine.node.as_ref());
        let here = registered.into_iter().flat_map(|registered| &registered.pods).copied();
        let named = |id: &PodId| {
            let pod = self.pods.get(id).filter(|pod| pod.ends_by.is_none());
            pod.is_some_and(|pod| {
                pods.iter().any(|evict| evict.namespace == pod.spec.namespace && *evict.name == *pod.name)
            })
        };
        here.filter(named).collect()
    }

    fn refuses(&self, id: PodId) -> Option<Refused> {
        self.refuses_after(id, 0)
    }

    /// Whether the pod's disruption budget refuses its eviction after `used` others.
    fn refuses_after(&self, id: PodId, used: u32) -> Option<Refused> {
        let pod = self.pods.get(&id)?;
        let budget = self.budget(pod.workload?)?;
        let gone = !self.is_ready(pod) && budget.gives_up_unready();
        let (namespace, name) = (&pod.spec.namespace, &pod.name);
        (!gone && budget.allowed <= used).then(|| Refused::Disruption {
            pod: format!("{namespace}/{name}"),
            budget: budget.name.clone(),
            healthy: budget.healthy.saturating_sub(used),
            wanted: budget.wanted,
        })
    }

    /// A pod is told to end: its controller makes another one at once, and it takes its time.
    fn begin_end(&mut self, id: PodId) {
        let Some(pod) = self.pods.get_mut(&id) else { return };
        let Some(source) = pod.workload.and_then(|workload| self.sources.get_mut(workload)) else { return };
        let (time, grace) = (source.stops_in(), source.life().stops_in.max);
        if time <= SignedDuration::ZERO {
            self.replace_pod(id);
            return;
        }
        pod.ends_by = Some(after(self.now, grace));
        if let Some(workload) = pod.workload {
            self.crews[workload].live.remove(&id);
        }
        self.note_pod(id);
        self.plan(time, Event::Ends(id));
        self.make_another(id);
    }

    /// Notes pods of a node of which it matters for a disruption budget whether the node is ready.
    pub(super) fn note_guarded(&mut self, machine: MachineId) {
        if self.guards.is_empty() {
            return;
        }
        let registered = self.machines.get(&machine).and_then(|machine| machine.node.as_ref());
        let is_guarded = |id: &PodId| {
            let workload = self.pods.get(id).and_then(|pod| pod.workload);
            self.guards.iter().any(|guard| Some(guard.workload) == workload)
        };
        let pods: Vec<PodId> = registered.into_iter().flat_map(|node| &node.pods).copied().filter(is_guarded).collect();
        pods.into_iter().for_each(|pod| self.note_pod(pod));
    }

    /// Whether a pod runs and is ready, and so is its node.
    pub(super) fn is_ready(&self, pod: &Pod) -> bool {
        let node = pod.machine.and_then(|machine| self.machines.get(&machine)?.node.as_ref());
        pod.ready && node.is_some_and(|node| node.outages == 0)
    }

    /// A workload's disruption budget, as its controller works it out.
    fn budget(&self, workload: usize) -> Option<DisruptionBudget> {
        let source = self.sources.get(workload)?;
        let rule = source.life().budget?;
        let spec = source.first_spec()?;
        let live = &self.crews.get(workload)?.live;
        let ready = live.iter().filter_map(|id| self.pods.get(id)).filter(|pod| self.is_ready(pod)).count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (pods, healthy) = (number(live.len()), number(ready));
        let wanted = rule.wanted(pods);
        let equals = |(key, value): (&str, &str)| {
            let values = vec![value.into()];
            Expression { key: key.into(), operator: Operator::In, values }
        };
        Some(DisruptionBudget {
            namespace: Arc::clone(&spec.namespace),
            name: source.name().into(),
            selector: Some(LabelSelector(spec.labels.iter().map(equals).collect())),
            allowed: if pods == 0 { 0 } else { healthy.saturating_sub(wanted) },
            healthy,
            wanted,
            always_allow_unready: false,
        })
    }
}
