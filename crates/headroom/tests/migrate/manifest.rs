//! `headroom migrate manifest`: manifests in which another autoscaler runs.

use headroom::migrate::manifest::migrate;
use proptest::prelude::*;

#[test]
fn results_are_as_recorded() {
    super::compare("manifest", 8, |input| migrate("deployment.yaml", input));
}

#[test]
fn json_is_read_too() {
    let manifest = serde_json::json!({
        "kind": "List",
        "items": [{
            "kind": "Deployment",
            "spec": { "template": { "spec": { "containers": [{
                "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.30.0",
                "args": ["--nodes=1:3:web", "--cloud-provider=aws"],
            }] } } },
        }],
    });
    let yaml = migrate("deployment.json", &manifest.to_string()).unwrap();
    assert!(yaml.contains("autoScalingGroup: web"), "{yaml}");
}

proptest! {
    #[test]
    fn no_text_panics(
        text in "\\PC*|(kind: Deployment|spec:|template:|containers:|command:|args:|image: escalator|--nodes=|\\$\\(A\\)|---|\
                 [ \\t\\n\\-{}\\[\\],&*\"0-9a-c~é$()]){0,40}",
    ) {
        if let Err(errors) = migrate("x", &text) {
            prop_assert!(!errors.to_string().is_empty());
        }
    }
}
