//! What tests put into a cluster.

use serde_json::{Value, json};

use super::LABEL;

/// A Deployment of equal pods that run on the scene's nodes only.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    name: &'static str,
    replicas: u32,
    requests: Value,
    pod: Value,
}

impl Workload {
    /// One pod that requests 1 cpu and 1 GiB.
    pub(crate) fn named(name: &'static str) -> Self {
        let requests = json!({ "cpu": "1", "memory": "1Gi" });
        Self { name, replicas: 1, requests, pod: json!({ "terminationGracePeriodSeconds": 1 }) }
    }

    pub(crate) fn replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas;
        self
    }

    /// What each pod requests.
    pub(crate) fn requests(mut self, cpu: &str, memory: &str) -> Self {
        self.requests = json!({ "cpu": cpu, "memory": memory });
        self
    }

    /// More of the specification of each pod.
    pub(crate) fn pod(mut self, more: Value) -> Self {
        let Value::Object(more) = more else { panic!("a map") };
        self.pod.as_object_mut().expect("a map").extend(more);
        self
    }

    pub(super) fn deployment(&self, scene: &str) -> Value {
        let mut pod = self.pod.clone();
        pod["nodeSelector"][LABEL] = scene.into();
        let container = json!({ "name": "main", "image": "none", "resources": { "requests": self.requests } });
        pod["containers"] = json!([container]);
        json!({
            "metadata": { "name": self.name },
            "spec": {
                "replicas": self.replicas,
                "selector": { "matchLabels": { "app": self.name } },
                "template": { "metadata": { "labels": { "app": self.name } }, "spec": pod },
            },
        })
    }
}

/// A machine that is made by hand.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    name: String,
    provider_id: String,
    labels: Value,
    resources: Value,
}

impl Machine {
    pub(crate) fn named(name: impl Into<String>, cpu: &str, memory: &str) -> Self {
        let name = name.into();
        let resources = json!({ "cpu": cpu, "memory": memory, "pods": "110" });
        Self { provider_id: format!("kwok://{name}"), labels: json!({}), name, resources }
    }

    /// The machine that a cloud knows by this name.
    pub(crate) fn of_cloud(mut self, provider_id: &str) -> Self {
        self.provider_id = provider_id.to_owned();
        self
    }

    /// More labels of its node.
    pub(crate) fn labels(mut self, labels: Value) -> Self {
        self.labels = labels;
        self
    }

    pub(super) fn node(&self, scene: &str) -> Value {
        let mut labels = self.labels.clone();
        labels["kubernetes.io/hostname"] = self.name.as_str().into();
        labels[LABEL] = scene.into();
        json!({
            "metadata": { "name": self.name, "labels": labels, "annotations": { "kwok.x-k8s.io/node": "fake" } },
            "spec": { "providerID": self.provider_id },
            "status": { "capacity": self.resources, "allocatable": self.resources },
        })
    }
}
