//! What Prometheus reads after a round.

use std::time::Duration;

use expect_test::expect_file;
use headroom::metrics::{Compatible, Metrics, Seen, page};
use headroom_core::decide;
use headroom_core::fixture::Fixture;
use headroom_core::plan::Action;

const CLUSTER: &str = "
group web pending min=1 max=3 template=2000m/8Gi target=2
group gone pending min=0 max=0 template=1000m/1Gi target=0
scaleDown
slack rate=10 basis=requested
node web-{1..2} in=web cpu=2000m memory=8Gi
pod here on=web-1 running cpu=1000m memory=1Gi
pod wait{1..3} cpu=1500m memory=1Gi
pod huge cpu=64000m memory=1Gi
";

#[test]
fn the_page_is_current() {
    expect_file!["../../../docs/metrics.md"].assert_eq(&page());
}

#[test]
fn a_round_sets_every_gauge_and_leaves_nothing_of_the_one_before() {
    let metrics = Metrics::new(&[Compatible::ClusterAutoscaler, Compatible::Escalator]);
    let mut fixture = Fixture::read(CLUSTER).unwrap();
    round(&metrics, &fixture, Some("dry_run"));
    fixture.policy.dry_run = false;
    round(&metrics, &fixture, None);
    let text = metrics.text().unwrap();
    assert!(!text.contains("headroom_held{"), "the hold is over");
    // Values of one metric come in any order.
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains("_bucket{")).collect();
    lines.sort_unstable();
    expect_file!["metrics/round.txt"].assert_eq(&format!("{}\n", lines.join("\n")));
}

#[test]
fn what_was_done_is_counted() {
    let metrics = Metrics::new(&[]);
    let fixture = Fixture::read(CLUSTER).unwrap();
    let (plan, _) = decide(fixture.builder.snapshot(), &fixture.policy, &fixture.memory, fixture.now);
    let grown = plan.actions.iter().find(|planned| matches!(planned.action, Action::Resize { .. })).unwrap();
    metrics.acted(grown, true);
    metrics.acted(grown, false);
    let text = metrics.text().unwrap();
    for line in [
        "headroom_actions_total{group=\"web\",action=\"resize\",result=\"done\"} 1",
        "headroom_actions_total{group=\"web\",action=\"resize\",result=\"failed\"} 1",
        "headroom_added_nodes_total{group=\"web\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("cluster_autoscaler_"), "nobody asked for these names");
}

fn round(metrics: &Metrics, fixture: &Fixture, held: Option<&'static str>) {
    let snapshot = fixture.builder.snapshot();
    let (plan, memory) = decide(snapshot, &fixture.policy, &fixture.memory, fixture.now);
    let (deciding, took) = (Duration::from_millis(3), Duration::from_millis(30));
    let policy = &fixture.policy;
    metrics.round(&Seen { policy, snapshot, plan: &plan, memory: &memory, held, deciding, took, ended: fixture.now });
}
