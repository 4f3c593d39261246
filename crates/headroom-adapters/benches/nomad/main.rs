//! Follows a Nomad cluster of 5,000 nodes and 100,000 allocations, from a server in a process of its own: how long it takes
//! until all of it is known, how much memory it takes, and how long a round takes when it is known.

mod server;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use headroom_adapters::cluster::Cluster;
use headroom_adapters::cluster::nomad::client::{Access, Client};
use headroom_adapters::cluster::nomad::{Meter, Nomad};
use headroom_adapters::fence::Fence;
use headroom_core::decide;
use headroom_core::memory::Memory;
use headroom_core::policy::{CpuPool, Group, Hardware, MemoryPool, Policy, Selection, Size, Strategy, Utilization};
use headroom_core::snapshot::{Builder, Coverage, Kind};
use jiff::Timestamp;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: u64 = 5_000;
const ALLOCATIONS: u64 = 100_000;
const JOBS: u64 = 2_000;
const POOLS: u64 = 20;

/// Rounds in which nothing has changed.
const ROUNDS: usize = 50;

/// Rounds after as much rest: what they read is in no cache any more, as between the rounds of the program.
const RESTS: usize = 10;
const REST: Duration = Duration::from_secs(3);

/// Rounds in which one allocation in a hundred was replaced by another.
const CHANGES: usize = 10;

#[tokio::main]
async fn main() {
    rustls::crypto::aws_lc_rs::default_provider().install_default().expect("nobody has installed another");
    let words: Vec<String> = std::env::args().collect();
    match words.get(1).map(String::as_str) {
        Some("serve") => server::serve(words.get(2).is_some_and(|word| word == "paged")).await,
        Some(how @ ("whole" | "paged")) => measure(how).await,
        // Each in a process of its own, since the memory that one took stays with it.
        _ => ["whole", "paged"].into_iter().for_each(|how| {
            own().arg(how).status().expect("it runs");
        }),
    }
}

/// This program once more.
fn own() -> Command {
    Command::new(std::env::current_exe().expect("it knows itself"))
}

async fn measure(how: &str) {
    let mut server = own();
    let mut server = server.args(["serve", how]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let url = url(&mut server);
    let access = Access::new(Some(&url), None, |_| None).expect("it is an address");
    let client = Client::new(&access, Fence::closed()).expect("nothing is wrong with it");
    let policy = policy();
    let before = memory("VmRSS");
    let start = Instant::now();
    let cluster = Nomad::start(client);
    let measured = policy.groups.iter().filter(|group| matches!(group.strategy, Strategy::CpuPool(_)));
    cluster.measure(measured.map(|group| group.select.clone()).collect(), Meter::Clients);
    let mut builder = Builder::new();
    let mut known = Memory::default();
    let (changes, read) = loop {
        cluster.changed().await;
        let read = start.elapsed();
        let observation = cluster.observe(builder.snapshot()).await;
        assert_eq!(observation.warnings, Vec::<String>::new());
        let changes = observation.changes.len();
        observation.changes.into_iter().for_each(|change| builder.apply(change));
        if builder.snapshot().coverage(Kind::Pods) == Coverage::Complete {
            break (changes, read);
        }
    };
    let snapshot = builder.snapshot();
    assert_eq!((snapshot.node_count() as u64, snapshot.pod_count() as u64), (NODES, ALLOCATIONS + JOBS / 100 * 2));
    let (plan, next) = decide(snapshot, &policy, &known, Timestamp::now());
    known = next;
    println!(
        "{how}: read after {:.2} s, {changes} changes, {} actions, {} refusals; known after {:.2} s",
        read.as_secs_f64(),
        plan.actions.len(),
        plan.report.refusals.len(),
        start.elapsed().as_secs_f64()
    );
    let mut round = async || {
        let start = Instant::now();
        let observation = cluster.observe(builder.snapshot()).await;
        let changes = observation.changes.len();
        observation.changes.into_iter().for_each(|change| builder.apply(change));
        let (_, next) = decide(builder.snapshot(), &policy, &known, Timestamp::now());
        known = next;
        (changes, start.elapsed())
    };
    let mut quiet = Vec::new();
    for _ in 0..ROUNDS {
        quiet.push(round().await.1);
    }
    say(how, "a round, nothing has changed", quiet);
    let mut rested = Vec::new();
    for _ in 0..RESTS {
        tokio::time::sleep(REST).await;
        rested.push(round().await.1);
    }
    say(how, "a round, nothing has changed, after some rest", rested);
    let (mut changed, mut readings) = (Vec::new(), Vec::new());
    for _ in 0..CHANGES {
        let start = Instant::now();
        reqwest::get(format!("{url}{}", server::REPLACE)).await.expect("it answers");
        loop {
            cluster.changed().await;
            let read = start.elapsed();
            // It may have begun to read before.
            let (changes, time) = round().await;
            if changes > 100 {
                readings.push(read);
                changed.push(time);
                break;
            }
        }
    }
    say(how, "a round, 1 % was replaced", changed);
    say(how, "from the change to its reading", readings);
    println!(
        "{how}: resident {:.0} MiB before, {:.0} MiB after, {:.0} MiB at the most",
        before / 1024.0,
        memory("VmRSS") / 1024.0,
        memory("VmHWM") / 1024.0
    );
    server.kill().expect("it is ours");
    server.wait().expect("it is ours");
}

fn say(how: &str, what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1000.0);
    let (fastest, median) = (milliseconds(times.first()), milliseconds(times.get(times.len() / 2)));
    println!("{how}: {what}: fastest {fastest:.1} ms, median {median:.1} ms of {}", times.len());
}

/// Most pools by memory, one by cpu and one by requests.
fn policy() -> Policy {
    let group = |at: u64| {
        let name = format!("pool-{at}");
        let select = Selection { labels: [("node.class", name.as_str())].into_iter().collect(), capacity: None };
        let strategy = match at {
            0 => Strategy::CpuPool(CpuPool::default()),
            1 => Strategy::Utilization(Utilization::default()),
            _ => Strategy::MemoryPool(MemoryPool {
                hardware: vec![Hardware { name: "large".into(), memory: 32 << 30, cpu: None }],
                reserve: 512 << 20,
                ..MemoryPool::default()
            }),
        };
        Group { size: Size { min: Some(1), max: Some(1_000) }, strategy, ..Group::new(name, select) }
    };
    Policy { groups: (0..POOLS).map(group).collect(), ..Policy::default() }
}

fn url(server: &mut Child) -> String {
    let mut address = String::new();
    BufReader::new(server.stdout.take().expect("it is piped")).read_line(&mut address).expect("it says where it is");
    format!("http://{}", address.trim())
}

/// A line of `/proc/self/status`, in KiB.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("it is there");
    line.trim().trim_end_matches(" kB").parse().expect("it is a number")
}
