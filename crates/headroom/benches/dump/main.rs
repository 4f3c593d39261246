//! Reads a dump of 5,000 nodes and 150,000 pods, about 1 GB of JSON.
//!
//! `max alloc` is the memory that reading takes beyond the text itself.

#[path = "../made_up/mod.rs"]
mod made_up;

use divan::counter::{BytesCount, ItemsCount};
use headroom::dump::{Dump, Reader};

use self::made_up::{NODE, POD, Random};

#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

const NODES: u64 = 5_000;
const PODS: u64 = 150_000;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn json(bencher: divan::Bencher<'_, '_>) {
    let text = cluster(NODES, PODS, 1);
    bencher.counter(BytesCount::of_str(&text)).counter(ItemsCount::new(PODS)).bench_local(|| read(&text));
}

fn read(text: &str) -> Dump {
    let mut reader = Reader::default();
    reader.read("dump.json", text).expect("the dump is valid");
    reader.finish().expect("the dump has nodes and pods")
}

/// A cluster the way `kubectl get nodes,pods -A -o json` would write it.
fn cluster(nodes: u64, pods: u64, seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::with_capacity((NODE.len() as u64 * nodes + POD.len() as u64 * pods) as usize);
    text.push_str("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n");
    for at in 0..nodes {
        made_up::node(&mut text, NODE, at, &mut random);
        text.push_str(",\n");
    }
    for at in 0..pods {
        made_up::pod(&mut text, POD, at, nodes, &mut random);
        text.push_str(if at + 1 < pods { ",\n" } else { "\n" });
    }
    text.push_str(
        "    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n",
    );
    text
}
