//! Jobs of one group with one task.

use serde_json::{Value, json};

use crate::state::{State, nanoseconds};
use crate::{Face, Fake};

/// A job that is registered.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// Unique in its namespace.
    pub id: String,
    /// Its namespace.
    pub namespace: String,
    /// `service`, `batch` or `system`.
    pub kind: String,
    /// How many allocations it has.
    pub count: u32,
    /// In MHz.
    pub cpu: i64,
    /// In MiB.
    pub memory: i64,
    /// The class of nodes that it asks for; empty for any.
    pub class: String,
    /// How long a task takes to end once it is told to, in milliseconds.
    pub kill_ms: u64,
}

impl Default for JobSpec {
    fn default() -> Self {
        JobSpec {
            id: "job".to_owned(),
            namespace: "default".to_owned(),
            kind: "service".to_owned(),
            count: 1,
            cpu: 100,
            memory: 100,
            class: String::new(),
            kill_ms: 0,
        }
    }
}

impl JobSpec {
    /// What of a job that is registered means anything here: its first group, with that one's first task.
    pub(crate) fn from_json(job: &Value) -> Option<Self> {
        let (group, task) = (&job["TaskGroups"][0], &job["TaskGroups"][0]["Tasks"][0]);
        let constraints = job["Constraints"].as_array().into_iter().flatten();
        let class =
            constraints.filter(|asks| asks["LTarget"] == "${node.class}").find_map(|asks| asks["RTarget"].as_str());
        let text = |value: &Value, other: &str| value.as_str().unwrap_or(other).to_owned();
        Some(JobSpec {
            id: job["ID"].as_str()?.to_owned(),
            namespace: text(&job["Namespace"], "default"),
            kind: text(&job["Type"], "service"),
            count: group["Count"].as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or(1),
            cpu: task["Resources"]["CPU"].as_i64().unwrap_or(100),
            memory: task["Resources"]["MemoryMB"].as_i64().unwrap_or(300),
            class: class.unwrap_or_default().to_owned(),
            kill_ms: task["KillTimeout"].as_u64().unwrap_or(0) / 1_000_000,
        })
    }
}

/// A job.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) spec: JobSpec,
    pub(crate) stopped: bool,
    pub(crate) created: u64,
    pub(crate) modified: u64,
}

impl State {
    /// Registers a job, or changes the one that is there. The number of the change.
    pub(crate) fn run(&mut self, spec: JobSpec) -> u64 {
        let index = self.change();
        let key = (spec.namespace.clone(), spec.id.clone());
        let created = self.jobs.get(&key).map_or(index, |known| known.created);
        self.jobs.insert(key, Job { spec, stopped: false, created, modified: index });
        index
    }

    /// Stops a job. The number of the change.
    pub(crate) fn stop(&mut self, namespace: &str, id: &str) -> u64 {
        let index = self.change();
        if let Some(job) = self.jobs.get_mut(&(namespace.to_owned(), id.to_owned())) {
            (job.stopped, job.modified) = (true, index);
        }
        index
    }

    /// How many allocations of a job wait for a node, run, and start.
    pub(crate) fn summary(&self, job: &Job) -> (u32, u32, u32) {
        let JobSpec { namespace, id, .. } = &job.spec;
        let of = |status: &str| {
            let mut own = self.allocations.values().filter(|allocation| allocation.is_of(namespace, id));
            u32::try_from(own.by_ref().filter(|own| own.client == status && own.desired == "run").count())
                .unwrap_or(u32::MAX)
        };
        let (running, starting) = (of("running"), of("pending"));
        let wanted = if job.stopped || job.spec.kind == "system" { 0 } else { job.spec.count };
        (wanted.saturating_sub(running + starting), running, starting)
    }

    /// As lists have it.
    pub(crate) fn job_stub(&self, job: &Job) -> Value {
        let JobSpec { id, namespace, kind, .. } = &job.spec;
        let (queued, running, starting) = self.summary(job);
        json!({
            "ID": id, "ParentID": "", "Name": id, "Namespace": namespace, "Datacenters": ["dc1"], "Multiregion": null,
            "Type": kind, "Priority": 50, "Periodic": false, "ParameterizedJob": false, "Stop": job.stopped,
            "Status": self.job_status(job), "StatusDescription": "", "SubmitTime": nanoseconds(),
            "JobSummary": {
                "JobID": id, "Namespace": namespace,
                "Summary": { "g": {
                    "Queued": queued, "Complete": 0, "Failed": 0, "Running": running, "Starting": starting, "Lost": 0,
                } },
                "Children": { "Pending": 0, "Running": 0, "Dead": 0 }, "CreateIndex": job.created, "ModifyIndex": self.index,
            },
            "CreateIndex": job.created, "ModifyIndex": job.modified, "JobModifyIndex": job.modified,
        })
    }

    fn job_status(&self, job: &Job) -> &'static str {
        let (queued, running, starting) = self.summary(job);
        match (job.stopped, queued + running + starting) {
            (true, _) => "dead",
            (false, 0) if job.spec.kind == "batch" => "dead",
            (false, _) if running + starting == 0 => "pending",
            _ => "running",
        }
    }

    /// As `/v1/job/ID` has it.
    pub(crate) fn job_json(&self, job: &Job, face: Face) -> Value {
        let JobSpec { id, namespace, kind, count, cpu, memory, class, kill_ms } = &job.spec;
        let asks =
            (!class.is_empty()).then(|| json!([{ "LTarget": "${node.class}", "RTarget": class, "Operand": "=" }]));
        let mut whole = json!({
            "Stop": job.stopped, "Region": "global", "Namespace": namespace, "ID": id, "ParentID": "", "Name": id, "Type": kind,
            "Priority": 50, "AllAtOnce": false, "Datacenters": ["dc1"], "Constraints": asks, "Affinities": null, "Spreads": null,
            "TaskGroups": [{
                "Name": "g", "Count": count, "Constraints": null, "Meta": null,
                "Tasks": [{
                    "Name": "t", "Driver": "raw_exec", "Config": { "command": "/bin/sleep" }, "Constraints": null, "Lifecycle": null,
                    "Resources": { "CPU": cpu, "MemoryMB": memory, "DiskMB": 0, "Networks": null, "Devices": null },
                    "KillTimeout": kill_ms * 1_000_000,
                }],
                "EphemeralDisk": { "Sticky": false, "SizeMB": 150, "Migrate": false },
            }],
            "Status": self.job_status(job), "StatusDescription": "", "Stable": false, "Version": 0, "SubmitTime": nanoseconds(),
            "CreateIndex": job.created, "ModifyIndex": job.modified, "JobModifyIndex": job.modified,
        });
        if face == Face::New {
            whole["NodePool"] = json!("default");
        }
        whole
    }
}

impl Fake {
    /// Registers a job, or changes the one that is there.
    pub fn run(&self, spec: JobSpec) {
        self.with(|state| state.run(spec));
    }

    /// Stops a job.
    pub fn stop_job(&self, namespace: &str, id: &str) {
        self.with(|state| state.stop(namespace, id));
    }

    /// How many allocations of a job wait for a node and run.
    pub fn waiting_and_running(&self, namespace: &str, id: &str) -> (u32, u32) {
        self.with(|state| {
            let job = state.jobs.get(&(namespace.to_owned(), id.to_owned()));
            job.map_or((0, 0), |job| {
                let (queued, running, _) = state.summary(job);
                (queued, running)
            })
        })
    }
}
