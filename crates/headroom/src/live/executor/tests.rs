//! What is asked of clusters and clouds for a plan, and what is said of it.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use headroom_adapters::cloud::Stays;
use headroom_adapters::cluster::{Observation, Refused};
use headroom_core::plan::{Evict, Reason, Report};
use headroom_core::snapshot::{CloudGroup, Effect, Snapshot, Taint, Template};
use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::*;

/// A cluster and a cloud at once: it takes down what it is asked, and refuses what it is told to refuse.
#[derive(Default)]
struct Fake {
    calls: Mutex<Vec<String>>,
    /// Pods whose eviction is refused.
    held: Vec<&'static str>,
    /// Pods that would be lost with nodes.
    lost: Vec<(&'static str, &'static str)>,
    /// Machines that the cloud does not let go of.
    kept: Vec<&'static str>,
    /// The cloud does not answer.
    silent: bool,
    /// Taints wait until the test lets them.
    gate: Option<Semaphore>,
}

impl Fake {
    fn note(&self, call: String) {
        self.calls.lock().unwrap().push(call);
    }

    /// What it was asked, whatever the order.
    fn calls(&self) -> Vec<String> {
        let mut calls = std::mem::take(&mut *self.calls.lock().unwrap());
        calls.sort();
        calls
    }

    fn stays(&self, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        if self.silent {
            return Err(CloudError::Unreachable("no route".into()));
        }
        let kept = machines.iter().filter(|machine| self.kept.contains(machine));
        let reason = || CloudError::OutsideLimits { group: "web".to_owned(), wanted: 0, min: 1, max: 9 };
        Ok(kept.map(|machine| Stays { machine: (*machine).to_owned(), reason: reason() }).collect())
    }
}

#[async_trait]
impl Cluster for Fake {
    async fn observe(&self, _: &Snapshot) -> Observation {
        Observation { changes: Vec::new(), as_of: Timestamp::UNIX_EPOCH, ages: BTreeMap::new(), warnings: Vec::new() }
    }

    async fn changed(&self) {}

    async fn taint(&self, node: &str, taint: &Taint) -> Result<(), ClusterError> {
        if let Some(gate) = &self.gate {
            gate.acquire().await.expect("it stays open").forget();
        }
        self.note(format!("taint {node} {}", taint.key));
        Ok(())
    }

    async fn untaint(&self, node: &str, key: &str) -> Result<(), ClusterError> {
        self.note(format!("untaint {node} {key}"));
        Ok(())
    }

    async fn drain(&self, node: &str, pods: &[Evict], _: Timestamp) -> Result<Vec<Refused>, ClusterError> {
        let mut refused = Vec::new();
        for pod in pods {
            self.note(format!("evict {} from {node}", pod.name));
            if self.held.contains(&&*pod.name) {
                let name = format!("{}/{}", pod.namespace, pod.name);
                let reason =
                    ClusterError::EvictionRefused { pod: name, reason: "budget db".to_owned(), retry_after: None };
                refused.push(Refused { pod: pod.clone(), reason });
            }
        }
        Ok(refused)
    }

    async fn lost_with(&self, node: &str) -> Result<Vec<String>, ClusterError> {
        self.note(format!("look at {node}"));
        Ok(self.lost.iter().filter(|(on, _)| *on == node).map(|(_, pod)| (*pod).to_owned()).collect())
    }

    async fn report(&self, _: &Snapshot, _: &Report, _: Timestamp) -> Vec<ClusterError> {
        Vec::new()
    }

    async fn forget(&self, node: &str) -> Result<(), ClusterError> {
        self.note(format!("forget {node}"));
        Ok(())
    }
}

#[async_trait]
impl Cloud for Fake {
    async fn groups(&self) -> Result<Vec<CloudGroup>, CloudError> {
        Ok(Vec::new())
    }

    async fn resize(&self, group: &str, from: u32, to: u32) -> Result<(), CloudError> {
        self.note(format!("resize {group} {from} {to}"));
        Ok(())
    }

    async fn remove(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        self.note(format!("remove {} of {group}", machines.join(" ")));
        self.stays(machines)
    }

    async fn replace(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        self.note(format!("replace {} of {group}", machines.join(" ")));
        self.stays(machines)
    }

    async fn template(&self, _: &str) -> Result<Option<Template>, CloudError> {
        Ok(None)
    }
}

fn planned(action: Action) -> Planned {
    let reason = Reason::Unneeded { idle_for: jiff::SignedDuration::from_mins(10) };
    Planned { group: "web".into(), action, reason, dry_run: false }
}

/// The removal of a node whose machine goes by the same name.
fn removal(node: &str, pods: &[&str]) -> Planned {
    let pods = pods.iter().map(|pod| (*pod).to_owned()).collect();
    planned(Action::Remove { node: node.into(), provider_id: Some(format!("id-{node}").into()), pods })
}

fn taint(node: &str) -> Planned {
    let taint = Taint { key: "going".into(), value: "1".into(), effect: Effect::NoSchedule };
    planned(Action::Taint { node: node.into(), taint })
}

/// Starts all of it, waits for all of it, and says what came of each.
async fn carried_out(fake: &Arc<Fake>, actions: &[Planned]) -> Vec<String> {
    let mut executor = Executor::new(Arc::clone(fake) as Arc<dyn Cluster>);
    executor.start(actions.iter(), |_| Some(Arc::clone(fake) as Arc<dyn Cloud>));
    let mut ends = Vec::new();
    while let Some(outcomes) = executor.next().await {
        ends.extend(outcomes.into_iter().map(|Outcome { planned, result }| match result {
            Ok(()) => format!("{}: done", planned.action),
            Err(failure) => format!("{}: {failure}", planned.action),
        }));
    }
    assert!(executor.is_idle() && actions.iter().all(|planned| !executor.holds(planned)));
    ends.sort();
    ends
}

#[tokio::test]
async fn of_several_nodes_one_may_stay_and_is_not_forgotten() {
    let fake = Arc::new(Fake { kept: vec!["id-b"], ..Fake::default() });
    let ends = carried_out(&fake, &[removal("a", &[]), removal("b", &[]), removal("c", &[])]).await;
    assert_eq!(ends, ["remove a: done", "remove b: web cannot have size 0: the cloud allows 1 to 9", "remove c: done"]);
    assert_eq!(
        fake.calls(),
        ["forget a", "forget c", "look at a", "look at b", "look at c", "remove id-a id-b id-c of web"]
    );
}

#[tokio::test]
async fn a_cloud_that_does_not_answer_keeps_all_nodes() {
    let fake = Arc::new(Fake { silent: true, ..Fake::default() });
    let ends = carried_out(&fake, &[removal("a", &[]), removal("b", &[])]).await;
    assert_eq!(ends, ["remove a: the cloud does not answer", "remove b: the cloud does not answer"]);
    assert!(!fake.calls().iter().any(|call| call.starts_with("forget")));
}

#[tokio::test]
async fn a_node_to_which_pods_came_stays_and_the_others_go() {
    let lost = vec![("a", "shop/late-1"), ("a", "shop/late-2"), ("b", "shop/known")];
    let fake = Arc::new(Fake { lost, ..Fake::default() });
    let ends = carried_out(&fake, &[removal("a", &[]), removal("b", &["shop/known"])]).await;
    assert!(ends[0].ends_with("2 pods came to the node after the plan was made, shop/late-1 among them"), "{ends:?}");
    assert!(ends[1].ends_with(": done"), "{ends:?}");
    assert_eq!(fake.calls(), ["forget b", "look at a", "look at b", "remove id-b of web"]);
}

#[tokio::test]
async fn a_node_without_a_machine_is_no_reason_to_ask_the_cloud() {
    let fake = Arc::new(Fake::default());
    let nameless = planned(Action::Remove { node: "a".into(), provider_id: None, pods: Vec::new() });
    let ends = carried_out(&fake, &[nameless]).await;
    assert_eq!(
        ends,
        [
            "remove a: it is not known which machine of its cloud the node is; hint: on Kubernetes its spec.providerID says it, on Nomad its name or address"
        ]
    );
    assert_eq!(fake.calls(), [""; 0]);
}

#[tokio::test]
async fn of_a_drain_that_is_refused_in_part_it_is_known_who_went() {
    let fake = Arc::new(Fake { held: vec!["db-0", "db-1"], ..Fake::default() });
    let pod = |name: &str| Evict { namespace: "shop".into(), name: name.into(), budget: None };
    let pods = ["web-0", "db-0", "web-1", "db-1"].map(pod).to_vec();
    let drain = planned(Action::Drain { node: "a".into(), pods, until: Timestamp::UNIX_EPOCH });
    let mut executor = Executor::new(Arc::clone(&fake) as Arc<dyn Cluster>);
    assert_eq!(executor.start([drain].iter(), |_| None), 1, "a drain takes no cloud");
    let outcomes = executor.next().await.unwrap();
    let [Outcome { result: Err(Failure::Evictions { refused: 2, pods: 4, first, evicted }), .. }] = &outcomes[..]
    else {
        panic!("{outcomes:?}");
    };
    assert_eq!(first.to_string(), "pod shop/db-0 may not leave now: budget db");
    assert_eq!(*evicted, [pod("web-0"), pod("web-1")]);
    assert_eq!(fake.calls().len(), 4, "each is asked for");
}

#[tokio::test]
async fn no_two_actions_touch_one_node_at_once() {
    let fake = Arc::new(Fake { gate: Some(Semaphore::new(0)), ..Fake::default() });
    let cloud = |_: &str| Some(Arc::clone(&fake) as Arc<dyn Cloud>);
    let mut executor = Executor::new(Arc::clone(&fake) as Arc<dyn Cluster>);
    let untaint = |node: &str| planned(Action::Untaint { node: node.into(), key: "going".into() });
    // Of one plan the second waits for the next plan, and so does one of the next plan while the first is under way.
    assert_eq!(executor.start([taint("a"), untaint("a")].iter(), cloud), 1);
    assert!(executor.holds(&removal("a", &[])) && !executor.holds(&removal("b", &[])));
    assert_eq!(executor.start([removal("a", &[]), removal("b", &[])].iter(), cloud), 1);
    let first = executor.next().await.unwrap();
    assert_eq!(first[0].planned, removal("b", &[]), "it is not held up");
    assert_eq!(fake.calls(), ["forget b", "look at b", "remove id-b of web"]);
    fake.gate.as_ref().unwrap().add_permits(1);
    let second = tokio::time::timeout(Duration::from_secs(10), executor.next()).await.unwrap().unwrap();
    assert_eq!(second[0].planned, taint("a"));
    assert!(!executor.holds(&removal("a", &[])) && executor.is_idle());
    assert_eq!(executor.start([untaint("a")].iter(), cloud), 1);
    assert!(executor.next().await.unwrap()[0].result.is_ok());
    assert_eq!(fake.calls(), ["taint a going", "untaint a going"]);
}

#[tokio::test]
async fn a_machine_that_never_came_is_removed_or_replaced_and_may_stay() {
    let fake = Arc::new(Fake { kept: vec!["m-2"], ..Fake::default() });
    let write_off = |id: &str, replace| planned(Action::WriteOff { provider_id: id.into(), replace });
    let grow = planned(Action::Resize { from: 1, to: 3 });
    let ends = carried_out(&fake, &[grow, write_off("m-1", true), write_off("m-2", false)]).await;
    assert_eq!(ends.iter().filter(|end| end.ends_with(": done")).count(), 2, "{ends:?}");
    assert_eq!(fake.calls(), ["remove m-2 of web", "replace m-1 of web", "resize web 1 3"]);
}

#[tokio::test]
async fn a_group_without_a_cloud_is_refused() {
    let fake = Arc::new(Fake::default());
    let mut executor = Executor::new(Arc::clone(&fake) as Arc<dyn Cluster>);
    executor.start([removal("a", &[]), planned(Action::Resize { from: 1, to: 2 })].iter(), |_| None);
    while let Some(outcomes) = executor.next().await {
        for Outcome { result, .. } in outcomes {
            let is_unknown = |error: &CloudError| matches!(error, CloudError::NoSuchGroup { .. });
            assert!(matches!(&result, Err(Failure::Cloud(error)) if is_unknown(error)), "{result:?}");
        }
    }
    assert!(!fake.calls().iter().any(|call| call.starts_with("forget")));
}
