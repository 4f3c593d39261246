//! Reaches a Kubernetes cluster.

use std::sync::Arc;

use headroom_adapters::cluster::kubernetes::lease::{self, Rivals};
use headroom_adapters::cluster::kubernetes::{Kubernetes, News, Notes, client};
use headroom_adapters::election::Timing;
use headroom_adapters::fence::Fence;

use super::herald::{self, Herald};
use super::owners::{self, Connection};
use super::session::{Options, Reached};
use crate::config::{Config, OtherAutoscalers};

/// The Lease by which instances agree on one that acts.
const LEASE: &str = "headroom";

/// Reaches the cluster that the options say, with an election if instances agree on one that acts.
pub(super) async fn reach(options: &Options, config: &Config, fence: Fence, elects: bool) -> anyhow::Result<Reached> {
    let Options { kubeconfig, context, namespace, identity, .. } = options;
    let client = client::connect(kubeconfig.as_deref(), context.as_deref(), fence.clone()).await?;
    let timing = Timing::default();
    let election =
        elects.then(|| Arc::new(lease::election(client.clone(), namespace, LEASE, identity, timing, fence.clone())));
    let waits = config.live.other_autoscalers == OtherAutoscalers::Wait;
    let herald = if config.policy.dry_run {
        (Herald::silent(), None)
    } else {
        let (herald, messages) = Herald::new();
        let news = News::new(client.clone(), namespace);
        (herald, Some(tokio::spawn(herald::announce(news, messages))))
    };
    let connection = Connection { kubernetes: Some((client.clone(), namespace.clone())), fence };
    Ok(Reached {
        cluster: Arc::new(Kubernetes::start(client.clone(), config.live.cordon)),
        notebook: Arc::new(Notes::new(client.clone(), namespace)),
        own_node: options.node.as_deref().map(Arc::from),
        election,
        rivals: waits.then(|| Rivals::new(client)),
        make_owners: Box::new(move |config: &Config| owners::of(config, &connection)),
        herald,
    })
}
