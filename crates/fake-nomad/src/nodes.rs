//! Nodes and their drains.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::state::{State, nanoseconds};
use crate::{Face, Fake};

/// What a client says of itself when it registers.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Unique; a new one is made up if it is empty.
    pub id: String,
    /// As its host is called.
    pub name: String,
    /// Where it is.
    pub datacenter: String,
    /// Its class.
    pub class: String,
    /// Its pool, from Nomad 1.6 on.
    pub pool: String,
    /// In MHz.
    pub cpu: i64,
    /// In MiB.
    pub memory: i64,
    /// Of that reserved.
    pub reserved_memory: i64,
    /// Its meta attributes.
    pub meta: BTreeMap<String, String>,
    /// How busy each core is, in percent; empty when nothing is measured.
    pub busy: Vec<f64>,
}

impl Default for NodeSpec {
    fn default() -> Self {
        NodeSpec {
            id: String::new(),
            name: "server".to_owned(),
            datacenter: "dc1".to_owned(),
            class: String::new(),
            pool: "default".to_owned(),
            cpu: 4000,
            memory: 1000,
            reserved_memory: 0,
            meta: BTreeMap::new(),
            busy: Vec::new(),
        }
    }
}

/// A node.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) spec: NodeSpec,
    pub(crate) status: &'static str,
    pub(crate) status_updated_at: i64,
    pub(crate) eligible: bool,
    pub(crate) drain: Option<Drain>,
    pub(crate) events: Vec<Value>,
    pub(crate) created: u64,
    pub(crate) modified: u64,
    /// For how long it may say nothing; None for one whose client always runs.
    pub(crate) ttl: Option<Duration>,
    /// When it is down if it does not say anything until then.
    pub(crate) silent_at: Option<Instant>,
}

/// A drain that is under way.
#[derive(Clone, Debug)]
pub(crate) struct Drain {
    /// In nanoseconds, as it was asked for.
    pub(crate) deadline: i64,
    pub(crate) ignore_system_jobs: bool,
    pub(crate) started: Timestamp,
}

impl Drain {
    /// When what is left is stopped; None when there is no deadline.
    pub(crate) fn forced_at(&self) -> Option<Timestamp> {
        match self.deadline {
            0 => None,
            below if below < 0 => Some(self.started),
            deadline => self.started.checked_add(SignedDuration::from_nanos(deadline)).ok(),
        }
    }
}

impl Node {
    pub(crate) fn is_usable(&self) -> bool {
        self.status == "ready" && self.eligible && self.drain.is_none()
    }

    pub(crate) fn event(&mut self, subsystem: &str, message: &str, details: Value) {
        let timestamp = Timestamp::now().to_string();
        self.events.push(json!({
            "Message": message, "Subsystem": subsystem, "Details": details, "Timestamp": timestamp, "CreateIndex": 0,
        }));
    }

    /// As `/v1/nodes?resources=true` has it.
    pub(crate) fn stub(&self, face: Face, resources: bool) -> Value {
        let NodeSpec { id, name, datacenter, class, pool, .. } = &self.spec;
        let mut stub = json!({
            "Address": "127.0.0.1", "ID": id, "Datacenter": datacenter, "Name": name, "NodeClass": class,
            "Version": face.version(), "Drain": self.drain.is_some(), "SchedulingEligibility": self.eligibility(),
            "Status": self.status, "StatusDescription": "", "Drivers": {}, "HostVolumes": null,
            "CreateIndex": self.created, "ModifyIndex": self.modified,
        });
        if resources {
            stub["NodeResources"] = self.resources();
            stub["ReservedResources"] = self.reserved();
        }
        if face == Face::New {
            stub["NodePool"] = json!(pool);
            stub["LastDrain"] = Value::Null;
        }
        stub
    }

    /// As `/v1/node/ID` has it.
    pub(crate) fn to_json(&self, face: Face) -> Value {
        let NodeSpec { id, name, datacenter, class, pool, cpu, memory, meta, busy, .. } = &self.spec;
        let drain = self.drain.as_ref().map(|drain| {
            json!({
                "Deadline": drain.deadline, "IgnoreSystemJobs": drain.ignore_system_jobs,
                "ForceDeadline": drain.forced_at().map(|at| at.to_string()).unwrap_or_else(|| "0001-01-01T00:00:00Z".to_owned()),
                "StartedAt": drain.started.to_string(),
            })
        });
        let mut node = json!({
            "ID": id, "SecretID": "", "Datacenter": datacenter, "Name": name, "HTTPAddr": "127.0.0.1:4646", "TLSEnabled": false,
            "Attributes": {
                "unique.hostname": name, "cpu.numcores": busy.len().max(1).to_string(), "cpu.totalcompute": cpu.to_string(),
                "memory.totalbytes": (memory << 20).to_string(), "nomad.version": face.version(), "kernel.name": "linux",
            },
            "NodeResources": self.resources(), "ReservedResources": self.reserved(), "Resources": null, "Reserved": null,
            "Links": {}, "Meta": meta, "NodeClass": class, "Drain": self.drain.is_some(), "DrainStrategy": drain,
            "SchedulingEligibility": self.eligibility(), "Status": self.status, "StatusDescription": "",
            "StatusUpdatedAt": self.status_updated_at, "Events": self.events, "Drivers": {}, "HostVolumes": null,
            "CSIControllerPlugins": null, "CSINodePlugins": null, "CreateIndex": self.created, "ModifyIndex": self.modified,
        });
        if face == Face::New {
            node["NodePool"] = json!(pool);
            node["LastDrain"] = Value::Null;
        }
        node
    }

    fn eligibility(&self) -> &'static str {
        if self.eligible { "eligible" } else { "ineligible" }
    }

    fn resources(&self) -> Value {
        json!({
            "Cpu": { "CpuShares": self.spec.cpu }, "Memory": { "MemoryMB": self.spec.memory }, "Disk": { "DiskMB": 100_000 },
            "Networks": null, "NodeNetworks": null, "Devices": null,
        })
    }

    fn reserved(&self) -> Value {
        json!({
            "Cpu": { "CpuShares": 0 }, "Memory": { "MemoryMB": self.spec.reserved_memory }, "Disk": { "DiskMB": 0 },
            "Networks": { "ReservedHostPorts": "" },
        })
    }
}

impl Face {
    pub(crate) fn version(self) -> &'static str {
        match self {
            Face::Old => "1.0.18",
            Face::New => "1.7.7",
        }
    }
}

impl State {
    /// A client registers, or one that is known does so again. Its eligibility and drain stay as they were. It is heard of
    /// again within `ttl`, or is missed then.
    pub(crate) fn register(&mut self, mut spec: NodeSpec, ttl: Option<Duration>) -> String {
        let silent_at = ttl.map(|ttl| Instant::now() + ttl);
        if spec.id.is_empty() {
            spec.id = self.id();
        }
        let id = spec.id.clone();
        if let Some(known) = self.nodes.get_mut(&id) {
            (known.ttl, known.silent_at) = (ttl, silent_at);
            if known.status == "ready" {
                return id;
            }
        }
        let index = self.change();
        let known = self.nodes.remove(&id);
        let (eligible, drain) = known.as_ref().map_or((true, None), |known| (known.eligible, known.drain.clone()));
        let (created, events) = known.map_or((index, Vec::new()), |known| (known.created, known.events));
        let status_updated_at = Timestamp::now().as_second();
        let status = "ready";
        let mut node =
            Node { spec, status, status_updated_at, eligible, drain, events, created, modified: index, ttl, silent_at };
        node.event("Cluster", "Node registered", Value::Null);
        self.nodes.insert(id.clone(), node);
        id
    }

    /// A node does not say anything any more: what was on it is lost.
    pub(crate) fn down(&mut self, id: &str) {
        let index = self.change();
        if let Some(node) = self.nodes.get_mut(id) {
            (node.status, node.status_updated_at, node.modified) = ("down", Timestamp::now().as_second(), index);
            node.event("Cluster", "Node heartbeat missed", Value::Null);
        }
        self.lose(id, index);
    }

    /// The allocations of a node are lost.
    pub(crate) fn lose(&mut self, id: &str, index: u64) {
        for allocation in self.allocations.values_mut().filter(|allocation| allocation.node == id) {
            if !allocation.is_terminal() {
                (allocation.desired, allocation.client) = ("stop", "lost");
                (allocation.modified, allocation.modify_time) = (index, nanoseconds());
            }
        }
    }
}

impl Fake {
    /// A client registers; it then always runs, until [`Fake::stop_client`].
    pub fn add_node(&self, spec: NodeSpec) -> String {
        self.with(|state| state.register(spec, None))
    }

    /// The client of a node ends, and is missed at once.
    pub fn stop_client(&self, id: &str) {
        self.with(|state| state.down(id));
    }

    /// The nodes by name, with their status, eligibility and whether they are drained.
    pub fn nodes(&self) -> Vec<(String, String, bool, bool)> {
        let nodes = |state: &mut State| {
            let nodes = state.nodes.values();
            nodes
                .map(|node| (node.spec.name.clone(), node.status.to_owned(), node.eligible, node.drain.is_some()))
                .collect()
        };
        self.with(nodes)
    }

    /// How busy the cores of a node are from now on.
    pub fn set_busy(&self, id: &str, busy: Vec<f64>) {
        self.with(|state| state.nodes.get_mut(id).into_iter().for_each(|node| node.spec.busy.clone_from(&busy)));
    }

    /// Somebody else changes the eligibility of a node.
    pub fn set_eligible(&self, id: &str, eligible: bool) {
        self.with(|state| {
            let index = state.change();
            if let Some(node) = state.nodes.get_mut(id) {
                (node.eligible, node.modified) = (eligible, index);
            }
        });
    }
}
