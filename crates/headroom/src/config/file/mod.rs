//! The declarations: every key of the configuration file, once.
//!
//! Parser, JSON schema and reference page are all made from these. A new key is one line here and a field in
//! `headroom_core::policy`; a new strategy or cloud is one file and one line.

mod aws;
mod backoff;
mod catalogue;
mod cloud;
mod cluster;
mod cpu_usage;
mod discover;
mod expander;
mod externalgrpc;
pub(crate) mod group;
pub(crate) mod growth;
mod karpenter;
mod kwok;
mod limits;
mod live;
mod machine_price;
pub(crate) mod overlap;
mod pair;
mod pending;
mod pool;
mod prices;
mod priorities;
mod scale_down;
mod select;
mod servers;
mod slack;
mod spare;
pub(crate) mod strategy;
pub(crate) mod taint;
mod template;
mod utilization;
mod warnings;

pub use aws::Aws;
pub use cloud::Cloud;
pub use cluster::{Cluster, Nomad, State};
pub use cpu_usage::CpuUsage;
pub use externalgrpc::ExternalGrpc;
pub use kwok::Kwok;
pub use live::{Live, OtherAutoscalers};
pub use servers::Servers;

use std::path::Path;
use std::sync::Arc;

use headroom_core::policy::{CountPods, Policy, RunsOn, Strategy};
use jiff::SignedDuration;

use super::found::Found;
use super::kind::{duration, flag, list};
use super::problem::{ConfigErrors, Problem, Problems};
use super::record::{Places, Record};
use super::{Config, ConfigWarnings};
use group::Draft;
use growth::{Grows, Growth};

/// The file as it is read: groups still know where they stand.
pub(super) struct File {
    cluster: Cluster,
    interval: SignedDuration,
    dry_run: bool,
    live: Live,
    growth: Growth,
    groups: Vec<Draft>,
    discover: Vec<Draft>,
    /// Names of groups that were found, and that others have.
    taken: Vec<Arc<str>>,
    places: Places,
}

/// How often a Nomad cluster is looked at, where nothing else is said.
const NOMAD_INTERVAL: SignedDuration = SignedDuration::from_secs(15);

impl From<File> for Config {
    fn from(file: File) -> Self {
        let File { cluster, interval, dry_run, live, growth, groups, discover, taken, places } = file;
        let by_default = !places.has("interval");
        let interval = if by_default && matches!(cluster, Cluster::Nomad(_)) { NOMAD_INTERVAL } else { interval };
        let clouds = groups.iter().map(|draft| (draft.group.name.clone(), draft.cloud.clone())).collect();
        let mut policy = growth.policy(dry_run, groups);
        if let Cluster::Nomad(_) = cluster {
            on_nomad(&mut policy);
        }
        let discover = discover.into_iter().map(|draft| draft.cloud).collect();
        Config { policy, cluster, clouds, discover, taken, interval, live, warnings: ConfigWarnings::default() }
    }
}

/// Tells groups that are sized by requests that they are on Nomad, where an allocation always has its node.
pub(crate) fn on_nomad(policy: &mut Policy) {
    for group in &mut policy.groups {
        if let Strategy::Utilization(settings) = &mut group.strategy {
            (settings.runs_on, settings.count_pods) = (RunsOn::Nomad, CountPods::Placed);
        }
    }
}

impl File {
    /// What is right but can hardly be meant, once all files have been read.
    pub(super) fn warnings(&self) -> Vec<Problem> {
        warnings::of(self)
    }

    /// Takes in the groups that clouds were found to have.
    pub(super) fn add(&mut self, found: &Found) {
        self.taken = discover::add(&mut self.groups, &self.discover, found);
    }
}

impl Grows for File {
    fn growth(&mut self) -> &mut Growth {
        &mut self.growth
    }

    fn with_groups(&self) -> (&Growth, &[Draft]) {
        (&self.growth, &self.groups)
    }

    fn discovers(&self) -> bool {
        !self.discover.is_empty()
    }

    fn load(&mut self, folder: &Path, problems: &mut Problems) -> Result<(), ConfigErrors> {
        if let Cluster::Nomad(nomad) = &mut self.cluster {
            nomad.cpu_usage.settle(folder);
        }
        for Draft { cloud, places, .. } in self.groups.iter_mut().chain(&mut self.discover) {
            if let Cloud::ExternalGrpc(external) = cloud {
                external.load(folder, &places.of("cloud"), problems);
            }
        }
        servers::load(&mut self.groups, folder, problems);
        self.growth.load(folder, problems)
    }
}

/// The whole file.
pub(super) fn file() -> Record<File> {
    let start = || File {
        cluster: Cluster::default(),
        interval: SignedDuration::from_secs(10),
        dry_run: true,
        live: Live::default(),
        growth: Growth::default(),
        groups: Vec::new(),
        discover: Vec::new(),
        taken: Vec::new(),
        places: Places::default(),
    };
    let record = Record::new("", "The keys at the top of the file.", start)
        .field("cluster", cluster::kind(), |file| &mut file.cluster, "Where the nodes are.")
        .field(
            "interval",
            duration(SignedDuration::from_secs(1)),
            |file| &mut file.interval,
            "The longest time between two rounds, on Nomad `15s` unless it is given. A change in the cluster \
             starts a round sooner.",
        )
        .field(
            "dryRun",
            flag(),
            |file| &mut file.dry_run,
            "Decide and report, and do nothing, whatever the modes of the groups say. Set it to false \
             once the reports look right.",
        );
    growth::keys(live::keys(record))
        .field("groups", list(group::kind()), |file| &mut file.groups, "The node groups.")
        .field(
            "discover",
            list(discover::kind()),
            |file| &mut file.discover,
            "More node groups: those that clouds have, without an entry for each.",
        )
        .check(&["groups", "discover"], has_groups)
        .check(&["groups"], |file, _, problems| overlap::check(&file.groups, problems))
        .check(&["cluster", "groups"], |file, _, problems| {
            strategy::check(file.cluster.runs_on(), &file.groups, problems)
        })
        .check(&["cluster", "discover"], |file, _, problems| {
            strategy::check(file.cluster.runs_on(), &file.discover, problems);
        })
        .check(&["cluster", "groups", "discover"], |file, _, problems| {
            discover::check(&file.cluster, &file.groups, &file.discover, problems);
        })
        .placed(|file, places| file.places = places.clone())
}

fn has_groups(file: &File, at: &Places, problems: &mut Problems) {
    if file.groups.is_empty() && file.discover.is_empty() {
        let hint = "add one: `groups: [{ name: …, select: …, strategy: … }]`, or say with `discover:` where they are";
        problems.add(Problem::at(at.written("groups", "discover"), "there is no group", hint));
    }
}
