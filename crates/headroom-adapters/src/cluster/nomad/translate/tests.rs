//! Objects of Nomad, as real ones write them, and what becomes of them.

use std::fmt::Write;

use expect_test::{Expect, expect};
use headroom_core::snapshot::{Builder, Change, Coverage, Kind, Readiness};
use serde_json::{Value, json};

use super::*;

fn check(nodes: &[Value], allocations: &[Value], rest: impl FnOnce(&mut Gathered), expected: Expect) {
    let mut gathered = Gathered::default();
    for object in nodes {
        gathered.node(serde_json::from_value(object.clone()).unwrap()).unwrap();
    }
    for object in allocations {
        gathered.allocation(serde_json::from_value(object.clone()).unwrap()).unwrap();
    }
    rest(&mut gathered);
    expected.assert_eq(&show(gathered));
}

/// Nodes with their pods, pods that wait, and warnings.
fn show(gathered: Gathered) -> String {
    let mut sight = gathered.sight();
    let (warnings, newest) = (std::mem::take(&mut sight.warnings), sight.newest);
    let mut builder = Builder::new();
    sight.changes().into_iter().for_each(|change| builder.apply(change));
    let snapshot = builder.snapshot();
    let mut text = String::new();
    for kind in [Kind::Nodes, Kind::Pods] {
        if snapshot.coverage(kind) != Coverage::Complete {
            let _ = writeln!(text, "{kind}: {:?}", snapshot.coverage(kind));
        }
    }
    for view in snapshot.nodes() {
        let node = view.node;
        let offers = (node.allocatable.cpu, node.allocatable.memory >> 20);
        let _ = write!(text, "node {} {}MHz {}MiB [{}]", node.name, offers.0, offers.1, node.labels);
        for taint in &node.taints {
            let _ = write!(text, " {taint}");
        }
        if let Readiness::NotReady { since } = node.readiness {
            let _ = write!(text, " not ready since {since:?}");
        }
        text.push('\n');
        for pod in view.pods() {
            let of = &pod.spec;
            let held = (of.requests.cpu, of.requests.memory >> 20);
            let deleting = if pod.deleting { " deleting" } else { "" };
            let _ = writeln!(text, "  {} {}MHz {}MiB {:?}{deleting}", pod.full_name(), held.0, held.1, of.kind);
        }
    }
    for class in snapshot.classes() {
        let asks: Vec<String> = class.spec.node_affinity.iter().map(|term| format!("{:?}", term.labels)).collect();
        for pod in class.pending_pods() {
            let _ =
                writeln!(text, "waits {} {}MiB {}", pod.full_name(), pod.spec.requests.memory >> 20, asks.join(" or "));
        }
    }
    for (object, problem) in &warnings {
        let _ = writeln!(text, "warning: {object}: {problem}");
    }
    if let Some(newest) = newest {
        let _ = writeln!(text, "newest {newest}");
    }
    text
}

fn node(id: &str, more: Value) -> Value {
    let mut node = json!({
        "ID": id, "Name": "c1", "Datacenter": "dc1", "NodeClass": "job", "Drain": false,
        "SchedulingEligibility": "eligible", "Status": "ready",
        "NodeResources": { "Cpu": { "CpuShares": 4000 }, "Memory": { "MemoryMB": 1000 }, "Disk": { "DiskMB": 9 } },
        "ReservedResources": { "Cpu": { "CpuShares": 100 }, "Memory": { "MemoryMB": 64 }, "Disk": { "DiskMB": 0 } },
    });
    merge(&mut node, more);
    node
}

fn allocation(id: &str, more: Value) -> Value {
    let mut allocation = json!({
        "ID": id, "Name": "web.g[0]", "Namespace": "default", "NodeID": "n1", "JobID": "web", "JobType": "service",
        "TaskGroup": "g", "DesiredStatus": "run", "ClientStatus": "running", "TaskStates": null,
        "AllocatedResources": {
            "Tasks": { "t": { "Cpu": { "CpuShares": 100 }, "Memory": { "MemoryMB": 256 } } },
            "TaskLifecycles": { "t": null }, "Shared": { "DiskMB": 150 },
        },
    });
    merge(&mut allocation, more);
    allocation
}

fn merge(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

fn nothing(_: &mut Gathered) {}

#[test]
fn nodes_by_eligibility_drain_and_status() {
    let nodes = [
        node("n1", json!({ "Meta": { "hardware": "large" }, "NodePool": "default", "StatusUpdatedAt": 1_795_841_860 })),
        node("n2", json!({ "SchedulingEligibility": "ineligible" })),
        node("n3", json!({ "SchedulingEligibility": "ineligible", "Drain": true })),
        // A client that was killed is down and stays eligible.
        node("n4", json!({ "Status": "down", "StatusUpdatedAt": 1_795_841_860, "NodeClass": "" })),
        node("n5", json!({ "Status": "initializing" })),
        node("n6", json!({ "Status": "disconnected" })),
        node("n7", json!({ "NodeResources": null, "ReservedResources": null })),
    ];
    check(
        &nodes,
        &[allocation("a", json!({}))],
        nothing,
        expect![[r#"
        node n1 3900MHz 936MiB [meta.hardware=large,node.class=job,node.datacenter=dc1,node.pool=default]
          default/web.g[0]@a 100MHz 256MiB Workload
        node n2 3900MHz 936MiB [node.class=job,node.datacenter=dc1] nomad/ineligible:NoSchedule
        node n3 3900MHz 936MiB [node.class=job,node.datacenter=dc1] nomad/ineligible:NoSchedule nomad/draining:NoExecute
        node n4 3900MHz 936MiB [node.datacenter=dc1] not ready since Some(2026-11-28T04:57:40Z)
        node n5 3900MHz 936MiB [node.class=job,node.datacenter=dc1] not ready since None
        node n6 3900MHz 936MiB [node.class=job,node.datacenter=dc1] not ready since None
        node n7 0MHz 0MiB [node.class=job,node.datacenter=dc1]
        warning: node n7: what it has is not known; hint: read /v1/nodes?resources=true
        newest 2026-11-28T04:57:40Z
    "#]],
    );
}

/// A list knows less than the node itself.
#[test]
fn lists_take_nothing_away() {
    let whole = node("n1", json!({ "Meta": { "hardware": "large" } }));
    let listed = node("n1", json!({ "Meta": null, "NodeResources": null, "SchedulingEligibility": "ineligible" }));
    check(
        &[whole, listed],
        &[allocation("a", json!({}))],
        nothing,
        expect![[r#"
        node n1 3900MHz 936MiB [meta.hardware=large,node.class=job,node.datacenter=dc1] nomad/ineligible:NoSchedule
          default/web.g[0]@a 100MHz 256MiB Workload
    "#]],
    );
}

#[test]
fn allocations_hold_what_they_have_until_they_end() {
    let allocations = [
        allocation("running", json!({})),
        // Its client has not acknowledged it yet.
        allocation("pending", json!({ "ClientStatus": "pending", "TaskStates": null })),
        // The drain is over, and its task has its time to stop.
        allocation("stopping", json!({ "DesiredStatus": "stop" })),
        allocation("unknown", json!({ "ClientStatus": "unknown" })),
        allocation("complete", json!({ "DesiredStatus": "stop", "ClientStatus": "complete" })),
        allocation("failed", json!({ "ClientStatus": "failed" })),
        allocation("lost", json!({ "DesiredStatus": "stop", "ClientStatus": "lost" })),
        allocation("system", json!({ "JobType": "system", "JobID": "log", "Name": "log.g[0]" })),
        // Its node is gone.
        allocation("orphan", json!({ "NodeID": "purged" })),
        // A whole one names its job.
        allocation("whole", json!({ "JobType": null, "JobID": "sys", "Job": { "ID": "sys", "Type": "sysbatch" } })),
    ];
    check(
        &[node("n1", json!({}))],
        &allocations,
        nothing,
        expect![[r#"
        node n1 3900MHz 936MiB [node.class=job,node.datacenter=dc1]
          default/log.g[0]@system 100MHz 256MiB DaemonSet
          default/web.g[0]@pending 100MHz 256MiB Workload
          default/web.g[0]@running 100MHz 256MiB Workload
          default/web.g[0]@stopping 100MHz 256MiB Workload deleting
          default/web.g[0]@unknown 100MHz 256MiB Workload
          default/web.g[0]@whole 100MHz 256MiB DaemonSet
    "#]],
    );
}

#[test]
fn what_is_not_said_is_unknown() {
    check(
        &[node("n1", json!({}))],
        &[allocation("silent", json!({ "AllocatedResources": null }))],
        nothing,
        expect![[r#"
            pods: Partial
            node n1 3900MHz 936MiB [node.class=job,node.datacenter=dc1]
              default/web.g[0]@silent 0MHz 0MiB Workload
            warning: allocations: of 1 it is not known what they hold; hint: read /v1/allocations?resources=true
        "#]],
    );
    // What a token without rights gets.
    check(
        &[node("n1", json!({}))],
        &[],
        nothing,
        expect![[r#"
        pods: Absent
        node n1 3900MHz 936MiB [node.class=job,node.datacenter=dc1]
        warning: allocations: there is none, which may mean that the token may not read them; hint: read /v1/allocations?resources=true&namespace=* with one that has read-job in every namespace
    "#]],
    );
    // And one that may read some namespaces.
    let job = json!({ "ID": "hidden", "JobSummary": { "Namespace": "other", "Summary": { "g": { "Running": 2, "Starting": 1 } } } });
    let more = |gathered: &mut Gathered| gathered.job(serde_json::from_value(job).unwrap()).unwrap();
    check(
        &[node("n1", json!({}))],
        &[allocation("a", json!({}))],
        more,
        expect![[r#"
        pods: Partial
        node n1 3900MHz 936MiB [node.class=job,node.datacenter=dc1]
          default/web.g[0]@a 100MHz 256MiB Workload
        warning: job other/hidden: has 3 allocations, 0 are here; hint: read /v1/allocations?namespace=* with a token that may read all jobs
    "#]],
    );
}

#[test]
fn what_waits_is_as_its_job_says() {
    let job = json!({
        "ID": "web", "Namespace": "default", "Type": "service", "Datacenters": ["dc1", "dc2"], "NodePool": "default",
        "Constraints": [{ "LTarget": "${node.class}", "RTarget": "job", "Operand": "=" },
                        { "LTarget": "${attr.kernel.name}", "RTarget": "linux", "Operand": "=" }],
        "TaskGroups": [{
            "Name": "g", "Count": 3, "EphemeralDisk": { "SizeMB": 150 },
            "Constraints": [{ "LTarget": "${meta.tier}", "RTarget": "1", "Operand": "!=" },
                            { "LTarget": "${meta.rack}", "Operand": "is_set" }],
            "Tasks": [{ "Name": "t", "Resources": { "CPU": 100, "MemoryMB": 300 },
                        "Constraints": [{ "LTarget": "${meta.size}", "RTarget": "^x", "Operand": "regexp" }] }],
        }],
    });
    let listed = json!({
        "ID": "web", "Type": "service", "Namespace": "", "Datacenters": ["dc1", "dc2"], "Status": "running",
        "JobSummary": { "JobID": "web", "Namespace": "default", "Summary": { "g": { "Queued": 2, "Running": 1 } } },
    });
    let more = |gathered: &mut Gathered| {
        for job in [job, listed] {
            gathered.job(serde_json::from_value(job).unwrap()).unwrap();
        }
        // System jobs and those that are stopped wait for nothing that a new node would bring.
        for (id, more) in [("log", json!({ "Type": "system" })), ("gone", json!({ "Stop": true }))] {
            let mut job = json!({ "ID": id, "JobSummary": { "Summary": { "g": { "Queued": 1 } } },
                                  "TaskGroups": [{ "Name": "g", "Tasks": [] }] });
            merge(&mut job, more);
            gathered.job(serde_json::from_value(job).unwrap()).unwrap();
        }
    };
    check(
        &[node("n1", json!({}))],
        &[allocation("a", json!({}))],
        more,
        expect![[r#"
        node n1 3900MHz 936MiB [node.class=job,node.datacenter=dc1]
          default/web.g[0]@a 100MHz 256MiB Workload
        waits default/web.g[waiting 1] 300MiB [Expression { key: "meta.rack", operator: Exists, values: [] }, Expression { key: "meta.tier", operator: NotIn, values: ["1"] }, Expression { key: "node.class", operator: In, values: ["job"] }, Expression { key: "node.datacenter", operator: In, values: ["dc1", "dc2"] }, Expression { key: "node.pool", operator: In, values: ["default"] }]
        waits default/web.g[waiting 2] 300MiB [Expression { key: "meta.rack", operator: Exists, values: [] }, Expression { key: "meta.tier", operator: NotIn, values: ["1"] }, Expression { key: "node.class", operator: In, values: ["job"] }, Expression { key: "node.datacenter", operator: In, values: ["dc1", "dc2"] }, Expression { key: "node.pool", operator: In, values: ["default"] }]
        warning: job default/web: constraint ${meta.size} regexp ^x is left aside
    "#]],
    );
}

#[test]
fn more_than_any_pool_could_take_does_not_wait() {
    let mut gathered = Gathered::default();
    let job = json!({
        "ID": "web", "JobSummary": { "Summary": { "g": { "Queued": u32::MAX } } },
        "TaskGroups": [{ "Name": "g", "Tasks": [] }],
    });
    gathered.job(serde_json::from_value(job).unwrap()).unwrap();
    let sight = gathered.sight();
    let warning = "4294967295 allocations of group g wait, of which 100000 count".to_owned();
    assert_eq!(sight.warnings.last(), Some(&("job default/web".to_owned(), warning)));
    let changes = sight.changes();
    assert_eq!(changes.iter().filter(|change| matches!(change, Change::Pod(_))).count(), 100_000);
}

/// Nomad 1.0: the evaluation that is blocked says nothing itself, and only lists of jobs were read.
#[test]
fn what_waits_is_in_the_evaluation_before_the_blocked_one() {
    let evaluations = [
        json!({ "ID": "old", "JobID": "web", "Status": "blocked", "TriggeredBy": "queued-allocs", "PreviousEval": "x",
                "QueuedAllocations": { "g": 9 }, "ModifyIndex": 5 }),
        json!({ "ID": "first", "JobID": "web", "Status": "complete", "BlockedEval": "second", "ModifyIndex": 19,
                "QueuedAllocations": { "g": 1 },
                "FailedTGAllocs": { "g": { "ClassFiltered": { "gg": 1, "job": 1 }, "ClassExhausted": { "job": 2 },
                                           "DimensionExhausted": { "memory": 2 }, "QuotaExhausted": null } } }),
        json!({ "ID": "second", "JobID": "web", "Status": "blocked", "PreviousEval": "first", "ModifyIndex": 17 }),
        json!({ "ID": "other", "JobID": "unseen", "Status": "blocked", "QueuedAllocations": { "g": 1 } }),
    ];
    let more = |gathered: &mut Gathered| {
        for evaluation in evaluations {
            gathered.evaluation(serde_json::from_value(evaluation).unwrap()).unwrap();
        }
    };
    check(
        &[node("n1", json!({}))],
        &[allocation("a", json!({}))],
        more,
        expect![[r#"
        node n1 3900MHz 936MiB [node.class=job,node.datacenter=dc1]
          default/web.g[0]@a 100MHz 256MiB Workload
        waits default/web.g[waiting 1] 256MiB [Expression { key: "node.class", operator: NotIn, values: ["gg"] }]
        warning: job default/unseen: 1 allocations of group g wait, and nobody knows how large they are; hint: read /v1/job/unseen
    "#]],
    );
}

#[test]
fn what_cannot_be_understood_is_said() {
    let mut gathered = Gathered::default();
    let nameless = serde_json::from_value(node("", json!({}))).unwrap();
    assert_eq!(gathered.node(nameless), Err(Malformed::NoId));
    let below = json!({ "NodeResources": { "Memory": { "MemoryMB": -5 } } });
    let below = serde_json::from_value(node("n1", below)).unwrap();
    assert_eq!(gathered.node(below), Err(Malformed::BelowZero { field: "MemoryMB", value: -5 }));
    assert!(gathered.is_empty());
    gathered.skipped(crate::cluster::nomad::object::Kind::Node);
    assert!(!gathered.is_empty(), "there was something");
}
