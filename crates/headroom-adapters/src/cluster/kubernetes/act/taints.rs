//! Taints of nodes, and cordons that go with them.
//!
//! `spec.taints` is one list: server-side apply would own all of it, and a patch replaces all of it. So a patch carries
//! the version that was read, and is refused when somebody changed the node in between.

use std::time::Duration;

use headroom_core::keys::CORDONED;
use headroom_core::snapshot::{Effect, Taint};
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
struct MarkedNode {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: String,
    #[serde(default)]
    annotations: Annotations,
}

#[derive(Default, Deserialize)]
struct Annotations {
    #[serde(rename = "headroom.dev/cordoned")]
    cordoned: Option<String>,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default)]
    taints: Option<Vec<Value>>,
    #[serde(default)]
    unschedulable: bool,
}

/// What keeps pods away from a node.
#[derive(Clone, PartialEq)]
pub(super) struct Marks {
    taints: Vec<Value>,
    unschedulable: bool,
    /// The key of the taint with which Headroom cordoned the node.
    cordoned: Option<String>,
}

/// Changes what keeps pods away from a node.
pub(super) async fn change(client: &Client, node: &str, edit: impl Fn(&mut Marks)) -> Result<(), ClusterError> {
    let object = format!("node {node}");
    for pause in PAUSES {
        let MarkedNode { metadata, spec } = read(client, node, &object).await?;
        let before = Marks {
            taints: spec.taints.unwrap_or_default(),
            unschedulable: spec.unschedulable,
            cordoned: metadata.annotations.cordoned,
        };
        let mut after = before.clone();
        edit(&mut after);
        if after == before {
            return Ok(());
        }
        let patch = after.patch(&before, &metadata.resource_version);
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

impl Marks {
    /// Puts a taint among others, in the place of one with the same key and effect. With `cordon`, one that keeps all pods
    /// away cordons the node, unless somebody has.
    pub(super) fn put(&mut self, taint: &Taint, cordon: bool) {
        let effect = taint.effect.to_string();
        let same = |other: &Value| text(other, "key") == &*taint.key && text(other, "effect") == effect;
        let mut wanted = json!({ "key": &*taint.key, "effect": effect });
        if !taint.value.is_empty() {
            wanted["value"] = json!(&*taint.value);
        }
        match self.taints.iter_mut().find(|other| same(other)) {
            Some(other) if text(other, "value") == &*taint.value => {}
            Some(other) => *other = wanted,
            None => self.taints.push(wanted),
        }
        if cordon && taint.effect != Effect::PreferNoSchedule && !self.unschedulable {
            self.unschedulable = true;
            self.cordoned = Some(taint.key.to_string());
        }
    }

    /// Takes off those with this key, and the cordon that came with it.
    pub(super) fn take_off(&mut self, key: &str) {
        self.taints.retain(|taint| text(taint, "key") != key);
        if self.cordoned.as_deref() == Some(key) {
            self.unschedulable = false;
            self.cordoned = None;
        }
    }

    /// The merge patch that makes this of `before`, if the node is still of this version.
    fn patch(&self, before: &Marks, version: &str) -> Value {
        let mut patch = json!({ "metadata": { "resourceVersion": version } });
        if self.taints != before.taints {
            patch["spec"]["taints"] = json!(self.taints);
        }
        if self.unschedulable != before.unschedulable {
            patch["spec"]["unschedulable"] = if self.unschedulable { json!(true) } else { Value::Null };
        }
        if self.cordoned != before.cordoned {
            patch["metadata"]["annotations"] = json!({ CORDONED: self.cordoned });
        }
        patch
    }
}

fn text<'t>(taint: &'t Value, field: &str) -> &'t str {
    taint.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The node as it is now: without a version the API server asks etcd.
async fn read(client: &Client, node: &str, object: &str) -> Result<MarkedNode, ClusterError> {
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
