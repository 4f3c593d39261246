//! What nodes and pods cost at `headroom serve-provider`.

use std::sync::Arc;

use headroom_adapters::cloud::Cloud;
use headroom_adapters::cloud::externalgrpc::server::{Offer, Prices, Provider};
use headroom_adapters::cloud::externalgrpc::{ExternalGroup, ExternalGrpc};
use headroom_adapters::cloud::kwok::{Kwok, Machines};
use headroom_adapters::fence::Fence;
use headroom_core::policy::Group;
use headroom_core::pricing::{PriceEntry, PriceSources};
use headroom_core::quantity::{Money, Resources};
use headroom_core::snapshot::{Labels, Template};
use serde_json::{Value, json};

use super::front::Front;
use super::{peer, wanted};
use crate::api_server::ApiServer;
use crate::kwok::{KwokGroup, states, until, web};

const TYPE: &str = "node.kubernetes.io/instance-type";
const ZONE: &str = "topology.kubernetes.io/zone";

/// A server with three groups, of which the configuration says for `stated` what a machine costs, the catalogue for `large`,
/// and nobody for `small`. By unit prices one of `large` costs 0.208278, and one of `small` 0.101916.
struct Shop {
    _api: ApiServer,
    _kwok: Arc<Kwok>,
    front: Front,
}

impl Shop {
    async fn open() -> Self {
        let api = ApiServer::start().await;
        let group = |name: &str, machine: Resources, labels: &[(&str, &str)]| KwokGroup {
            name: name.into(),
            machines: Machines::Stated(Template {
                allocatable: machine.clone(),
                capacity: machine,
                ..Default::default()
            }),
            labels: [("pool", name)].iter().chain(labels).copied().collect(),
            ..web()
        };
        let kwok = Arc::new(Kwok::new(
            api.client(),
            "autoscaling",
            vec![
                group("stated", Resources::new(64_000, 256 << 30), &[]),
                group("small", Resources::new(2_000, 8 << 30), &[(TYPE, "t9.small")]),
                group("large", Resources::new(4_000, 17 << 30), &[(TYPE, "m5.large"), (ZONE, "1a")]),
            ],
        ));
        kwok.resize("large", 0, 1).await.unwrap();
        until(&kwok, |large| states(large) == [0, 1, 0, 0]).await;
        let price = |instance_type: &str, zone: Option<&str>, nanos| PriceEntry {
            instance_type: instance_type.into(),
            zone: zone.map(Box::from),
            capacity_type: None,
            price: Money(nanos),
        };
        let catalogue = vec![
            price("m5.large", None, 500_000_000),
            price("m5.large", Some("1a"), 416_556_000),
            price("c5.large", None, 85_000_000),
        ];
        let prices = Prices {
            sources: PriceSources { catalogue: catalogue.into(), ..PriceSources::default() },
            ..Prices::default()
        };
        let groups = ["stated", "large", "small"].map(wanted);
        let groups = groups.map(|group| match &*group.name {
            "stated" => Group { price: Some(Money(120_000_000)), ..group },
            _ => group,
        });
        let offer = Offer { cloud: Arc::clone(&kwok) as Arc<dyn Cloud>, groups: groups.into() };
        let front = Front::start(Provider::new(vec![offer], prices)).await;
        Shop { _api: api, _kwok: kwok, front }
    }

    async fn call(&self, call: &str, request: Value) -> Option<Result<Value, String>> {
        let program = peer::program()?;
        let address = self.front.reach().address;
        Some(peer::call(&program, &address, call, &request, &peer::as_whom("client")).await)
    }

    /// What a node costs in an hour.
    async fn node(&self, node: Value) -> Option<Result<f64, String>> {
        let (start, end) = (json!({ "seconds": 1_000_000 }), json!({ "seconds": 1_003_600 }));
        let request = json!({ "node": node, "startTimestamp": start, "endTimestamp": end });
        Some(self.call("PricingNodePrice", request).await?.map(|answer| answer["price"].as_f64().unwrap()))
    }

    /// What a pod is worth in an hour.
    async fn pod(&self, spec: Value) -> Option<f64> {
        let (start, end) = (json!({ "seconds": 1_000_000 }), json!({ "seconds": 1_003_600 }));
        let pod = json!({ "metadata": { "name": "p", "namespace": "n" }, "spec": spec });
        let request = json!({ "pod_bytes": pod, "startTimestamp": start, "endTimestamp": end });
        Some(self.call("PricingPodPrice", request).await?.unwrap()["price"].as_f64().unwrap_or_default())
    }
}

fn is_about(price: f64, wanted: f64) -> bool {
    (price - wanted).abs() < 1e-9
}

#[tokio::test]
async fn a_node_costs_what_is_said_of_it_or_what_it_is_taken_to_cost() {
    let shop = Shop::open().await;
    let Some(told) = shop.call("NodeGroupTemplateNodeInfo", json!({ "id": "small" })).await else { return };
    let template = &told.unwrap()["nodeBytes"]["metadata"];
    assert_eq!(template["annotations"], json!({ "headroom.dev/node-group": "small" }));
    for (node, dollars) in [
        (json!({ "name": "template-stated" }), 0.12),
        // The price of its zone, whether it is there or only thought of.
        (json!({ "providerID": "kwok://large-00001" }), 0.416_556),
        (json!({ "name": "template-large" }), 0.416_556),
        // One in another zone.
        (json!({ "name": "template-large", "labels": { ZONE: "1b" } }), 0.5),
        // Nobody says it: by unit prices, times two as one of `large` costs.
        (json!({ "name": "template-small" }), 0.203_832),
        // Cluster Autoscaler gives a node that is thought of a name of its own.
        (json!({ "name": "x", "annotations": { "headroom.dev/node-group": "small" } }), 0.203_832),
        (json!({ "name": "x", "labels": template["labels"] }), 0.203_832),
        // Of no group, and of a type that is in the catalogue.
        (json!({ "name": "x", "labels": { TYPE: "c5.large" } }), 0.085),
    ] {
        let price = shop.node(node.clone()).await.unwrap();
        assert!(is_about(price.clone().unwrap(), dollars), "{node}: {price:?}");
    }
    let stranger = shop.node(json!({ "name": "x", "labels": { "pool": "other" } })).await.unwrap();
    assert_eq!(stranger.unwrap_err(), "error: NotFound: nobody says what this node costs or is like");
}

#[tokio::test]
async fn a_pod_is_worth_what_it_requests() {
    let shop = Shop::open().await;
    let asks = |cpu: &str, memory: &str| json!({ "requests": { "cpu": cpu, "memory": memory } });
    let container = |resources: Value| json!({ "name": "c", "resources": resources });
    let (cpu, gib, gpu, disk) = (0.033_174, 0.004_446, 0.7, 0.01);
    for (spec, dollars) in [
        (json!({ "containers": [container(json!({}))] }), 0.0),
        // The pod by which Cluster Autoscaler damps its score.
        (json!({ "containers": [container(asks("500m", "500Mi"))] }), cpu / 2.0 + gib * 500.0 / 1024.0),
        (json!({ "containers": [container(asks("1", "1Gi")), container(asks("2", "3Gi"))] }), 3.0 * cpu + 4.0 * gib),
        // A limit without a request is one.
        (json!({ "containers": [container(json!({ "limits": { "nvidia.com/gpu": "2" } }))] }), 2.0 * gpu),
        (json!({ "containers": [container(json!({ "requests": { "ephemeral-storage": "100G" } }))] }), 2.0 * disk),
        // What it needs to start, what stays beside it, and what its runtime takes.
        (
            json!({
                "initContainers": [
                    { "name": "beside", "restartPolicy": "Always", "resources": asks("1", "0") },
                    { "name": "before", "resources": asks("4", "0") },
                ],
                "containers": [container(asks("2", "0"))],
                "overhead": { "cpu": "250m" },
            }),
            5.25 * cpu,
        ),
        // The pod as a whole says otherwise.
        (json!({ "containers": [container(asks("1", "0"))], "resources": asks("3", "2Gi") }), 3.0 * cpu + 2.0 * gib),
    ] {
        let Some(price) = shop.pod(spec.clone()).await else { return };
        assert!(is_about(price, dollars), "{spec}: {price} and not {dollars}");
    }
    let pod = json!({ "spec": { "containers": [container(asks("1", "0"))] } });
    let (start, end) = (json!({ "seconds": 0 }), json!({ "seconds": 7_200 }));
    let older = shop.call("PricingPodPrice", json!({ "pod": pod, "startTime": start, "endTime": end })).await.unwrap();
    assert!(is_about(older.unwrap()["price"].as_f64().unwrap(), 2.0 * cpu), "two hours, as older clients ask");
}

/// Headroom estimates by itself: on one scale with all groups that it has, not only with those of this provider.
#[tokio::test]
async fn to_headroom_an_estimate_is_no_price() {
    let shop = Shop::open().await;
    let group = |name: &str| ExternalGroup { group: wanted(name), id: name.into() };
    let groups = ["stated", "large", "small"].map(group);
    let cloud = ExternalGrpc::new(shop.front.reach(), groups.into(), Fence::open());
    let mut prices: Vec<_> =
        cloud.groups().await.unwrap().into_iter().map(|group| (group.name.to_string(), group.price)).collect();
    prices.sort();
    let wanted = [("large", Some(Money(416_556_000))), ("small", None), ("stated", Some(Money(120_000_000)))];
    assert_eq!(prices, wanted.map(|(name, price)| (name.to_owned(), price)));
}

/// A client places pods by the labels of a node that is not there yet.
#[tokio::test]
async fn a_template_has_the_labels_of_its_group_and_what_the_cloud_knows_besides() {
    let api = ApiServer::start().await;
    let machine = Template { labels: [(ZONE, "1a")].into_iter().collect(), ..Template::default() };
    let kwok_group = KwokGroup { machines: Machines::Stated(machine), labels: Labels::default(), ..web() };
    let kwok = Arc::new(Kwok::new(api.client(), "autoscaling", vec![kwok_group]));
    let mut group = wanted("web");
    group.select.labels = [("pool", "web")].into_iter().collect();
    let machine = Resources::new(1_000, 1 << 30);
    let labels = [("disk", "fast")].into_iter().collect();
    group.template = Some(Template { allocatable: machine.clone(), capacity: machine, labels, taints: Vec::new() });
    let offer = Offer { cloud: kwok as Arc<dyn Cloud>, groups: vec![group] };
    let front = Front::start(Provider::new(vec![offer], Prices::default())).await;
    let group = ExternalGroup { group: wanted("web"), id: "web".into() };
    let cloud = ExternalGrpc::new(front.reach(), vec![group], Fence::open());
    let template = cloud.template("web").await.unwrap().unwrap();
    for (key, value) in [("disk", "fast"), ("pool", "web"), (ZONE, "1a")] {
        assert_eq!(template.labels.get(key), Some(value), "{:?}", template.labels);
    }
    assert_eq!(template.capacity.cpu, 1_000);
}
