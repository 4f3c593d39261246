//! Reads a cluster once, as a dump of it would show it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use headroom_adapters::cluster::Cluster;
use headroom_adapters::cluster::kubernetes::{Kubernetes, client};
use headroom_adapters::cluster::nomad::{Nomad, readable};
use headroom_adapters::fence::Fence;
use headroom_core::policy::Policy;
use headroom_core::snapshot::Builder;
use indexmap::IndexSet;
use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::freshness::Freshness;
use super::nomad;
use crate::config;
use crate::dump::{Dump, Warning};

/// How long nodes and pods may take to be read.
const DEADLINE: Duration = Duration::from_secs(60);

/// How long is waited for everything else, once nodes and pods are there: some of it may not be allowed to be read.
const REST: Duration = Duration::from_secs(3);

/// Reads the cluster that is meant, and what `policy` needs of it. Nothing is written to it.
pub(crate) fn read(
    cluster: &config::Cluster,
    policy: Option<&Policy>,
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> anyhow::Result<Dump> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let is_nomad = matches!(cluster, config::Cluster::Nomad(_));
        let cluster: Box<dyn Cluster> = match cluster {
            config::Cluster::Kubernetes => {
                let client = client::connect(kubeconfig, context, Fence::closed()).await?;
                // Watches try again for as long as it takes. Whoever waits for an answer should know at once.
                client.apiserver_version().await.context("the API server does not answer")?;
                Box::new(Kubernetes::start(client, false))
            }
            config::Cluster::Nomad(settings) => {
                let client = nomad::connect(settings, Fence::closed())?;
                readable(&client).await?;
                let measured = policy.map(nomad::measured).unwrap_or_default();
                Box::new(Nomad::measuring(client, measured, settings.cpu_usage.meter()))
            }
        };
        let (mut builder, mut freshness, mut warnings) = (Builder::new(), Freshness::default(), Vec::new());
        let mut until = Instant::now() + DEADLINE;
        let mut known = false;
        loop {
            let mut observation = cluster.observe(builder.snapshot()).await;
            freshness.note(&mut observation, Timestamp::now());
            warnings.extend(observation.warnings.iter().map(|text| Warning::of_cluster(text)));
            observation.changes.into_iter().for_each(|change| builder.apply(change));
            if freshness.is_known() && !known {
                known = true;
                until = Instant::now() + REST;
            }
            if freshness.is_all_known() || timeout_at(until, cluster.changed()).await.is_err() {
                break;
            }
        }
        if !known {
            // The same is said at each try.
            let said: IndexSet<String> = warnings.iter().map(|warning| format!(": {warning}")).collect();
            let said: String = said.into_iter().collect();
            anyhow::bail!("the cluster was not read within {} s{said}", DEADLINE.as_secs());
        }
        let files = vec!["the cluster".to_owned()];
        Ok(Dump { files, builder, warnings, skipped: 0, counts: BTreeMap::new(), nomad: is_nomad, newest: None })
    })
}
