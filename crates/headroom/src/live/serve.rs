//! Offers the groups of a configuration to other autoscalers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use headroom_adapters::cloud::externalgrpc::server::{self, Offer, OfferedGroup, Options, Provider, ServerTls};
use headroom_adapters::cluster::kubernetes::client;
use headroom_adapters::fence::Fence;
use headroom_core::policy::{Group, Percent, Strategy};

use super::clouds::Owner;
use super::owners::{self, Connection};
use super::{journal, session};
use crate::config::{self, Cloud, Cluster, Config};

/// How `headroom serve-provider` was called.
#[derive(Clone, Debug)]
pub(crate) struct ServeOptions {
    /// The configuration file.
    pub(crate) config: PathBuf,
    /// The kubeconfig file; None for the one that kubectl takes, or the cluster that this program runs in.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context in it.
    pub(crate) context: Option<String>,
    /// The namespace of the objects that a cloud keeps.
    pub(crate) namespace: String,
    /// Where to listen.
    pub(crate) listen: SocketAddr,
    /// By what clients are known; None: anybody on this machine is answered.
    pub(crate) tls: Option<ServerTls>,
}

/// Offers the groups that have a cloud until SIGTERM or SIGINT.
pub(crate) async fn serve(options: ServeOptions) -> anyhow::Result<()> {
    let config = config::load(&options.config)?;
    let fence = if config.policy.dry_run { Fence::closed() } else { Fence::open() };
    let kubernetes = match config.cluster {
        Cluster::Kubernetes if needs_cluster(&config) => {
            let client =
                client::connect(options.kubeconfig.as_deref(), options.context.as_deref(), fence.clone()).await?;
            Some((client, options.namespace))
        }
        _ => None,
    };
    let owners = owners::of(&config, &Connection { kubernetes, fence });
    if owners.is_empty() {
        anyhow::bail!("no group has a cloud whose machines could be offered; hint: give one `cloud: {{ kwok: {{}} }}`");
    }
    let groups: BTreeMap<&str, &Group> = config.policy.groups.iter().map(|group| (&*group.name, group)).collect();
    let offer = |Owner { cloud, groups: names }: Owner| {
        let known = names.iter().filter_map(|name| groups.get(&**name));
        Offer { cloud, groups: known.map(|group| offered(group)).collect() }
    };
    let provider = Provider::new(owners.into_iter().map(offer).collect());
    let listening = |address| journal::offered(address, config.policy.dry_run);
    Ok(server::serve(provider, options.listen, options.tls, listening, session::terminated()).await?)
}

/// Whether a cloud of the configuration is reached through the cluster.
fn needs_cluster(config: &Config) -> bool {
    config.clouds.values().any(|cloud| matches!(cloud, Cloud::Kwok(_)))
}

/// How long a node that stays in any case is to stay: ten years.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A group with what Cluster Autoscaler is told about it.
fn offered(group: &Group) -> OfferedGroup {
    let options = match &group.strategy {
        Strategy::Pending(pending) => {
            let scale_down = &pending.scale_down;
            Options {
                utilization: Some(share(scale_down.threshold)),
                gpu_utilization: Some(share(scale_down.gpu_threshold)),
                ignore_daemon_sets: Some(scale_down.ignore_daemon_sets),
                unneeded: Some(scale_down.unneeded_for.unsigned_abs()),
                unready: Some(scale_down.unready_for.map_or(NEVER, |time| time.unsigned_abs())),
                zero_or_max: Some(pending.all_or_nothing),
                provision: Some(group.boot_timeout.unsigned_abs()),
            }
        }
        // Their nodes go by rules that Cluster Autoscaler does not have.
        _ => Options { provision: Some(group.boot_timeout.unsigned_abs()), ..Options::default() },
    };
    OfferedGroup {
        name: Arc::clone(&group.name),
        min: group.size.min,
        max: group.size.max,
        template: group.template.clone(),
        price: group.price,
        options,
    }
}

/// A percentage as a share of 1.
fn share(percent: Percent) -> f64 {
    f64::from(percent.0) / f64::from(Percent::whole(100).0)
}
