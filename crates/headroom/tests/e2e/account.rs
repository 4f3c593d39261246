//! The rights of the manifests under `deploy/` and no others: for Headroom's service account, and for the users that run it in
//! all other tests.

use std::path::PathBuf;

use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::control_plane;
use crate::scene::Scene;

const MANIFESTS: [&str; 3] = [
    include_str!("../../../../deploy/kubernetes.yaml"),
    include_str!("../../../../deploy/kwok.yaml"),
    include_str!("../../../../deploy/capacity-buffers.yaml"),
];

/// Makes the account in the scene's namespace, and writes a kubeconfig file for it.
pub(crate) async fn kubeconfig(scene: &Scene<'_>) -> PathBuf {
    install(scene, &json!([{ "kind": "ServiceAccount", "name": "headroom", "namespace": scene.name }])).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(scene.client.clone(), scene.name);
    let wanted = TokenRequest::default();
    let made = accounts.create_token_request("headroom", &PostParams::default(), &wanted).await.expect("a token");
    let token = made.status.expect("a status").token;
    scene.plane.kubeconfig_for(&format!("headroom-{}", scene.name), &token)
}

/// Gives the users that run Headroom in tests the rights of the manifests, in the scene's namespace and in the cluster.
pub(crate) async fn grant(scene: &Scene<'_>) {
    use control_plane::Role::{FirstHeadroom, Headroom, SecondHeadroom};
    let users = [Headroom, FirstHeadroom, SecondHeadroom];
    let subjects =
        users.map(|user| json!({ "kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user.name() }));
    install(scene, &json!(subjects)).await;
}

/// Applies what the manifests say about rights, in the scene's namespace, for these `subjects`.
async fn install(scene: &Scene<'_>, subjects: &Value) {
    for document in MANIFESTS.iter().flat_map(|text| text.split("\n---\n")) {
        let mut object: Value = serde_saphyr::from_str(document).expect("valid YAML");
        let kind = object["kind"].as_str().expect("a kind").to_owned();
        if let Some(of_manifest) = object.get_mut("subjects") {
            of_manifest.clone_from(subjects);
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
                // Each scene has bindings of its own to the roles that are the same for all.
                let name = format!("{}-{}", metadata["name"].as_str().expect("a name"), scene.name);
                metadata.insert("name".into(), name.into());
                scene.apply_to_cluster::<ClusterRoleBinding>(object).await;
            }
            _ => {}
        }
    }
}
