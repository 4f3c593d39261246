//! A Nomad server that makes up what it sends while it sends it: nodes in pools, each with its jobs, all servers nearly full.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::{ALLOCATIONS, JOBS, NODES, POOLS};

/// The path by which one allocation in a hundred is replaced by another.
pub(crate) const REPLACE: &str = "/replace";

/// Objects that are written at once.
const CHUNK: u64 = 64;

const PER_JOB: u64 = ALLOCATIONS / JOBS;

/// What lists of nodes have.
const OF_STUB: [&str; 16] = [
    "Address",
    "ID",
    "Datacenter",
    "Name",
    "NodeClass",
    "Version",
    "Drain",
    "SchedulingEligibility",
    "Status",
    "StatusDescription",
    "Drivers",
    "HostVolumes",
    "NodeResources",
    "ReservedResources",
    "CreateIndex",
    "ModifyIndex",
];

/// What the server sends, as templates with `@KEY@` for what differs.
struct Cluster {
    /// It serves pages, as Nomad does from 1.2.4 on.
    pages: bool,
    /// How often allocations were replaced.
    replaced: watch::Sender<u64>,
    node: String,
    node_stub: String,
    allocation: String,
    job: String,
    job_stub: String,
}

/// Serves as long as there is somebody at the other end of the standard input, and prints where.
pub(crate) async fn serve(pages: bool) {
    let node: Value = serde_json::from_str(include_str!("node.json")).expect("it is JSON");
    let stub = node.as_object().expect("an object").iter().filter(|(key, _)| OF_STUB.contains(&key.as_str()));
    let stub: Value = Value::Object(stub.map(|(key, value)| (key.clone(), value.clone())).collect());
    let groups = json!({ "g": {
        "Queued": "@@QUEUED@@", "Complete": 0, "Failed": 0, "Running": PER_JOB, "Starting": 0, "Lost": 0,
    } });
    let job_stub = json!({
        "ID": "@JOB@", "ParentID": "", "Name": "@JOB@", "Namespace": "", "Datacenters": ["dc1"], "Multiregion": null,
        "Type": "service", "Priority": 50, "Periodic": false, "ParameterizedJob": false, "Stop": false,
        "Status": "running", "StatusDescription": "",
        "JobSummary": {
            "JobID": "@JOB@", "Namespace": "default", "Summary": groups,
            "Children": { "Pending": 0, "Running": 0, "Dead": 0 }, "CreateIndex": 23, "ModifyIndex": 35,
        },
        "CreateIndex": 23, "ModifyIndex": 35, "JobModifyIndex": 23, "SubmitTime": 1_795_842_106_365_937_949_u64,
    });
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster {
        pages,
        replaced: watch::Sender::new(0),
        node: on_one_line(&node),
        node_stub: on_one_line(&stub),
        allocation: on_one_line(&serde_json::from_str(include_str!("allocation.json")).expect("it is JSON")),
        job: on_one_line(&serde_json::from_str(include_str!("job.json")).expect("it is JSON")),
        job_stub: on_one_line(&job_stub),
    }));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("the loopback interface is there");
    println!("{}", listener.local_addr().expect("it listens"));
    let router = Router::new().fallback(answer).with_state(cluster);
    let over = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    tokio::select! {
        served = axum::serve(listener, router) => served.expect("it serves"),
        _ = over => std::process::exit(0),
    }
}

/// The template without line breaks. Keys in two signs stand for numbers.
fn on_one_line(template: &Value) -> String {
    template.to_string().replace("\"@@", "@").replace("@@\"", "@")
}

async fn answer(
    State(cluster): State<&'static Cluster>,
    uri: Uri,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let number = |key: &str| query.get(key).and_then(|text| text.parse::<u64>().ok());
    if let Some(index) = number("index").filter(|index| *index > 0) {
        let mut replaced = cluster.replaced.subscribe();
        let _ = timeout(Duration::from_secs(60), replaced.wait_for(|times| self::index(*times) > index)).await;
    }
    let path: Vec<&str> = uri.path().trim_matches('/').split('/').skip(1).collect();
    let mut text = String::new();
    match *path {
        ["nodes"] => return list(cluster, NODES, &query, node_stub),
        ["allocations"] => return list(cluster, ALLOCATIONS, &query, allocation),
        ["jobs"] => return list(cluster, JOBS, &query, job_stub),
        ["node", id] => node(&cluster.node, node_at(id), &mut text),
        ["job", id] => {
            let at = id.trim_start_matches("job-").parse().expect("it is one of ours");
            job(&cluster.job, at, &mut text);
        }
        ["client", "stats"] => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later").as_nanos();
            let _ = write!(text, "{{\"CPU\":[{{\"Idle\":56.4}},{{\"Idle\":53.5}}],\"Timestamp\":{now}}}");
        }
        ["acl", ..] => return (StatusCode::BAD_REQUEST, "ACL support disabled").into_response(),
        _ if uri.path() == REPLACE => cluster.replaced.send_modify(|times| *times += 1),
        _ => return StatusCode::NOT_FOUND.into_response(),
    }
    text.into_response()
}

fn list(
    cluster: &'static Cluster,
    all: u64,
    query: &HashMap<String, String>,
    write: fn(&Cluster, u64, &mut String),
) -> Response {
    let number = |key: &str| query.get(key).and_then(|text| text.parse::<u64>().ok());
    let from = number("next_token").unwrap_or(0);
    let to = number("per_page").filter(|_| cluster.pages).map_or(all, |size| all.min(from + size));
    let step = usize::try_from(CHUNK).expect("it is small");
    let chunks = stream::iter((from..to).step_by(step)).map(move |begin| {
        let mut text = String::new();
        for at in begin..to.min(begin + CHUNK) {
            text.push(if at == from { '[' } else { ',' });
            write(cluster, at, &mut text);
        }
        text
    });
    let end = stream::once(async { "]".to_owned() });
    let mut response = Body::from_stream(chunks.chain(end).map(Ok::<_, std::io::Error>)).into_response();
    let headers = response.headers_mut();
    headers.insert("x-nomad-index", HeaderValue::from(index(*cluster.replaced.borrow())));
    if to < all {
        headers.insert("x-nomad-nexttoken", HeaderValue::from(to));
    }
    response
}

/// The number of the state after so many replacements.
fn index(replaced: u64) -> u64 {
    100 + replaced
}

fn node_stub(cluster: &Cluster, at: u64, text: &mut String) {
    node(&cluster.node_stub, at, text);
}

fn node(template: &str, at: u64, text: &mut String) {
    fill(template, &[("ID", node_id(at)), ("AT", at.to_string()), ("POOL", pool(at))], text);
}

fn allocation(cluster: &Cluster, at: u64, text: &mut String) {
    let of_job = at / PER_JOB;
    // Jobs are dealt out to pools, and the allocations of a pool to its nodes.
    let in_pool = of_job / POOLS * PER_JOB + at % PER_JOB;
    let node = in_pool % (NODES / POOLS) * POOLS + of_job % POOLS;
    let replaced = *cluster.replaced.borrow();
    let times = (replaced + 99 - at % 100) / 100;
    let (cpu, memory) = amounts(of_job);
    let values = [
        ("ID", format!("{times:03x}{at:05x}-92cd-0703-d62d-2f1552be02a7")),
        ("EVAL", format!("{at:08x}-d1bd-7919-3946-b77fbb39def2")),
        ("INDEX", (at % PER_JOB).to_string()),
        ("JOB", job_id(of_job)),
        ("NODE", node_id(node)),
        ("AT", node.to_string()),
        ("CPU", cpu),
        ("MEMORY", memory),
    ];
    fill(&cluster.allocation, &values, text);
}

fn job(template: &str, at: u64, text: &mut String) {
    let (cpu, memory) = amounts(at);
    let queued = if at.is_multiple_of(100) { 2 } else { 0 };
    let values =
        [("JOB", job_id(at)), ("POOL", pool(at)), ("CPU", cpu), ("MEMORY", memory), ("QUEUED", queued.to_string())];
    fill(template, &values, text);
}

fn job_stub(cluster: &Cluster, at: u64, text: &mut String) {
    job(&cluster.job_stub, at, text);
}

/// MHz and MiB of an allocation of a job. Twenty on each node leave little of its 32 GiB.
fn amounts(job: u64) -> (String, String) {
    let kind = job / POOLS % 17;
    ((100 + 40 * kind).to_string(), (1024 + 64 * kind).to_string())
}

fn job_id(at: u64) -> String {
    format!("job-{at:05}")
}

fn pool(at: u64) -> String {
    format!("pool-{}", at % POOLS)
}

fn node_id(at: u64) -> String {
    format!("{at:08x}-a210-6bbe-9af8-6e20d8281a42")
}

fn node_at(id: &str) -> u64 {
    id.get(..8).and_then(|at| u64::from_str_radix(at, 16).ok()).expect("it is one of ours")
}

/// Copies `template` to `text` with each `@KEY@` replaced.
fn fill(template: &str, values: &[(&str, String)], text: &mut String) {
    for (at, part) in template.split('@').enumerate() {
        let value = if at % 2 == 0 { None } else { values.iter().find(|(key, _)| *key == part) };
        text.push_str(value.map_or(part, |(_, value)| value));
    }
}
