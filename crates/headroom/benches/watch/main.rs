//! Watches a cluster of 5,000 nodes and 150,000 pods, from a server in a process of its own: how long it takes until all of
//! it is known, and how much memory it takes, at the most and to stay; and the same after the server has lost its history.

#[path = "../made_up/mod.rs"]
mod made_up;
mod server;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use headroom_adapters::cluster::kubernetes::watch::Watches;
use headroom_core::snapshot::{Builder, Coverage, Kind};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: u64 = 5_000;
const PODS: u64 = 150_000;

/// How often is observed meanwhile, as the live program does at the least.
const INTERVAL: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() {
    rustls::crypto::aws_lc_rs::default_provider().install_default().expect("nobody has installed another");
    let words: Vec<String> = std::env::args().collect();
    match words.get(1).map(String::as_str) {
        Some("serve") => server::serve(words.get(2).is_some_and(|word| word == "streamed")).await,
        Some(how @ ("streamed" | "paged")) => measure(how).await,
        // Each in a process of its own, since the memory that one took stays with it.
        _ => ["streamed", "paged"].into_iter().for_each(|how| {
            own().arg(how).status().expect("it runs");
        }),
    }
}

/// This program once more.
fn own() -> Command {
    Command::new(std::env::current_exe().expect("it knows itself"))
}

async fn measure(how: &str) {
    let mut server = own().args(["serve", how]).stdout(Stdio::piped()).spawn().expect("it runs");
    let client = connect(&mut server);
    let before = memory("VmRSS");
    let start = Instant::now();
    let watches = Watches::start(client.clone());
    let mut builder = Builder::new();
    let known = loop {
        tokio::time::sleep(INTERVAL).await;
        watches.observe(builder.snapshot()).changes.into_iter().for_each(|change| builder.apply(change));
        let complete = |kind: &Kind| builder.snapshot().coverage(*kind) == Coverage::Complete;
        if Kind::ALL.iter().all(complete) {
            break start.elapsed();
        }
    };
    let snapshot = builder.snapshot();
    assert_eq!((snapshot.node_count() as u64, snapshot.pod_count() as u64), (NODES, PODS));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (after, most) = (memory("VmRSS"), memory("VmHWM"));
    println!(
        "{how}: known after {:.1} s; resident {:.0} MiB before, {:.0} MiB after, {:.0} MiB at the most; {:.2} KiB a pod",
        known.as_secs_f64(),
        before / 1024.0,
        after / 1024.0,
        most / 1024.0,
        (after - before) / PODS as f64,
    );
    // From now on the kernel notes the most anew.
    std::fs::write("/proc/self/clear_refs", "5").expect("this is Linux");
    let request = axum::http::Request::get(server::LOSE_HISTORY).body(Vec::new()).expect("it is a request");
    client.request_text(request).await.expect("it answers");
    let start = Instant::now();
    let (mut stale, mut changes) = (false, 0);
    let again = loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let observation = watches.observe(builder.snapshot());
        changes += observation.changes.len();
        observation.changes.into_iter().for_each(|change| builder.apply(change));
        let fresh = observation.ages[&Kind::Pods] == Some(observation.as_of);
        if stale && fresh {
            break start.elapsed();
        }
        stale |= !fresh;
    };
    println!(
        "{how}, history lost: known again after {:.1} s with {changes} changes; {:.0} MiB at the most",
        again.as_secs_f64(),
        memory("VmHWM") / 1024.0,
    );
    server.kill().expect("it is ours");
    server.wait().expect("it is ours");
}

fn connect(server: &mut Child) -> kube::Client {
    let mut address = String::new();
    BufReader::new(server.stdout.take().expect("it is piped")).read_line(&mut address).expect("it says where it is");
    let uri = format!("http://{}", address.trim()).parse().expect("it is an address");
    kube::Client::try_from(kube::Config::new(uri)).expect("nothing is wrong with it")
}

/// A line of `/proc/self/status`, in KiB.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("it is there");
    line.trim().trim_end_matches(" kB").parse().expect("it is a number")
}
