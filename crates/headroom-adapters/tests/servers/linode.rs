//! Linode's client against a fake that keeps Linodes.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::{delete, get};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use headroom_adapters::cloud::servers::linode::{Linode, LinodeAccount, LinodeHardware};
use headroom_adapters::cloud::servers::rest::Token;
use headroom_adapters::cloud::servers::{Hardware, ServerGroup, Servers, UserData};
use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_adapters::fence::Fence;
use headroom_core::snapshot::Template;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::contract::{self, Given, Stage, Trouble};

use super::fake::{Fault, Listening, Script, TOKEN, locked};

/// Stands in user data, which may hold such things.
const SECRET: &str = "a-key-to-join-with";

#[derive(Clone, Default)]
struct Account {
    script: Arc<Script>,
    servers: Arc<Mutex<Vec<Value>>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

struct Fake {
    account: Account,
    listening: Listening,
    token: NamedTempFile,
}

impl Fake {
    async fn start() -> Self {
        let account = Account::default();
        let routes = Router::new()
            .route("/v4/linode/instances", get(list).post(create))
            .route("/v4/linode/instances/{id}", delete(remove))
            .with_state(account.clone());
        let listening = Listening::start(routes, Arc::clone(&account.script)).await;
        let token = NamedTempFile::new().expect("a file");
        std::fs::write(token.path(), TOKEN).expect("a token");
        Fake { account, listening, token }
    }

    fn cloud(&self) -> Servers<Linode> {
        self.cloud_with(&["jobs"], Fence::open())
    }

    fn cloud_with(&self, groups: &[&str], fence: Fence) -> Servers<Linode> {
        let account = LinodeAccount {
            address: format!("http://{}", self.listening.address).into(),
            authorized_keys: vec!["ssh-ed25519 AAAA ops".into()],
            firewall: Some(9),
            private_ip: true,
        };
        let linode =
            Linode::new(account, Token::File(self.token.path().into()), "prod".into(), fence).expect("a client");
        let hardware = |name: &str| Hardware {
            name: name.into(),
            at: LinodeHardware { plan: name.into(), region: "eu-central".into(), image: "linode/debian12".into() },
        };
        let group = |name: &&str| ServerGroup {
            name: (*name).into(),
            hardware: vec![hardware("g6-standard-4"), hardware("g6-standard-2")],
            user_data: Some(UserData::new(&format!("{SECRET} ${{HEADROOM_SERVER_ID}}"))),
            parallel: NonZeroUsize::MIN.saturating_add(4),
            retry_hardware_after: Duration::from_secs(600),
        };
        Servers::new(linode, "prod".into(), groups.iter().map(group).collect())
    }

    /// A Linode that runs.
    fn add(&self, pool: &str) {
        let mut servers = locked(&self.account.servers);
        let id = self.account.script.number();
        let tags = [
            "headroom-cluster=prod".to_owned(),
            format!("headroom-pool={pool}"),
            format!("headroom-server=s{id}"),
            "headroom-hardware=x".to_owned(),
        ];
        servers.push(json!({ "id": id, "label": format!("{pool}-s{id}"), "status": "running", "tags": tags }));
    }

    fn fail(&self, method: Method, status: u16, field: Option<&str>, reason: &str) {
        let body = json!({ "errors": [{ "field": field, "reason": reason }] }).to_string();
        self.account.script.fail(Fault { method, status, header: None, body, done: false });
    }

    fn plans(&self) -> Vec<String> {
        let servers = locked(&self.account.servers);
        servers.iter().map(|server| server["type"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

async fn list(
    State(account): State<Account>,
    Query(query): Query<Vec<(String, usize)>>,
    headers: HeaderMap,
) -> Json<Value> {
    let value = |key: &str| query.iter().find(|(known, _)| known == key).map_or(1, |(_, value)| *value);
    let (page, size) = (value("page"), value("page_size"));
    let filter: Value = serde_json::from_slice(headers["x-filter"].as_bytes()).expect("a filter");
    let servers = locked(&account.servers);
    let tagged = |server: &&Value| server["tags"].as_array().is_some_and(|tags| tags.contains(&filter["tags"]));
    let found: Vec<&Value> = servers.iter().filter(tagged).collect();
    let data: Vec<&Value> = found.iter().skip((page - 1) * size).take(size).copied().collect();
    let pages = found.len().div_ceil(size).max(1);
    Json(json!({ "data": data, "page": page, "pages": pages, "results": found.len() }))
}

async fn create(State(account): State<Account>, Json(asked): Json<Value>) -> (StatusCode, Json<Value>) {
    let mut servers = locked(&account.servers);
    if servers.iter().any(|server| server["label"] == asked["label"]) {
        let error = json!({ "errors": [{ "field": "label", "reason": "Label must be unique among your linodes" }] });
        return (StatusCode::BAD_REQUEST, Json(error));
    }
    let number = account.script.number();
    servers.push(json!({
        "id": number, "label": asked["label"], "status": "provisioning", "created": "2026-01-01T00:00:00",
        "type": asked["type"], "tags": asked["tags"], "ipv4": [format!("198.51.100.{number}"), "192.168.1.1"],
    }));
    locked(&account.asked).push(asked);
    (StatusCode::OK, Json(json!(servers.last())))
}

async fn remove(State(account): State<Account>, Path(id): Path<u64>) -> (StatusCode, Json<Value>) {
    if locked(&account.script.held).contains(&id) {
        return (StatusCode::BAD_REQUEST, Json(json!({ "errors": [{ "reason": "Linode busy." }] })));
    }
    let mut servers = locked(&account.servers);
    let before = servers.len();
    servers.retain(|server| server["id"] != id);
    match servers.len() == before {
        true => (StatusCode::NOT_FOUND, Json(json!({ "errors": [{ "reason": "Not found" }] }))),
        false => (StatusCode::OK, Json(json!({}))),
    }
}

#[tokio::test]
async fn linodes_are_made_listed_and_deleted() {
    let fake = Fake::start().await;
    let cloud = fake.cloud();
    // More than one page.
    cloud.resize("jobs", 0, 210).await.expect("servers");
    let group = cloud.groups().await.expect("groups").remove(0);
    assert_eq!(group.target, 210);
    let machines = group.instances.expect("machines");
    assert_eq!(&*machines[0].provider_id, "linode://1");
    assert_eq!(machines[0].created.map(|at| at.to_string()).as_deref(), Some("2026-01-01T00:00:00Z"));
    let asked = locked(&fake.account.asked).clone();
    let label = asked[0]["label"].as_str().expect("a label");
    let id = label.strip_prefix("jobs-").expect("its pool");
    let tags = [
        "headroom-cluster=prod".to_owned(),
        "headroom-pool=jobs".to_owned(),
        format!("headroom-server={id}"),
        "headroom-hardware=g6-standard-4".to_owned(),
    ];
    assert_eq!(asked[0]["tags"], json!(tags));
    assert_eq!(machines[0].addresses[..2], [id, label].map(Box::<str>::from));
    let user_data = STANDARD.encode(format!("{SECRET} {id}"));
    assert_eq!(asked[0]["metadata"]["user_data"], user_data);
    assert_eq!((&asked[0]["region"], &asked[0]["image"]), (&json!("eu-central"), &json!("linode/debian12")));
    assert_eq!((&asked[0]["firewall_id"], &asked[0]["private_ip"]), (&json!(9), &json!(true)));
    assert_ne!(asked[0]["root_pass"], asked[1]["root_pass"]);
    assert!(asked[0]["root_pass"].as_str().is_some_and(|password| password.len() == 64));
    let stay = cloud.remove("jobs", &["linode://1", "linode://999"]).await.expect("it goes");
    assert!(stay.is_empty());
    assert_eq!((fake.plans().len(), fake.account.script.count("DELETE")), (209, 1));
}

#[tokio::test]
async fn a_plan_that_is_sold_out_gives_way_to_the_next() {
    let fake = Fake::start().await;
    let cloud = fake.cloud();
    fake.fail(Method::POST, 400, Some("region"), "The selected plan is sold out in this region");
    cloud.resize("jobs", 0, 1).await.expect("the next");
    assert_eq!(fake.plans(), ["g6-standard-2"]);
    fake.fail(Method::POST, 400, Some("type"), "g6-standard-2 is not available in eu-central");
    fake.fail(Method::POST, 400, None, "Account Limit reached. Please open a support ticket.");
    let error = cloud.resize("jobs", 1, 2).await.expect_err("nothing");
    let expected = "the cloud is out of machines for jobs: g6-standard-2: type: g6-standard-2 is not available in \
                    eu-central; g6-standard-4: Account Limit reached. Please open a support ticket.";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, CloudError::OutOfStock { .. }));
}

#[tokio::test]
async fn an_answer_that_is_lost_makes_no_second_linode() {
    let fake = Fake::start().await;
    let cloud = fake.cloud();
    let fault = Fault { method: Method::POST, status: 504, header: None, body: String::new(), done: true };
    fake.account.script.fail(fault);
    cloud.resize("jobs", 0, 1).await.expect("it is there");
    assert_eq!((fake.plans().len(), fake.account.script.count("POST")), (1, 1));
}

#[tokio::test]
async fn the_pause_of_a_rate_limit_is_kept() {
    let fake = Fake::start().await;
    let cloud = fake.cloud();
    let reset = Timestamp::now().as_second() + 2;
    let header = Some(("x-ratelimit-reset", reset.to_string()));
    fake.account.script.fail(Fault { method: Method::POST, status: 429, header, body: String::new(), done: false });
    cloud.resize("jobs", 0, 1).await.expect("a server");
    assert!(Timestamp::now().as_second() >= reset - 1, "nothing was sent meanwhile");
    assert_eq!(fake.account.script.count("POST"), 2);
}

#[tokio::test]
async fn linodes_of_another_cluster_do_not_exist() {
    let fake = Fake::start().await;
    let cloud = fake.cloud();
    let tags = ["headroom-cluster=staging", "headroom-pool=jobs", "headroom-server=x"];
    let theirs = json!({ "id": 5, "label": "jobs-x", "status": "running", "tags": tags });
    locked(&fake.account.servers).push(theirs);
    assert_eq!(cloud.groups().await.expect("groups")[0].target, 0);
    assert!(cloud.remove("jobs", &["linode://5"]).await.expect("nothing to do").is_empty());
    assert_eq!(fake.account.script.count("DELETE"), 0);
}

contract::holds!(OnLinode);

struct OnLinode {
    fake: Fake,
    cloud: Servers<Linode>,
}

#[async_trait]
impl Stage for OnLinode {
    const LIMITS: bool = false;

    async fn start(groups: &[Given], fence: Fence) -> Self {
        let fake = Fake::start().await;
        for given in groups {
            (0..given.size).for_each(|_| fake.add(given.name));
        }
        let names: Vec<&str> = groups.iter().map(|given| given.name).collect();
        let cloud = fake.cloud_with(&names, fence);
        OnLinode { fake, cloud }
    }

    fn cloud(&self) -> &dyn Cloud {
        &self.cloud
    }

    async fn trouble(&self, trouble: Option<Trouble>) -> bool {
        self.fake.account.script.set_trouble(trouble);
        true
    }

    async fn sell_out(&self, out: bool) -> bool {
        let refusal = r#"{ "errors": [{ "field": "region", "reason": "This plan is sold out in this region" }] }"#;
        *locked(&self.fake.account.script.sold_out) = out.then_some((400, refusal));
        true
    }

    async fn hold(&self, machine: &str) -> bool {
        let number: Option<u64> = machine.strip_prefix("linode://").and_then(|number| number.parse().ok());
        locked(&self.fake.account.script.held).extend(number);
        number.is_some()
    }

    fn template(&self, _: &str) -> Option<Template> {
        None
    }

    fn requests(&self) -> usize {
        self.fake.account.script.count("")
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned(), SECRET.to_owned()]
    }

    fn shown(&self) -> String {
        format!("{:?}", self.cloud)
    }
}
