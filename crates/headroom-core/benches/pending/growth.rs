//! How the time of a decision grows: each bench starts from 1,000 nodes with 40,000 running pods, 10,000 waiting pods of 50
//! kinds and ten groups, each of another machine type, and makes more of one of them.

use divan::Bencher;
use headroom_core::snapshot::Template;

use crate::cluster::{add_waiting, cluster, pod, template};
use crate::round::{policy, refused, time};

#[divan::bench(args = [250, 1_000, 4_000, 16_000])]
fn nodes(bencher: Bencher, nodes: u32) {
    decide(bencher, nodes, 10_000, 50, 10);
}

#[divan::bench(args = [1_000, 10_000, 100_000])]
fn waiting_pods(bencher: Bencher, pods: u32) {
    decide(bencher, 1_000, pods, 50, 10);
}

#[divan::bench(args = [50, 500, 5_000])]
fn kinds_of_pods(bencher: Bencher, kinds: u32) {
    decide(bencher, 1_000, 10_000, kinds, 10);
}

#[divan::bench(args = [1, 10, 100, 1_000])]
fn groups(bencher: Bencher, groups: u32) {
    decide(bencher, 1_000, 10_000, 50, groups);
}

fn decide(bencher: Bencher, nodes: u32, pods: u32, kinds: u32, groups: u32) {
    let mut builder = cluster(nodes, 40, 1);
    for kind in 0..kinds {
        let size = i64::from(kind);
        add_waiting(&mut builder, &format!("kind-{kind}"), pods / kinds, &pod("web", 100 + size % 900, 200 + size));
    }
    // The first group has the nodes; the others have none yet.
    let larger = |size: i64| Some(template(4_000 + 1_000 * size, 16_000 + 4_000 * size, 110, "z1"));
    let templates = (0..i64::from(groups)).map(|size| if size == 0 { None::<Template> } else { larger(size) });
    time(bencher, &builder, &policy(templates), |plan| assert_eq!(refused(plan), vec![]));
}
