use axum::http::Method;
use expect_test::expect;
use headroom_core::fixture::Fixture;
use headroom_core::snapshot::{Change, Workload};
use serde_json::{Value, json};

use super::api::status;
use super::{Api, Reaction};
use crate::cluster::kubernetes::buffers::Buffers;
use crate::fence::Fence;

const FIXED: &str = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/default/capacitybuffers/fixed";
const UNKNOWN: &str = "/apis/autoscaling.x-k8s.io/v1alpha1/namespaces/default/capacitybuffers/unknown";

fn round(lines: &str) -> Fixture {
    let cluster = "slack buffers
        group web pending min=0 max=10 target=1
        node n1 in=web cpu=4 memory=64Gi
        workload PodTemplate/chunk cpu=2 memory=4Gi";
    Fixture::read(&format!("{cluster}\n{lines}\nround")).unwrap()
}

async fn report(buffers: &mut Buffers, fixture: &Fixture) -> Vec<String> {
    let plan = fixture.plans.last().unwrap();
    let failures = buffers.report(fixture.builder.snapshot(), &plan.report, fixture.now).await;
    failures.iter().map(ToString::to_string).collect()
}

/// The conditions, a line each.
fn conditions(api: &Api, path: &str) -> String {
    let object = api.object(path).unwrap();
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or("-").to_owned();
    let lines = object["status"]["conditions"].as_array().unwrap().iter().map(|condition| {
        let line = ["type", "status", "reason", "lastTransitionTime", "message"].map(|field| text(condition, field));
        format!("{}\n", line.join(" ").trim_end())
    });
    format!("{} replicas\n{}", object["status"]["replicas"], lines.collect::<String>())
}

#[tokio::test]
async fn a_buffer_is_told_what_becomes_of_it_and_only_what_is_new_is_written() {
    let api = Api::default();
    let foreign = json!({ "type": "LimitedByQuotas", "status": "False", "reason": "ResourceQuotasAllocated" });
    api.put(
        FIXED,
        json!({ "metadata": { "generation": 3 }, "status": { "conditions": [foreign], "podTemplateGeneration": 7 } }),
    );
    let mut buffers = Buffers::new(api.client(Fence::open()));
    let fixture = round("buffer fixed template=chunk replicas=3");
    for _ in 0..2 {
        assert_eq!(report(&mut buffers, &fixture).await, [""; 0]);
    }
    assert_eq!(api.writes(), [format!("PATCH {FIXED}/status")]);
    expect![[r#"
        3 replicas
        LimitedByQuotas False ResourceQuotasAllocated - -
        ReadyForProvisioning True AttributesSetSuccessfully 2026-01-01T00:00:00Z
        Provisioning True FakePodsInjected 2026-01-01T00:00:00Z of 3 pods 2 have room on nodes, 1 get it on machines to come, 0 find none
    "#]]
    .assert_eq(&conditions(&api, FIXED));
    let written = api.object(FIXED).unwrap();
    assert_eq!(written["status"]["podTemplateRef"]["name"], "chunk");
    // The fixture's template has no generation, so that the 7 of another controller is taken away.
    assert_eq!(written["status"]["podTemplateGeneration"], Value::Null);
    assert_eq!(written["status"]["conditions"][1]["observedGeneration"], 3);
    // Another instance finds that all of it has been said.
    let mut successor = Buffers::new(api.client(Fence::open()));
    assert_eq!(report(&mut successor, &fixture).await, [""; 0]);
    assert_eq!(api.writes().len(), 1);
    // What turns has a new time, what does not keeps the old one.
    let mut later = round("buffer fixed template=chunk replicas=0");
    later.now += std::time::Duration::from_secs(60);
    assert_eq!(report(&mut buffers, &later).await, [""; 0]);
    expect![[r#"
        0 replicas
        LimitedByQuotas False ResourceQuotasAllocated - -
        ReadyForProvisioning True AttributesSetSuccessfully 2026-01-01T00:00:00Z
        Provisioning True BufferIsEmpty 2026-01-01T00:00:00Z
    "#]]
    .assert_eq(&conditions(&api, FIXED));
}

#[tokio::test]
async fn a_buffer_that_cannot_be_served_is_told_why_in_whichever_version_it_is() {
    let api = Api::default();
    api.put(UNKNOWN, json!({}));
    let mut buffers = Buffers::new(api.client(Fence::open()));
    let fixture = round(
        "buffer unknown template=gone replicas=2
         buffer elsewhere template=chunk replicas=2 strategy=buffer.gke.io/standby-capacity",
    );
    assert_eq!(report(&mut buffers, &fixture).await, [""; 0]);
    expect![[r#"
        null replicas
        ReadyForProvisioning False FailedToGetPodTemplate 2026-01-01T00:00:00Z PodTemplate/gone is not known
        Provisioning False NotReadyForProvisioning 2026-01-01T00:00:00Z
    "#]]
    .assert_eq(&conditions(&api, UNKNOWN));
    assert!(!api.log().iter().any(|line| line.contains("elsewhere")), "it is for somebody else: {:?}", api.log());
}

#[tokio::test]
async fn what_was_refused_is_tried_again_and_what_is_gone_is_no_error() {
    let api = Api::default();
    api.put(FIXED, json!({}));
    let mut buffers = Buffers::new(api.client(Fence::open()));
    let fixture = round(
        "buffer fixed template=chunk replicas=1
         buffer gone template=chunk replicas=1",
    );
    api.next(Method::PATCH, "/fixed/status", Reaction::Answer(status(409, "Conflict", "changed")));
    assert_eq!(
        report(&mut buffers, &fixture).await,
        ["capacitybuffer default/fixed was changed by somebody else at the same time"]
    );
    assert_eq!(report(&mut buffers, &fixture).await, [""; 0]);
    assert_eq!(api.object(FIXED).unwrap()["status"]["replicas"], 1);
    let changed = round("buffer fixed template=chunk replicas=2");
    let mut fenced = Buffers::new(api.client(Fence::closed()));
    assert_eq!(report(&mut fenced, &changed).await.len(), 1, "an instance that does not lead writes nothing");
    assert_eq!(api.object(FIXED).unwrap()["status"]["replicas"], 1);
}

#[tokio::test]
async fn the_generation_of_its_template_is_told_whenever_it_changes() {
    let api = Api::default();
    api.put(FIXED, json!({}));
    let mut buffers = Buffers::new(api.client(Fence::open()));
    let mut fixture = round("buffer fixed template=chunk replicas=1");
    let template = fixture.builder.snapshot().workload("default", "PodTemplate/chunk").unwrap().clone();
    for generation in [3, 3, 4] {
        let changed = Workload { generation: Some(generation), ..template.clone() };
        fixture.builder.apply(Change::Workload(Box::new(changed)));
        assert_eq!(report(&mut buffers, &fixture).await, [""; 0]);
        let status = &api.object(FIXED).unwrap()["status"];
        assert_eq!(status["podTemplateRef"], json!({ "name": "chunk" }));
        assert_eq!(status["podTemplateGeneration"], generation);
    }
    assert_eq!(api.writes().len(), 2, "{:?}", api.writes());
}
