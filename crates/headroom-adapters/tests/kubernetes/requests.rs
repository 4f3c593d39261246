//! What a pod asks for.

use headroom_core::quantity::{MAX, Totals};

use super::pod;

/// The requests of a pod: `1500m 2000 nvidia.com/gpu=1`, with what was warned of behind `!`.
fn requests(spec_and_status: &str) -> String {
    let translated = pod(&format!(r#""metadata": {{"name": "p"}}, {spec_and_status}"#));
    let translated = match translated {
        Ok(translated) => translated,
        Err(error) => return format!("malformed: {error}"),
    };
    let requests = &translated.value.spec.requests;
    assert_eq!(requests.pods, 1);
    let mut text = format!("{}m {}", requests.cpu, requests.memory);
    if requests.ephemeral_storage > 0 {
        text += &format!(" ephemeral-storage={}", requests.ephemeral_storage);
    }
    for (name, amount) in &requests.extended {
        text += &format!(" {name}={amount}");
    }
    for warning in translated.warnings {
        text += &format!(" ! {warning}");
    }
    text
}

#[track_caller]
fn check(spec_and_status: &str, expected: &str) {
    assert_eq!(requests(spec_and_status), expected, "{spec_and_status}");
}

/// A pod of containers, init containers and overhead, each `cpu` in milli and `memory` in bytes.
fn plain_pod(containers: &[(i64, i64)], init: &[(i64, i64)], overhead: (i64, i64)) -> String {
    let list = |list: &[(i64, i64)]| {
        let container = |(at, (cpu, memory)): (usize, &(i64, i64))| {
            format!(r#"{{"name": "c{at}", "resources": {{"requests": {{"cpu": "{cpu}m", "memory": "{memory}"}}}}}}"#)
        };
        list.iter().enumerate().map(container).collect::<Vec<_>>().join(", ")
    };
    let (cpu, memory) = overhead;
    format!(
        r#""spec": {{"containers": [{}], "initContainers": [{}], "overhead": {{"cpu": "{cpu}m", "memory": "{memory}"}}}}"#,
        list(containers),
        list(init)
    )
}

/// Escalator's sums over pods (`TestCalculatePodsRequestTotal`), with the numbers that its test asserts.
#[test]
fn escalator_sums() {
    const NONE: (i64, i64) = (0, 0);
    type Pod = (&'static [(i64, i64)], &'static [(i64, i64)], (i64, i64));
    let four: &[_] = &[(22, 225), (60, 100), (430, 430), (1000, 1000)];
    let three: &[_] = &[(100, 100), (200, 100), (300, 100)];
    let table: [(&str, &[Pod], (i128, i128)); 12] = [
        ("E118", &[(&[(1000, 1000)], &[], NONE), (&[(1000, 1000)], &[], NONE)], (2000, 2000)),
        ("E119", &[(&[(1000, 1000)], &[], NONE), (&[(300, 800)], &[], NONE)], (1300, 1800)),
        (
            "E120",
            &[(&[(1000, 1000)], &[], NONE), (&[(300, 800)], &[], NONE), (&[(200, 50000)], &[], NONE)],
            (1500, 51800),
        ),
        ("E122", &[(&[(0, 0)], &[], NONE), (&[(1000, 1000)], &[], NONE)], (1000, 1000)),
        ("E123", &[(&[(0, 0)], &[], NONE)], (0, 0)),
        ("E124", &[(&[(0, 0)], &[], NONE), (&[(0, 0)], &[], NONE)], (0, 0)),
        ("E125", &[(three, &[], NONE), (four, &[], NONE)], (2112, 2055)),
        ("E126, PR 201", &[(four, &[], (1000, 2000))], (2512, 3755)),
        ("E127, PR 201", &[(four, &[], (1000, 2000)), (three, &[], (10000, 3000))], (13112, 7055)),
        ("E128", &[(three, &[(20000, 500)], NONE)], (20000, 500)),
        ("E129", &[(three, &[(100, 500)], NONE)], (600, 500)),
        ("E130", &[(three, &[(20000, 500)], (10000, 3000))], (30000, 3500)),
    ];
    for (id, pods, expected) in table {
        let mut sum = Totals::default();
        for (containers, init, overhead) in pods {
            let spec = plain_pod(containers, init, *overhead);
            let translated = pod(&format!(r#""metadata": {{"name": "p"}}, {spec}"#));
            sum += &translated.unwrap_or_else(|error| panic!("{id}: {error}")).value.spec.requests;
        }
        assert_eq!((sum.cpu, sum.memory), expected, "{id}");
    }
}

#[test]
fn restartable_init_containers_run_beside_what_comes_after_them() {
    let with = |init: &str| {
        format!(
            r#""spec": {{"initContainers": [{init}], "containers": [{{"resources": {{"requests": {{"cpu": "300m", "memory": "10"}}}}}}]}}"#
        )
    };
    let plain = |cpu| format!(r#"{{"resources": {{"requests": {{"cpu": "{cpu}m"}}}}}}"#);
    let sidecar = |cpu| format!(r#"{{"restartPolicy": "Always", "resources": {{"requests": {{"cpu": "{cpu}m"}}}}}}"#);
    // The sidecar counts beside the container.
    check(&with(&sidecar(100)), "400m 10");
    // A plain one needs only those that started before it: 350 + 100 is more than 300 + 100 + 20.
    check(&with(&[sidecar(100), plain(350), sidecar(20)].join(",")), "450m 10");
    check(&with(&[plain(350), sidecar(100)].join(",")), "400m 10");
    check(&with(&[plain(1000), sidecar(100), sidecar(50)].join(",")), "1000m 10");
    check(&with(&[sidecar(100), sidecar(50), plain(851)].join(",")), "1001m 10");
}

#[test]
fn a_limit_counts_where_there_is_no_request() {
    let with = |resources: &str| format!(r#""spec": {{"containers": [{{"resources": {resources}}}]}}"#);
    check(&with(r#"{"limits": {"cpu": "2", "memory": "1Ki"}}"#), "2000m 1024");
    check(&with(r#"{"limits": {"cpu": "2", "memory": "1Ki"}, "requests": {"cpu": "500m"}}"#), "500m 1024");
    check(&with(r#"{"limits": {"cpu": "2"}, "requests": {"cpu": "0"}}"#), "0m 0");
    check(&with(r#"{"limits": {"nvidia.com/gpu": "1"}}"#), "0m 0 nvidia.com/gpu=1");
    check(&with("null"), "0m 0");
    check(&with(r#"{"limits": null, "requests": null}"#), "0m 0");
}

/// Pod-level resources (`kubernetes-sigs/karpenter#2383`: 2/2Gi wanted for the pod, 1/1Gi for its container).
#[test]
fn what_the_pod_as_a_whole_asks_for_wins() {
    let with = |pod: &str, container: &str| {
        format!(r#""spec": {{"resources": {pod}, "containers": [{{"resources": {{"requests": {container}}}}}]}}"#)
    };
    check(
        &with(r#"{"requests": {"cpu": "2", "memory": "2Gi"}}"#, r#"{"cpu": "1", "memory": "1Gi"}"#),
        "2000m 2147483648",
    );
    // Only what the pod names is replaced.
    check(&with(r#"{"requests": {"cpu": "2"}}"#, r#"{"cpu": "1", "memory": "7"}"#), "2000m 7");
    check(&with(r#"{"requests": {"cpu": "500m"}}"#, r#"{"cpu": "1"}"#), "500m 0");
    // A limit of the pod counts where neither the pod nor a container has a request: the API's defaults.
    check(&with(r#"{"limits": {"cpu": "2"}}"#, "{}"), "2000m 0");
    check(&with(r#"{"limits": {"cpu": "2"}}"#, r#"{"cpu": "1"}"#), "1000m 0");
    // The API takes only these at the level of the pod.
    check(
        &with(r#"{"requests": {"nvidia.com/gpu": "3", "hugepages-2Mi": "4Mi"}}"#, "{}"),
        "0m 0 hugepages-2Mi=4194304",
    );
    // Overhead comes on top.
    check(
        r#""spec": {"resources": {"requests": {"cpu": "2"}}, "overhead": {"cpu": "250m"}, "containers": []}"#,
        "2250m 0",
    );
}

#[test]
fn during_a_resize_the_largest_counts() {
    let with = |wanted: &str, status: &str| {
        format!(
            r#""spec": {{"containers": [{{"name": "a", "resources": {{"requests": {{"cpu": "{wanted}"}}}}}}]}}, "status": {status}"#
        )
    };
    let container = |allocated: &str, actual: &str, rest: &str| {
        format!(
            r#"{{"containerStatuses": [{{"name": "other"}}, {{"name": "a", "allocatedResources": {{"cpu": "{allocated}"}},
               "resources": {{"requests": {{"cpu": "{actual}"}}}}}}] {rest}}}"#
        )
    };
    check(&with("1", &container("1", "1", "")), "1000m 0");
    check(&with("2", &container("1", "1", "")), "2000m 0");
    check(&with("1", &container("2", "1", "")), "2000m 0");
    check(&with("1", &container("1", "3", "")), "3000m 0");
    // What the node will never grant does not count, by today's condition and by the field of Kubernetes 1.32.
    let condition = r#", "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]"#;
    check(&with("50", &container("2", "1", condition)), "2000m 0");
    check(&with("50", &container("2", "1", r#", "resize": "Infeasible""#)), "2000m 0");
    let deferred = r#", "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]"#;
    check(&with("50", &container("2", "1", deferred)), "50000m 0");
    // Without a status there is nothing but the spec.
    check(&with("50", r#"{"resize": "Infeasible"}"#), "50000m 0");
}

#[test]
fn a_resize_of_sidecars_and_of_the_whole_pod() {
    check(
        r#""spec": {"initContainers": [{"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
                                       {"name": "i", "resources": {"requests": {"cpu": "1"}}}]},
           "status": {"initContainerStatuses": [{"name": "s", "resources": {"requests": {"cpu": "2"}}},
                                                {"name": "i", "resources": {"requests": {"cpu": "9"}}}]}"#,
        "3000m 0",
    );
    let whole = |reason: &str| {
        format!(
            r#""spec": {{"resources": {{"requests": {{"cpu": "4", "memory": "1"}}}}, "containers": []}},
               "status": {{"allocatedResources": {{"cpu": "2"}}, "resources": {{"requests": {{"cpu": "3"}}}},
                           "conditions": [{{"type": "PodResizePending", "reason": "{reason}"}}]}}"#
        )
    };
    check(&whole("Deferred"), "4000m 1");
    check(&whole("Infeasible"), "3000m 1");
}

/// `atlassian/escalator#118`: thousandths of a byte, mixed with every other form.
#[test]
fn requests_are_rounded_up() {
    let with = |requests: &str| format!(r#""spec": {{"containers": [{{"resources": {{"requests": {requests}}}}}]}}"#);
    check(&with(r#"{"cpu": "1", "memory": "1000m"}"#), "1000m 1");
    check(&with(r#"{"cpu": "0.1m", "memory": "1001m"}"#), "1m 2");
    check(&with(r#"{"cpu": 2, "memory": 1.5}"#), "2000m 2");
    check(&with(r#"{"cpu": 0.1, "memory": 1e3}"#), "100m 1000");
    check(
        &with(r#"{"cpu": "1E3", "memory": "128974848000m", "ephemeral-storage": "1Ki"}"#),
        "1000000m 128974848 ephemeral-storage=1024",
    );
}

#[test]
fn what_cannot_be_meant_is_warned_of() {
    let with = |requests: &str| {
        format!(r#""spec": {{"containers": [{{"name": "a", "resources": {{"requests": {requests}}}}}]}}"#)
    };
    check(&with(r#"{"cpu": "-1"}"#), "0m 0 ! requests of container a: cpu -1 is below zero and counts as 0");
    check(
        &with(r#"{"memory": "9E"}"#),
        &format!("0m {MAX} ! requests of container a: memory 9E is out of range and counts as {MAX}"),
    );
    check(
        &with(r#"{"cpu": "1e99"}"#),
        &format!("{MAX}m 0 ! requests of container a: cpu 1e99 is out of range and counts as {MAX}m"),
    );
    check(&with(r#"{"cpu": "-1e99"}"#), "0m 0 ! requests of container a: cpu -1e99 is out of range and counts as 0m");
    check(
        &with(r#"{"cpu": "1 core"}"#),
        "malformed: requests of container a: cpu: cannot read \"1 core\": unknown suffix after the number; hint: write \
         500m, 2, 1.5Gi or 1e3",
    );
}
