//! What tests ask of Nomad and see of it.

use std::fmt;
use std::time::Duration;

use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

/// Speaks with one Nomad.
pub(super) struct Api {
    http: Client,
    url: String,
}

/// A service of one group with one task, for servers of one class.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) id: &'static str,
    pub(crate) class: &'static str,
    pub(crate) count: u32,
    /// In MiB.
    pub(crate) memory: u32,
    /// How long a task goes on when it is told to end.
    pub(crate) lingers: Duration,
}

impl Job {
    /// One task of this many MiB, for servers of the class `job`.
    pub(crate) fn of(id: &'static str, memory: u32) -> Self {
        Job { id, class: "job", count: 1, memory, lingers: Duration::from_millis(200) }
    }
}

/// What there is of a cluster.
pub(crate) struct View {
    pub(crate) nodes: Vec<Node>,
    pub(crate) tasks: Vec<Task>,
}

/// A node.
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) status: String,
    pub(crate) eligible: bool,
    pub(crate) drains: bool,
}

/// An allocation.
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) job: String,
    pub(crate) node: String,
    /// What its client says.
    pub(crate) status: String,
    /// What is wanted of it.
    pub(crate) desired: String,
}

impl Task {
    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        matches!(&*self.status, "complete" | "failed" | "lost")
    }
}

impl View {
    /// The nodes of a class that work is given to.
    pub(crate) fn usable(&self, class: &str) -> usize {
        self.nodes.iter().filter(|node| node.class == class && node.is_usable()).count()
    }

    /// The tasks of a job that run and are to.
    pub(crate) fn running(&self, job: &str) -> usize {
        let own = self.tasks.iter().filter(|task| task.job == job);
        own.filter(|task| task.status == "running" && task.desired == "run").count()
    }

    /// The tasks of a job that have not ended.
    pub(crate) fn live(&self, job: &str) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(move |task| task.job == job && !task.is_over())
    }

    /// Whether a task of a job has been told to end and has not.
    pub(crate) fn lingers(&self, job: &str) -> bool {
        self.live(job).any(|task| task.desired != "run")
    }

    /// The tasks that went down with their servers.
    pub(crate) fn lost(&self) -> Vec<&str> {
        self.tasks.iter().filter(|task| task.status == "lost").map(|task| &*task.id).collect()
    }
}

impl Node {
    pub(crate) fn is_usable(&self) -> bool {
        self.status == "ready" && self.eligible && !self.drains
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Node { id, name, status, eligible, drains, .. } in &self.nodes {
            writeln!(f, "node {name} {}: {status}, eligible {eligible}, drains {drains}", &id[..8])?;
        }
        for Task { id, job, node, status, desired } in &self.tasks {
            writeln!(f, "task {} of {job} on {}: {status}, to {desired}", &id[..8], &node[..8])?;
        }
        Ok(())
    }
}

impl Api {
    /// Asks as whoever has this token.
    pub(super) fn new(url: String, token: Option<&'static str>) -> Self {
        let token = token.map(|token| ("x-nomad-token", token));
        let headers =
            token.into_iter().map(|(name, token)| (HeaderName::from_static(name), HeaderValue::from_static(token)));
        let http = Client::builder().timeout(Duration::from_secs(10)).default_headers(headers.collect());
        let http = http.build().expect("a client");
        Api { http, url }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    async fn get(&self, path: &str) -> Result<Value, String> {
        let answer = self.http.get(format!("{}{path}", self.url)).send().await.map_err(|error| error.to_string())?;
        let (status, text) = (answer.status(), answer.text().await.map_err(|error| error.to_string())?);
        if !status.is_success() {
            return Err(format!("{path}: {status} {text}"));
        }
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    async fn send(&self, request: reqwest::RequestBuilder) {
        let answer = request.send().await.expect("an answer");
        let (status, text) = (answer.status(), answer.text().await.unwrap_or_default());
        assert!(status.is_success(), "{status}: {text}");
    }

    pub(super) async fn run(&self, job: &Job) {
        let Job { id, class, count, memory, lingers } = job;
        // One that is told to end at once does; another one is killed when its time is over.
        let script =
            if lingers.as_secs() > 0 { "trap '' INT TERM; while :; do sleep 1; done" } else { "exec sleep 600" };
        let body = json!({ "Job": {
            "ID": id, "Name": id, "Type": "service", "Datacenters": ["dc1"],
            "Constraints": [{ "LTarget": "${node.class}", "RTarget": class, "Operand": "=" }],
            "TaskGroups": [{
                "Name": "g", "Count": count, "EphemeralDisk": { "SizeMB": 20 },
                "Migrate": {
                    "MaxParallel": 1, "HealthCheck": "task_states", "MinHealthyTime": 100_000_000,
                    "HealthyDeadline": 60_000_000_000_u64,
                },
                "Tasks": [{
                    "Name": "t", "Driver": "raw_exec", "Config": { "command": "/bin/sh", "args": ["-c", script] },
                    "Resources": { "CPU": 100, "MemoryMB": memory },
                    "LogConfig": { "MaxFiles": 1, "MaxFileSizeMB": 1 },
                    "KillTimeout": u64::try_from(lingers.as_nanos()).expect("a short time"),
                }],
            }],
        } });
        self.send(self.http.put(format!("{}/v1/jobs", self.url)).json(&body)).await;
    }

    pub(super) async fn end(&self, job: &str) {
        self.send(self.http.delete(format!("{}/v1/job/{job}", self.url))).await;
    }

    pub(super) async fn save(&self) -> Vec<u8> {
        let answer = self.http.get(self.snapshot()).send().await.expect("an answer");
        answer.error_for_status().expect("a snapshot").bytes().await.expect("all of it").into()
    }

    pub(super) async fn restore(&self, snapshot: Vec<u8>) {
        self.send(self.http.put(self.snapshot()).body(snapshot)).await;
    }

    fn snapshot(&self) -> String {
        format!("{}/v1/operator/snapshot", self.url)
    }

    /// From Nomad 1.7 on.
    pub(super) async fn has_locks(&self) -> bool {
        let agent = self.get("/v1/agent/self").await.expect("an answer");
        let version = agent["config"]["Version"]["Version"].as_str().unwrap_or_default().to_owned();
        let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
        (numbers.next(), numbers.next()) >= (Some(1), Some(7))
    }

    pub(super) async fn view(&self) -> Result<View, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: Value| value.as_array().cloned().unwrap_or_default();
        let nodes = list(self.get("/v1/nodes").await?);
        let nodes = nodes.iter().map(|node| Node {
            id: text(&node["ID"]),
            name: text(&node["Name"]),
            class: text(&node["NodeClass"]),
            status: text(&node["Status"]),
            eligible: node["SchedulingEligibility"] == "eligible",
            drains: node["Drain"] == true,
        });
        let tasks = list(self.get("/v1/allocations").await?);
        let tasks = tasks.iter().map(|task| Task {
            id: text(&task["ID"]),
            job: text(&task["JobID"]),
            node: text(&task["NodeID"]),
            status: text(&task["ClientStatus"]),
            desired: text(&task["DesiredStatus"]),
        });
        Ok(View { nodes: nodes.collect(), tasks: tasks.collect() })
    }
}
