//! Which cluster is scaled.

use std::sync::Arc;

use headroom_core::policy::RunsOn;
use serde_json::json;

use super::cpu_usage::{self, CpuUsage};
use crate::config::kind::{Kind, one_of, text, variant};
use crate::config::record::Record;

/// Where the nodes are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cluster {
    /// A Kubernetes cluster, found the way kubectl finds it.
    #[default]
    Kubernetes,
    /// A Nomad region.
    Nomad(Nomad),
}

impl Cluster {
    /// What kind of cluster it is.
    pub(super) fn runs_on(&self) -> RunsOn {
        match self {
            Cluster::Kubernetes => RunsOn::Kubernetes,
            Cluster::Nomad(_) => RunsOn::Nomad,
        }
    }
}

/// A Nomad region, and where Headroom keeps what it has to remember about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nomad {
    /// Of its HTTP API; None is what the environment says.
    pub address: Option<Arc<str>>,
    /// None is what the environment says, or the region of the agent that answers.
    pub region: Option<Arc<str>>,
    /// Where memory, pauses and the lock are.
    pub state: State,
    /// Who says how busy servers are.
    pub cpu_usage: CpuUsage,
}

/// Where memory, pauses and the lock are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// In Nomad variables.
    Variables {
        /// What their paths begin with.
        path: Arc<str>,
    },
    /// In files.
    Folder {
        /// Where they are.
        path: Arc<str>,
    },
}

impl Default for State {
    fn default() -> Self {
        State::Variables { path: "headroom".into() }
    }
}

pub(super) fn kind() -> Kind<Cluster> {
    let kubernetes = Record::new(
        "cluster.kubernetes",
        "There is nothing to set: the cluster is found the way kubectl finds it.",
        || Cluster::Kubernetes,
    );
    let nomad = Record::new(
        "cluster.nomad",
        "A Nomad region. Whatever is not said here is what the `NOMAD_…` variables of Nomad's own command line say, the \
         token and certificates among it.",
        Nomad::default,
    )
    .field(
        "address",
        text().optional(),
        |nomad| &mut nomad.address,
        "Of the HTTP API of any agent, or `unix://` and the path of its socket. Left out: `NOMAD_ADDR`, or \
         `http://127.0.0.1:4646`.",
    )
    .field(
        "region",
        text().optional(),
        |nomad| &mut nomad.region,
        "Left out: `NOMAD_REGION`, or the region of that agent.",
    )
    .field(
        "state",
        state(),
        |nomad| &mut nomad.state,
        "Where Headroom keeps what it has to remember, what is paused, and the lock by which instances agree on the one \
         that acts (`leaderElection`).",
    )
    .field(
        "cpuUsage",
        cpu_usage::kind(),
        |nomad| &mut nomad.cpu_usage,
        "Who says how busy the cpus of servers are, for pools that are sized by it (`cpuPool`).",
    );
    let variants = vec![
        variant("kubernetes", "A Kubernetes cluster, found the way kubectl finds it.", kubernetes.kind()),
        variant("nomad", "A Nomad region.", nomad.kind().map(Cluster::Nomad)),
    ];
    one_of(variants, |cluster| (*cluster == Cluster::Kubernetes).then(|| json!({ "kubernetes": {} })))
}

fn state() -> Kind<State> {
    let variables =
        Record::new("cluster.nomad.state.variables", "Variables in the namespace of `NOMAD_NAMESPACE`.", || {
            Arc::from("headroom")
        })
        .field("path", text(), |path| path, "What their paths begin with.");
    let folder = Record::new("cluster.nomad.state.folder", "A folder of files.", || Arc::from("")).required(
        "path",
        text(),
        |path| path,
        "The folder, which must be there. Instances on several machines do not see each other's files: see to it that \
         there is one.",
    );
    let variants = vec![
        variant(
            "variables",
            "In Nomad variables. They need Nomad 1.4, and the lock on one of them Nomad 1.7.",
            variables.kind().map(|path| State::Variables { path }),
        ),
        variant("folder", "In files, for older ones.", folder.kind().map(|path| State::Folder { path })),
    ];
    one_of(variants, |state| match state {
        State::Variables { path } => Some(json!({ "variables": { "path": **path } })),
        State::Folder { .. } => None,
    })
}
