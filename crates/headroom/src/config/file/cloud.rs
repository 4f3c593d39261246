//! Who makes and ends the machines of a group.

use serde_json::json;

use super::aws::{self, Aws};
use super::externalgrpc::{self, ExternalGrpc};
use super::kwok::{self, Kwok};
use super::servers::{self, HetznerServers, LinodeServers, ProcessServers};
use crate::config::kind::{Kind, one_of, variant, word};

/// Who makes and ends the machines of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cloud {
    /// Nobody: the size is decided and reported.
    #[default]
    None,
    /// An EC2 Auto Scaling group.
    Aws(Aws),
    /// A provider that speaks the protocol of Cluster Autoscaler's external providers.
    ExternalGrpc(ExternalGrpc),
    /// kwok, which pretends to be nodes.
    Kwok(Kwok),
    /// Servers of Hetzner Cloud.
    Hetzner(Box<HetznerServers>),
    /// Servers of Linode.
    Linode(Box<LinodeServers>),
    /// Servers that commands make.
    Process(Box<ProcessServers>),
}

pub(super) fn kind() -> Kind<Cloud> {
    let variants = vec![
        variant("aws", "An EC2 Auto Scaling group.", aws::kind().map(Cloud::Aws)),
        variant(
            "externalgrpc",
            "A provider that speaks the protocol of Cluster Autoscaler's external providers.",
            externalgrpc::kind().map(Cloud::ExternalGrpc),
        ),
        variant(
            "hetzner",
            "Servers of Hetzner Cloud.",
            servers::hetzner().map(|servers| Cloud::Hetzner(Box::new(servers))),
        ),
        variant("kwok", "kwok, which pretends to be nodes.", kwok::kind().map(Cloud::Kwok)),
        variant("linode", "Servers of Linode.", servers::linode().map(|servers| Cloud::Linode(Box::new(servers)))),
        variant(
            "process",
            "Servers that commands of yours make, list and delete.",
            servers::process().map(|servers| Cloud::Process(Box::new(servers))),
        ),
        word("none", "Nobody: the size is decided and reported.", Cloud::None),
    ];
    one_of(variants, |cloud| (*cloud == Cloud::None).then(|| json!("none")))
}
