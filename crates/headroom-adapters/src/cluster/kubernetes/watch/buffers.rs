//! Capacity buffers, which a cluster has or has not: they are not part of Kubernetes.

use std::sync::Arc;

use kube::Client;

use super::follow::{Follower, Shared};
use super::request::{Failure, in_time};
use super::resource::{BUFFERS, POD_TEMPLATES, Resource};
use super::timing::{Pauses, Timing};
use crate::fence::boottime;

/// Follows capacity buffers, and the pod templates that they refer to, for as long as the cluster has them. It is looked
/// up again and again whether it does. A cluster without them is known to have none.
pub(super) async fn follow(client: Client, shared: Arc<Shared>, timing: Timing) {
    let mut pauses = Pauses::new(timing);
    loop {
        match served(&client, timing).await {
            Ok(Some(resource)) => {
                let follower = |resource| Follower::new(client.clone(), resource, Arc::clone(&shared), timing);
                let (buffers, templates) = (follower(resource), follower(&POD_TEMPLATES));
                // Neither returns before it is no longer served.
                tokio::select! {
                    () = buffers.follow() => {}
                    () = templates.follow() => {}
                }
                pauses.pause().await;
            }
            Ok(None) => {
                for resource in [&BUFFERS[0], &POD_TEMPLATES] {
                    let mut state = shared.state();
                    state.begin_list(resource);
                    state.end_list(resource);
                    state.connection(resource).opened(boottime(), timing.discovery + timing.grace);
                }
                shared.changed.notify_one();
                pauses.reset();
                tokio::time::sleep(timing.discovery).await;
            }
            Err(failure) => {
                tracing::debug!(%failure, "whether the cluster has capacity buffers could not be looked up");
                pauses.pause().await;
            }
        }
    }
}

/// The newest version of capacity buffers that the API server serves.
async fn served(client: &Client, timing: Timing) -> Result<Option<&'static Resource>, Failure> {
    for resource in &BUFFERS {
        let group = resource.group.trim_start_matches("apis/");
        match in_time(timing.answer, client.list_api_group_resources(group)).await {
            Ok(list) if list.resources.iter().any(|served| served.name == resource.plural) => {
                return Ok(Some(resource));
            }
            Ok(_) | Err(Failure::NotServed) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(None)
}
