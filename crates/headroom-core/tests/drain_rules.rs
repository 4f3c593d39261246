//! Which pods can be moved off a node: the rules one by one, and which of them decides first.

use headroom_core::fixture::Fixture;

/// What becomes of a node with these pods, next to one with room for them, two rounds later: the pods that are evicted, or
/// why the node stays.
fn fate(lines: &str) -> String {
    let text = format!(
        "scaleDown
         group web pending min=0 max=2 target=2 budget=none
         node n in=web cpu=4 memory=8Gi age=24h
         node room in=web cpu=4 memory=8Gi age=24h keep
         {lines}
         round
         after 5s
         round"
    );
    let fixture = Fixture::read(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let plan = fixture.plans.last().unwrap();
    let kept = plan.report.refusals.iter().map(ToString::to_string).find(|refusal| refusal.starts_with("node n: "));
    let acts = plan.actions.iter().find(|planned| planned.action.node() == Some("n"));
    let acts = acts.map(|planned| planned.action.to_string());
    acts.or(kept.map(|kept| kept["node n: ".len()..].to_owned())).unwrap_or_default()
}

#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (lines, expected) in table {
        assert_eq!(fate(lines), *expected, "{lines}");
    }
}

#[test]
fn the_first_rule_that_decides_decides() {
    let rs = "on=n running cpu=100m controller=ReplicaSet/rs";
    let bare = "on=n running cpu=100m";
    check(&[
        ("", "remove n"),
        // What belongs to its node holds nothing, whatever else is said of it.
        (&format!("pod p {rs} kind=daemonSet evict=unsafe local=logs"), "remove n"),
        (&format!("pod p {rs} kind=mirror evict=unsafe"), "remove n"),
        (&format!("pod p {bare} kind=static"), "remove n"),
        // Nor does a pod of so low a priority that it grows no group.
        (&format!("pod p {bare} priority=-11 evict=unsafe local=logs"), "evict default/p from n"),
        (&format!("pod p {bare} priority=-10"), "pod default/p has no controller that would start it again"),
        // Asking to be moved beats every rule but the disruption budget.
        (&format!("pod p {bare} evict=safe local=logs ns=kube-system"), "evict kube-system/p from n"),
        (&format!("pod p {bare} evict=safe controller=Rollout/r"), "evict default/p from n"),
        (
            &format!("pod p {bare} evict=safe label=app=a\n pdb a label=app=a healthy=1 wanted=1"),
            "pod default/p may not be evicted by disruption budget a: 1 ready, 1 must be",
        ),
        // Waiting for the end beats everything below.
        (&format!("pod p {bare} evict=onCompletion local=logs"), "pod default/p is annotated to end by itself"),
        // No controller, before the namespace, the annotation and the volume.
        (
            &format!("pod p {bare} evict=unsafe local=logs ns=kube-system"),
            "pod kube-system/p has no controller that would start it again",
        ),
        (
            &format!("pod p {bare} controller=Rollout/r evict=unsafe"),
            "pod default/p belongs to Rollout/r, no controller of Kubernetes",
        ),
        // A young pod of kube-system, before the annotation; an old one is moved whatever its annotation and volume say.
        (
            &format!("pod p {rs} ns=kube-system evict=unsafe age=59m"),
            "pod kube-system/p is of kube-system without a disruption budget, stays until 2026-01-01T00:01:00Z",
        ),
        (&format!("pod p {rs} evict=unsafe local=logs"), "pod default/p is annotated safe-to-evict=false"),
        (&format!("pod p {rs} local=logs"), "pod default/p keeps its volume logs on the node"),
        (&format!("pod p {rs}"), "evict default/p from n"),
        (&format!("pod p {rs} controller=Job/j"), "evict default/p from n"),
        // Of several pods that stay the first by name is given.
        (&format!("pod b {rs} local=logs\n pod a {bare}"), "pod default/a has no controller that would start it again"),
    ]);
}

#[test]
fn old_pods_of_kube_system() {
    let rs = "on=n running cpu=100m controller=ReplicaSet/rs ns=kube-system age=2h";
    check(&[
        (&format!("pod p {rs}"), "evict kube-system/p from n"),
        (&format!("pod p {rs} evict=unsafe"), "pod kube-system/p is annotated safe-to-evict=false"),
        (&format!("pod p {rs} local=logs"), "pod kube-system/p keeps its volume logs on the node"),
    ]);
}

#[test]
fn pods_that_end() {
    let rs = "on=n cpu=100m controller=ReplicaSet/rs";
    check(&[
        ("pod p on=n succeeded", "remove n"),
        ("pod p on=n failed local=logs evict=unsafe", "remove n"),
        // It is waited for, and what it ran runs elsewhere already.
        (
            &format!("pod p {rs} running deleting"),
            "on its way out with 1 pod, waits for the end of default/p; given up at 2026-01-01T00:10:05Z unless one goes",
        ),
        // Its time to end has been over for half a minute and more: it will not end any more.
        (&format!("pod p {rs} running deleting endsBy=31s"), "remove n"),
        (&format!("pod p {rs} running deleting endsBy=31s evict=unsafe local=logs"), "remove n"),
    ]);
}

#[test]
fn disruption_budgets() {
    let rs = "on=n cpu=100m controller=ReplicaSet/rs label=app=a";
    let none = "pod default/p may not be evicted by disruption budget a: 1 ready, 1 must be";
    check(&[
        (&format!("pod p {rs} running\n pdb a label=app=a allowed=1"), "evict default/p from n"),
        (&format!("pod p {rs} running\n pdb a label=app=a healthy=1 wanted=1"), none),
        // An empty selector selects all pods of the namespace, none at all selects none, and another namespace's does not count.
        (&format!("pod p {rs} running\n pdb a healthy=1 wanted=1"), none),
        (&format!("pod p {rs} running\n pdb a healthy=1 wanted=1 selectsNone"), "evict default/p from n"),
        (&format!("pod p {rs} running\n pdb a ns=other healthy=1 wanted=1"), "evict default/p from n"),
        // Of a pod that has not started nobody asks, nor of an unready one as long as enough are ready (IfHealthyBudget) or
        // always (AlwaysAllow).
        (&format!("pod p {rs}\n pdb a label=app=a healthy=1 wanted=1"), "evict default/p from n"),
        (&format!("pod p {rs} running unready\n pdb a label=app=a healthy=1 wanted=1"), "evict default/p from n"),
        (
            &format!("pod p {rs} running unready\n pdb a label=app=a healthy=1 wanted=2"),
            "pod default/p may not be evicted by disruption budget a: 1 ready, 2 must be",
        ),
        (
            &format!("pod p {rs} running unready\n pdb a label=app=a healthy=1 wanted=2 alwaysAllow"),
            "evict default/p from n",
        ),
        // Two are one too many for the API, whatever they allow.
        (
            &format!("pod p {rs} running\n pdb a label=app=a allowed=9\n pdb b allowed=9"),
            "pod default/p has the disruption budgets a and b, so the API evicts it never",
        ),
        // Two pods under a budget for one go one after the other.
        (
            &format!("pod p{{1..2}} {rs} running\n pdb a label=app=a allowed=1 healthy=3 wanted=2"),
            "evict default/p1 from n",
        ),
    ]);
}
