//! How long a round takes that finds many nodes to remove.

use divan::Bencher;
use headroom_core::decide;
use headroom_core::fixture::Fixture;
use headroom_core::plan::Action;

fn main() {
    divan::main();
}

/// 2,000 nodes of 10 cores with 40 pods of a tenth of a core each, all limits lifted: 80,000 pods fit on 800 nodes.
#[divan::bench(sample_count = 100)]
fn a_round_finds_1200_of_2000_nodes(bencher: Bencher<'_, '_>) {
    let pods = |node: u32| format!("pod p{node}-{{1..40}} on=n{node} cpu=100m memory=100 evict=safe running\n");
    time(bencher, pods, "", 1_200);
}

/// The same with pods of 400 deployments: a quarter keep off each other's nodes, a quarter are spread over two zones, a
/// quarter have a disruption budget.
#[divan::bench(sample_count = 100)]
fn the_same_with_rules(bencher: Bencher<'_, '_>) {
    let pod = |node: u32, at: u32| {
        let app = format!("a{}", (node * 40 + at) % DEPLOYMENTS);
        let rule = match at % 4 {
            0 => format!("apart=host;app={app}"),
            1 => format!("spread=zone;app={app}"),
            _ => String::new(),
        };
        format!(
            "pod p{node}-{at} on=n{node} label=app={app} controller=ReplicaSet/{app} cpu=100m memory=100 running {rule}\n"
        )
    };
    let budgets = (2..DEPLOYMENTS).step_by(4).map(|at| format!("pdb a{at} label=app=a{at} allowed=200 healthy=200\n"));
    let budgets: String = budgets.collect();
    time(bencher, |node| (0..40).map(|at| pod(node, at)).collect(), &budgets, 1_199);
}

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DEPLOYMENTS: u32 = 400;

fn time(bencher: Bencher<'_, '_>, pods: impl Fn(u32) -> String, budgets: &str, goes: usize) {
    let mut text = String::from(
        "scaleDown\n\
         group web pending min=0 max=9999 target=2000 budget=none\n\
         node n{1..1000} in=web zone=a cpu=10000m memory=10000 pods=200 age=1h\n\
         node n{1001..2000} in=web zone=b cpu=10000m memory=10000 pods=200 age=1h\n",
    );
    (1..=2_000).for_each(|node| text.push_str(&pods(node)));
    text.push_str(budgets);
    let Fixture { builder, policy, memory, now, .. } = Fixture::read(&text).expect("the fixture is well-formed");
    let (plan, _) = decide(builder.snapshot(), &policy, &memory, now);
    let marked = plan.actions.iter().filter(|planned| matches!(planned.action, Action::Taint { .. })).count();
    assert_eq!(marked, goes);
    bencher.bench_local(|| decide(builder.snapshot(), &policy, &memory, now));
}
