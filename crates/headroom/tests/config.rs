//! The configuration file: what it becomes, and what is said about bad ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use expect_test::{expect, expect_file};
use headroom::config::{self, Cloud, Cluster, Config};
use headroom_adapters::cloud::FoundGroup;
use headroom_adapters::cloud::externalgrpc::{ExternalGroup, Reach, Tls};
use headroom_adapters::cloud::kwok::{KwokGroup, Machines};
use headroom_core::policy::{Group, Mode, Percent, Policy, Selection, Strategy};
use jiff::SignedDuration;
use proptest::prelude::*;

const EXAMPLE: &str = include_str!("../src/config/example.yaml");
const PENDING: &str = include_str!("../src/config/pending.yaml");
const MINIMAL: &str = "groups: [{ name: web, select: { label: { pool: web } }, strategy: { utilization: {} } }]";

/// Between the input and the expected message of a case in `config/errors`. `UPDATE_EXPECT=1` writes the latter.
const LINE: &str = "==========\n";

#[test]
fn errors_are_as_recorded() {
    let mut seen = 0;
    for path in cases() {
        let text = std::fs::read_to_string(&path).unwrap();
        let input = text.split(LINE).next().unwrap();
        let message = match config::parse("headroom.yaml", input) {
            Ok(config) => panic!("{} has no error: {config:?}", path.display()),
            Err(errors) => errors.to_string(),
        };
        expect_file![&path].assert_eq(&format!("{input}{LINE}{message}\n"));
        seen += 1;
    }
    assert!(seen > 20, "only {seen} cases were found");
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config/errors");
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Git and editors would change the line ends of a recorded case.
#[test]
fn windows_line_ends_do_not_show() {
    let windows = MINIMAL.replace("strategy", "\r\n  size: { min: 2, max: 1 },\r\n  strategy");
    let unix = windows.replace('\r', "");
    let message = |text| config::parse("headroom.yaml", text).unwrap_err().to_string();
    assert!(message(&unix).contains("headroom.yaml:2:16"), "{}", message(&unix));
    assert_eq!(message(&windows), message(&unix));
}

#[test]
fn the_checked_in_schema_is_current() {
    expect_file!["../../../docs/headroom.schema.json"].assert_eq(&config::schema());
}

#[test]
fn the_checked_in_reference_is_current() {
    expect_file!["../../../docs/configuration.md"].assert_eq(&config::reference());
}

#[test]
fn what_is_left_out_has_its_default() {
    let config = config::parse("", MINIMAL).unwrap();
    let select = Selection { labels: [("pool", "web")].into_iter().collect(), capacity: None };
    assert_eq!(config.policy, Policy { dry_run: true, groups: vec![Group::new("web", select)], ..Policy::default() });
    assert_eq!(config.cluster, Cluster::Kubernetes);
    assert_eq!(config.clouds.get("web"), Some(&Cloud::None));
    assert!(config.policy.dry_run, "a real cluster is not touched before someone says so");
    assert_eq!(config.interval.as_secs(), 10);
}

#[test]
fn every_key_is_read() {
    let utilization = "
cluster: { nomad: { address: http://nomad:4646 } }
interval: 5s
dryRun: false
groups:
  - name: gpu
    select: { label: { pool: gpu }, capacity: { cpu: 96, memory: 384Gi } }
    cloud: { aws: { autoScalingGroup: gpu-nodes } }
    size: { min: 0, max: 8 }
    mode: growOnly
    bootTimeout: 20m
    startupTaints: [node.cilium.io/agent-not-ready]
    template:
      { cpu: 95500m, memory: 380Gi, ephemeralStorage: 1Ti, pods: 9, extended: { z.example/x: 1, nvidia.com/gpu: 8 } }
    price: 12.50
    strategy:
      utilization:
        scaleUpAbove: 62.5
        removeSlowlyBelow: 30.25
        removeFastBelow: 0
        slowRate: 2
        fastRate: 3
        stepInterval: 30s
        coolDown: 0s
        softGrace: 1m30s
        hardGrace: 2h
        taintEffect: NoExecute
        countPods: placed
        scaleOnStarve: true
        maxNodeAge: 720h
        unhealthy: { grace: 5m, newestPercent: 50, maxPercent: 33.33 }
        stopAfterFailures: 3
        daemonSets: subtract
  - name: kwok
    select: { label: { type: kwok } }
    cloud:
      kwok: { zones: [a, b], boot: 20s, bootFailures: 12.5, stock: 40, configMap: kwok-nodes, nodeGroup: workers }
    strategy: { utilization: }
  - name: fleet
    select: { label: { pool: fleet } }
    cloud:
      aws:
        tags: { eks:cluster-name: main, eks:nodegroup-name: '' }
        region: eu-central-1
        assumeRole: arn:aws:iam::111122223333:role/headroom
        fleet:
          launchTemplate: lt-0123456789abcdef0
          version: $Latest
          capacityType: spot
          instanceTypes: [m5.large, m5a.large]
          readyTimeout: 90s
    strategy: { utilization: }
";
    let pending = "
cluster: { kubernetes: {} }
cordon: true
expander: [priority, price, least-waste, most-pods, least-nodes, random]
priorities: { 50: [spot], -7: [^on-demand$, on-?demand] }
prices:
  machines:
    - { instanceType: m5.large, price: 0.096 }
    - { instanceType: m5.large, zone: eu-west-1a, capacityType: spot, price: 0.0374 }
  catalogue: tests/config/catalogues/own.yaml
  unit: { cpu: 0.03, memoryGib: 0.004, gpu: 0.8, storage50Gb: 0.02, gpuResources: [example.com/gpu] }
  stabilizationPod: { cpu: 250m, memory: 500Mi }
  preferredCpu: { steps: [{ upToNodes: 5, cpu: 2 }, { upToNodes: 60, cpu: 7500m }], above: 64 }
  suppressOver: 12
  unneededGpuFactor: 99
limits: { nodes: 100, nodesPerScaleUp: 20, cpu: 400, memory: 1Ti, extended: { example.com/gpu: 8 } }
balanceSimilar: true
balanceIgnoreLabels: [example.com/rack]
backoff: { initial: 1m, max: 8m, forgetAfter: 1h }
expendablePodsBelowPriority: -100
scaleDown:
  enabled: true
  utilizationThreshold: 62.5
  gpuUtilizationThreshold: 30
  unneededTime: 5m
  unreadyTime: never
  delayAfterAdd: 0s
  delayAfterDelete: 1m
  delayAfterFailure: 2m
  ignoreDaemonSetsUtilization: true
  ignoreMirrorPodsUtilization: true
  budgets:
    - nodes: 5
    - { nodes: 12.5%, reasons: [empty, underutilized, unready] }
    - { nodes: 0, schedule: 0 8 * * mon-fri, duration: 10h, timeZone: Europe/Zurich }
  totalBudgets: [{ nodes: 8 }]
  atLeast: { nodes: 3, cpu: 12, memory: 48Gi, extended: { example.com/gpu: 1 } }
  skipNodesWithSystemPods: false
  systemPodTimeout: 2h
  skipNodesWithLocalStorage: false
  skipNodesWithCustomControllerPods: false
  maxPodEvictionTime: 3m
  maxGracefulTermination: 20m
  retryAfter: 6m
  deleteDelayAfterTaint: 10s
  softTaint: false
  okTotalUnreadyCount: 5
  maxTotalUnreadyPercentage: 33.3
  suddenDropDelay: 1m
slack: { rate: 0.125, basis: capacity, granularity: 8, largest: combined, marked: false, capacityBuffers: false }
groups:
  - name: spot
    select: { label: { pool: spot } }
    size: { max: 12 }
    template:
      cpu: 1930m
      memory: 7Gi
      capacity: { cpu: 2, memory: 8Gi }
      labels: { node.kubernetes.io/instance-type: m5.large, empty: '' }
      taints:
        - { key: spot, value: yes, effect: NoExecute }
        - { key: reserved }
    strategy: { pending: { allOrNothing: true } }
    scaleDown: { unneededTime: 3m, unreadyTime: 15m, budgets: [] }
    spare: { nodes: 1, pods: 10, pod: { cpu: 500m, memory: 2Gi, extended: { example.com/gpu: 1 } } }
  - name: on-demand
    select: { label: { pool: on-demand } }
    size: { min: 1, max: 8 }
    strategy: { pending: {} }
";
    let pools = "
cluster:
  nomad:
    region: eu
    state: { folder: { path: /var/lib/headroom } }
    cpuUsage:
      prometheus:
        address: http://prometheus:9090
        query: 100 - avg by (node_id) (nomad_client_host_cpu_idle)
        nodeLabel: node_id
        tokenVariable: PROMETHEUS
        tokenFile: secrets/prometheus
        maxAge: 30s
        timeout: 3s
groups:
  - name: jobs
    select: { datacenter: dc1, nodeClass: job, nodePool: default, meta: { tier: two }, label: { own: x } }
    strategy:
      memoryPool:
        hardware: [{ name: g6-standard-4, memory: 8000Mi, cpu: 8000 }, { name: g6-standard-2, memory: 4000Mi }]
        reserve: 1Gi
        margin: 1
        drainDeadline: 30m
        removeDownAfter: 2h
        keepPaidHour: true
  - name: edge
    select: { nodeClass: gg }
    strategy:
      cpuPool: { addBelow: 25, removeAbove: 325, addStep: 2, removeStep: 3, stepInterval: 30s, drainDeadline: 5m }
";
    let pools = config::parse("", pools).unwrap();
    assert_eq!(pools.interval.as_secs(), 15, "of a Nomad cluster");
    let text = format!("{:#?}\n{:#?}\n", pools.cluster, pools.policy.groups);
    expect_file!["config/every-pool-key.txt"].assert_eq(&text);
    let [utilization, pending] = [utilization, pending].map(|text| config::parse("", text).unwrap());
    let group = serde_json::to_value(&utilization.policy.groups[0]).unwrap();
    expect_file!["config/every-key.txt"].assert_eq(&format!("{utilization:#?}\n"));
    assert_eq!(group["price"], 12_500_000_000_i64);
    expect_file!["config/every-pending-key.txt"].assert_eq(&format!("{pending:#?}\n"));
}

fn found(groups: &[(&str, &[(&str, &str)])]) -> Vec<FoundGroup> {
    let found = groups.iter().map(|(id, tags)| FoundGroup {
        id: (*id).into(),
        tags: tags.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
    });
    found.collect()
}

#[test]
fn every_key_of_what_is_discovered_is_read() {
    let text = "
cluster: { kubernetes: {} }
priorities: { 50: [^spot-] }
expander: priority
scaleDown: { unneededTime: 5m }
discover:
  - cloud: { aws: { tags: { k8s.io/cluster-autoscaler/enabled: '', team: web }, region: eu-west-1, assumeRole: arn } }
    size: { min: 1, max: 9 }
    mode: growOnly
    strategy: { pending: {} }
    scaleDown: { unneededTime: 3m }
    bootTimeout: 20m
    startupTaints: [node.cilium.io/agent-not-ready]
  - cloud: { externalgrpc: { address: provider:8086, cacert: ca.pem, cert: tls.crt, key: tls.key, timeout: 9s } }
    strategy: { utilization: { countPods: placed } }
";
    let config = config::parse("", text).unwrap();
    assert!(config.policy.groups.is_empty(), "nobody has looked yet");
    let [aws, external] = &config.discover[..] else { panic!("{:?}", config.discover) };
    let found = [(aws.clone(), found(&[("spot-a", &[]), ("web", &[])])), (external.clone(), found(&[("pool", &[])]))];
    let config = config::parse_with("", text, &found.into_iter().collect()).unwrap();
    let text = format!("{:#?}\n{:#?}\n", config.policy.groups, config.clouds);
    expect_file!["config/every-discover-key.txt"].assert_eq(&text);
    assert!(config.taken.is_empty());
}

#[test]
fn a_group_may_have_the_nodes_of_its_machines() {
    let text = "groups: [{ name: web, select: { machines: true, label: { pool: web } }, cloud: { aws: { autoScalingGroup: \
                asg } }, strategy: { pending: {} } }]";
    let config = config::parse("", text).unwrap();
    let labels = config.policy.groups[0].select.labels.iter().collect::<Vec<_>>();
    assert_eq!(labels, [("headroom.dev/node-group", "web"), ("pool", "web")]);
}

/// No group is there twice, whichever way it is meant.
#[test]
fn what_is_listed_is_not_discovered() {
    let text = "
groups:
  - { name: a, select: { label: { pool: a } }, cloud: { aws: { autoScalingGroup: asg-a } }, strategy: { pending: {} } }
  - name: b
    select: { label: { pool: b } }
    cloud: { aws: { tags: { eks:nodegroup-name: b, enabled: '' }, region: eu-west-1 } }
    strategy: { pending: {} }
  - name: far
    select: { label: { pool: far } }
    cloud: { aws: { autoScalingGroup: asg-far, region: us-east-1 } }
    strategy: { pending: {} }
  - { name: asg-taken, select: { label: { pool: t } }, strategy: { pending: {} } }
discover:
  - { cloud: { aws: { tags: { enabled: '' }, region: eu-west-1 } }, strategy: { pending: {} } }
  - { cloud: { aws: { tags: { enabled: 'true' }, region: eu-west-1 } }, mode: 'off', strategy: { pending: {} } }
";
    let config = config::parse("", text).unwrap();
    let [all, some] = &config.discover[..] else { panic!("{:?}", config.discover) };
    let enabled = ("enabled", "true");
    let in_region = found(&[
        ("asg-a", &[enabled]),
        ("asg-b", &[enabled, ("eks:nodegroup-name", "b")]),
        ("asg-c", &[enabled, ("eks:nodegroup-name", "c")]),
        ("asg-far", &[enabled]),
        ("asg-taken", &[enabled]),
    ]);
    let found = [(all.clone(), in_region.clone()), (some.clone(), in_region)];
    let config = config::parse_with("", text, &found.into_iter().collect()).unwrap();
    let groups: Vec<_> = config.policy.groups.iter().map(|group| (&*group.name, group.mode == Mode::Auto)).collect();
    let wanted = ["a", "b", "far", "asg-taken", "asg-c", "asg-far"].map(|name| (name, true));
    assert_eq!(groups, wanted, "of the first entry that finds it");
    assert_eq!(config.taken, ["asg-taken".into()] as [Arc<str>; 1], "and that is said");
}

/// What is said of all groups leaves each cloud its say; what is said of a group does not.
#[test]
fn only_what_a_group_says_itself_is_kept_from_its_cloud() {
    let text = "
cluster: { kubernetes: {} }
scaleDown: { utilizationThreshold: 60, unneededTime: 5m }
groups:
  - { name: a, select: { label: { pool: a } }, strategy: { pending: {} } }
  - name: b
    select: { label: { pool: b } }
    strategy: { pending: {} }
    bootTimeout: 20m
    scaleDown: { unneededTime: 5m, unreadyTime: never }
  - { name: c, select: { label: { pool: c } }, strategy: { utilization: {} }, bootTimeout: 20m }
";
    let policy = config::parse("", text).unwrap().policy;
    let stated = |at: usize| policy.groups[at].stated.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!([stated(0), stated(1), stated(2)], ["", "bootTimeout unneededTime unreadyTime", "bootTimeout"]);
}

#[test]
fn every_key_of_servers_is_read() {
    let text = "
cluster: { nomad: {} }
groups:
  - name: jobs
    select: { nodeClass: job }
    size: { max: 9 }
    cloud:
      linode:
        clusterId: prod
        hardware:
          - { name: large, type: g6-standard-4, region: eu-central, image: linode/debian12 }
          - { name: small, type: g6-standard-2, region: eu-west, image: linode/debian12 }
        authorizedKeys: [ssh-ed25519 AAAA ops]
        firewall: 12
        privateIp: true
        tokenVariable: LINODE
        userDataFile: tests/config/user-data.yaml
        parallel: 3
        retryHardwareAfter: 1h
    strategy: { memoryPool: { hardware: [{ name: large, memory: 8000Mi }, { name: small, memory: 4000Mi }] } }
  - name: edge
    select: { nodeClass: gg }
    size: { max: 9 }
    cloud:
      hetzner:
        clusterId: prod
        hardware: [{ name: ccx23, serverType: ccx23, location: fsn1, image: debian-12 }]
        sshKeys: [ops]
        networks: [7]
        firewalls: [9]
        tokenFile: secrets/token
        address: http://127.0.0.1:8080
    strategy: { cpuPool: {} }
  - name: own
    select: { nodeClass: own }
    cloud:
      process:
        clusterId: prod
        create: [./servers, create]
        list: [./servers, list]
        delete: [./servers, delete]
        timeout: 5m
        hardware: [{ name: rack, env: { SIZE: 4 } }]
    strategy: { cpuPool: {} }
";
    let config = config::parse("headroom.yaml", text).unwrap();
    expect_file!["config/every-server-key.txt"].assert_eq(&format!("{:#?}\n", config.clouds));
    expect![[r#"
        warning: nobody says how large `own` may become, so its size is left alone
          --> headroom.yaml:34:11
           |
        34 |   - name: own
           |           ^^^
           |
           = hint: add `size: { max: … }`"#]]
    .assert_eq(&config.warnings.to_string());
}

#[test]
fn a_back_off_means_something_for_pools_too() {
    let with = |strategy: &str| {
        let text = format!(
            "cluster: {{ nomad: {{}} }}
backoff: {{ initial: 1m }}
groups:
  - name: jobs
    select: {{ nodeClass: job }}
    size: {{ max: 9 }}
    strategy: {strategy}
"
        );
        config::parse("", &text).unwrap().warnings.to_string()
    };
    assert_eq!(with("{ cpuPool: {} }"), "");
    assert!(with("{ utilization: {} }").contains("so `backoff` decides nothing"));
}

#[test]
fn a_group_of_kwok_is_what_its_template_or_the_provider_says() {
    let text = "
groups:
  - name: own
    select: { label: { pool: own } }
    cloud: { kwok: { zones: [a, b], boot: 20s, bootFailures: 50, stock: 4 } }
    template: { cpu: 4, memory: 16Gi }
    strategy: { pending: {} }
  - name: workers
    select: { label: { pool: workers } }
    cloud: { kwok: {} }
    strategy: { pending: {} }
  - name: none
    select: { label: { pool: none } }
    strategy: { pending: {} }
";
    let config = config::parse("", text).unwrap();
    let Config { policy, .. } = &config;
    let own = KwokGroup {
        name: "own".into(),
        machines: Machines::Stated(policy.groups[0].template.clone().unwrap()),
        labels: [("pool", "own")].into_iter().collect(),
        zones: vec!["a".into(), "b".into()],
        boot: SignedDuration::from_secs(20),
        stock: Some(4),
        boot_failures: Percent::whole(50),
    };
    let provider = Machines::Provider { config_map: "kwok-provider-config".into(), node_group: "workers".into() };
    let workers = KwokGroup {
        name: "workers".into(),
        machines: provider,
        labels: [("pool", "workers")].into_iter().collect(),
        zones: Vec::new(),
        boot: SignedDuration::ZERO,
        stock: None,
        boot_failures: Percent(0),
    };
    assert_eq!(config.kwok_groups(), [own, workers]);
}

#[test]
fn groups_of_one_external_provider_share_its_connection() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("ca.yaml", "address: localhost:8086\ncert: /tls/crt\nkey: tls.key\ncacert: ''\n");
    let group = |name: &str, cloud: &str| {
        format!(
            "- {{ name: {name}, select: {{ label: {{ p: {name} }} }}, strategy: {{ pending: {{}} }}, cloud: {{ externalgrpc: {cloud} }} }}\n"
        )
    };
    let load = |groups: &[String]| {
        file("headroom.yaml", &format!("groups:\n{}", groups.concat()));
        config::load(&folder.path().join("headroom.yaml"))
    };
    let incomplete = load(&[group("web", "{ cloudConfig: ca.yaml }")]).unwrap_err().to_string();
    assert!(incomplete.contains("ca.yaml: these are not all files that TLS needs"), "{incomplete}");
    assert!(incomplete.contains("give `cacert` too"), "{incomplete}");
    file(
        "ca.yaml",
        "address: localhost:8086\ncert: /tls/crt\nkey: tls.key\ncacert: ca.pem\ngrpc_timeout: 7s\nother: 1\n",
    );
    file("open.yaml", "address: localhost:8086\ncacert: ca.pem\n");
    let config = load(&[
        group("web", "{ cloudConfig: ca.yaml, nodeGroup: pool-web }"),
        group("db", "{ cloudConfig: ca.yaml }"),
        group("batch", "{ address: 'localhost:8086', cacert: ca.pem, timeout: 1s }"),
        group("edge", "{ cloudConfig: open.yaml }"),
    ]);
    let path = |name: &str| folder.path().join(name);
    let reach = |tls: Option<Tls>, seconds| Reach {
        address: "localhost:8086".into(),
        tls,
        deadline: std::time::Duration::from_secs(seconds),
    };
    let groups = config.as_ref().unwrap().policy.groups.clone();
    let of = |name: &str, id: &str| {
        let group = groups.iter().find(|group| &*group.name == name).unwrap().clone();
        ExternalGroup { group, id: id.into() }
    };
    let mutual = Tls { ca: path("ca.pem"), own: Some(("/tls/crt".into(), path("tls.key"))) };
    // Cluster Autoscaler looks at no file of TLS unless there is a certificate.
    let wanted = [
        (reach(None, 5), vec![of("edge", "edge")]),
        (reach(Some(Tls { ca: path("ca.pem"), own: None }), 1), vec![of("batch", "batch")]),
        (reach(Some(mutual.clone()), 7), vec![of("web", "pool-web"), of("db", "db")]),
    ];
    assert_eq!(config.unwrap().external_groups(), wanted.into());
    let discover = "discover: [{ cloud: { externalgrpc: { cloudConfig: ca.yaml } }, strategy: { pending: {} } }]";
    file("headroom.yaml", discover);
    let config = config::load(&folder.path().join("headroom.yaml")).unwrap();
    let [Cloud::ExternalGrpc(external)] = &config.discover[..] else { panic!("{:?}", config.discover) };
    assert_eq!(external.reach(), reach(Some(mutual), 7));
    for (text, message) in [
        ("cert: x", "`address` is missing"),
        ("address: a:1\ngrpc_timeout: soon", "grpc_timeout is \"soon\""),
        ("- 1", "it cannot be understood"),
    ] {
        file("ca.yaml", text);
        let error = load(&[group("web", "{ cloudConfig: ca.yaml }")]).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("headroom.yaml:2:"), "{error}");
    }
}

/// A key that changes nothing would be read and forgotten.
#[test]
fn every_pending_key_changes_the_policy() {
    let group = "groups: [{ name: web, select: { label: { pool: web } }, strategy: { pending: {} } }]\n";
    let keys = [
        "expander: random",
        "priorities: { 1: [web] }",
        "prices: { machines: [{ instanceType: a, price: 1 }] }",
        "prices: { catalogue: tests/config/catalogues/own.yaml }",
        "prices: { unit: { cpu: 1 } }",
        "prices: { unit: { memoryGib: 1 } }",
        "prices: { unit: { gpu: 1 } }",
        "prices: { unit: { storage50Gb: 1 } }",
        "prices: { unit: { gpuResources: [] } }",
        "prices: { stabilizationPod: { cpu: 1 } }",
        "prices: { stabilizationPod: { memory: 1 } }",
        "prices: { preferredCpu: { steps: [] } }",
        "prices: { preferredCpu: { above: 1 } }",
        "prices: { suppressOver: 1 }",
        "prices: { unneededGpuFactor: 1 }",
        "limits: { nodes: 1 }",
        "limits: { nodesPerScaleUp: 1 }",
        "limits: { cpu: 1 }",
        "limits: { memory: 1 }",
        "limits: { extended: { a: 0 } }",
        "balanceSimilar: false",
        "balanceIgnoreLabels: [a]",
        "backoff: { initial: 1s }",
        "backoff: { max: 1h }",
        "backoff: { forgetAfter: 1s }",
        "expendablePodsBelowPriority: 0",
        "scaleDown: { enabled: false }",
        "scaleDown: { utilizationThreshold: 1 }",
        "scaleDown: { gpuUtilizationThreshold: 1 }",
        "scaleDown: { unneededTime: 1s }",
        "scaleDown: { unreadyTime: 1s }",
        "scaleDown: { unreadyTime: never }",
        "scaleDown: { delayAfterAdd: 1s }",
        "scaleDown: { delayAfterDelete: 1s }",
        "scaleDown: { delayAfterFailure: 1s }",
        "scaleDown: { ignoreDaemonSetsUtilization: true }",
        "scaleDown: { ignoreMirrorPodsUtilization: true }",
        "scaleDown: { budgets: [] }",
        "scaleDown: { budgets: [{ nodes: 10 }] }",
        "scaleDown: { budgets: [{ reasons: [empty] }] }",
        "scaleDown: { budgets: [{ reasons: [unready] }] }",
        "scaleDown: { budgets: [{ schedule: 0 1 * * *, duration: 1h }] }",
        "scaleDown: { budgets: [{ schedule: 0 1 * * *, duration: 2h }] }",
        "scaleDown: { budgets: [{ schedule: 0 1 * * *, duration: 2h, timeZone: Asia/Tokyo }] }",
        "scaleDown: { totalBudgets: [{}] }",
        "scaleDown: { atLeast: { nodes: 1 } }",
        "scaleDown: { atLeast: { cpu: 1 } }",
        "scaleDown: { atLeast: { memory: 1 } }",
        "scaleDown: { atLeast: { extended: { a: 1 } } }",
        "scaleDown: { skipNodesWithSystemPods: false }",
        "scaleDown: { systemPodTimeout: 1s }",
        "scaleDown: { skipNodesWithLocalStorage: false }",
        "scaleDown: { skipNodesWithCustomControllerPods: false }",
        "scaleDown: { maxPodEvictionTime: 1s }",
        "scaleDown: { maxGracefulTermination: 1s }",
        "scaleDown: { retryAfter: 1s }",
        "scaleDown: { deleteDelayAfterTaint: 1s }",
        "scaleDown: { softTaint: false }",
        "scaleDown: { okTotalUnreadyCount: 1 }",
        "scaleDown: { maxTotalUnreadyPercentage: 1 }",
        "scaleDown: { suddenDropDelay: 1s }",
        "slack: {}",
        "slack: { marked: false }",
        "slack: { capacityBuffers: false }",
        "slack: { rate: 0.1 }",
        "slack: { basis: capacity }",
        "slack: { granularity: 1 }",
        "slack: { largest: pods }",
    ];
    let mut policies: Vec<Policy> = vec![config::parse("", group).unwrap().policy];
    for key in keys {
        let policy = config::parse("", &format!("{group}{key}")).unwrap_or_else(|errors| panic!("{errors}")).policy;
        assert!(!policies.contains(&policy), "{key}");
        policies.push(policy);
    }
}

/// What a group says counts for it alone, key by key; the rest is as at the top of the file.
#[test]
fn groups_shrink_as_they_say_themselves() {
    let text = "
scaleDown: { unneededTime: 4m, delayAfterAdd: 1m }
groups:
  - { name: web, select: { label: { pool: web } }, strategy: { pending: {} }, scaleDown: { delayAfterAdd: 2m } }
  - { name: batch, select: { label: { pool: batch } }, strategy: { pending: {} } }
";
    let policy = config::parse("", text).unwrap().policy;
    let times = policy.groups.iter().map(|group| match &group.strategy {
        Strategy::Pending(pending) => {
            let down = &pending.scale_down;
            format!("{} {:#} {:#} {:#}", group.name, down.unneeded_for, down.after_add, down.after_failure)
        }
        other => panic!("{other:?}"),
    });
    expect![[r#"web 4m 2m 3m, batch 4m 1m 3m"#]].assert_eq(&times.collect::<Vec<_>>().join(", "));
    assert!(policy.scale_down.is_some(), "whoever grows shrinks too, unless the file says otherwise");
}

/// Whoever writes the key wants what asks for room to get some; whoever does not, none.
#[test]
fn spare_room_is_kept_where_somebody_asks_for_it() {
    let slack = |text: &str| {
        let group = "groups: [{ name: web, select: { label: { pool: web } }, strategy: { pending: {} } }]";
        let slack = config::parse("", &format!("{text}\n{group}")).unwrap().policy.slack;
        let rate = slack.rate.map(|rate| rate.to_string()).unwrap_or_default();
        format!("{rate} {} {}", slack.marked, slack.buffers)
    };
    assert_eq!(slack(""), " false false");
    assert_eq!(slack("slack: {}"), " true true");
    assert_eq!(slack("slack:"), " true true");
    let rates = ["0.1", "10%", "'0.1'", "0.125", "12.5 %", "0.0001", "1", "2.5", "9.9999", "100%"];
    let read = rates.map(|rate| slack(&format!("slack: {{ rate: {rate}, marked: false }}")).replace(" false true", ""));
    assert_eq!(read, ["10", "10", "10", "12.5", "12.5", "0.01", "100", "250", "999.99", "100"]);
}

/// What Cluster Autoscaler's ConfigMap has under `priorities` can stay as it is.
#[test]
fn the_highest_priority_that_matches_counts() {
    let text = "
expander: [priority]
priorities:
  10:
    - .*spot.*
    - .*t2\\.large.*
  50:
    - .*m4\\.4xlarge.*
  -5: [old]
groups:
";
    let names = ["spot-a", "a-t2.large", "a-t2-large", "spot-m4.4xlarge", "old-spot", "old", "web"];
    let groups = names.map(|name| {
        format!("  - {{ name: {name}, select: {{ label: {{ pool: {name} }} }}, strategy: {{ pending: {{}} }} }}\n")
    });
    let policy = config::parse("", &format!("{text}{}", groups.concat())).unwrap().policy;
    let priorities: Vec<String> =
        policy.groups.iter().map(|group| format!("{} {:?}", group.name, group.priority)).collect();
    expect![["spot-a Some(10), a-t2.large Some(10), a-t2-large None, spot-m4.4xlarge Some(50), old-spot Some(10), old Some(-5), web None"]]
        .assert_eq(&priorities.join(", "));
}

#[test]
fn groups_can_share_settings() {
    let shared = "
groups:
  - name: a
    select: { label: { pool: a } }
    strategy: { utilization: &quick { softGrace: 1m, slowRate: 3 } }
  - name: b
    select: { label: { pool: b } }
    strategy: { utilization: { <<: *quick, slowRate: 2 } }
";
    let config = config::parse("", shared).unwrap();
    let strategies: Vec<String> = config
        .policy
        .groups
        .iter()
        .map(|group| {
            let json = serde_json::to_value(&group.strategy).unwrap();
            format!("{} {}", json["utilization"]["softGrace"], json["utilization"]["slowRate"])
        })
        .collect();
    expect![[r#""PT1M" 3, "PT1M" 2"#]].assert_eq(&strategies.join(", "));
}

/// Pods that ask for both groups' label are the demand of at most one that counts, and may well be that of several that
/// grow for whatever waits.
#[test]
fn groups_that_grow_for_waiting_pods_may_share_a_label() {
    let groups = |strategy: &str| {
        let group = |name: &str, cpu: u32| {
            let select = format!("{{ label: {{ pool: web }}, capacity: {{ cpu: {cpu}, memory: 16Gi }} }}");
            format!("  - {{ name: {name}, select: {select}, strategy: {{ {strategy} }} }}\n")
        };
        config::parse("", &format!("groups:\n{}{}", group("small", 4), group("large", 8)))
    };
    assert!(groups("pending: {}").is_ok());
    let errors = groups("utilization: { countPods: placed }").unwrap_err().to_string();
    assert!(errors.contains("pods that ask for these labels ask for those of an earlier group too"), "{errors}");
}

#[test]
fn the_order_of_keys_means_nothing() {
    let other = "groups: [{ strategy: { utilization: {} }, select: { label: { pool: web } }, name: web }]";
    let policy = |text| config::parse("", text).unwrap().policy;
    assert_eq!(policy(MINIMAL), policy(other));
}

#[test]
fn the_examples_are_right() {
    for (example, groups) in [(EXAMPLE, 2), (PENDING, 4)] {
        let config = config::parse("example.yaml", example).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(config.policy.groups.len(), groups);
        assert_eq!(config.warnings.to_string(), "");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let missing = config::load(Path::new("no/such/file.yaml")).unwrap_err().to_string();
    assert!(missing.starts_with("error: cannot read no/such/file.yaml: "), "{missing}");
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*|[ \\t\\n\\r:\\-{}\\[\\],&*!|>'\"%@`#a-c<~\u{feff}\u{85}é]{0,80}") {
        if let Err(errors) = config::parse("x", &text) {
            prop_assert!(!errors.to_string().is_empty());
            prop_assert!(!errors.styled().is_empty());
        }
    }

    /// Damage to a good file is either harmless or reported, and every report shows some place of the file.
    #[test]
    fn no_damage_panics(at in 0..EXAMPLE.len(), length in 0..40_usize, new in "[ \\n:\\-{}\\[\\],&*0-9a-z]{0,6}") {
        let end = (at + length).min(EXAMPLE.len());
        let damaged = format!("{}{new}{}", &EXAMPLE[..at], &EXAMPLE[end..]);
        if let Err(errors) = config::parse("x", &damaged) {
            prop_assert!(errors.to_string().contains("error: "), "{}", errors);
        }
    }
}
