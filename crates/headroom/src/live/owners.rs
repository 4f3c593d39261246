//! The clouds that a configuration names.

use std::sync::Arc;

use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::cloud::externalgrpc::ExternalGrpc;
use headroom_adapters::cloud::kwok::Kwok;
use headroom_adapters::cluster::kubernetes::Client;
use headroom_adapters::fence::Fence;

use super::clouds::Owner;
use crate::config::Config;

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
        let groups = external.iter().map(|group| Arc::clone(&group.name)).collect();
        owners.push(Owner { cloud: Arc::new(ExternalGrpc::new(reach, external, connection.fence.clone())), groups });
    }
    owners
}
