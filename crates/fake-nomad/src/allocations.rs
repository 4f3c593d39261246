//! Allocations.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::state::State;
use crate::{Face, Fake};

/// An allocation.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub(crate) id: String,
    pub(crate) namespace: String,
    pub(crate) job: String,
    pub(crate) kind: String,
    pub(crate) number: u32,
    pub(crate) node: String,
    pub(crate) node_name: String,
    pub(crate) cpu: i64,
    pub(crate) memory: i64,
    pub(crate) desired: &'static str,
    pub(crate) client: &'static str,
    pub(crate) created: u64,
    pub(crate) modified: u64,
    pub(crate) create_time: i64,
    pub(crate) modify_time: i64,
    /// When its client says that it runs.
    pub(crate) runs_at: Instant,
    /// The allocation in whose place it is: it starts when that one has ended.
    pub(crate) follows: Option<String>,
    /// When its tasks have ended, once they are told to.
    pub(crate) ends_at: Option<Instant>,
    pub(crate) kill_ms: u64,
}

impl Allocation {
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self.client, "complete" | "failed" | "lost")
    }

    pub(crate) fn is_of(&self, namespace: &str, job: &str) -> bool {
        self.namespace == namespace && self.job == job
    }

    /// As lists have it; of one node they are whole.
    pub(crate) fn to_json(&self, face: Face, resources: bool) -> Value {
        let mut object = json!({
            "ID": self.id, "EvalID": "", "Name": format!("{}.g[{}]", self.job, self.number), "Namespace": self.namespace,
            "NodeID": self.node, "NodeName": self.node_name, "JobID": self.job, "JobType": self.kind, "JobVersion": 0,
            "TaskGroup": "g", "DesiredStatus": self.desired, "DesiredDescription": "", "ClientStatus": self.client,
            "ClientDescription": "", "DesiredTransition": { "Migrate": null, "Reschedule": null, "ForceReschedule": null },
            // What a client has not said yet is null.
            "TaskStates": null, "DeploymentStatus": null, "FollowupEvalID": "", "RescheduleTracker": null,
            "PreemptedAllocations": null, "PreemptedByAllocation": "", "CreateIndex": self.created,
            "ModifyIndex": self.modified, "CreateTime": self.create_time, "ModifyTime": self.modify_time,
        });
        if resources {
            let mut memory = json!({ "MemoryMB": self.memory });
            if face == Face::New {
                memory["MemoryMaxMB"] = json!(0);
            }
            object["AllocatedResources"] = json!({
                "Tasks": { "t": { "Cpu": { "CpuShares": self.cpu }, "Memory": memory, "Networks": null, "Devices": null } },
                "TaskLifecycles": { "t": null }, "Shared": { "Networks": null, "DiskMB": 150, "Ports": null },
            });
        }
        object
    }
}

impl State {
    /// What is held on a node, in MHz and MiB: also by tasks that are stopping.
    pub(crate) fn held(&self, node: &str) -> (i64, i64) {
        let on_it = self.allocations.values().filter(|allocation| allocation.node == node && !allocation.is_terminal());
        on_it.fold((0, 0), |(cpu, memory), allocation| (cpu + allocation.cpu, memory + allocation.memory))
    }
}

impl Fake {
    /// An allocation ends by itself, as a batch job's does; that of a job's with this number.
    pub fn end_task(&self, job: &str, number: u32) {
        self.with(|state| {
            let index = state.change();
            let own = state.allocations.values_mut().filter(|own| own.job == job && own.number == number);
            own.filter(|own| !own.is_terminal()).for_each(|own| (own.client, own.modified) = ("complete", index));
        });
    }

    /// The nodes, by name, on which tasks of a job still hold memory.
    pub fn nodes_of(&self, job: &str) -> Vec<String> {
        self.with(|state| {
            let own = state.allocations.values().filter(|own| own.job == job && !own.is_terminal());
            let mut names: Vec<String> = own.map(|own| own.node_name.clone()).collect();
            names.sort_unstable();
            names
        })
    }
}
