//! Taints of nodes.
//!
//! `spec.taints` is one list: server-side apply would own all of it, and a patch replaces all of it. So a patch carries
//! the version that was read, and is refused when somebody changed the node in between.

use std::time::Duration;

use headroom_core::snapshot::Taint;
use k8s_openapi::api::core::v1::Node;
use kube::api::{GetParams, Patch, PatchParams};
use kube::{Client, Resource};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::call::Call;
use crate::cluster::ClusterError;

/// How many milliseconds are waited after each patch that was refused because the node had changed.
const PAUSES: [u64; 6] = [10, 20, 40, 80, 160, 320];

/// As much of a node as it takes. Taints stay as they were written.
#[derive(Deserialize)]
struct TaintedNode {
    metadata: Version,
    #[serde(default)]
    spec: Taints,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: String,
}

#[derive(Default, Deserialize)]
struct Taints {
    #[serde(default)]
    taints: Option<Vec<Value>>,
}

/// Changes the taints of a node by `edit`, which says whether it changed any.
pub(super) async fn change(
    client: &Client,
    node: &str,
    edit: impl Fn(&mut Vec<Value>) -> bool,
) -> Result<(), ClusterError> {
    let object = format!("node {node}");
    for pause in PAUSES {
        let TaintedNode { metadata, spec } = read(client, node, &object).await?;
        let mut taints = spec.taints.unwrap_or_default();
        if !edit(&mut taints) {
            return Ok(());
        }
        let patch = json!({
            "metadata": { "resourceVersion": metadata.resource_version },
            "spec": { "taints": taints },
        });
        let call = Call { verb: "patch", object: &object };
        match call.answer(patch_node(client, node, &patch)).await? {
            Ok(()) => return Ok(()),
            Err(status) if status.code == 404 => return Err(ClusterError::NoSuchNode { node: node.to_owned() }),
            Err(status) if status.code == 409 => tokio::time::sleep(Duration::from_millis(pause)).await,
            Err(status) => return Err(call.refused(status)),
        }
    }
    Err(ClusterError::Conflict { object })
}

/// Puts a taint among others, in the place of one with the same key and effect.
pub(super) fn put(taints: &mut Vec<Value>, taint: &Taint) -> bool {
    let effect = taint.effect.to_string();
    let same = |other: &Value| text(other, "key") == &*taint.key && text(other, "effect") == effect;
    let mut wanted = json!({ "key": &*taint.key, "effect": effect });
    if !taint.value.is_empty() {
        wanted["value"] = json!(&*taint.value);
    }
    match taints.iter_mut().find(|other| same(other)) {
        Some(other) if text(other, "value") == &*taint.value => return false,
        Some(other) => *other = wanted,
        None => taints.push(wanted),
    }
    true
}

/// Takes off those with this key.
pub(super) fn take_off(taints: &mut Vec<Value>, key: &str) -> bool {
    let before = taints.len();
    taints.retain(|taint| text(taint, "key") != key);
    taints.len() < before
}

fn text<'t>(taint: &'t Value, field: &str) -> &'t str {
    taint.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The node as it is now: without a version the API server asks etcd.
async fn read(client: &Client, node: &str, object: &str) -> Result<TaintedNode, ClusterError> {
    let call = Call { verb: "get", object };
    let get = async {
        let request = nodes().get(node, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
        client.request(request).await
    };
    call.answer(get).await?.map_err(|status| match status.code {
        404 => ClusterError::NoSuchNode { node: node.to_owned() },
        _ => call.refused(status),
    })
}

async fn patch_node(client: &Client, node: &str, patch: &Value) -> kube::Result<()> {
    let request =
        nodes().patch(node, &PatchParams::default(), &Patch::Merge(patch)).map_err(kube::Error::BuildRequest)?;
    client.request_text(request).await.map(drop)
}

fn nodes() -> kube::core::Request {
    kube::core::Request::new(Node::url_path(&(), None))
}
