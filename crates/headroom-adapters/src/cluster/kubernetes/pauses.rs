//! What users have paused: an annotation on the ConfigMap of Headroom's status.

use std::collections::BTreeMap;

use headroom_core::keys::PAUSED;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::json;

use super::call::Call;
use crate::cluster::ClusterError;
use crate::notebook::{NotebookError, Pause, Pauses};

/// The ConfigMap whose key `status` says how Headroom is.
pub const STATUS: &str = "headroom-status";

/// How often a change is tried when others change the ConfigMap at the same time.
const TRIES: u32 = 5;

/// What users have paused in the instance of this namespace.
pub(super) async fn read(client: &Client, namespace: &str) -> Result<Pauses, NotebookError> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let found = call(&object(namespace), "get").demand(api.get_metadata_opt(STATUS)).await?;
    written(found.and_then(|found| found.metadata.annotations))
}

/// Pauses a group, or everything, in the instance of this namespace; None resumes it. Whether that changed anything.
pub async fn set_pause(
    client: &Client,
    namespace: &str,
    group: Option<&str>,
    pause: Option<Pause>,
) -> Result<bool, NotebookError> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let name = object(namespace);
    for _ in 0..TRIES {
        let found = call(&name, "get").demand(api.get_metadata_opt(STATUS)).await?;
        let version = found.as_ref().and_then(|found| found.metadata.resource_version.clone());
        let mut pauses = written(found.and_then(|found| found.metadata.annotations))?;
        if !pauses.set(group, pause) {
            return Ok(false);
        }
        let annotation = pauses.write();
        let answer = match version {
            None => {
                let annotations = annotation.map(|text| BTreeMap::from([(PAUSED.to_owned(), text)]));
                let metadata = ObjectMeta { name: Some(STATUS.to_owned()), annotations, ..ObjectMeta::default() };
                let new = ConfigMap { metadata, ..ConfigMap::default() };
                let made = async { api.create(&PostParams::default(), &new).await.map(drop) };
                call(&name, "create").answer(made).await?
            }
            Some(version) => {
                let patch =
                    json!({ "metadata": { "resourceVersion": version, "annotations": { PAUSED: annotation } } });
                let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
                let patched = async { api.patch_metadata(STATUS, &params, &patch).await.map(drop) };
                call(&name, "patch").answer(patched).await?
            }
        };
        match answer {
            Ok(()) => return Ok(true),
            Err(status) if status.code == 409 => {}
            Err(status) => return Err(call(&name, "patch").refused(status).into()),
        }
    }
    Err(ClusterError::Conflict { object: name }.into())
}

fn object(namespace: &str) -> String {
    format!("configmap {namespace}/{STATUS}")
}

fn call<'a>(object: &'a str, verb: &'a str) -> Call<'a> {
    Call { verb, object }
}

fn written(annotations: Option<BTreeMap<String, String>>) -> Result<Pauses, NotebookError> {
    let text = annotations.unwrap_or_default().remove(PAUSED).unwrap_or_default();
    Pauses::read(&text, &format!("the annotation {PAUSED} of the ConfigMap {STATUS}"))
}
