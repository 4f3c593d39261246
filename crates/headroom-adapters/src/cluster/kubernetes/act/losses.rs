//! What would be lost with a node.

use headroom_core::scale_down::lost_with_its_node;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Client, Resource};
use serde::Deserialize;

use super::super::call::Call;
use super::super::object::{self, Text};
use super::super::translate;
use crate::cluster::ClusterError;

/// More pods than nodes are made for.
const PAGE: u32 = 500;

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow, default)]
    metadata: PageMetadata<'a>,
    #[serde(borrow, default)]
    items: Vec<object::Pod<'a>>,
}

#[derive(Default, Deserialize)]
struct PageMetadata<'a> {
    /// Where the next page begins; empty after the last one.
    #[serde(borrow, default, rename = "continue")]
    next: Text<'a>,
}

/// The pods that would be lost with `node`, as they are now: without a version the API server asks etcd.
pub(super) async fn lost_with(client: &Client, node: &str) -> Result<Vec<String>, ClusterError> {
    let object = format!("pods on node {node}");
    let call = Call { verb: "list", object: &object };
    let pods = kube::core::Request::new(Pod::url_path(&(), None));
    let mut params = ListParams::default().fields(&format!("spec.nodeName={node}")).limit(PAGE);
    let now = Timestamp::now();
    let mut lost = Vec::new();
    loop {
        let list = async {
            let request = pods.list(&params).map_err(kube::Error::BuildRequest)?;
            client.request_text(request).await
        };
        let text = call.demand(list).await?;
        let page: Page<'_> = serde_json::from_str(&text).map_err(|error| ClusterError::Unreachable(error.into()))?;
        lost.extend(page.items.iter().filter(|pod| missed(pod, now)).map(name));
        if page.metadata.next.is_empty() {
            lost.sort_unstable();
            return Ok(lost);
        }
        params = params.continue_token(&page.metadata.next);
    }
}

/// Whether somebody would miss it. What cannot be read might be missed.
fn missed(pod: &object::Pod<'_>, now: Timestamp) -> bool {
    let read = translate::pod(pod, &mut translate::Specs::default());
    read.map_or(true, |read| lost_with_its_node(&read.value, now))
}

fn name(pod: &object::Pod<'_>) -> String {
    format!("{}/{}", &*pod.metadata.namespace, &*pod.metadata.name)
}
