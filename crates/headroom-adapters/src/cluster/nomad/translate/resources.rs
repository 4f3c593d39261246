//! Amounts: one MHz is a thousandth of a cpu, Nomad's MB are MiB, and tasks that never run at once share what they have.

use headroom_core::quantity::Resources;

use super::Malformed;
use crate::cluster::nomad::object::{AllocatedResources, Lifecycle, NodeResources, TaskGroup};

const MIB: i64 = 1024 * 1024;

/// What a node has, or what of it is reserved.
pub(super) fn of_node(of: &NodeResources) -> Result<Resources, Malformed> {
    amounts(of.cpu.cpu_shares, of.memory.memory_mb, of.disk.disk_mb)
}

/// What an allocation holds.
pub(super) fn of_allocation(of: &AllocatedResources) -> Result<Resources, Malformed> {
    let mut parts = Parts::default();
    for (name, task) in &of.tasks {
        let lifecycle = of.task_lifecycles.get(name).and_then(Option::as_ref);
        parts.add(lifecycle, &amounts(task.cpu.cpu_shares, task.memory.memory_mb, 0)?);
    }
    Ok(parts.most().saturating_add(&amounts(0, 0, of.shared.disk_mb)?))
}

/// What one allocation of a group will hold.
pub(super) fn of_group(of: &TaskGroup) -> Result<Resources, Malformed> {
    let mut parts = Parts::default();
    for task in &of.tasks {
        parts.add(task.lifecycle.as_ref(), &amounts(task.resources.cpu, task.resources.memory_mb, 0)?);
    }
    Ok(parts.most().saturating_add(&amounts(0, 0, of.ephemeral_disk.size_mb)?))
}

/// What the tasks of a group have, by when they run.
#[derive(Default)]
struct Parts {
    before: Resources,
    main: Resources,
    after: Resources,
    beside: Resources,
}

impl Parts {
    fn add(&mut self, lifecycle: Option<&Lifecycle>, amounts: &Resources) {
        let part = match lifecycle.map(|lifecycle| (&*lifecycle.hook, lifecycle.sidecar)) {
            Some((_, true)) => &mut self.beside,
            Some(("prestart", false)) => &mut self.before,
            Some(("poststop", false)) => &mut self.after,
            _ => &mut self.main,
        };
        *part = part.saturating_add(amounts);
    }

    /// The most that they have at once, as Nomad's scheduler counts it.
    fn most(&self) -> Resources {
        self.before.max_each(&self.main).max_each(&self.after).saturating_add(&self.beside)
    }
}

fn amounts(mhz: i64, memory_mb: i64, disk_mb: i64) -> Result<Resources, Malformed> {
    for (field, value) in [("CpuShares", mhz), ("MemoryMB", memory_mb), ("DiskMB", disk_mb)] {
        if value < 0 {
            return Err(Malformed::BelowZero { field, value });
        }
    }
    let disk = disk_mb.saturating_mul(MIB);
    Ok(Resources { ephemeral_storage: disk, ..Resources::new(mhz, memory_mb.saturating_mul(MIB)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(json: &str) -> Resources {
        of_allocation(&serde_json::from_str(json).unwrap()).unwrap()
    }

    #[test]
    fn tasks_that_never_run_at_once_share_what_they_have() {
        let task =
            |cpu: u32, memory: u32| format!(r#"{{"Cpu":{{"CpuShares":{cpu}}},"Memory":{{"MemoryMB":{memory}}}}}"#);
        let json = format!(
            r#"{{"Tasks":{{"init":{},"main":{},"proxy":{},"clean":{}}},
                 "TaskLifecycles":{{"init":{{"Hook":"prestart"}},"main":null,
                   "proxy":{{"Hook":"prestart","Sidecar":true}},"clean":{{"Hook":"poststop"}}}},
                 "Shared":{{"DiskMB":150}}}}"#,
            task(900, 100),
            task(500, 300),
            task(50, 64),
            task(10, 20),
        );
        let expected = Resources { ephemeral_storage: 150 * MIB, ..Resources::new(950, 364 * MIB) };
        assert_eq!(held(&json), expected);
        assert_eq!(held(r#"{"Tasks":null,"TaskLifecycles":null,"Shared":null}"#), Resources::default());
    }

    #[test]
    fn amounts_below_zero_are_no_amounts() {
        let task = r#"{"Tasks":{"t":{"Memory":{"MemoryMB":-1}}}}"#;
        let wrong = of_allocation(&serde_json::from_str(task).unwrap());
        assert_eq!(wrong, Err(Malformed::BelowZero { field: "MemoryMB", value: -1 }));
    }
}
