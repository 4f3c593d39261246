use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use headroom_core::plan::Evict;
use headroom_core::snapshot::{Effect, Taint};
use serde_json::json;
use tokio::net::TcpListener;

use super::Api;
use crate::cluster::ClusterError;
use crate::cluster::kubernetes::act::Acts;
use crate::cluster::kubernetes::client::{ConnectError, connect};
use crate::fence::Fence;

const NODE: &str = "/api/v1/nodes/a";

fn taint() -> Taint {
    Taint { key: "headroom.dev/removal".into(), value: "".into(), effect: Effect::NoSchedule }
}

fn kubeconfig(folder: &tempfile::TempDir, server: &str) -> PathBuf {
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{ "name": "here", "cluster": { "server": server } }],
        "users": [{ "name": "me", "user": { "token": "t0ken" } }],
        "contexts": [{ "name": "here", "context": { "cluster": "here", "user": "me" } }],
    });
    let path = folder.path().join("kubeconfig");
    std::fs::write(&path, text.to_string()).unwrap();
    path
}

async fn serve(api: &Api) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(axum::serve(listener, api.router()).into_future());
    format!("http://{address}")
}

#[tokio::test]
async fn a_kubeconfig_leads_to_its_server() {
    let api = Api::default();
    api.put(NODE, json!({ "spec": {} }));
    let folder = tempfile::tempdir().unwrap();
    let path = kubeconfig(&folder, &serve(&api).await);
    let client = connect(Some(&path), Some("here"), Fence::open()).await.unwrap();
    Acts::new(client).taint("a", &taint()).await.unwrap();
    assert_eq!(api.object(NODE).unwrap()["spec"]["taints"][0]["key"], "headroom.dev/removal");
    let request = api.headers();
    assert_eq!(request["user-agent"], concat!("headroom/", env!("CARGO_PKG_VERSION")));
    assert_eq!(request["authorization"], "Bearer t0ken");
}

#[tokio::test]
async fn a_closed_fence_lets_reading_through_and_nothing_else() {
    let api = Api::default();
    api.put(NODE, json!({ "spec": {} }));
    api.put("/api/v1/namespaces/shop/pods/web-0", json!({ "spec": { "nodeName": "a" } }));
    let folder = tempfile::tempdir().unwrap();
    let path = kubeconfig(&folder, &serve(&api).await);
    let acts = Acts::new(connect(Some(&path), None, Fence::closed()).await.unwrap());
    let pod = Evict { namespace: "shop".into(), name: "web-0".into(), budget: None };
    let refused = [acts.taint("a", &taint()).await, acts.evict("a", &pod).await, acts.forget("a").await];
    for result in refused {
        assert!(matches!(result, Err(ClusterError::NotLeading)), "{result:?}");
    }
    assert_eq!(acts.lost_with("a").await.unwrap().len(), 1);
    assert_eq!(api.writes(), [] as [String; 0]);
}

/// A process that is stopped while it connects goes on after its lease is gone. Its request has passed the first check.
#[tokio::test]
async fn a_fence_that_closes_while_connecting_keeps_the_request_back() {
    let api = Api::default();
    api.put(NODE, json!({ "spec": {} }));
    let folder = tempfile::tempdir().unwrap();
    let path = kubeconfig(&folder, &serve(&api).await);
    let looks = AtomicU64::new(0);
    let fence = Fence::closed_by(move || Duration::from_secs(60 * looks.fetch_add(1, Ordering::SeqCst)));
    fence.extend_to(Duration::from_secs(60));
    let acts = Acts::new(connect(Some(&path), None, fence).await.unwrap());
    let result = acts.taint("a", &taint()).await;
    assert!(matches!(result, Err(ClusterError::NotLeading)), "{result:?}");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(api.log(), [format!("GET {NODE}")]);
}

#[tokio::test]
async fn what_cannot_be_used_is_said_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let none = connect(Some(&folder.path().join("none")), None, Fence::open()).await.err().unwrap();
    assert!(none.to_string().contains("none cannot be used; hint: `kubectl --kubeconfig "), "{none}");
    let path = kubeconfig(&folder, "http://127.0.0.1:1");
    let other = connect(Some(&path), Some("elsewhere"), Fence::open()).await.err().unwrap();
    let ConnectError::Kubeconfig { source, .. } = &other else { panic!("{other}") };
    assert!(source.to_string().contains("elsewhere"), "{source}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    for server in ["http://127.0.0.1:1", "https://127.0.0.1:1"] {
        let folder = tempfile::tempdir().unwrap();
        let path = kubeconfig(&folder, server);
        let acts = Acts::new(connect(Some(&path), None, Fence::open()).await.unwrap());
        let error = acts.forget("a").await.unwrap_err();
        assert!(matches!(error, ClusterError::Unreachable(_)), "{error}");
    }
}

/// The proxy is this server too: it is asked for the way to the API server.
#[tokio::test]
async fn a_proxy_that_a_kubeconfig_names_is_asked_for_the_way() {
    let proxy = Api::default();
    let folder = tempfile::tempdir().unwrap();
    let path = kubeconfig(&folder, "https://kubernetes.example:6443");
    let text = std::fs::read_to_string(&path).unwrap();
    let named = format!("{{\"proxy-url\":\"{}\",\"server\"", serve(&proxy).await);
    std::fs::write(&path, text.replace("{\"server\"", &named)).unwrap();
    let acts = Acts::new(connect(Some(&path), None, Fence::open()).await.unwrap());
    acts.forget("a").await.unwrap_err();
    assert_eq!(proxy.log(), ["CONNECT "]);
}
