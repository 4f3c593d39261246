//! Reaches a Nomad cluster.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use headroom_adapters::cluster::nomad::client::{Access, Client};
use headroom_adapters::cluster::nomad::{Nomad, VariableLease, Variables, node_of};
use headroom_adapters::election::{Election, Timing};
use headroom_adapters::fence::Fence;
use headroom_adapters::notebook::folder::{Folder, FolderLease};
use headroom_adapters::notebook::{Notebook, Pause};
use headroom_core::policy::{Policy, Selection, Strategy};

use super::herald::Herald;
use super::owners::{self, Connection};
use super::session::{Options, Reached};
use crate::config::{self, Cluster, Config, State};

/// Says which allocation this program is, where it runs as a task of Nomad.
const ALLOCATION: &str = "NOMAD_ALLOC_ID";

/// A client for the region that the configuration and the environment say.
pub(crate) fn connect(nomad: &config::Nomad, fence: Fence) -> anyhow::Result<Client> {
    let access = Access::new(nomad.address.as_deref(), nomad.region.as_deref(), |name| std::env::var(name).ok())?;
    Ok(Client::new(&access, fence)?)
}

/// Where what must survive a restart is kept.
fn notebook(client: &Client, state: &State, fence: &Fence) -> Arc<dyn Notebook> {
    match state {
        State::Variables { path } => Arc::new(Variables::new(client.clone(), path)),
        State::Folder { path } => Arc::new(Folder::new(Path::new(&**path), fence.clone())),
    }
}

/// Pauses a group, or everything, in the instance that keeps its state there; None resumes it. Whether that changed anything.
pub(crate) async fn set_pause(
    nomad: &config::Nomad,
    group: Option<&str>,
    pause: Option<Pause>,
) -> anyhow::Result<bool> {
    // A person says this, and no election is needed for it.
    let fence = Fence::open();
    Ok(match &nomad.state {
        State::Variables { path } => Variables::new(connect(nomad, fence)?, path).set_pause(group, pause).await?,
        State::Folder { path } => Folder::new(Path::new(&**path), fence).set_pause(group, pause)?,
    })
}

/// Which servers' cpus matter.
pub(super) fn measured(policy: &Policy) -> Vec<Selection> {
    let pools = policy.groups.iter().filter(|group| matches!(group.strategy, Strategy::CpuPool(_)));
    pools.map(|group| group.select.clone()).collect()
}

/// Reaches that region, with an election if instances agree on one that acts.
pub(super) async fn reach(
    options: &Options,
    nomad: &config::Nomad,
    fence: Fence,
    elects: bool,
) -> anyhow::Result<Reached> {
    let client = connect(nomad, fence.clone())?;
    let own_node = match (&options.node, std::env::var(ALLOCATION)) {
        (Some(node), _) => Some(Arc::from(&**node)),
        (None, Ok(allocation)) if !allocation.is_empty() => {
            let node = node_of(&client, &allocation).await;
            Some(Arc::from(node.with_context(|| {
                format!("it is not known on which node this runs: the allocation {allocation} of {ALLOCATION} cannot be read")
            })?))
        }
        _ => None,
    };
    let timing = Timing::default();
    let election = elects.then(|| {
        let identity = &options.identity;
        Arc::new(match &nomad.state {
            State::Variables { path } => {
                let lease = VariableLease::new(client.clone(), path, identity, timing.lease);
                Election::new(lease, timing, fence.clone())
            }
            State::Folder { path } => {
                let lease = FolderLease::new(Path::new(&**path), identity, fence.clone());
                Election::new(lease, timing, fence.clone())
            }
        })
    });
    let cluster = Arc::new(Nomad::start(client.clone()));
    let connection = Connection { kubernetes: None, fence: fence.clone() };
    let cpu_of = Arc::clone(&cluster);
    Ok(Reached {
        notebook: notebook(&client, &nomad.state, &fence),
        cluster,
        own_node,
        election,
        rivals: None,
        make_owners: Box::new(move |config: &Config| {
            if let Cluster::Nomad(nomad) = &config.cluster {
                cpu_of.measure(measured(&config.policy), nomad.cpu_usage.meter());
            }
            owners::of(config, &connection)
        }),
        // Nomad has no place where users look for what was done to their jobs.
        herald: (Herald::silent(), None),
    })
}
