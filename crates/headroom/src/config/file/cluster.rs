//! Which cluster is scaled.

use std::sync::Arc;

use serde_json::json;

use crate::config::kind::{Kind, one_of, text, variant};
use crate::config::record::Record;

/// Where the nodes are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cluster {
    /// A Kubernetes cluster, found the way kubectl finds it.
    #[default]
    Kubernetes,
    /// A Nomad region.
    Nomad {
        /// Of its HTTP API.
        address: Arc<str>,
    },
}

pub(super) fn kind() -> Kind<Cluster> {
    let kubernetes = Record::new(
        "cluster.kubernetes",
        "There is nothing to set: the cluster is found the way kubectl finds it.",
        || Cluster::Kubernetes,
    );
    let nomad = Record::new("cluster.nomad", "A Nomad region.", || Arc::from("http://127.0.0.1:4646")).field(
        "address",
        text(),
        |address| address,
        "Of the HTTP API of a Nomad server.",
    );
    let variants = vec![
        variant("kubernetes", "A Kubernetes cluster, found the way kubectl finds it.", kubernetes.kind()),
        variant("nomad", "A Nomad region.", nomad.kind().map(|address| Cluster::Nomad { address })),
    ];
    one_of(variants, |cluster| (*cluster == Cluster::Kubernetes).then(|| json!({ "kubernetes": {} })))
}
