//! Dumps in, what was read of them out: each file of `fixtures/dumps` beside what it becomes.

#[path = "dump/watched.rs"]
mod watched;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::{expect, expect_file};
use headroom::dump::{self, Dump, Reader, Round};
use headroom::{config, view};
use headroom_core::policy::Percent;
use headroom_core::quantity::{Bytes, MilliCpu, Resources};
use headroom_core::snapshot::{Change, CloudGroup, Coverage, GroupOptions, Kind, Node, PodView, Readiness, Workload};
use jiff::SignedDuration;
use proptest::prelude::*;

#[test]
fn every_dump_is_read_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut dumps: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|it| it != "read")).collect();
    dumps.sort();
    assert!(dumps.len() > 10, "the folder holds the dumps");
    for file in dumps {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut reader = Reader::default();
        let read = reader.read(&name, &std::fs::read_to_string(&file).unwrap()).and_then(|()| reader.finish());
        let shown = read.map_or_else(|error| format!("error: {error}\n"), |dump| show(&dump));
        expect_file![file.with_file_name(format!("{name}.read"))].assert_eq(&shown);
    }
}

#[test]
fn files_are_put_together_and_the_last_of_equal_names_counts() {
    let mut reader = Reader::default();
    let node =
        |cpu: u32| format!("kind: Node\nmetadata: {{name: a}}\nstatus: {{allocatable: {{cpu: {cpu}, memory: 1Gi}}}}\n");
    reader.read("old.yaml", &node(1)).unwrap();
    reader
        .read(
            "new.json",
            &format!("\u{feff}{}", r#"{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "a"}}"#),
        )
        .unwrap();
    reader.read("new.yaml", &format!("\u{feff}{}", node(2))).unwrap();
    expect![[r#"
        read: 2 Node, 1 Pod
        nodes Complete, pods Partial
        node a 2 1Gi, not ready
        pod default/p 0 0 Workload Pending on a
    "#]]
    .assert_eq(&show(&reader.finish().unwrap()));
}

/// A rule that comes after the pods asks for a label that was left out, since it tells equal pods apart.
#[test]
fn pods_are_read_once_more_when_a_rule_selects_by_what_was_left_out() {
    let pods = r#"
        {"kind": "Pod", "metadata": {"name": "db-0", "labels": {"app": "db", "apps.kubernetes.io/pod-index": "0"}},
         "spec": {"tolerations": [{"key": "a", "operator": "Like"}]}}
        {"kind": "Pod", "metadata": {"name": "db-1", "labels": {"app": "db", "apps.kubernetes.io/pod-index": "1"}}}
        {"kind": "Pod", "metadata": {"labels": {"app": "nameless"}}}"#;
    let rule = r#"
        {"kind": "Pod", "metadata": {"name": "cache-0", "labels": {"app": "cache", "apps.kubernetes.io/pod-index": "0"}},
         "spec": {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}, "matchLabelKeys": ["apps.kubernetes.io/pod-index"]}]}}}}"#;
    let shown = [pods.to_owned(), format!("{pods}{rule}")].map(|text| {
        let mut reader = Reader::default();
        reader.read("f", &text).unwrap();
        let dump = reader.finish().unwrap();
        let labels =
            dump.builder.snapshot().classes().map(|class| format!("{} {}\n", class.pending(), class.spec.labels));
        let warnings = dump.warnings.iter().map(|warning| format!("warning: {warning}\n"));
        format!("{} skipped, {:?}\n{}", dump.skipped, dump.counts, labels.chain(warnings).collect::<String>())
    });
    expect![[r#"
        1 skipped, {"Pod": 3}
        2 app=db
        warning: f:2:9: pod default/db-0: toleration a: operator "Like" with effect "" is left out
        warning: f:5:9: a pod without a name: skipped: it has no metadata.name

        1 skipped, {"Pod": 4}
        1 app=cache,apps.kubernetes.io/pod-index=0
        1 app=db,apps.kubernetes.io/pod-index=0
        1 app=db,apps.kubernetes.io/pod-index=1
        warning: f:2:9: pod default/db-0: toleration a: operator "Like" with effect "" is left out
        warning: f:5:9: a pod without a name: skipped: it has no metadata.name
    "#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn texts_that_are_no_dump_are_errors_with_their_place() {
    let error = |text: &str| {
        let mut reader = Reader::default();
        reader.read("f", text).and_then(|()| reader.finish()).unwrap_err().to_string()
    };
    let shown = [
        "",
        "{}",
        "null",
        r#"{"kind": "List", "items": []}"#,
        r#"{"kind": "ConfigMap"}"#,
        // Cut off at several places.
        "{",
        r#"{"kind": "List", "items": [{"kind": "Node", "#,
        "{\"kind\": \"Node\",\n \"metadata\": {\"name\": \"a",
        "[{\"kind\": \"Node\"}",
        "apiVersion: v1\nitems:\n- kind: Node\n  metadata: {name: a}\n",
        "kind: Node\nmetadata: {name: \"a",
        // Not JSON, not YAML.
        "{\"kind\": \"List\",\n \"items\": [ nothing ]}",
        "{\"kind\": \"List\",\n\t\"items\": {}}",
        "[{\"kind\": \"Node\"}]\n]",
        "kind: Node\nmetadata: [}\n",
        "kind: Pod\n---\nkind: *none\n",
        "NAME   READY   STATUS    RESTARTS   AGE\nweb    1/1     Running   0          3d\n",
    ]
    .map(|text| format!("{text:?}\n  {}\n", error(text)));
    expect_file!["fixtures/no-dumps.txt"].assert_eq(&shown.concat());
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = dump::read(&[PathBuf::from("/nowhere/dump.json")]).unwrap_err();
    assert_eq!(error.to_string(), "cannot read /nowhere/dump.json");
}

#[test]
fn nesting_without_end_is_no_danger() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("{\"items\":[", "]}"), ("- ", ""), ("a: [", "]"), ("? ", "")] {
        let deep = open.repeat(20_000);
        let balanced = format!("{deep}1{}", close.repeat(20_000));
        for text in [&deep, &balanced] {
            let mut reader = Reader::default();
            let read = reader.read("deep", text).and_then(|()| reader.finish().map(drop));
            assert!(read.is_err(), "{open}");
        }
    }
}

#[test]
fn aliases_that_multiply_are_no_danger() {
    let mut text = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for at in 1..12 {
        let alias = format!("*a{}", at - 1);
        text += &format!("b{at}: &a{at} [{}]\n", [&*alias; 10].join(", "));
    }
    let error = Reader::default().read("aliases", &text).unwrap_err().to_string();
    assert!(error.contains("alias"), "{error}");
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*") {
        let _ = Reader::default().read("f", &text);
    }

    #[test]
    fn no_text_like_a_dump_panics(words in proptest::collection::vec(word(), 0..40)) {
        let _ = Reader::default().read("f", &words.concat());
    }

    #[test]
    fn no_damaged_dump_panics(dump in 0..DAMAGED.len(), at in any::<prop::sample::Index>(), by in "\\PC{0,3}", cut in 0..40_usize) {
        let text = DAMAGED[dump];
        let start = text.floor_char_boundary(at.index(text.len()));
        let end = text.ceil_char_boundary((start + cut).min(text.len()));
        let damaged = format!("{}{by}{}", &text[..start], &text[end..]);
        let mut reader = Reader::default();
        if let Ok(dump) = reader.read("f", &damaged).and_then(|()| reader.finish()) {
            plan_and_explain(dump);
        }
    }

    /// However much of its end is lost: a list of kubectl is never taken for a shorter one.
    #[test]
    fn a_list_that_is_cut_off_is_an_error(yaml: bool, at in any::<prop::sample::Index>()) {
        let whole = if yaml { include_str!("fixtures/dumps/kubectl.yaml") } else { include_str!("fixtures/dumps/kubectl.json") };
        let end = whole.rfind(if yaml { "kind: List" } else { "}" }).unwrap();
        let cut = &whole[..at.index(end)];
        let mut reader = Reader::default();
        let read = reader.read("f", cut).and_then(|()| reader.finish());
        prop_assert!(read.is_err(), "{:?}", &cut[cut.len().saturating_sub(60)..]);
    }
}

/// What a cloud says of its group is told apart from what the user says.
#[test]
fn a_setting_that_is_the_clouds_is_named() {
    let mut dump = Dump::default();
    let options = GroupOptions {
        unneeded_for: Some(SignedDuration::from_mins(3)),
        threshold: Some(Percent::whole(80)),
        ..GroupOptions::default()
    };
    let cloud = CloudGroup { name: "web".into(), options, ..CloudGroup::default() };
    dump.builder.apply(Change::Group(Box::new(cloud)));
    let web = "groups: [{ name: web, select: { label: { pool: web } }, strategy: { pending: {} }, SCALE }]";
    let explained = |own: &str| {
        let text = format!("cluster: {{ kubernetes: {{}} }}\n{}", web.replace("SCALE", own));
        let round = Round::of(dump.clone(), Some(config::parse("", &text).unwrap().policy), None);
        view::explain::group(&round, "web").unwrap()
    };
    let both = explained("scaleDown: {}");
    assert!(both.contains("not been needed for 3m: at most 80% in use"), "{both}");
    assert!(both.contains("as its cloud says: utilizationThreshold, unneededTime"), "{both}");
    let one = explained("scaleDown: { unneededTime: 7m, utilizationThreshold: 10 }");
    assert!(one.contains("not been needed for 7m: at most 10% in use") && !one.contains("as its cloud says"), "{one}");
}

/// All that can be said about a dump.
fn plan_and_explain(dump: Dump) {
    let round = Round::of(dump, None, None);
    let json = serde_json::to_string(&view::Output::of(&round)).unwrap();
    assert!(json.starts_with("{\"version\":1,") && !view::plan(&round, true).is_empty());
    for group in &round.policy.groups {
        view::explain::group(&round, &group.name).unwrap();
    }
    let nodes: Vec<_> = round.snapshot().nodes().collect();
    for view in &nodes {
        view::explain::node(&round, &view.node.name).unwrap();
    }
    let waiting = round.snapshot().classes().flat_map(|class| class.pending_pods());
    for pod in nodes.iter().flat_map(|view| view.pods()).chain(waiting) {
        view::explain::pod(&round, &format!("{}/{}", pod.spec.namespace, pod.name)).unwrap();
    }
}

const DAMAGED: [&str; 3] = [
    include_str!("fixtures/dumps/malformed.json"),
    include_str!("fixtures/dumps/malformed.yaml"),
    include_str!("fixtures/dumps/kwokctl-export.yaml"),
];

/// Pieces that dumps are made of.
fn word() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "'",
        "\n",
        "- ",
        "---\n",
        "...\n",
        " ",
        "  ",
        "null",
        "1",
        "-1e99",
        "~",
        "|\n",
        "&a ",
        "*a",
        "<<: ",
        "!!binary ",
        "# ",
        "%",
        "\\",
        "\\u00",
        "\u{feff}",
        "\"kind\":",
        "kind: ",
        "\"List\"",
        "PodList",
        "Pod",
        "\"Node\"",
        "\"items\":",
        "items:\n",
        "metadata: ",
        "\"metadata\":",
        "\"name\":",
        "name: a\n",
        "\"spec\":",
        "containers: ",
    ];
    prop::sample::select(pieces.to_vec()).prop_map(str::to_owned)
}

fn show(dump: &Dump) -> String {
    let mut text = String::new();
    let counts: Vec<_> = dump.counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let _ = writeln!(text, "read: {}", counts.join(", "));
    let snapshot = dump.builder.snapshot();
    let known = Kind::ALL.map(|kind| (kind, snapshot.coverage(kind)));
    let known = known.iter().filter(|(_, coverage)| *coverage != Coverage::Absent);
    let known: Vec<_> = known.map(|(kind, coverage)| format!("{kind} {coverage:?}")).collect();
    let _ = writeln!(text, "{}", known.join(", "));
    if let Some(newest) = dump.newest {
        let _ = writeln!(text, "newest {newest}");
    }
    for view in snapshot.nodes() {
        show_node(&mut text, view.node);
        for pod in view.pods() {
            show_pod(&mut text, &pod);
        }
    }
    for class in snapshot.classes() {
        class.pending_pods().iter().for_each(|pod| show_pod(&mut text, pod));
    }
    snapshot.workloads().for_each(|workload| show_workload(&mut text, workload));
    for buffer in snapshot.capacity_buffers() {
        let _ = writeln!(text, "buffer {}", serde_json::to_string(buffer).unwrap());
    }
    for warning in &dump.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

fn show_workload(text: &mut String, workload: &Workload) {
    let Workload { replicas, spec, controller, spare_copies, .. } = workload;
    let _ = write!(text, "{}/{} {replicas} x {}", spec.namespace, workload.reference(), amounts(&spec.requests));
    if let Some(controller) = controller {
        let _ = write!(text, " of {controller}");
    }
    if let Some(copies) = spare_copies {
        let _ = write!(text, ", spare copies {copies:?}");
    }
    text.push('\n');
}

fn show_node(text: &mut String, node: &Node) {
    let _ = write!(text, "node {} {}", node.name, amounts(&node.allocatable));
    if let Some(pool) = node.labels.get("eks.amazonaws.com/nodegroup") {
        let _ = write!(text, ", pool {pool}");
    }
    if let Readiness::NotReady { since } = node.readiness {
        let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
        let _ = write!(text, ", not ready{since}");
    }
    for taint in &node.taints {
        let _ = write!(text, ", {taint}");
    }
    if let Some(why) = &node.no_delete {
        let _ = write!(text, ", no-delete {why}");
    }
    text.push('\n');
}

fn show_pod(text: &mut String, pod: &PodView<'_>) {
    let spec = pod.spec;
    let _ = write!(text, "pod {}/{} {}", spec.namespace, pod.name, amounts(&spec.requests));
    let _ = write!(text, " {:?} {:?}", spec.kind, pod.phase);
    if let Some(controller) = &spec.controller {
        let _ = write!(text, " of {controller}");
    }
    match pod.node {
        Some(node) => writeln!(text, " on {node}"),
        None => writeln!(text, ", waits for {}", spec.node_selector),
    }
    .unwrap();
}

fn amounts(amounts: &Resources) -> String {
    format!("{} {}", MilliCpu(amounts.cpu), Bytes(amounts.memory))
}
