//! The files under `deploy/`: what they say about each other and about the program must be so.

use std::collections::BTreeSet;

use serde_json::Value;

const MANIFEST: &str = include_str!("../../../deploy/kubernetes.yaml");
const NOMAD: &str = include_str!("../../../deploy/nomad.hcl");
const KWOK: &str = include_str!("../../../deploy/kwok.yaml");
const TRY_IT: &str = include_str!("../../../deploy/try-it.yaml");
const EKS: &str = include_str!("../../../deploy/examples/eks.yaml");
const ON_AWS: &str = include_str!("../../../docs/kubernetes.md");
const BUFFERS: &str = include_str!("../../../deploy/capacity-buffers.yaml");
const CHART_ACCESS: &str = include_str!("../../../deploy/helm/headroom/templates/access.yaml");
const CHART_KWOK: &str = include_str!("../../../deploy/helm/headroom/templates/kwok.yaml");
const CHART_BUFFERS: &str = include_str!("../../../deploy/helm/headroom/templates/capacity-buffers.yaml");
const CHART_VALUES: &str = include_str!("../../../deploy/helm/headroom/values.yaml");
const CHART_DEPLOYMENT: &str = include_str!("../../../deploy/helm/headroom/templates/deployment.yaml");

fn documents(text: &str) -> Vec<Value> {
    text.split("\n---\n").map(|document| serde_saphyr::from_str(document).expect("valid YAML")).collect()
}

fn object(kind: &str) -> Value {
    let mut found: Vec<Value> = documents(MANIFEST).into_iter().filter(|object| object["kind"] == kind).collect();
    assert_eq!(found.len(), 1, "{kind}");
    found.remove(0)
}

/// The rules of each role, with their comments.
fn rules(text: &str) -> Vec<String> {
    let roles = text.split("\n---\n").filter_map(|document| document.split_once("\nrules:\n"));
    let lines = |(_, rules): (&str, &str)| {
        let rules = rules.lines().take_while(|line| line.starts_with("  "));
        rules.collect::<Vec<_>>().join("\n")
    };
    roles.map(lines).collect()
}

/// The configuration in the job of Nomad, as its template writes it.
#[test]
fn the_configuration_in_the_job_of_nomad_is_right() {
    let (_, rest) = NOMAD.split_once("<<YAML\n").unwrap();
    let (text, _) = rest.split_once("\nYAML\n").unwrap();
    let text = text.replace("{{ env \"NOMAD_PORT_http\" }}", "8085");
    let config = headroom::config::parse("nomad.hcl", &text).unwrap();
    assert!(config.policy.dry_run);
    assert_eq!(config.policy.groups.len(), 1);
}

#[test]
fn the_configurations_are_right() {
    let config_map = object("ConfigMap");
    let text = config_map["data"]["headroom.yaml"].as_str().unwrap();
    let config = headroom::config::parse("kubernetes.yaml", text).unwrap();
    assert!(config.policy.dry_run, "nothing is changed before somebody says so");
    let values: Value = serde_saphyr::from_str(CHART_VALUES).unwrap();
    // JSON is YAML too.
    let of_chart = headroom::config::parse("values.yaml", &values["config"].to_string()).unwrap();
    assert_eq!(of_chart.policy, config.policy);
}

/// It takes the place of the manifest's own, and its line about slack can be switched on.
#[test]
fn the_configuration_for_a_try_is_right_without_slack_and_with_it() {
    let try_it: Value = serde_saphyr::from_str(TRY_IT).unwrap();
    assert_eq!(try_it["metadata"], object("ConfigMap")["metadata"]);
    let text = try_it["data"]["headroom.yaml"].as_str().unwrap();
    let config = headroom::config::parse("try-it.yaml", text).unwrap();
    let with_slack = headroom::config::parse("try-it.yaml", &text.replace("# slack:", "slack:")).unwrap();
    assert!(!config.policy.dry_run);
    assert_ne!(with_slack.policy, config.policy);
}

#[test]
fn the_chart_grants_what_the_manifest_grants() {
    assert_eq!(rules(MANIFEST).len(), 2);
    assert_eq!(rules(CHART_ACCESS), rules(MANIFEST));
    assert_eq!(rules(KWOK).len(), 2);
    assert_eq!(rules(CHART_KWOK), rules(KWOK));
    assert_eq!(rules(BUFFERS).len(), 1);
    assert_eq!(rules(CHART_BUFFERS), rules(BUFFERS));
}

/// From the arguments to the mounted file: what a container of either gets is the same.
#[test]
fn the_chart_runs_what_the_manifest_runs() {
    let container = |text: &str| {
        let (_, rest) = text.split_once("          args:").unwrap();
        let lines = rest.lines().filter(|line| !line.contains("{{") && !line.trim_start().starts_with('#'));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let resources = ["          resources:", "            requests:", "            limits:"];
    let mut of_manifest = container(MANIFEST);
    of_manifest.retain(|line| !resources.iter().any(|start| line.starts_with(start)));
    assert_eq!(container(CHART_DEPLOYMENT), of_manifest);
}

#[test]
fn nobody_may_do_anything_everywhere() {
    for text in [MANIFEST, KWOK] {
        for rule in documents(text).iter().flat_map(|object| object["rules"].as_array().cloned().unwrap_or_default()) {
            assert!(!rule.to_string().contains('*'), "{rule}");
            assert!(!rule["resources"].to_string().contains("secrets"), "{rule}");
        }
    }
}

#[test]
fn of_any_kind_only_the_scale_may_be_read() {
    let roles: Vec<Value> =
        documents(BUFFERS).iter().filter_map(|it| it["rules"].as_array().cloned()).flatten().collect();
    assert_eq!(roles, [serde_json::json!({ "apiGroups": ["*"], "resources": ["*/scale"], "verbs": ["get"] })]);
}

#[test]
fn the_probes_and_the_container_are_those_of_a_restricted_namespace() {
    let pod = object("Deployment")["spec"]["template"]["spec"].clone();
    let container = &pod["containers"][0];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["runAsUser"], 65532);
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    let port = container["ports"][0]["containerPort"].as_u64().unwrap();
    let config = object("ConfigMap")["data"]["headroom.yaml"].to_string();
    assert!(config.contains(&format!("0.0.0.0:{port}")), "the probes reach it");
    let names: BTreeSet<&str> =
        container["env"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(["NODE_NAME", "POD_NAME", "POD_NAMESPACE"]));
}

/// It changes two objects of the manifest.
#[test]
fn the_example_for_eks_is_right() {
    let objects = documents(EKS);
    for changed in &objects {
        let kind = changed["kind"].as_str().unwrap();
        for part in ["name", "namespace"] {
            assert_eq!(changed["metadata"][part], object(kind)["metadata"][part], "{kind}");
        }
    }
    let config_map = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    let text = config_map["data"]["headroom.yaml"].as_str().unwrap();
    let config = headroom::config::parse("eks.yaml", text).unwrap();
    assert!(config.policy.dry_run, "nothing is changed before somebody says so");
    assert_eq!(config.aws_groups().into_values().flatten().count(), config.policy.groups.len());
}

/// Each right has its reason, and none is asked for without one.
#[test]
fn the_rights_on_aws_are_explained() {
    let (_, policy) = ON_AWS.split_once("```json\n").unwrap();
    let policy: Value = serde_json::from_str(policy.split_once("```").unwrap().0).unwrap();
    let granted: BTreeSet<&str> = policy["Statement"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|statement| statement["Action"].as_array().unwrap())
        .map(|action| action.as_str().unwrap())
        .collect();
    let (_, table) = ON_AWS.split_once("| action | what for |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let explained: BTreeSet<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    assert_eq!(granted, explained);
}
