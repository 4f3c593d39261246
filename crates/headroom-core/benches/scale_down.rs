//! How long a round takes that finds many nodes to remove.

use headroom_core::decide;
use headroom_core::fixture::Fixture;
use headroom_core::plan::Action;

fn main() {
    divan::main();
}

/// 2,000 nodes of 10 cores with 40 pods of a tenth of a core each, all limits lifted: 80,000 pods fit on 800 nodes.
fn cluster() -> Fixture {
    let mut text = String::from(
        "scaleDown\n\
         group web pending min=0 max=9999 target=2000 budget=none\n\
         node n{1..2000} in=web cpu=10000m memory=10000 pods=200 age=1h\n",
    );
    for node in 1..=2000 {
        text.push_str(&format!("pod p{node}-{{1..40}} on=n{node} cpu=100m memory=100 evict=safe running\n"));
    }
    Fixture::read(&text).expect("the fixture is well-formed")
}

#[divan::bench(sample_count = 20)]
fn a_round_finds_1200_of_2000_nodes(bencher: divan::Bencher<'_, '_>) {
    let Fixture { builder, policy, memory, now, .. } = cluster();
    let (plan, _) = decide(builder.snapshot(), &policy, &memory, now);
    let marked = plan.actions.iter().filter(|planned| matches!(planned.action, Action::Taint { .. })).count();
    assert_eq!(marked, 1200);
    bencher.bench_local(|| decide(builder.snapshot(), &policy, &memory, now));
}
