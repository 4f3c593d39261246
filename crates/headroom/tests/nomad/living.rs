//! Rounds over a cluster: what is seen, remembered and explained, and who makes them.

use std::collections::BTreeMap;

use fake_nomad::{Face, Failing, Fake, JobSpec, NodeSpec, Token};

use crate::headroom::{Headroom, ask};
use crate::until;

/// A pool whose size is decided and shown.
const POOL: &str = "
groups:
  - name: jobs
    select: { nodeClass: job }
    size: { min: 0, max: 9 }
    strategy:
      memoryPool: { hardware: [{ name: large, memory: 1000Mi }], margin: 1 }
";

fn config(cluster: &str) -> String {
    format!("cluster: {{ nomad: {cluster} }}\ninterval: 1s\ndryRun: false\n{POOL}")
}

fn node(name: &str) -> NodeSpec {
    let meta = BTreeMap::from([("hardware".to_owned(), "large".to_owned())]);
    NodeSpec { name: name.to_owned(), class: "job".to_owned(), meta, ..NodeSpec::default() }
}

fn web(count: u32) -> JobSpec {
    JobSpec { id: "web".to_owned(), count, memory: 600, class: "job".to_owned(), ..JobSpec::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_is_followed_and_explained_from_its_first_server_on() {
    for face in [Face::Old, Face::New] {
        let fake = Fake::start(face).await.expect("a port");
        let folder = tempfile::tempdir().expect("a folder");
        fake.run(web(2));
        let state = folder.path().join("state");
        std::fs::create_dir(&state).expect("a folder");
        let cluster = format!("{{ state: {{ folder: {{ path: \"{}\" }} }} }}", state.display());
        let headroom = Headroom::start(folder.path(), &fake.url(), &[], &config(&cluster));
        // Two tasks wait, no two of which fit on one server.
        headroom.says("api/v1/groups", r#""unplacedServers":2"#).await;
        fake.add_node(node("one"));
        fake.add_node(node("two"));
        headroom.says("api/v1/groups", r#""usage":2"#).await;
        headroom.says("api/v1/explain/group/jobs", " each = 2, + 1 margin").await;
        let metrics = headroom.get("metrics").await.expect("metrics");
        assert!(metrics.contains("group=\"jobs\""), "{metrics}");
        let plan = ask(&fake.url(), &["plan"], folder.path());
        let plan = String::from_utf8_lossy(&plan.stdout).into_owned();
        assert!(plan.contains("2 nodes, 2 pods in the cluster"), "{plan}");
        assert!(state.join("memory.json").exists() && state.join("lock").exists());
        assert!(fake.changes().is_empty(), "{:?}", fake.changes());
        headroom.stop();
    }
}

/// Two instances agree by the lock on a variable; the second goes on when the first is killed.
#[tokio::test(flavor = "multi_thread")]
async fn one_instance_acts_and_another_takes_over() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let folder = tempfile::tempdir().expect("a folder");
    fake.add_node(node("one"));
    let start = |name: &str| {
        let environment = [("POD_NAME", name)];
        Headroom::start(&folder.path().join(name), &fake.url(), &environment, &config("{}"))
    };
    let holder = || fake.variable("headroom/lock").and_then(|items| items.get("holder").cloned()).unwrap_or_default();
    let first = start("first");
    first.says("api/v1/plan", "jobs").await;
    assert_eq!(holder(), "first");
    assert!(fake.variable("headroom/memory").is_some(), "it remembers");
    let second = start("second");
    until("the second stands by", async || {
        if second.log().contains("another instance leads") { Ok(()) } else { Err(second.log()) }
    })
    .await;
    assert!(second.get("api/v1/plan").await.is_err(), "it makes no plan");
    first.kill();
    second.says("api/v1/plan", "jobs").await;
    assert_eq!(holder(), "second");
    // It cannot renew: it gives up before anybody else could lead, and comes back.
    fake.fail(Some(Failing::At("v1/var/headroom/lock".to_owned())));
    until(
        "it makes no plan",
        async || {
            if second.get("api/v1/plan").await.is_err() { Ok(()) } else { Err(second.log()) }
        },
    )
    .await;
    fake.fail(None);
    second.says("api/v1/plan", "jobs").await;
    second.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_paused_by_a_variable() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let folder = tempfile::tempdir().expect("a folder");
    fake.add_node(node("one"));
    let headroom = Headroom::start(folder.path(), &fake.url(), &[], &config("{}"));
    headroom.says("api/v1/plan", "jobs").await;
    let paused = ask(&fake.url(), &["pause", "--all"], folder.path());
    assert!(paused.status.success(), "{paused:?}");
    headroom.says("metrics", "paused").await;
    let resumed = ask(&fake.url(), &["resume", "--all"], folder.path());
    assert!(String::from_utf8_lossy(&resumed.stderr).contains("everything goes on"), "{resumed:?}");
    headroom.stop();
}

/// Who asks for a plan is told what is wrong, and does not wait for a cluster that cannot be read.
#[tokio::test(flavor = "multi_thread")]
async fn a_region_that_nomad_does_not_know_is_named() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("headroom.yaml"), config("{ region: mars }")).expect("a file");
    let plan = ask(&fake.url(), &["plan"], folder.path());
    let error = String::from_utf8_lossy(&plan.stderr).into_owned();
    assert!(!plan.status.success() && error.contains("No path to region"), "{plan:?}");
    assert!(error.contains("hint: set `region` in `cluster: { nomad: … }`, or NOMAD_REGION"), "{error}");
    assert_eq!(fake.asked("v1/nodes"), 1, "{error}");
}

/// Who asks for a plan sees how busy servers are, although the cluster is read once.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_knows_how_busy_servers_are() {
    let fake = Fake::start(Face::Old).await.expect("a port");
    let folder = tempfile::tempdir().expect("a folder");
    fake.add_node(NodeSpec { class: "gg".to_owned(), busy: vec![95.0, 85.0], ..node("one") });
    let gateways =
        "groups: [{ name: edge, select: { nodeClass: gg }, size: { min: 1, max: 5 }, strategy: { cpuPool: {} } }]";
    let text = format!("cluster: {{ nomad: {{}} }}\n{gateways}\n");
    std::fs::write(folder.path().join("headroom.yaml"), text).expect("a file");
    for _ in 0..3 {
        let plan = ask(&fake.url(), &["plan"], folder.path());
        let plan = String::from_utf8_lossy(&plan.stdout).into_owned();
        assert!(plan.contains("edge: resize 1 -> 2 because 2 servers: 90% of 100% busy, 10% free"), "{plan}");
    }
}

/// The lists of a weak token are empty or short, without a word. Nothing goes by them, and no secret is shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_weak_token_holds_every_server() {
    for face in [Face::Old, Face::New] {
        let fake = Fake::start(face).await.expect("a port");
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["one", "two", "three"] {
            fake.add_node(node(name));
        }
        fake.run(web(3));
        // Newer ones refuse where nothing in any namespace may be read.
        let reads = (face == Face::New).then_some("other");
        fake.set_tokens(vec![Token::client("5e12c0de", reads)]);
        let environment = [("NOMAD_TOKEN", "5e12c0de")];
        let cluster = format!("{{ state: {{ folder: {{ path: \"{}\" }} }} }}", folder.path().display());
        let headroom = Headroom::start(folder.path(), &fake.url(), &environment, &config(&cluster));
        let plan = headroom.says("api/v1/plan", "refusals").await;
        let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
        assert_eq!(plan["actions"], serde_json::json!([]), "{plan}");
        assert!(plan["refusals"].to_string().contains("pods"), "{plan}");
        let log = headroom.log();
        assert!(log.contains("the token may not read those of every namespace"), "{log}");
        assert!(!log.contains("5e12c0de"), "{log}");
        assert!(fake.changes().is_empty(), "{:?}", fake.changes());
        headroom.stop();
    }
}

/// A server that has no leader answers nothing. What was known stays, and is followed again afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_loses_its_leader_is_waited_for() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let folder = tempfile::tempdir().expect("a folder");
    fake.add_node(node("one"));
    let headroom = Headroom::start(folder.path(), &fake.url(), &[], &config("{}"));
    headroom.says("api/v1/groups", r#""servers":1"#).await;
    fake.fail(Some(Failing::NoLeader));
    fake.add_node(node("two"));
    until("it says so", async || {
        let log = headroom.log();
        if log.contains("No cluster leader") { Ok(()) } else { Err(log) }
    })
    .await;
    headroom.says("healthz", "ok").await;
    fake.fail(None);
    headroom.says("api/v1/groups", r#""servers":2"#).await;
    headroom.stop();
}
