//! Pools whose machines are smaller than expected, tick by tick until they converge.

use std::fmt::Write;

use expect_test::expect_file;
use headroom_core::fixture::Fixture;

/// Two servers of 1000 are wanted. Whatever is asked for comes before the next tick, and is smaller.
#[test]
fn failover() {
    let mut text = String::new();
    for (failover, ticks) in [(500, 5), (250, 8), (900, 4), (100, 17)] {
        let _ = writeln!(text, "walk failover={failover}");
        walk(&mut text, ticks, |_| failover);
        text.push('\n');
    }
    text.truncate(text.trim_end().len() + 1);
    expect_file!["walks.txt"].assert_eq(&text);
}

/// The third server of the seed's second table is as large as it should be.
#[test]
fn failover_that_ends() {
    let mut text = String::new();
    walk(&mut text, 4, |at| if at == 2 { 1000 } else { 500 });
    expect_test::expect![[r#"
        0s servers=0 memory=0 desired=2
        15s servers=2 memory=1000 desired=3
        30s servers=3 memory=2000 desired=3
        45s servers=3 memory=2000 desired=3
    "#]]
    .assert_eq(&text);
}

fn walk(text: &mut String, ticks: u32, memory: impl Fn(usize) -> u32) {
    let mut fixture = Fixture::new();
    fixture.line("group jobs memoryPool hardware=first:1000 margin=2 max=100 target=0").unwrap();
    for tick in 0..ticks {
        let snapshot = fixture.builder.snapshot();
        let (servers, target) = (snapshot.node_count(), snapshot.group("jobs").unwrap().target as usize);
        for at in servers..target {
            let memory = memory(at);
            let hardware = if memory == 1000 { "first".to_owned() } else { format!("other-{memory}") };
            let line = format!("node s{at} in=jobs memory={memory} label=meta.hardware={hardware} age=0s");
            fixture.line(&line).unwrap();
        }
        let snapshot = fixture.builder.snapshot();
        let total: i64 = snapshot.nodes().map(|view| view.node.allocatable.memory).sum();
        let servers = snapshot.node_count();
        fixture.round(true);
        let sizing = fixture.plans.last().unwrap().report.groups[0].sizing.clone().unwrap();
        let desired = sizing.desired;
        let _ = writeln!(text, "{}s servers={servers} memory={total} desired={desired}", tick * 15);
        fixture.line("after 15s").unwrap();
    }
}
