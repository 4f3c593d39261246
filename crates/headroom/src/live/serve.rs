//! Offers the groups of a configuration to other autoscalers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use headroom_adapters::cloud::externalgrpc::server::{self, Offer, Prices, Provider, ServerTls};
use headroom_adapters::cluster::kubernetes::client;
use headroom_adapters::fence::Fence;
use headroom_core::policy::Group;

use super::clouds::Owner;
use super::owners::{self, Connection};
use super::source::Source;
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
    let file = options.config;
    let config = Source::new(move |found| config::load_with(&file, found)).load().await?;
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
        Offer { cloud, groups: known.map(|group| (*group).clone()).collect() }
    };
    let pending = &config.policy.pending;
    let prices = Prices { sources: pending.prices.clone(), unit: pending.price.settings().unit_prices.clone() };
    let provider = Provider::new(owners.into_iter().map(offer).collect(), prices);
    let listening = |address| journal::offered(address, config.policy.dry_run);
    Ok(server::serve(provider, options.listen, options.tls, listening, session::terminated()).await?)
}

/// Whether a cloud of the configuration is reached through the cluster.
fn needs_cluster(config: &Config) -> bool {
    config.clouds.values().any(|cloud| matches!(cloud, Cloud::Kwok(_)))
}
