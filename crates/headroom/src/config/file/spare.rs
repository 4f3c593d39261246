//! Room that one group keeps free for pods to come.

use headroom_core::policy::Spare;
use headroom_core::quantity::Resources;

use crate::config::kind::{Kind, count, map, requested, requested_cpu};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

pub(super) fn kind() -> Kind<Spare> {
    Record::new(
        "groups[].spare",
        "Room that the group keeps free for pods to come, besides what [`slack`](#slack) keeps in the whole cluster. Its \
         nodes have to be selected by a label.",
        Spare::default,
    )
    .field("nodes", count(0), |spare| &mut spare.nodes, "So many nodes are empty, but for DaemonSets.")
    .field("pods", count(0), |spare| &mut spare.pods, "So many pods have room.")
    .field(
        "pod",
        pod().optional(),
        |spare| &mut spare.pod,
        "What one of `pods` requests. Left out: the most cpu and the most memory that a pod on the group's nodes \
         requests, but at most a fifth of a node.",
    )
    .check(&["pods", "pod"], |spare, at, problems| {
        if at.has("pod") && spare.pods == 0 {
            let message = "`pod` decides nothing without `pods`";
            problems.add(Problem::at(at.of("pod"), message, "add `pods: 1`, or how many there are to be"));
        }
    })
    .kind()
}

fn pod() -> Kind<Resources> {
    Record::new("groups[].spare.pod", "What a pod requests for which room is kept.", Resources::default)
        .field("cpu", requested_cpu(), |pod: &mut Resources| &mut pod.cpu, "Cpus.")
        .field("memory", requested(), |pod| &mut pod.memory, "Memory.")
        .field(
            "extended",
            map(requested()).map(|mut amounts| {
                amounts.retain(|(_, amount)| *amount > 0);
                amounts.sort();
                amounts
            }),
            |pod| &mut pod.extended,
            "Extended resources by name, such as `nvidia.com/gpu: 1`.",
        )
        .check(&["cpu", "memory", "extended"], requests_something)
        .kind()
}

fn requests_something(pod: &Resources, at: &Places, problems: &mut Problems) {
    if *pod == Resources::default() {
        let message = "a pod that requests nothing takes no room";
        problems.add(Problem::at(at.of(""), message, "write what it requests, such as `{ cpu: 500m, memory: 1Gi }`"));
    }
}
