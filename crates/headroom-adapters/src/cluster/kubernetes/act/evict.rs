//! Evictions, through the API that respects disruption budgets.

use std::time::Duration;

use headroom_core::plan::Evict;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::Eviction;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, ObjectMeta, Preconditions};
use kube::api::{GetParams, PostParams};
use kube::core::Status;
use kube::{Client, Resource};
use serde::Deserialize;

use super::super::call::Call;
use crate::cluster::ClusterError;

/// As much of a pod as it takes.
#[derive(Deserialize)]
struct Bound {
    metadata: Identity,
    #[serde(default)]
    spec: Place,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    uid: String,
    deletion_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Place {
    node_name: Option<String>,
}

/// Asks `pod` to leave `node`. A pod of a StatefulSet may have come back elsewhere under the same name: that one stays,
/// which is why the pod is looked at first and the eviction is for this very pod alone.
pub(super) async fn evict(client: &Client, node: &str, pod: &Evict) -> Result<(), ClusterError> {
    let Evict { namespace, name, .. } = pod;
    let object = format!("pod {namespace}/{name}");
    let pods = kube::core::Request::new(Pod::url_path(&(), Some(namespace)));
    let call = Call { verb: "get", object: &object };
    let get = async {
        let request = pods.get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
        client.request::<Bound>(request).await
    };
    let found = match call.answer(get).await? {
        Ok(found) => found,
        Err(status) if status.code == 404 => return Ok(()),
        Err(status) => return Err(call.refused(status)),
    };
    let elsewhere = found.spec.node_name.as_deref() != Some(node);
    if elsewhere || found.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let call = Call { verb: "evict", object: &object };
    let post = async {
        let body = serde_json::to_vec(&eviction(pod, found.metadata.uid)).map_err(kube::Error::SerdeError)?;
        let request = pods
            .create_subresource("eviction", name, &PostParams::default(), body)
            .map_err(kube::Error::BuildRequest)?;
        client.request_text(request).await
    };
    match call.answer(post).await? {
        Ok(_) => Ok(()),
        Err(status) if leaves_anyway(&status) => Ok(()),
        Err(status) if held(&status) => Err(refused(pod, &status)),
        Err(status) => Err(call.refused(status)),
    }
}

fn eviction(pod: &Evict, uid: String) -> Eviction {
    Eviction {
        metadata: ObjectMeta {
            name: Some(pod.name.to_string()),
            namespace: Some(pod.namespace.to_string()),
            ..ObjectMeta::default()
        },
        delete_options: Some(DeleteOptions {
            preconditions: Some(Preconditions { uid: Some(uid), resource_version: None }),
            ..DeleteOptions::default()
        }),
    }
}

/// It is gone (404), another pod has its name (409), or its whole namespace is being deleted.
fn leaves_anyway(status: &Status) -> bool {
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    matches!(status.code, 404 | 409) || causes.any(|cause| cause.reason == "NamespaceTerminating")
}

/// A disruption budget keeps it (429), or the API server cannot work with several that cover it (500).
fn held(status: &Status) -> bool {
    status.code == 429 || status.code == 500 && status.message.contains("PodDisruptionBudget")
}

fn refused(pod: &Evict, status: &Status) -> ClusterError {
    let details = status.details.as_ref();
    let causes = details.into_iter().flat_map(|details| &details.causes).map(|cause| cause.message.as_str());
    let words: Vec<&str> = std::iter::once(status.message.as_str()).chain(causes).filter(|it| !it.is_empty()).collect();
    let seconds = details.map_or(0, |details| details.retry_after_seconds);
    ClusterError::EvictionRefused {
        pod: format!("{}/{}", pod.namespace, pod.name),
        reason: words.join(" "),
        retry_after: (seconds > 0).then(|| Duration::from_secs(seconds.into())),
    }
}
