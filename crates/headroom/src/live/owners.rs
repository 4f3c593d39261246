//! The clouds that a configuration names.

use std::sync::Arc;

use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::cloud::externalgrpc::ExternalGrpc;
use headroom_adapters::cloud::kwok::Kwok;
use headroom_adapters::cloud::servers::hetzner::Hetzner;
use headroom_adapters::cloud::servers::linode::Linode;
use headroom_adapters::cloud::servers::process::Process;
use headroom_adapters::cloud::servers::rest::RestError;
use headroom_adapters::cloud::servers::{Provider, ServerGroup, Servers};
use headroom_adapters::cluster::kubernetes::Client;
use headroom_adapters::fence::Fence;

use super::clouds::Owner;
use crate::config::{self, Cloud, Config};

/// What clouds are reached by.
pub(super) struct Connection {
    /// The API server and Headroom's namespace in it, where the cluster is a Kubernetes cluster.
    pub(super) kubernetes: Option<(Client, String)>,
    /// Until when anything may be changed.
    pub(super) fence: Fence,
}

/// Every cloud, with the groups whose machines it has.
pub(super) fn of(config: &Config, connection: &Connection) -> Vec<Owner> {
    let mut owners = Vec::new();
    let kwok = config.kwok_groups();
    if let (Some((client, namespace)), false) = (&connection.kubernetes, kwok.is_empty()) {
        let groups = kwok.iter().map(|group| Arc::clone(&group.name)).collect();
        owners.push(Owner { cloud: Arc::new(Kwok::new(client.clone(), namespace, kwok)), groups });
    }
    for (account, aws) in config.aws_groups() {
        let groups = aws.iter().map(|group| Arc::clone(&group.name)).collect();
        owners.push(Owner { cloud: Arc::new(Aws::new(account, aws, connection.fence.clone())), groups });
    }
    for (reach, external) in config.external_groups() {
        let groups = external.iter().map(|external| Arc::clone(&external.group.name)).collect();
        owners.push(Owner { cloud: Arc::new(ExternalGrpc::new(reach, external, connection.fence.clone())), groups });
    }
    owners.extend(servers(config, &connection.fence));
    owners
}

/// Groups whose servers are made one by one.
fn servers(config: &Config, fence: &Fence) -> Vec<Owner> {
    let (mut hetzner, mut linode, mut process) = (Vec::new(), Vec::new(), Vec::new());
    for (name, cloud) in &config.clouds {
        match cloud {
            Cloud::Hetzner(servers) => hetzner.push((name, &**servers)),
            Cloud::Linode(servers) => linode.push((name, &**servers)),
            Cloud::Process(servers) => process.push((name, &**servers)),
            Cloud::None | Cloud::Aws(_) | Cloud::ExternalGrpc(_) | Cloud::Kwok(_) => {}
        }
    }
    let fence = || fence.clone();
    let hetzner = by_account(hetzner, |account, cluster| {
        Hetzner::new(account.settings.clone(), account.token(), cluster, fence())
    });
    let linode =
        by_account(linode, |account, cluster| Linode::new(account.settings.clone(), account.token(), cluster, fence()));
    let process = by_account(process, |commands, cluster| Ok(Process::new(commands.clone(), cluster, fence())));
    [hetzner, linode, process].into_iter().flatten().collect()
}

/// A group's name, and what is configured of its servers.
type Named<'c, A, H> = (&'c Arc<str>, &'c config::Servers<A, H>);

/// An account, the id that its servers carry, and the groups that share both.
type Shared<'c, A, H> = (&'c A, &'c Arc<str>, Vec<ServerGroup<H>>);

/// One owner for all groups whose servers are reached in the same way and carry the same id: one list has them all.
fn by_account<'c, A: PartialEq + 'c, P: Provider>(
    groups: Vec<Named<'c, A, P::Hardware>>,
    connect: impl Fn(&A, Arc<str>) -> Result<P, RestError>,
) -> Vec<Owner> {
    let mut accounts: Vec<Shared<'_, A, P::Hardware>> = Vec::new();
    for (name, servers) in groups {
        let group = servers.group(name);
        let known =
            accounts.iter_mut().find(|(account, id, _)| (*account, *id) == (&servers.account, &servers.cluster));
        match known {
            Some((_, _, groups)) => groups.push(group),
            None => accounts.push((&servers.account, &servers.cluster, vec![group])),
        }
    }
    let owners = accounts.into_iter().filter_map(|(account, cluster, groups)| {
        let names = groups.iter().map(|group| Arc::clone(&group.name)).collect();
        let provider = connect(account, Arc::clone(cluster)).inspect_err(|error| {
            let error: &dyn std::error::Error = error;
            tracing::error!(error, "nobody makes the servers of some groups");
        });
        let servers = Servers::new(provider.ok()?, Arc::clone(cluster), groups);
        Some(Owner { cloud: Arc::new(servers), groups: names })
    });
    owners.collect()
}
