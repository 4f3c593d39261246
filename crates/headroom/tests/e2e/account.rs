//! Headroom's service account, with the rights of the manifests under `deploy/` and no others.

use std::path::PathBuf;

use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kube::Api;
use kube::api::PostParams;
use serde_json::Value;

use crate::scene::Scene;

const MANIFESTS: [&str; 2] =
    [include_str!("../../../../deploy/kubernetes.yaml"), include_str!("../../../../deploy/kwok.yaml")];

/// Makes the account in the scene's namespace, and writes a kubeconfig file for it.
pub(crate) async fn kubeconfig(scene: &Scene<'_>) -> PathBuf {
    for document in MANIFESTS.iter().flat_map(|text| text.split("\n---\n")) {
        let mut object: Value = serde_saphyr::from_str(document).expect("valid YAML");
        let kind = object["kind"].as_str().expect("a kind").to_owned();
        // Each scene has bindings of its own to the roles that are the same for all.
        for subject in object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
            subject["namespace"] = scene.name.into();
        }
        let metadata = object["metadata"].as_object_mut().expect("metadata");
        if metadata.contains_key("namespace") {
            metadata.insert("namespace".into(), scene.name.into());
        }
        match kind.as_str() {
            "ServiceAccount" => drop(scene.apply::<ServiceAccount>(object).await),
            "Role" => drop(scene.apply::<Role>(object).await),
            "RoleBinding" => drop(scene.apply::<RoleBinding>(object).await),
            "ClusterRole" => drop(scene.apply_to_cluster::<ClusterRole>(object).await),
            "ClusterRoleBinding" => {
                let name = format!("{}-{}", metadata["name"].as_str().expect("a name"), scene.name);
                metadata.insert("name".into(), name.into());
                scene.apply_to_cluster::<ClusterRoleBinding>(object).await;
            }
            _ => {}
        }
    }
    let accounts: Api<ServiceAccount> = Api::namespaced(scene.client.clone(), scene.name);
    let wanted = TokenRequest::default();
    let made = accounts.create_token_request("headroom", &PostParams::default(), &wanted).await.expect("a token");
    let token = made.status.expect("a status").token;
    scene.plane.kubeconfig_for(&format!("headroom-{}", scene.name), &token)
}
