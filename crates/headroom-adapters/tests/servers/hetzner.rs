//! Hetzner's client against a fake that keeps servers.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::{Path, Query, State};
use axum::http::{Method, StatusCode};
use axum::routing::{delete, get};
use axum::{Json, Router};
use headroom_adapters::cloud::servers::hetzner::{Hetzner, HetznerAccount, HetznerHardware};
use headroom_adapters::cloud::servers::rest::Token;
use headroom_adapters::cloud::servers::{Hardware, ServerGroup, Servers, UserData};
use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_adapters::fence::Fence;
use headroom_core::snapshot::Template;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::contract::{self, Given, Stage, Trouble};

use super::fake::{Fault, Listening, Script, TOKEN, locked};

/// Stands in user data, which may hold such things.
const SECRET: &str = "a-key-to-join-with";

#[derive(Clone, Default)]
struct Project {
    script: Arc<Script>,
    servers: Arc<Mutex<Vec<Value>>>,
    asked: Arc<Mutex<Vec<Value>>>,
    /// The errors with which the next orders end after they were accepted.
    ends: Arc<Mutex<Vec<&'static str>>>,
    /// By the action, how it ends.
    actions: Arc<Mutex<BTreeMap<u64, &'static str>>>,
}

pub(super) struct Fake {
    project: Project,
    listening: Listening,
    token: NamedTempFile,
}

impl Fake {
    async fn start() -> Self {
        let project = Project::default();
        let routes = Router::new()
            .route("/v1/servers", get(list).post(create))
            .route("/v1/servers/{id}", delete(remove))
            .route("/v1/actions/{id}", get(action))
            .with_state(project.clone());
        let listening = Listening::start(routes, Arc::clone(&project.script)).await;
        let token = NamedTempFile::new().expect("a file");
        std::fs::write(token.path(), TOKEN).expect("a token");
        Fake { project, listening, token }
    }

    fn cloud(&self, fence: Fence) -> Servers<Hetzner> {
        self.cloud_with(&["jobs"], fence)
    }

    fn cloud_with(&self, groups: &[&str], fence: Fence) -> Servers<Hetzner> {
        let account = HetznerAccount {
            address: format!("http://{}", self.listening.address).into(),
            ssh_keys: vec!["ops".into()],
            networks: vec![7],
            firewalls: vec![9],
        };
        let hetzner =
            Hetzner::new(account, Token::File(self.token.path().into()), "prod".into(), fence).expect("a client");
        let hardware = |name: &str, location: Option<&str>| Hardware {
            name: name.into(),
            at: HetznerHardware {
                server_type: name.into(),
                location: location.map(Into::into),
                image: "debian-12".into(),
            },
        };
        let group = |name: &&str| ServerGroup {
            name: (*name).into(),
            hardware: vec![hardware("ccx23", Some("fsn1")), hardware("ccx33", None)],
            user_data: Some(UserData::new(&format!("{SECRET} ${{HEADROOM_SERVER_ID}}"))),
            parallel: NonZeroUsize::MIN.saturating_add(3),
            retry_hardware_after: Duration::from_secs(600),
        };
        Servers::new(hetzner, "prod".into(), groups.iter().map(group).collect())
    }

    /// A server that runs.
    fn add(&self, pool: &str) {
        let mut servers = locked(&self.project.servers);
        let id = self.project.script.number();
        let labels = json!({
            "headroom-cluster": "prod", "headroom-pool": pool, "headroom-server": format!("s{id}"), "headroom-hardware": "x",
        });
        servers.push(json!({ "id": id, "name": format!("{pool}-s{id}"), "status": "running", "labels": labels }));
    }

    fn fail(&self, method: Method, status: u16, code: &str) {
        let body = json!({ "error": { "code": code, "message": "told to" } }).to_string();
        self.project.script.fail(Fault { method, status, header: None, body, done: false });
    }

    fn types(&self) -> Vec<String> {
        let servers = locked(&self.project.servers);
        servers.iter().map(|server| server["server_type"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

async fn list(State(project): State<Project>, Query(query): Query<Vec<(String, String)>>) -> Json<Value> {
    let value = |key: &str| query.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    let selector = value("label_selector").unwrap_or_default();
    let (key, wanted) = selector.split_once("==").expect("a selector");
    let page: usize = value("page").and_then(|page| page.parse().ok()).expect("a page");
    let per_page: usize = value("per_page").and_then(|size| size.parse().ok()).expect("a size");
    let servers = locked(&project.servers);
    let found: Vec<&Value> = servers.iter().filter(|server| server["labels"][key] == wanted).collect();
    let shown: Vec<&Value> = found.iter().skip((page - 1) * per_page).take(per_page).copied().collect();
    let next = (page * per_page < found.len()).then_some(page + 1);
    let pagination = json!({ "page": page, "next_page": next, "total_entries": found.len() });
    Json(json!({ "servers": shown, "meta": { "pagination": pagination } }))
}

async fn create(State(project): State<Project>, Json(asked): Json<Value>) -> (StatusCode, Json<Value>) {
    let mut servers = locked(&project.servers);
    if servers.iter().any(|server| server["name"] == asked["name"]) {
        let error = json!({ "error": { "code": "uniqueness_error", "message": "server name is already used" } });
        return (StatusCode::CONFLICT, Json(error));
    }
    let number = project.script.number();
    servers.push(json!({
        "id": number, "name": asked["name"], "status": "initializing", "created": "2026-01-01T00:00:00+00:00",
        "server_type": asked["server_type"], "labels": asked["labels"],
        "public_net": { "ipv4": { "ip": format!("198.51.100.{number}") } }, "private_net": [],
    }));
    locked(&project.asked).push(asked);
    let end = locked(&project.ends).pop();
    end.map(|code| locked(&project.actions).insert(number, code));
    let status = if end.is_some() { "running" } else { "success" };
    let action = json!({ "id": number, "command": "create_server", "status": status, "progress": 0, "error": null });
    (StatusCode::CREATED, Json(json!({ "server": servers.last(), "action": action, "next_actions": [] })))
}

async fn action(State(project): State<Project>, Path(id): Path<u64>) -> Json<Value> {
    let code = locked(&project.actions).get(&id).copied().expect("it was told of");
    let error = json!({ "code": code, "message": "told to" });
    Json(json!({ "action": { "id": id, "command": "create_server", "status": "error", "error": error } }))
}

async fn remove(State(project): State<Project>, Path(id): Path<u64>) -> (StatusCode, Json<Value>) {
    if locked(&project.script.held).contains(&id) {
        return (StatusCode::LOCKED, Json(json!({ "error": { "code": "locked", "message": "" } })));
    }
    let mut servers = locked(&project.servers);
    let before = servers.len();
    servers.retain(|server| server["id"] != id);
    match servers.len() == before {
        true => (StatusCode::NOT_FOUND, Json(json!({ "error": { "code": "not_found", "message": "" } }))),
        false => (StatusCode::OK, Json(json!({}))),
    }
}

#[tokio::test]
async fn servers_are_made_listed_and_deleted() {
    let fake = Fake::start().await;
    let cloud = fake.cloud(Fence::open());
    // More than one page.
    cloud.resize("jobs", 0, 60).await.expect("servers");
    let group = cloud.groups().await.expect("groups").remove(0);
    assert_eq!(group.target, 60);
    let machines = group.instances.expect("machines");
    assert_eq!(&*machines[0].provider_id, "hcloud://1");
    assert_eq!(machines[0].created.map(|at| at.to_string()).as_deref(), Some("2026-01-01T00:00:00Z"));
    let asked = locked(&fake.project.asked).remove(0);
    let id = asked["labels"]["headroom-server"].as_str().expect("an id").to_owned();
    let labels = json!({
        "headroom-cluster": "prod", "headroom-pool": "jobs", "headroom-server": id, "headroom-hardware": "ccx23",
    });
    assert_eq!(asked["labels"], labels);
    assert_eq!(asked["name"], format!("jobs-{id}"));
    assert_eq!(asked["user_data"], format!("{SECRET} {id}"));
    assert_eq!((&asked["location"], &asked["image"]), (&json!("fsn1"), &json!("debian-12")));
    let rest = (&asked["ssh_keys"], &asked["networks"], &asked["firewalls"]);
    assert_eq!(rest, (&json!(["ops"]), &json!([7]), &json!([{ "firewall": 9 }])));
    let names = [&*id, asked["name"].as_str().expect("a name"), "198.51.100.1"];
    assert_eq!(machines[0].addresses, names.map(Box::<str>::from));
    let stay = cloud.remove("jobs", &["hcloud://1", "hcloud://2", "hcloud://999"]).await.expect("they go");
    assert!(stay.is_empty());
    assert_eq!((fake.types().len(), fake.project.script.count("DELETE")), (58, 2));
}

/// An order is accepted, and a moment later there is no room for it after all.
#[tokio::test]
async fn an_order_that_was_accepted_may_still_come_to_nothing() {
    let check = async |code: &'static str, out_of_stock: bool| {
        let fake = Fake::start().await;
        let cloud = fake.cloud(Fence::open());
        locked(&fake.project.ends).push(code);
        cloud.resize("jobs", 0, 1).await.expect("the next");
        assert_eq!(fake.types(), ["ccx33"], "{code}: what was left of the first is deleted");
        locked(&fake.project.ends).extend([code, code]);
        let error = cloud.resize("jobs", 1, 2).await.expect_err("there is no other");
        assert_eq!(matches!(error, CloudError::OutOfStock { .. }), out_of_stock, "{error}");
        assert_eq!(fake.types(), ["ccx33"], "{code}");
    };
    tokio::join!(check("resource_unavailable", true), check("action_failed", false));
}

#[tokio::test]
async fn hardware_that_is_not_to_be_had_gives_way_to_the_next() {
    for (status, code) in [
        (412, "resource_unavailable"),
        (422, "placement_error"),
        (422, "invalid_input"),
        (403, "resource_limit_exceeded"),
    ] {
        let fake = Fake::start().await;
        let cloud = fake.cloud(Fence::open());
        fake.fail(Method::POST, status, code);
        cloud.resize("jobs", 0, 1).await.expect("the next");
        assert_eq!(fake.types(), ["ccx33"], "{code}");
    }
    let fake = Fake::start().await;
    let cloud = fake.cloud(Fence::open());
    fake.fail(Method::POST, 412, "resource_unavailable");
    fake.fail(Method::POST, 403, "resource_limit_exceeded");
    let error = cloud.resize("jobs", 0, 1).await.expect_err("nothing");
    let expected = "the cloud is out of machines for jobs: ccx23: resource_unavailable: told to; \
                    ccx33: resource_limit_exceeded: told to";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn an_answer_that_is_lost_makes_no_second_server() {
    let fake = Fake::start().await;
    let cloud = fake.cloud(Fence::open());
    let fault = Fault { method: Method::POST, status: 502, header: None, body: String::new(), done: true };
    fake.project.script.fail(fault);
    cloud.resize("jobs", 0, 1).await.expect("it is there");
    assert_eq!((fake.types().len(), fake.project.script.count("POST")), (1, 1));
}

#[tokio::test]
async fn a_call_that_came_too_early_is_repeated_after_the_pause() {
    let fake = Fake::start().await;
    let cloud = fake.cloud(Fence::open());
    let header = Some(("retry-after", "1".to_owned()));
    fake.project.script.fail(Fault { method: Method::POST, status: 429, header, body: String::new(), done: false });
    let begun = std::time::Instant::now();
    cloud.resize("jobs", 0, 1).await.expect("a server");
    assert!(begun.elapsed() >= Duration::from_millis(900), "nothing was sent meanwhile");
    assert_eq!((fake.types(), fake.project.script.count("POST")), (vec!["ccx23".to_owned()], 2));
    // A pause that is too long is the next round's.
    let header = Some(("retry-after", "600".to_owned()));
    fake.project.script.fail(Fault { method: Method::POST, status: 429, header, body: String::new(), done: false });
    let error = cloud.resize("jobs", 1, 2).await.expect_err("a pause");
    assert!(matches!(error, CloudError::Throttled { retry_after: Some(_), .. }), "{error:?}");
    let asked = fake.project.script.count("");
    assert!(matches!(cloud.groups().await, Err(CloudError::Throttled { .. })));
    assert_eq!(fake.project.script.count(""), asked, "nothing is sent");
}

#[tokio::test]
async fn what_nobody_may_do_is_said_so() {
    let fake = Fake::start().await;
    let cloud = fake.cloud(Fence::open());
    fake.fail(Method::POST, 403, "forbidden");
    assert!(matches!(cloud.resize("jobs", 0, 1).await, Err(CloudError::Forbidden { .. })));
    assert_eq!(fake.project.script.count("POST"), 1);
    std::fs::write(fake.token.path(), "wrong").expect("a token");
    let error = cloud.groups().await.expect_err("a wrong token");
    assert!(matches!(error, CloudError::Unauthorized { .. }));
    assert!(!format!("{error:?} {error}").contains("wrong"), "{error:?}");
    // It is renewed without a restart.
    std::fs::write(fake.token.path(), TOKEN).expect("a token");
    assert_eq!(cloud.groups().await.expect("groups")[0].target, 0);
}

#[tokio::test]
async fn a_list_that_breaks_off_is_no_list() {
    let fake = Fake::start().await;
    let cloud = fake.cloud(Fence::open());
    fake.fail(Method::GET, 500, "server_error");
    assert!(matches!(cloud.groups().await, Err(CloudError::Unreachable(_))));
    let body = "{\"servers\": [".to_owned();
    fake.project.script.fail(Fault { method: Method::GET, status: 200, header: None, body, done: false });
    assert!(matches!(cloud.groups().await, Err(CloudError::NotUnderstood(_))));
    // One entry was promised and none came, each time.
    for _ in 0..3 {
        let body = json!({ "servers": [], "meta": { "pagination": { "total_entries": 1 } } }).to_string();
        fake.project.script.fail(Fault { method: Method::GET, status: 200, header: None, body, done: false });
    }
    assert!(matches!(cloud.groups().await, Err(CloudError::NotUnderstood(_))));
}

#[tokio::test]
async fn a_server_that_is_locked_stays_and_a_closed_fence_sends_nothing() {
    let fake = Fake::start().await;
    fake.cloud(Fence::open()).resize("jobs", 0, 2).await.expect("servers");
    let cloud = fake.cloud(Fence::open());
    fake.fail(Method::DELETE, 423, "locked");
    let stay = cloud.remove("jobs", &["hcloud://1", "hcloud://2"]).await.expect("an answer");
    assert_eq!(stay.len(), 1);
    assert_eq!(stay[0].reason.to_string(), "the cloud refuses to delete a server of jobs: locked: told to");
    let closed = fake.cloud(Fence::closed());
    let changes = || fake.project.script.count("POST") + fake.project.script.count("DELETE");
    let before = changes();
    assert!(matches!(closed.resize("jobs", 1, 2).await, Err(CloudError::NotLeading)));
    let machine = &*stay[0].machine;
    assert!(matches!(closed.remove("jobs", &[machine]).await, Err(CloudError::NotLeading)));
    assert_eq!(changes(), before);
}

contract::holds!(OnHetzner);

struct OnHetzner {
    fake: Fake,
    cloud: Servers<Hetzner>,
}

#[async_trait]
impl Stage for OnHetzner {
    const LIMITS: bool = false;

    async fn start(groups: &[Given], fence: Fence) -> Self {
        let fake = Fake::start().await;
        for given in groups {
            (0..given.size).for_each(|_| fake.add(given.name));
        }
        let names: Vec<&str> = groups.iter().map(|given| given.name).collect();
        let cloud = fake.cloud_with(&names, fence);
        OnHetzner { fake, cloud }
    }

    fn cloud(&self) -> &dyn Cloud {
        &self.cloud
    }

    async fn trouble(&self, trouble: Option<Trouble>) -> bool {
        self.fake.project.script.set_trouble(trouble);
        true
    }

    async fn sell_out(&self, out: bool) -> bool {
        let refusal = r#"{ "error": { "code": "resource_unavailable", "message": "told to" } }"#;
        *locked(&self.fake.project.script.sold_out) = out.then_some((412, refusal));
        true
    }

    async fn hold(&self, machine: &str) -> bool {
        let number: Option<u64> = machine.strip_prefix("hcloud://").and_then(|number| number.parse().ok());
        locked(&self.fake.project.script.held).extend(number);
        number.is_some()
    }

    fn template(&self, _: &str) -> Option<Template> {
        None
    }

    fn requests(&self) -> usize {
        self.fake.project.script.count("")
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned(), SECRET.to_owned()]
    }

    fn shown(&self) -> String {
        format!("{:?}", self.cloud)
    }
}
