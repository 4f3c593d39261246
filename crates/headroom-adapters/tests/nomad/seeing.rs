//! What is seen of a cluster, and what is not taken for the truth.

use std::collections::BTreeMap;

use fake_nomad::{Face, Failing, Fake, JobSpec, NodeSpec, Token};
use headroom_adapters::cluster::Cluster;
use headroom_adapters::cluster::nomad::Meter;
use headroom_adapters::fence::Fence;
use headroom_core::keys::{DRAINING, INELIGIBLE};
use headroom_core::policy::{Percent, Selection};
use headroom_core::snapshot::{Coverage, Kind, Readiness, Snapshot};

use super::{FACES, Sight, client, open};

fn node(name: &str) -> NodeSpec {
    let meta = BTreeMap::from([("hardware".to_owned(), "large".to_owned())]);
    NodeSpec { name: name.to_owned(), class: "job".to_owned(), memory: 1000, meta, ..NodeSpec::default() }
}

fn job(id: &str, count: u32, memory: i64) -> JobSpec {
    JobSpec { id: id.to_owned(), count, memory, ..JobSpec::default() }
}

fn pods_are(coverage: Coverage) -> impl Fn(&Snapshot) -> bool {
    move |snapshot| snapshot.coverage(Kind::Pods) == coverage
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_seen_and_followed() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        let id = fake.add_node(node("one"));
        fake.run(job("web", 3, 400));
        let mut sight = Sight::of(open(&fake));
        sight
            .until("two tasks on the node, one waits", |seen, _| {
                let on_it = seen
                    .node(&id)
                    .map(|view| (view.sums.used.memory >> 20, view.node.labels.get("meta.hardware").is_some()));
                let waiting: u32 = seen.classes().map(|class| class.pending()).sum();
                on_it == Some((800, true)) && waiting == 1 && pods_are(Coverage::Complete)(seen)
            })
            .await;
        let second = fake.add_node(node("two"));
        sight
            .until("the third task has its place", |seen, _| {
                seen.node(&second).is_some_and(|view| view.sums.used.memory >> 20 == 400)
                    && seen.classes().all(|class| class.pending() == 0)
            })
            .await;
        fake.stop_job("default", "web");
        sight.until("nothing is left of the job", |seen, _| seen.pod_count() == 0 && seen.node_count() == 2).await;
        assert!(sight.warnings.is_empty(), "{:?}", sight.warnings);
        // A node is asked for alone when it has changed, not in every round.
        assert!(fake.asked(&format!("v1/node/{id}")) < 4, "{}", fake.asked(&format!("v1/node/{id}")));
    }
}

/// With `namespace=*` a token that may read no jobs gets an empty list and no error from Nomad 1.0. Later ones refuse where it may
/// read those of no namespace at all.
#[tokio::test(flavor = "multi_thread")]
async fn the_empty_list_of_a_weak_token_is_not_taken_for_an_empty_cluster() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        fake.add_node(node("one"));
        fake.run(job("web", 2, 400));
        let tokens = vec![
            Token::management("all"),
            Token::client("ours", Some("*")),
            Token::client("default-only", Some("default")),
            Token::client("weak", None),
            Token { lists: false, ..Token::client("lists-none", Some("*")) },
        ];
        fake.set_tokens(tokens);
        for (token, pods, tasks) in
            [("all", Coverage::Complete, 2), ("ours", Coverage::Complete, 2), ("default-only", Coverage::Partial, 2)]
        {
            let mut sight = Sight::of(client(&fake, Some(token), Fence::closed()));
            sight.until(token, |seen, _| pods_are(pods)(seen) && seen.pod_count() == tasks).await;
        }
        for token in ["weak", "lists-none"] {
            let words = match face {
                Face::Old => "may not read those of every namespace",
                Face::New => "cannot be read: Nomad answers 403: Permission denied",
            };
            let mut sight = Sight::of(client(&fake, Some(token), Fence::closed()));
            sight.until(token, |_, warnings| warnings.iter().any(|warning| warning.contains(words))).await;
            let seen = sight.builder.snapshot();
            assert!(seen.node_count() == 0 || !pods_are(Coverage::Complete)(seen), "{token}");
        }
        let words = if face == Face::Old { "ACL token not found" } else { "Permission denied" };
        let mut sight = Sight::of(client(&fake, Some("unknown"), Fence::closed()));
        sight.until("unknown", |_, warnings| warnings.iter().any(|warning| warning.contains(words))).await;
        assert_eq!(sight.builder.snapshot().node_count(), 0, "nothing was read");
    }
}

/// From no server at all a pool has to grow: an empty list is the truth when the token may read everything.
#[tokio::test(flavor = "multi_thread")]
async fn without_any_node_what_waits_is_seen() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        fake.run(job("web", 2, 400));
        let mut sight = Sight::of(open(&fake));
        sight
            .until("two tasks wait", |seen, _| {
                let complete = [Kind::Nodes, Kind::Pods].iter().all(|kind| seen.coverage(*kind) == Coverage::Complete);
                complete && seen.classes().map(|class| class.pending()).sum::<u32>() == 2
            })
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_with_fewer_allocations_in_the_list_than_it_has_is_noticed() {
    let fake = Fake::start(fake_nomad::Face::New).await.expect("a port");
    fake.add_node(node("one"));
    fake.run(job("web", 2, 400));
    let mut sight = Sight::of(open(&fake));
    sight.until("both tasks", |seen, _| seen.pod_count() == 2 && pods_are(Coverage::Complete)(seen)).await;
    fake.fail(Some(Failing::NoAllocations));
    fake.run(job("other", 1, 10));
    sight.until("that the list is not whole", |seen, _| pods_are(Coverage::Partial)(seen)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_stays_as_it_was_and_gets_old() {
    for failing in [Failing::NoLeader, Failing::At("v1/allocations".to_owned()), Failing::At("v1/jobs".to_owned())] {
        let fake = Fake::start(fake_nomad::Face::Old).await.expect("a port");
        fake.add_node(node("one"));
        let mut sight = Sight::of(open(&fake));
        sight.until("the node", |seen, _| seen.node_count() == 1).await;
        let before = sight.cluster.observe(sight.builder.snapshot()).await.ages;
        fake.fail(Some(failing));
        fake.add_node(node("two"));
        sight
            .until("that it fails", |_, warnings| warnings.iter().any(|warning| warning.contains("cannot be read")))
            .await;
        let observation = sight.cluster.observe(sight.builder.snapshot()).await;
        assert_eq!(sight.builder.snapshot().node_count(), 1);
        let (age, earlier) = (observation.ages.get(&Kind::Pods), before.get(&Kind::Pods));
        assert!(age >= earlier && age.is_some_and(Option::is_some));
        fake.fail(None);
        sight.until("the second node", |seen, _| seen.node_count() == 2).await;
    }
}

/// The number of the state goes back, and with a number from before it one would wait for changes that come later.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_went_back_to_a_snapshot_is_followed() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        let one = fake.add_node(node("one"));
        let saved = fake.save();
        let mut sight = Sight::of(open(&fake));
        fake.add_node(node("two"));
        for eligible in [false, true, false] {
            fake.set_eligible(&one, eligible);
        }
        let ineligible = |seen: &Snapshot| seen.node(&one).is_some_and(|view| view.node.taint(INELIGIBLE).is_some());
        sight.until("both nodes", |seen, _| seen.node_count() == 2 && ineligible(seen)).await;
        sight.until("it waits", |_, _| fake.waits_from("nodes") == Some(5)).await;
        fake.restore(&saved);
        sight.until("one node as it was", |seen, _| seen.node_count() == 1 && !ineligible(seen)).await;
        sight.until("it waits anew", |_, _| fake.waits_from("nodes") == Some(1)).await;
        fake.set_eligible(&one, false);
        sight.until("what comes then", |seen, _| ineligible(seen)).await;
        sight.until("it waits for what comes next", |_, _| fake.waits_from("nodes") == Some(2)).await;
    }
}

/// The node has the number that it had when it was read, and is not as it was then.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_before_a_server_went_back_does_not_count() {
    let fake = Fake::start(fake_nomad::Face::Old).await.expect("a port");
    let one = fake.add_node(node("one"));
    let saved = fake.save();
    let mut sight = Sight::of(open(&fake));
    let ineligible = |seen: &Snapshot| seen.node(&one).is_some_and(|view| view.node.taint(INELIGIBLE).is_some());
    fake.set_eligible(&one, false);
    fake.add_node(node("two"));
    sight.until("both nodes", |seen, _| seen.node_count() == 2 && ineligible(seen)).await;
    fake.fail(Some(Failing::NoLeader));
    fake.restore(&saved);
    fake.set_eligible(&one, true);
    fake.fail(None);
    sight.until("one node, eligible", |seen, _| seen.node_count() == 1 && !ineligible(seen)).await;
}

/// Newer ones serve pages, and older ones the whole list whatever they are asked for.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_is_read_to_its_end() {
    for (face, pages) in [(Face::Old, 1), (Face::New, 2)] {
        let fake = Fake::start(face).await.expect("a port");
        for number in 0..5001 {
            fake.add_node(node(&format!("n{number}")));
        }
        let listed = open(&fake).nodes().await.expect("a list");
        assert_eq!((listed.objects.len(), listed.skipped.len(), fake.asked("v1/nodes")), (5001, 0, pages));
    }
}

/// A client that ends is down and stays eligible.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_down_but_eligible_is_not_ready_and_its_tasks_are_lost() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        let id = fake.add_node(node("one"));
        fake.run(job("web", 1, 400));
        let mut sight = Sight::of(open(&fake));
        sight.until("the task", |seen, _| seen.node(&id).is_some_and(|view| view.sums.used.memory > 0)).await;
        fake.stop_client(&id);
        sight
            .until("it is down", |seen, _| {
                seen.node(&id).is_some_and(|view| {
                    let down = matches!(view.node.readiness, Readiness::NotReady { since: Some(_) });
                    down && view.node.taint(INELIGIBLE).is_none() && view.sums.used.memory == 0
                })
            })
            .await;
        // What was lost waits again.
        sight.until("the task waits", |seen, _| seen.classes().any(|class| class.pending() == 1)).await;
    }
}

/// Allocations keep pointing at a node that was purged.
#[tokio::test(flavor = "multi_thread")]
async fn allocations_of_nodes_that_are_gone_do_no_harm() {
    let fake = Fake::start(fake_nomad::Face::Old).await.expect("a port");
    let id = fake.add_node(node("one"));
    fake.run(job("web", 1, 400));
    let mut sight = Sight::of(open(&fake));
    sight.until("the task", |seen, _| seen.pod_count() == 1).await;
    fake.stop_client(&id);
    sight.cluster.forget(&id).await.expect("it is remembered");
    sight.until("the node is gone", |seen, _| seen.node_count() == 0).await;
    let two = fake.add_node(node("two"));
    sight.until("the task elsewhere", |seen, _| seen.node(&two).is_some_and(|view| view.sums.used.memory > 0)).await;
    assert!(sight.warnings.is_empty(), "{:?}", sight.warnings);
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_eligibility_and_drain_are_seen() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        let id = fake.add_node(node("one"));
        let mut sight = Sight::of(open(&fake));
        sight.until("the node", |seen, _| seen.node(&id).is_some_and(|view| view.node.taints.is_empty())).await;
        fake.set_eligible(&id, false);
        sight
            .until("it is ineligible", |seen, _| {
                seen.node(&id).is_some_and(|view| view.node.taint(INELIGIBLE).is_some())
            })
            .await;
        fake.set_eligible(&id, true);
        sight.until("it is eligible", |seen, _| seen.node(&id).is_some_and(|view| view.node.taints.is_empty())).await;
        assert!(sight.builder.snapshot().nodes().all(|view| view.node.taint(DRAINING).is_none()));
    }
}

/// Only servers of pools that are sized by cpu are asked, and one that does not say it is not known to be idle.
#[tokio::test(flavor = "multi_thread")]
async fn how_busy_servers_are_is_asked_of_their_clients() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        let measured = fake.add_node(NodeSpec { class: "gg".to_owned(), busy: vec![90.0, 40.0], ..node("one") });
        let silent = fake.add_node(NodeSpec { class: "gg".to_owned(), ..node("two") });
        let other = fake.add_node(NodeSpec { busy: vec![50.0], ..node("three") });
        let mut sight = Sight::of(open(&fake));
        let labels = [(Box::<str>::from("node.class"), Box::<str>::from("gg"))].into_iter().collect();
        sight.cluster.measure(vec![Selection { labels, ..Selection::default() }], Meter::Clients);
        let busy = |seen: &Snapshot, id: &str| seen.node(id).and_then(|view| view.node.busy);
        sight.until("it is known", |seen, _| busy(seen, &measured) == Some(Percent(6500))).await;
        let seen = sight.builder.snapshot();
        assert_eq!((busy(seen, &silent), busy(seen, &other)), (None, None));
    }
}
