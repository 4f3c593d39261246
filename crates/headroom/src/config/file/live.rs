//! What only the running program needs to know.

use std::net::{Ipv4Addr, SocketAddr};

use super::File;
use crate::config::kind::{Kind, address, flag, list, words};
use crate::config::record::Record;
use crate::metrics::Compatible;

/// How the running program stands beside others and shows itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// Where the HTTP interface listens.
    pub http: SocketAddr,
    /// Whether instances agree on one that acts.
    pub leader_election: bool,
    /// What another autoscaler at work means.
    pub other_autoscalers: OtherAutoscalers,
    /// Whether a node is cordoned with its removal taint.
    pub cordon: bool,
    /// Programs whose names of metrics are offered, too.
    pub compatible_metrics: Vec<Compatible>,
}

/// What another autoscaler at work means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherAutoscalers {
    /// Nothing is done while it renews its lease.
    Wait,
    /// It has other node groups.
    Ignore,
}

impl Default for Live {
    fn default() -> Self {
        Live {
            http: SocketAddr::from((Ipv4Addr::LOCALHOST, 8085)),
            leader_election: true,
            other_autoscalers: OtherAutoscalers::Wait,
            cordon: false,
            compatible_metrics: Vec::new(),
        }
    }
}

/// Declares these keys.
pub(super) fn keys(record: Record<File>) -> Record<File> {
    record
        .field("http", http(), |file| &mut file.live.http, "The read-only HTTP interface of the running program.")
        .field("metrics", metrics(), |file| &mut file.live.compatible_metrics, "The metrics of the running program.")
        .field(
            "leaderElection",
            flag(),
            |file| &mut file.live.leader_election,
            "Instances agree by a Lease on the one that acts. Without it, see to it that there is only one.",
        )
        .field(
            "otherAutoscalers",
            words(&[
                ("wait", OtherAutoscalers::Wait, "nothing is carried out as long as it renews its lease"),
                ("ignore", OtherAutoscalers::Ignore, "it has other node groups: both may act"),
            ]),
            |file| &mut file.live.other_autoscalers,
            "What another autoscaler (Cluster Autoscaler, Karpenter, Escalator) at work in the cluster means.",
        )
        .field(
            "cordon",
            flag(),
            |file| &mut file.live.cordon,
            "A node of a Kubernetes cluster that is marked for removal is cordoned as well, for programs that look at that, and \
             uncordoned when its mark is taken off. The mark alone keeps pods away.",
        )
}

fn metrics() -> Kind<Vec<Compatible>> {
    let names = words(&[
        ("clusterAutoscaler", Compatible::ClusterAutoscaler, "Cluster Autoscaler's"),
        ("escalator", Compatible::Escalator, "Escalator's"),
    ]);
    Record::new("metrics", "What Prometheus reads at `/metrics`.", Vec::new)
        .field(
            "compatible",
            list(names),
            |compatible| compatible,
            "Names of other programs, for dashboards that know these; offered beside Headroom's own.",
        )
        .kind()
}

fn http() -> Kind<SocketAddr> {
    Record::new("http", "Health, metrics, plans and explanations.", || Live::default().http)
        .field(
            "address",
            address(),
            |http| http,
            "Address and port to listen at. Whoever can reach it can read the plans, and nothing else.",
        )
        .kind()
}
