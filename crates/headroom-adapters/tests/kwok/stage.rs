//! kwok keeps to what every cloud keeps to.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use headroom_adapters::cloud::kwok::{Kwok, KwokGroup, Machines};
use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_adapters::cluster::kubernetes::client;
use headroom_adapters::fence::Fence;
use http::Method;
use serde_json::{Value, json};

use super::{CONFIG_MAPS, states, web};
use crate::api_server::{ApiServer, Fault};
use crate::contract::{self, Given, Stage, Trouble};

contract::holds!(OnKwok);

const TOKEN: &str = "a-token-that-nobody-may-read";

const SETTINGS: &str = "
readNodesFrom: configmap
nodegroups: { fromNodeLabelKey: pool }
nodes: { skipTaint: true }
configmap: { name: templates }
";

pub(crate) struct OnKwok {
    server: ApiServer,
    pub(crate) kwok: Arc<Kwok>,
}

#[async_trait]
impl Stage for OnKwok {
    async fn start(groups: &[Given], fence: Fence) -> Self {
        let server = ApiServer::start().await;
        let templates: Vec<Value> = groups.iter().map(template).collect();
        let templates = json!({ "apiVersion": "v1", "kind": "List", "items": templates }).to_string();
        for (name, key, text) in [("settings", "config", SETTINGS), ("templates", "templates", &templates)] {
            server.add(CONFIG_MAPS, json!({ "metadata": { "name": name }, "data": { key: text } }));
        }
        let kubeconfig = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&kubeconfig, server.kubeconfig(TOKEN).to_string()).unwrap();
        let client = client::connect(Some(kubeconfig.path()), None, fence).await.unwrap();
        let kwok_group = |given: &Given| {
            let machines = Machines::Provider { config_map: "settings".into(), node_group: given.name.into() };
            KwokGroup { name: given.name.into(), machines, labels: Default::default(), ..web() }
        };
        let kwok = Kwok::new(client, "autoscaling", groups.iter().map(kwok_group).collect());
        for given in groups.iter().filter(|given| given.size > 0) {
            kwok.resize(given.name, 0, given.size).await.unwrap();
        }
        let stage = OnKwok { server, kwok: Arc::new(kwok) };
        for given in groups {
            contract::until(&stage, given.name, |group| states(group) == [0, given.size as usize, 0, 0]).await;
        }
        stage
    }

    fn cloud(&self) -> &dyn Cloud {
        &*self.kwok
    }

    async fn trouble(&self, trouble: Option<Trouble>) -> bool {
        self.server.set_fault(trouble.map(|trouble| match trouble {
            Trouble::Throttled => Fault::Code(429),
            Trouble::Unauthorized => Fault::Code(401),
            Trouble::Silent => Fault::Silence,
            Trouble::Garbage => Fault::Garbage,
            Trouble::Broken => Fault::Code(500),
        }));
        true
    }

    fn requests(&self) -> usize {
        self.server.calls()
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned()]
    }

    fn shown(&self) -> String {
        format!("{:?}", self.kwok)
    }
}

/// The node that machines of a group are like.
fn template(given: &Given) -> Value {
    let offers = json!({ "cpu": "4", "memory": "16Gi", "pods": "110" });
    let limit = |name: &str| format!("cluster-autoscaler.kwok.nodegroup/{name}-count");
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": given.name,
            "labels": { "pool": given.name },
            "annotations": { limit("min"): given.min.to_string(), limit("max"): given.max.to_string() },
        },
        "spec": { "taints": [{ "key": "dedicated", "value": given.name, "effect": "NoSchedule" }] },
        "status": { "allocatable": offers, "capacity": offers },
    })
}

#[tokio::test]
async fn how_long_the_api_server_wants_to_be_left_alone_is_told() {
    let stage = OnKwok::start(&[], Fence::open()).await;
    stage.server.set_fault(Some(Fault::Answer { method: Method::GET, path: "/nodes", code: 429, once: false }));
    let refused = stage.kwok.groups().await;
    let Err(CloudError::Throttled { retry_after, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(retry_after, Some(Duration::from_secs(7)));
}
