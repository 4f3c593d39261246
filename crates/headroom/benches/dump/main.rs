//! Reads a dump of 5,000 nodes and 150,000 pods, about 1 GB of JSON.
//!
//! `max alloc` is the memory that reading takes beyond the text itself.

mod generate;

use divan::counter::{BytesCount, ItemsCount};
use headroom::dump::{Dump, Reader};

#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

const NODES: u64 = 5_000;
const PODS: u64 = 150_000;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn json(bencher: divan::Bencher<'_, '_>) {
    let text = generate::cluster(NODES, PODS, 1);
    bencher.counter(BytesCount::of_str(&text)).counter(ItemsCount::new(PODS)).bench_local(|| read(&text));
}

fn read(text: &str) -> Dump {
    let mut reader = Reader::default();
    reader.read("dump.json", text).expect("the dump is valid");
    reader.finish().expect("the dump has nodes and pods")
}
