use std::fmt::Write;
use std::sync::Mutex;

use async_trait::async_trait;
use expect_test::{Expect, expect};
use headroom_adapters::bulletin::About;
use headroom_adapters::cloud::CloudError;
use headroom_adapters::cluster::ClusterError;
use headroom_adapters::notebook::Pause;
use headroom_core::fixture::Fixture;
use headroom_core::plan::{Evict, Planned, Reason};
use headroom_core::snapshot::{Effect, Taint};
use jiff::SignedDuration;

use super::super::executor::Failure;
use super::*;

/// What the last round of a cluster is told as, in dry run or not.
fn told(cluster: &str, hold: Option<&Hold>) -> Vec<Message> {
    let fixture = Fixture::read(cluster).unwrap();
    let plan = fixture.plans.last().unwrap();
    let seen = Seen {
        policy: &fixture.policy,
        snapshot: fixture.builder.snapshot(),
        plan,
        memory: &fixture.memory,
        held: hold.map(Hold::word),
        deciding: Duration::ZERO,
        took: Duration::ZERO,
        ended: plan.at,
    };
    let (mut herald, messages) = Herald::new();
    herald.round(&seen, hold);
    let done = plan.to_execute().cloned().map(|planned| Outcome { planned, result: Ok(()) });
    herald.outcomes(&if hold.is_none() { done.collect::<Vec<_>>() } else { Vec::new() }, plan.at);
    drop(herald);
    drain(messages)
}

fn drain(mut messages: mpsc::Receiver<Message>) -> Vec<Message> {
    std::iter::from_fn(|| messages.try_recv().ok()).collect()
}

/// The events, a line each.
fn check_events(messages: &[Message], expected: Expect) {
    let mut text = String::new();
    for message in messages {
        if let Message::Events(events, _) = message {
            for Event { about, tone, reason, message, lasting } in events {
                let about = match about {
                    About::Headroom => "headroom".to_owned(),
                    About::Node(name) => format!("node {name}"),
                    About::Pod { namespace, name } => format!("pod {namespace}/{name}"),
                };
                let lasts = if lasting.is_some() { " (lasts)" } else { "" };
                writeln!(text, "{about} {tone:?} {reason}{lasts}\n  {message}").unwrap();
            }
        }
    }
    expected.assert_eq(&text);
}

fn check_status(messages: &[Message], expected: Expect) {
    let statuses = messages.iter().filter_map(|message| match message {
        Message::Status(status) => Some(status),
        Message::Events(..) => None,
    });
    expected.assert_debug_eq(&statuses.collect::<Vec<_>>());
}

const GROWING: &str = "
    group web pending min=1 max=3 template=2000m/8Gi target=1
    node web-1 in=web cpu=2000m memory=8Gi
    pod here on=web-1 running cpu=1500m memory=1Gi
    pod wait{1..3} cpu=1500m memory=1Gi
    pod huge cpu=64000m memory=1Gi
    look";

#[test]
fn each_pod_is_told_whether_it_gets_a_node() {
    check_events(
        &told(GROWING, None),
        expect![[r#"
            pod default/huge Normal NotTriggerScaleUp (lasts)
              pod didn't trigger scale-up: fits on no new node; closest is web: needs 64 cpu, at most 2 free; hint: add a group whose nodes offer 64 cpu beside their DaemonSets
            pod default/wait3 Normal NotTriggerScaleUp (lasts)
              pod didn't trigger scale-up: would fit on a new node of web, which gets no more: the group may have 3 and has 3; hint: raise size.max of web
            headroom Normal ScaledUpGroup
              Scale-up: group web size set to 3 instead of 1: 2 pods wait, default/wait1 among them
            pod default/wait1 Normal TriggeredScaleUp
              pod triggered scale-up: [{web 1->3 (max: 3)}]
            pod default/wait2 Normal TriggeredScaleUp
              pod triggered scale-up: [{web 1->3 (max: 3)}]
        "#]],
    );
}

#[test]
fn the_status_says_what_grows() {
    check_status(
        &told(GROWING, None),
        expect![[r#"
        [
            Status {
                at: 2026-01-01T00:00:00Z,
                message: None,
                healthy: true,
                groups: [
                    GroupStatus {
                        name: "web",
                        healthy: true,
                        nodes: Counts {
                            in_service: 1,
                            not_ready: 0,
                            upcoming: 0,
                            tainted: 0,
                            force_tainted: 0,
                            cordoned: 0,
                            never_came: 0,
                            disputed: 0,
                        },
                        target: 1,
                        min: 1,
                        max: 3,
                        growth: InProgress,
                        candidates: 0,
                    },
                ],
            },
        ]
    "#]],
    );
}

#[test]
fn while_nothing_is_carried_out_only_that_is_told() {
    let messages = told(GROWING, Some(&Hold::Paused));
    check_events(
        &messages,
        expect![[r#"
        headroom Normal Paused (lasts)
          nothing is carried out: everything is paused; hint: headroom resume --all
    "#]],
    );
    check_status(
        &messages,
        expect![[r#"
        [
            Status {
                at: 2026-01-01T00:00:00Z,
                message: Some(
                    "nothing is carried out: everything is paused; hint: headroom resume --all",
                ),
                healthy: true,
                groups: [
                    GroupStatus {
                        name: "web",
                        healthy: true,
                        nodes: Counts {
                            in_service: 1,
                            not_ready: 0,
                            upcoming: 0,
                            tainted: 0,
                            force_tainted: 0,
                            cordoned: 0,
                            never_came: 0,
                            disputed: 0,
                        },
                        target: 1,
                        min: 1,
                        max: 3,
                        growth: None,
                        candidates: 0,
                    },
                ],
            },
        ]
    "#]],
    );
}

#[test]
fn a_group_in_dry_run_triggers_nothing() {
    let messages = told(&GROWING.replace("min=1", "mode=dryRun min=1").replace("pod huge", "pod gated gated"), None);
    check_events(
        &messages,
        expect![[r#"
            pod default/wait3 Normal NotTriggerScaleUp (lasts)
              pod didn't trigger scale-up: would fit on a new node of web, which gets no more: the group may have 3 and has 3; hint: raise size.max of web
        "#]],
    );
}

#[test]
fn a_node_that_stays_for_a_budget_names_it() {
    let messages = told(
        "
        group web pending min=0 max=3 template=4000m/8Gi target=2
        scaleDown
        memory fresh
        node web-{1..2} in=web cpu=4000m memory=8Gi age=1h
        pod busy on=web-2 running cpu=3000m memory=1Gi
        pod a on=web-1 running cpu=500m memory=1Gi controller=ReplicaSet/a label=app=a
        pdb keep-a label=app=a allowed=0 healthy=1 wanted=1
        look",
        None,
    );
    check_events(
        &messages,
        expect![[r#"
        node web-1 Normal ScaleDownBlocked (lasts)
          node is not removed: pod default/a may not be evicted by disruption budget keep-a: 1 ready, 1 must be
    "#]],
    );
}

#[test]
fn a_group_whose_machines_do_not_come_is_told_once_and_shown() {
    let messages = told(
        "
        group web pending min=1 max=3 template=2000m/8Gi target=1
        failed web error=outOfStock says=InsufficientInstanceCapacity age=10s
        node web-1 in=web cpu=2000m memory=8Gi
        pod wait cpu=1500m memory=1Gi
        pod here on=web-1 running cpu=1500m memory=1Gi
        round",
        None,
    );
    check_events(
        &messages,
        expect![[r#"
        headroom Warning ScaleUpFailed (lasts)
          group web: left alone until 2026-01-01T00:04:50Z: the cloud is out of stock
        pod default/wait Normal NotTriggerScaleUp (lasts)
          pod didn't trigger scale-up: would fit on a new node of web, which may not grow now
    "#]],
    );
    check_status(
        &messages,
        expect![[r#"
            [
                Status {
                    at: 2026-01-01T00:00:00Z,
                    message: None,
                    healthy: true,
                    groups: [
                        GroupStatus {
                            name: "web",
                            healthy: true,
                            nodes: Counts {
                                in_service: 1,
                                not_ready: 0,
                                upcoming: 0,
                                tainted: 0,
                                force_tainted: 0,
                                cordoned: 0,
                                never_came: 0,
                                disputed: 0,
                            },
                            target: 1,
                            min: 1,
                            max: 3,
                            growth: BackingOff {
                                code: "outOfStock",
                                message: "the cloud is out of stock, left alone until 2026-01-01T00:04:50Z",
                            },
                            candidates: 0,
                        },
                    ],
                },
            ]
        "#]],
    );
}

fn outcome(action: Action, reason: Reason, result: Result<(), Failure>) -> Outcome {
    Outcome { planned: Planned { group: "web".into(), action, reason, dry_run: false }, result }
}

#[test]
fn what_becomes_of_nodes_is_told() {
    let (mut herald, messages) = Herald::new();
    let at = Timestamp::UNIX_EPOCH;
    let (hour, minute) = (SignedDuration::from_hours(1), SignedDuration::from_mins(1));
    let node = || "web-1".into();
    let taint = |key: &str| Taint { key: key.into(), value: "1".into(), effect: Effect::NoSchedule };
    let pod = |name: &str| Evict { namespace: "shop".into(), name: name.into(), budget: None };
    let unneeded = || Reason::Unneeded { idle_for: hour };
    let stuck =
        Reason::DrainGivenUp { pod: "shop/db-0".to_owned(), budget: Some("db".into()), ending: false, waited: hour };
    let denied = || CloudError::NoSuchGroup { group: "web".to_owned() };
    let held = |evicted: Vec<Evict>, pods: usize| {
        let first = ClusterError::EvictionRefused {
            pod: "shop/c".to_owned(),
            reason: "budget db".to_owned(),
            retry_after: None,
        };
        Failure::Evictions { refused: pods - evicted.len(), pods, first, evicted }
    };
    herald.outcomes(
        &[
            outcome(Action::Taint { node: node(), taint: taint("ToBeDeleted") }, unneeded(), Ok(())),
            outcome(
                Action::Taint { node: node(), taint: taint("DeletionCandidateOfClusterAutoscaler") },
                unneeded(),
                Ok(()),
            ),
            outcome(
                Action::Drain { node: node(), pods: vec![pod("a"), pod("b")], until: at },
                Reason::Draining { pods: 2, marked_for: minute },
                Ok(()),
            ),
            // Of three pods one went, and of two none.
            outcome(
                Action::Drain { node: node(), pods: vec![pod("c"), pod("d"), pod("e")], until: at },
                Reason::Draining { pods: 3, marked_for: minute },
                Err(held(vec![pod("d")], 3)),
            ),
            outcome(
                Action::Drain { node: node(), pods: vec![pod("c"), pod("e")], until: at },
                Reason::Draining { pods: 2, marked_for: hour },
                Err(held(Vec::new(), 2)),
            ),
            outcome(Action::Untaint { node: node(), key: "ToBeDeleted".into() }, Reason::NeededAgain, Ok(())),
            outcome(Action::Untaint { node: node(), key: "ToBeDeleted".into() }, stuck, Ok(())),
            outcome(
                Action::Remove { node: node(), provider_id: None, pods: Vec::new() },
                Reason::Drained { marked_for: minute },
                Ok(()),
            ),
            outcome(
                Action::Remove { node: node(), provider_id: None, pods: Vec::new() },
                Reason::ForceTainted,
                Err(Failure::NotEmpty { pods: 1, first: "shop/late".to_owned() }),
            ),
            outcome(
                Action::WriteOff { provider_id: "kwok://web-2".into(), replace: false },
                Reason::NeverCame { machines: 1, boot_timeout: hour },
                Ok(()),
            ),
            outcome(
                Action::Resize { from: 1, to: 2 },
                Reason::BelowMin { have: 1, min: 2 },
                Err(Failure::from(denied())),
            ),
        ],
        at,
    );
    check_events(
        &drain(messages),
        expect![[r#"
            node web-1 Normal ScaleDown
              marked for removal: not needed for 1h
            node web-1 Normal ScaleDown (lasts)
              evicted 2 pods: marked for 1m, 2 pods to move
            pod shop/a Normal ScaleDown
              evicted from node web-1, which is being removed
            pod shop/b Normal ScaleDown
              evicted from node web-1, which is being removed
            node web-1 Normal ScaleDown (lasts)
              evicted 1 pod: marked for 1m, 3 pods to move
            pod shop/d Normal ScaleDown
              evicted from node web-1, which is being removed
            node web-1 Normal ScaleDownCancelled
              no longer marked for removal: it is needed, or may not go
            node web-1 Warning ScaleDownFailed
              drain given up: pod shop/db-0 could not be evicted for 1h under disruption budget db
            headroom Normal ScaleDown
              Scale-down: node web-1 of group web removed: marked for 1m and empty
            node web-1 Normal ScaleDown
              removed: marked for 1m and empty
            node web-1 Warning ScaleDownFailed (lasts)
              remove web-1: 1 pod came to the node after the plan was made, shop/late among them
            headroom Normal DeleteUnregistered
              Removed unregistered machine kwok://web-2 of group web: 1 machine did not come within 1h
            headroom Warning FailedToScaleUpGroup (lasts)
              Scale-up: group web 1 -> 2 failed: the cloud has no group for web; hint: check the group's cloud section
        "#]],
    );
}

#[test]
fn what_users_do_is_told() {
    let (herald, messages) = Herald::new();
    let at = Timestamp::UNIX_EPOCH;
    let paused = |group: &str, pause| Pauses { groups: [(group.to_owned(), pause)].into(), ..Pauses::default() };
    let open = paused("web", Pause::Open);
    let until = paused("gpu", Pause::Until(at));
    herald.pauses(&Pauses::default(), &open, at);
    herald.pauses(&open, &open, at);
    herald.pauses(&open, &until, at);
    herald.config_broken("headroom.yaml:3: groups: web: min is above max", at);
    check_events(
        &drain(messages),
        expect![[r#"
        headroom Normal Paused
          group web is paused; hint: headroom resume web
        headroom Normal Paused
          group gpu is paused until 1970-01-01T00:00:00Z
        headroom Normal Resumed
          group web is no longer paused
        headroom Warning ConfigInvalid
          the new configuration has errors, so the old one stays: headroom.yaml:3: groups: web: min is above max
    "#]],
    );
}

/// Remembers when each status was posted, in seconds.
#[derive(Default)]
struct Board {
    posted: Mutex<Vec<(u64, Option<String>)>>,
    start: Option<Instant>,
}

#[async_trait]
impl Bulletin for &Board {
    async fn tell(&self, _: Vec<Event>, _: Timestamp) -> Result<(), ClusterError> {
        Ok(())
    }

    async fn post(&self, status: &Status) -> Result<(), ClusterError> {
        let after = self.start.unwrap().elapsed().as_secs();
        self.posted.lock().unwrap().push((after, status.message.clone()));
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_is_written_when_it_changes_but_not_all_the_time_and_at_the_end() {
    let board = Board { start: Some(Instant::now()), ..Board::default() };
    let (told, messages) = mpsc::channel(WAITING);
    let status = |second: i64, message: &str| Status {
        at: Timestamp::from_second(second).unwrap(),
        message: Some(message.to_owned()),
        healthy: true,
        groups: Vec::new(),
    };
    let rounds = async move {
        for second in 0..90 {
            let message = if second < 2 || second == 5 { "a" } else { "b" };
            told.send(Message::Status(status(second, message))).await.unwrap_or_else(|_| panic!("it listens"));
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        told.send(Message::Status(status(90, "end"))).await.unwrap_or_else(|_| panic!("it listens"));
    };
    tokio::join!(announce(&board, messages), rounds);
    expect![[r#"
        [
            (
                0,
                Some(
                    "a",
                ),
            ),
            (
                10,
                Some(
                    "b",
                ),
            ),
            (
                70,
                Some(
                    "b",
                ),
            ),
            (
                90,
                Some(
                    "end",
                ),
            ),
        ]
    "#]]
    .assert_debug_eq(&board.posted.lock().unwrap());
}
