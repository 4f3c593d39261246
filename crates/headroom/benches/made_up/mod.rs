//! Nodes and pods of a made-up cluster, as JSON. The same numbers give the same text.

use std::fmt::Write;

/// A node as `kubectl` writes it, with `@KEY@` for what differs.
pub(crate) const NODE: &str = include_str!("node.json");

/// A pod, likewise.
pub(crate) const POD: &str = include_str!("pod.json");

const POOLS: u64 = 20;
const NAMESPACES: u64 = 40;
const PODS_PER_DEPLOYMENT: u64 = 50;
const DAEMON_SETS: u64 = 4;
/// One pod in so many waits for a node.
const PENDING: u64 = 50;

/// Writes one node after the template.
pub(crate) fn node(text: &mut String, template: &str, at: u64, random: &mut Random) {
    let values = [
        ("NAME", node_name(at)),
        ("POOL", pool(at)),
        ("INSTANCE", format!("i-{:017x}", random.next())),
        ("CREATED", time(random)),
        ("VERSION", random.below(1 << 30).to_string()),
        ("UID", uid(random)),
        ("IP", ip(random)),
    ];
    fill(template, &values, text);
}

/// Writes one pod after the template.
pub(crate) fn pod(text: &mut String, template: &str, at: u64, nodes: u64, random: &mut Random) {
    let on_every_node = DAEMON_SETS * nodes;
    let (kind, app, namespace, node, cpu, memory) = if at < on_every_node {
        let app = format!("agent-{}", at / nodes);
        ("DaemonSet", app, "kube-system".to_owned(), at % nodes, 100, 128)
    } else {
        let deployment = (at - on_every_node) / PODS_PER_DEPLOYMENT;
        let namespace = format!("team-{}", deployment % NAMESPACES);
        let (cpu, memory) = (50 * (1 + deployment % 30), 64 * (1 + deployment % 17));
        // All pods of a deployment run in one pool: nodes are dealt out to pools in turn.
        let node = random.below(nodes / POOLS) * POOLS + deployment % POOLS;
        ("ReplicaSet", format!("app-{deployment}"), namespace, node, cpu, memory)
    };
    let hash = format!("{:x}", 0x7c5d_9f86 + at / PODS_PER_DEPLOYMENT);
    let waits = kind == "ReplicaSet" && random.below(PENDING) == 0;
    let values = [
        ("NAME", format!("{app}-{hash}-{:05x}", at & 0xfffff)),
        ("NAMESPACE", namespace),
        ("OWNER", format!("{app}-{hash}")),
        ("OWNERKIND", kind.to_owned()),
        ("APP", app),
        ("HASH", hash),
        ("NODE", if waits { String::new() } else { node_name(node) }),
        ("POOL", pool(node)),
        ("CPU", format!("{cpu}m")),
        ("MEMORY", format!("{memory}Mi")),
        ("CREATED", time(random)),
        ("VERSION", random.below(1 << 30).to_string()),
        ("UID", uid(random)),
        ("IP", ip(random)),
        ("AT", "@".to_owned()),
    ];
    fill(template, &values, text);
}

/// Copies `template` to `text` with each `@KEY@` replaced.
fn fill(template: &str, values: &[(&str, String)], text: &mut String) {
    for (at, part) in template.trim_end().split('@').enumerate() {
        let value = if at % 2 == 0 { None } else { values.iter().find(|(key, _)| *key == part) };
        text.push_str(value.map_or(part, |(_, value)| value));
    }
}

fn node_name(at: u64) -> String {
    format!("ip-10-{}-{}-{}.eu-west-1.compute.internal", at >> 16, (at >> 8) & 255, at & 255)
}

fn pool(at: u64) -> String {
    format!("pool-{}", at % POOLS)
}

fn time(random: &mut Random) -> String {
    let (day, hour, minute, second) = (random.below(28), random.below(24), random.below(60), random.below(60));
    format!("2026-02-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

fn uid(random: &mut Random) -> String {
    let (a, b) = (random.next(), random.next());
    let mut uid = String::with_capacity(36);
    let _ = write!(uid, "{:08x}-{:04x}-{:04x}", a >> 32, (a >> 16) & 0xffff, a & 0xffff);
    let _ = write!(uid, "-{:04x}-{:012x}", b >> 48, b & 0xffff_ffff_ffff);
    uid
}

fn ip(random: &mut Random) -> String {
    format!("10.{}.{}.{}", random.below(256), random.below(256), random.below(256))
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
