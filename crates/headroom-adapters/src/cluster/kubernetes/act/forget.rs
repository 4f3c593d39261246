//! Deleting nodes whose machines are gone.

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DeleteParams, Preconditions};
use kube::{Client, ResourceExt};

use super::super::call::Call;
use crate::cluster::ClusterError;

/// Deletes the Node object that has this name now; should another one take its name in between, it stays.
pub(super) async fn forget(client: &Client, node: &str) -> Result<(), ClusterError> {
    let object = format!("node {node}");
    let nodes: Api<Node> = Api::all(client.clone());
    let call = Call { verb: "get", object: &object };
    let found = match call.answer(nodes.get_metadata(node)).await? {
        Ok(found) => found,
        Err(status) if status.code == 404 => return Ok(()),
        Err(status) => return Err(call.refused(status)),
    };
    let this_one = Preconditions { uid: found.uid(), resource_version: None };
    let params = DeleteParams { preconditions: Some(this_one), ..DeleteParams::default() };
    let call = Call { verb: "delete", object: &object };
    match call.answer(nodes.delete(node, &params)).await? {
        Ok(_) => Ok(()),
        Err(status) if status.code == 404 => Ok(()),
        Err(status) => Err(call.refused(status)),
    }
}
