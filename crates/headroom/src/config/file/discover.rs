//! Groups that have no entry of their own: a cloud is asked for them.

use std::sync::Arc;

use headroom_adapters::cloud::FoundGroup;
use headroom_core::policy::{CountPods, Strategy};

use super::cloud::Cloud;
use super::cluster::Cluster;
use super::group::{self, Draft};
use super::{aws, externalgrpc, select};
use crate::config::found::Found;
use crate::config::kind::{Kind, one_of, variant};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

pub(super) fn kind() -> Kind<Draft> {
    let record = Record::new(
        "discover[]",
        "Groups that a cloud has and `groups` does not list. Each is called as its cloud calls it, has the settings that \
         stand here, and those nodes whose machines the cloud lists as its own. The cloud is asked again each minute. A \
         group that is listed too keeps its own entry, and one that several entries find is of the first.",
        group::empty,
    )
    .required("cloud", cloud(), |draft| &mut draft.cloud, "Where they are, and which of those that are there.");
    group::keys(record).check(&["strategy"], needs_placed).placed(|draft, places| draft.places = places.clone()).kind()
}

fn cloud() -> Kind<Cloud> {
    let variants = vec![
        variant("aws", "EC2 Auto Scaling groups.", aws::search().map(Cloud::Aws)),
        variant("externalgrpc", "Every node group of an external provider.", {
            externalgrpc::search().map(Cloud::ExternalGrpc)
        }),
    ];
    one_of(variants, |_| None)
}

/// No pod can ask for the nodes of such a group.
fn needs_placed(draft: &Draft, at: &Places, problems: &mut Problems) {
    let Strategy::Utilization(utilization) = &draft.group.strategy else { return };
    if utilization.count_pods != CountPods::Placed {
        let message = "a group that is discovered needs `countPods: placed`";
        let hint = "write `strategy: { utilization: { countPods: placed } }`, or list the group";
        problems.add(Problem::at(at.of("strategy"), message, hint));
    }
}

/// Reports a cluster whose nodes do not say which machines they are.
pub(super) fn check(cluster: &Cluster, groups: &[Draft], searches: &[Draft], problems: &mut Problems) {
    let Cluster::Nomad(_) = cluster else { return };
    for draft in searches {
        let message = "groups are discovered on Kubernetes: a node of Nomad does not say which machine it is";
        problems.add(Problem::at(draft.places.of("cloud"), message, "list each under `groups`"));
    }
    for draft in groups.iter().filter(|draft| select::is_by_machines(&draft.group.select)) {
        let message = "nodes are known by their machines on Kubernetes: a node of Nomad does not say which one it is";
        problems.add(Problem::at(draft.places.of("select"), message, "select by `nodeClass`, `nodePool` or `meta`"));
    }
}

/// Adds what was `found` for `searches` to `groups`. The names that other groups have already, so that what was found is
/// left out.
pub(super) fn add(groups: &mut Vec<Draft>, searches: &[Draft], found: &Found) -> Vec<Arc<str>> {
    let mut taken = Vec::new();
    for search in searches {
        for group in found.of(&search.cloud) {
            if groups.iter().any(|known| has(known, &search.cloud, group)) {
                continue;
            }
            if !groups.iter().any(|known| known.group.name == group.id) {
                groups.push(draft(search, &group.id));
            } else if !taken.contains(&group.id) {
                taken.push(Arc::clone(&group.id));
            }
        }
    }
    taken
}

/// The group with this id, as if it had an entry.
fn draft(search: &Draft, id: &Arc<str>) -> Draft {
    let mut draft = search.clone();
    draft.group.name = Arc::clone(id);
    draft.group.select = select::by_machines(&draft.group.select, id);
    if let Cloud::Aws(aws) = &mut draft.cloud {
        aws.auto_scaling_group = Some(Arc::clone(id));
        aws.tags = Default::default();
    }
    draft
}

/// Whether the machines of `known` are those of the group that was found.
fn has(known: &Draft, search: &Cloud, found: &FoundGroup) -> bool {
    // What is left out is of the environment, which may say the same.
    let may_be_same = |a: &Option<Arc<str>>, b: &Option<Arc<str>>| a == b || a.is_none() || b.is_none();
    match (&known.cloud, search) {
        (Cloud::Aws(own), Cloud::Aws(search)) => {
            let meant = match &own.auto_scaling_group {
                Some(name) => *name == found.id,
                None => own
                    .tags
                    .iter()
                    .all(|(key, value)| found.tags.get(key).is_some_and(|tag| value.is_empty() || **tag == *value)),
            };
            meant && may_be_same(&own.region, &search.region) && may_be_same(&own.assume_role, &search.assume_role)
        }
        (Cloud::ExternalGrpc(own), Cloud::ExternalGrpc(search)) => {
            *own.node_group.as_ref().unwrap_or(&known.group.name) == found.id && own.is_at(search)
        }
        _ => false,
    }
}

impl Cloud {
    /// Where groups are looked for, and which, in the words of messages.
    pub(crate) fn search_words(&self) -> String {
        match self {
            Cloud::Aws(aws) => format!("AWS with the tags {}", aws.what().unwrap_or_default()),
            Cloud::ExternalGrpc(external) => {
                format!("the provider at {}", external.address.as_deref().unwrap_or_default())
            }
            Cloud::None | Cloud::Kwok(_) | Cloud::Hetzner(_) | Cloud::Linode(_) | Cloud::Process(_) => {
                "the cloud".to_owned()
            }
        }
    }
}
