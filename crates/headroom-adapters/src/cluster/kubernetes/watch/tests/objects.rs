//! Objects as short as the API server would never write them.

use serde_json::{Value, json};

pub(super) const NODES: &str = "api/v1/nodes";
pub(super) const PODS: &str = "api/v1/pods";
pub(super) const BUDGETS: &str = "apis/policy/v1/poddisruptionbudgets";
pub(super) const BUFFERS: &str = "apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers";

pub(super) fn named(name: &str) -> Value {
    match name.split_once('/') {
        Some((namespace, name)) => json!({ "metadata": { "name": name, "namespace": namespace } }),
        None => json!({ "metadata": { "name": name } }),
    }
}

pub(super) fn pod(name: &str, node: &str) -> Value {
    let mut pod = named(name);
    pod["metadata"]["managedFields"] = json!([{ "manager": "kubelet", "fieldsV1": { "f:status": {} } }]);
    let requests = json!({ "cpu": "100m", "memory": "64Mi" });
    pod["spec"] = json!({ "nodeName": node, "containers": [{ "name": "c", "resources": { "requests": requests } }] });
    pod["status"] = json!({ "phase": "Running" });
    pod
}
