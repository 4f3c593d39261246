//! `headroom simulate` and `headroom replay`: scenario files and their errors, traces and recordings.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::{expect, expect_file};
use headroom::scenario::{self, BUILT_IN};
use headroom_sim::Simulation;
use proptest::prelude::*;
use serde_json::Value as Json;

/// Between the input and the expected message of a case in `scenario/errors`. `UPDATE_EXPECT=1` writes the latter.
const LINE: &str = "==========\n";

#[test]
fn errors_of_scenarios_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenario/errors");
    let mut cases: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 10, "only {} cases were found", cases.len());
    for case in cases {
        let recorded = std::fs::read_to_string(&case).unwrap();
        let input = recorded.split(LINE).next().unwrap();
        let message = match scenario::parse("scenario.yaml", input) {
            Ok(_) => panic!("{} has no error", case.display()),
            Err(errors) => errors.to_string(),
        };
        expect_file![&case].assert_eq(&format!("{input}{LINE}{message}\n"));
    }
}

#[test]
fn the_checked_in_reference_is_current() {
    expect_file!["../../../docs/scenarios.md"].assert_eq(&scenario::reference());
}

#[test]
fn the_example_of_the_reference_is_right() {
    let page = scenario::reference();
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(scenario::parse("example", example).map(|scenario| scenario.groups.len()), Ok(1));
}

/// The pools of a Nomad cluster start, meet smaller hardware, converge, and let servers go when the load falls.
#[test]
fn the_built_in_nomad_scenario_ends_as_recorded() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_headroom")).args(["simulate", "nomad", "-o", "wide"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    expect_file!["scenario/nomad.txt"].assert_eq(&String::from_utf8(output.stdout).unwrap());
}

#[test]
fn every_key_of_a_scenario_is_read() {
    let all = "
start: 2026-03-01T12:00:00Z
duration: 36h
interval: 30s
debounce: 5s
seed: 7
placement: mostAllocated
groups:
  - { name: web, select: { label: { pool: web } }, strategy: { utilization: {} } }
nodeTypes:
  m:
    cpu: 3920m
    memory: 14Gi
    ephemeralStorage: 90Gi
    pods: 58
    extended: { nvidia.com/gpu: 1 }
    capacity: { cpu: 4, memory: 16Gi }
    labels: { arch: arm64 }
    taints: [{ key: burst }]
    price: 0.192
    boot: 60s..2m
    warmUp: 5s
    devicesAfter: 30s
    bootFailures: 2.5
    flaky: { anHour: 3, lasts: 1m..10m }
    stock: { 00:00: 50, 12:00: 10 }
    outOfStock: refuse
machines:
  web:
    nodeType: m
    nodes: 2
    min: 1
    max: 20
    stock: 15
    failover: [m]
    labels: { zone: a }
    taints: [{ key: dedicated, value: web, effect: NoExecute }]
    listsMachines: false
    knowsTemplate: false
daemonSets:
  agent:
    requests: { cpu: 100m, memory: 64Mi }
    namespace: monitoring
    nodeSelector: { pool: web }
    tolerations: [{ key: dedicated, value: web, effect: NoExecute }]
    hostPorts: [9100]
    priority: 9
workloads:
  shop:
    replicas: { 08:00: 20, 18:00: 5 }
    ramp: true
    sizes: [{ weight: 3, cpu: 500m }, { cpu: 1, memory: 1Gi, ephemeralStorage: 1Gi, extended: { nvidia.com/gpu: 1 } }]
    owned: false
    readyAfter: 20s..40s
    stopsIn: 5s..30s
    disruptionBudget: { maxUnavailable: 25% }
    nodeAffinity: [[{ key: pool, operator: NotIn, values: [batch] }, { key: zone, operator: Exists }]]
    labels: { tier: front }
    spread: [{ topologyKey: topology.kubernetes.io/zone, maxSkew: 2, minDomains: 3 }, { topologyKey: rack, labels: { tier: front } }]
    podAffinity: [{ topologyKey: zone, labels: { app: jobs } }]
    podAntiAffinity: [{ topologyKey: kubernetes.io/hostname }]
    priority: -5
  jobs: { arrivalsPerHour: 60, runsFor: 90s }
  report: { bursts: [{ at: 12:30, pods: 5 }, { at: 2h, pods: 1 }] }
events:
  - { at: 1h, for: 10m, stockOut: { nodeType: m } }
  - { at: 1h, stockOut: { nodeType: m, zone: a } }
  - { at: 1h, failBoots: { group: web, machines: 2 } }
  - { at: 13:00, notReady: { group: web, nodes: 2 } }
  - { at: 1h, break: { group: web } }
  - { at: 1h, cordon: { group: web } }
  - { at: 1h, taint: { group: web, taint: { key: k } } }
  - { at: 1h, noDelete: { group: web, value: mine } }
  - { at: 1h, limits: { group: web, min: 0, max: 9 } }
  - { at: 1h, target: { group: web, nodes: 4 } }
";
    let scenario = scenario::parse("", all).unwrap();
    expect_file!["scenario/every-key.txt"].assert_eq(&format!("{scenario:#?}\n"));
}

#[test]
fn the_built_in_day_is_played() {
    let output = headroom(&["simulate", "-o", "json"]);
    let summary: Json = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(summary["pods"]["neverRan"], 0, "{}", summary["pods"]);
    for count in ["scaleUps", "nodesRemoved"] {
        assert!(summary["scaling"][count].as_u64() > Some(10), "{}", summary["scaling"]);
    }
    assert!(stderr(&output).is_empty(), "a progress bar is for terminals: {}", stderr(&output));
    let other = stdout(&headroom(&["simulate", "--seed", "2"]));
    assert_eq!(other, stdout(&headroom(&["simulate", "--seed", "2"])), "the same seed gives the same bytes");
    assert_ne!(other, stdout(&headroom(&["simulate"])), "another seed gives another day");
}

#[test]
fn expanders_are_compared() {
    let scenario = trace("../../../../scenarios/expanders.yaml");
    let compare = |chains: &str, output: &str| headroom(&["simulate", "-o", output, "--compare", chains, &scenario]);
    let chains = "price,least-waste,least-nodes+price,random";
    expect_file!["scenario/compare.txt"].assert_eq(&stdout(&compare(chains, "text")));
    let runs: Json = serde_json::from_str(&stdout(&compare("least-nodes+price", "json"))).unwrap();
    let alone: Json = serde_json::from_str(&stdout(&headroom(&["simulate", "-o", "json", &scenario]))).unwrap();
    assert_eq!(runs[0]["expanders"], serde_json::json!(["least-nodes", "price"]));
    assert_eq!(runs[0]["summary"]["pods"]["arrived"], alone["pods"]["arrived"], "the same pods come in each run");
    let wide = stdout(&compare("price,random", "wide"));
    assert!(wide.starts_with("price\n2026-") && wide.contains("\nrandom\n2026-"), "{wide}");
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let burst = trace("../../../../scenarios/burst.yaml");
    let error = |chains: &str| stderr(&headroom(&["simulate", "--compare", chains, &burst]));
    expect![[r#"
        error: no group is grown by an expander
        hint: expanders choose among groups with `strategy: { pending: {} }`
    "#]]
    .assert_eq(&error("price"));
    assert!(error("cheapest").contains("no expander is called \"cheapest\"; hint: write one of price"));
    assert!(error("random+price").contains("price follows random"));
}

#[test]
fn a_trace_is_played() {
    let (pods, nodes) = (openb("pods.csv"), trace("nodes.csv"));
    let play = |more: &[&str]| {
        let output = headroom(&[&["simulate", "--trace", &pods, "--nodes", &nodes], more].concat());
        assert_eq!(stderr(&output), "");
        stdout(&output)
    };
    expect_file!["trace/summary.txt"].assert_eq(&play(&["-o", "wide"]));
    expect_file!["trace/utilization.txt"].assert_eq(&play(&["-o", "wide", "--scaling", "utilization"]));
    expect_file!["trace/compare.txt"].assert_eq(&play(&["--compare", "price,least-nodes+random"]));
}

#[test]
fn a_damaged_trace_is_an_error() {
    let bad = |pods: &str, nodes: &str| stderr(&headroom(&["simulate", "--trace", pods, "--nodes", nodes]));
    let message = bad(&openb("nodes.csv"), &trace("nodes.csv"));
    assert!(message.contains("missing field `name`") && message.contains("hint: "), "{message}");
    let message = bad("openb:nothing.csv", &trace("nodes.csv"));
    assert!(message.contains("cannot open nothing.csv"), "{message}");
    let message = bad("other:pods.csv", &trace("nodes.csv"));
    assert!(message.contains("write openb: and the name of the file"), "{message}");
}

#[test]
fn a_changed_recording_is_noticed() {
    let recording = record("changed.jsonl");
    let text = std::fs::read_to_string(&recording).unwrap();
    let changed = text.replacen(r#""to":14"#, r#""to":13"#, 1);
    assert_ne!(changed, text);
    std::fs::write(&recording, changed).unwrap();
    let output = headroom(&["replay", path(&recording)]);
    assert_eq!(output.status.code(), Some(1));
    expect![[r#"
        FILE:4: round 3 at 2026-01-05T00:15:00Z is decided otherwise
          at       actions[0].action.resize.to
          recorded 13
          decided  14
          recorded by headroom 0.1.0, decided by headroom 0.1.0
    "#]]
    .assert_eq(&stdout(&output).replace(path(&recording), "FILE"));
}

#[test]
fn a_broken_recording_is_an_error_with_its_line() {
    let recording = record("broken.jsonl");
    let text = std::fs::read_to_string(&recording).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let message = |text: String| {
        std::fs::write(&recording, text).unwrap();
        let output = headroom(&["replay", path(&recording)]);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        stderr(&output).replace(path(&recording), "FILE")
    };
    let cut = format!("{}\n{}\n{}", lines[0], lines[1], &lines[2][..lines[2].len() / 2]);
    let messages = [
        message(String::new()),
        message("hello\n".to_owned()),
        message(lines[0].replacen(r#""recording":1"#, r#""recording":9"#, 1)),
        message(cut),
        message(format!("{}\n{}\n", lines[0], lines[2])),
    ];
    expect![[r#"
        error: FILE: the recording is empty
        hint: make one with `headroom simulate --record FILE`

        error: FILE: line 1: this is no recording: expected value in column 1
        hint: the first line of one is an object with `recording`, `headroom` and `policy`

        error: FILE: line 1: this recording has format 9, and this program reads format 1
        hint: replay it with headroom 0.1.0

        error: FILE: line 3: this is no round: EOF while parsing an object in column 297
        hint: the file is damaged or cut off there

        error: FILE: line 2: the first round says nothing of what was remembered
        hint: the file is cut off at its start
    "#]]
    .assert_eq(&messages.join("\n"));
}

/// A recording of a burst.
fn record(name: &str) -> PathBuf {
    let recording = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let burst = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/burst.yaml");
    assert!(headroom(&["simulate", "--record", path(&recording), path(&burst)]).status.success());
    recording
}

fn trace(name: &str) -> String {
    path(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trace").join(name)).to_owned()
}

fn openb(name: &str) -> String {
    format!("openb:{}", trace(name))
}

fn headroom(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headroom")).args(args).env("NO_COLOR", "1").output().unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

proptest! {
    /// Damage to a good scenario is either harmless or reported; what can be read can be played for a while.
    #[test]
    fn no_damage_panics(at in 0..BUILT_IN.len(), length in 0..40_usize, new in "[ \\n:\\-{}\\[\\],&*0-9a-z.]{0,6}") {
        let end = BUILT_IN.ceil_char_boundary((at + length).min(BUILT_IN.len()));
        let at = BUILT_IN.floor_char_boundary(at);
        let damaged = format!("{}{new}{}", &BUILT_IN[..at], &BUILT_IN[end..]);
        match scenario::parse("x", &damaged) {
            Ok(scenario) => {
                let mut simulation = Simulation::new(&scenario);
                for _ in 0..50 {
                    prop_assert!(simulation.next_round().is_ok());
                }
            }
            Err(errors) => prop_assert!(errors.to_string().contains("error: "), "{}", errors),
        }
    }
}
