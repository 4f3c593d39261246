//! One server that is Auto Scaling, STS, the endpoint of containers and the metadata of an instance, and a program that
//! asks it with an environment of its own: the chain of credentials reads variables, which a process has only once.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use headroom_adapters::cloud::Cloud as _;
use headroom_adapters::cloud::aws::{Account, Aws};
use headroom_adapters::fence::Fence;

use super::super::named;
use crate::contract::log::log_of;
use crate::contract::secrets::whole;
use crate::fake_aws::{Parameters, form};

/// A request that came.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) what: String,
    pub(super) parameters: Parameters,
    headers: HeaderMap,
}

impl Asked {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// The access key by which it is signed.
    pub(super) fn key(&self) -> &str {
        let credential = self.header("authorization").split_once("Credential=").map(|(_, rest)| rest);
        credential.and_then(|rest| rest.split('/').next()).unwrap_or_default()
    }
}

/// The answer to what was asked, and how often it was asked before.
pub(super) type Script = fn(&str, usize) -> Response;

pub(super) struct Stage {
    pub(super) address: String,
    pub(super) home: tempfile::TempDir,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Stage {
    /// `script` answers what is not Auto Scaling, by the action of STS or by method and path.
    pub(super) async fn start(script: Script) -> Self {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let kept = Arc::clone(&asked);
        let answer = move |request: Request| {
            let kept = Arc::clone(&kept);
            async move {
                let (head, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let parameters = form(std::str::from_utf8(&body).unwrap());
                let path = || format!("{} {}", head.method, head.uri.path());
                let what = parameters.get("Action").filter(|_| head.method == Method::POST).cloned();
                let what = what.unwrap_or_else(path);
                let mut kept = kept.lock().unwrap();
                let before = kept.iter().filter(|asked| asked.what == what).count();
                kept.push(Asked { what: what.clone(), parameters, headers: head.headers });
                script(&what, before)
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
        Stage { address, home: tempfile::tempdir().unwrap(), asked }
    }

    pub(super) fn file(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// What a program with this environment says that reads its group so often, with all that it logs.
    pub(super) async fn ask(&self, rounds: u32, environment: &[(&str, &str)]) -> String {
        let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "aws::identity::stage::program", "--ignored", "--nocapture"]);
        command.env_clear().env("HOME", self.home.path()).env("ROUNDS", rounds.to_string());
        command.env("AWS_ENDPOINT_URL", &self.address).env("AWS_EC2_METADATA_DISABLED", "true");
        command.envs(environment.iter().copied()).current_dir(Path::new("/")).stdin(Stdio::null());
        let output = command.output().await.unwrap();
        let told = [output.stdout, output.stderr].concat();
        String::from_utf8(told).unwrap()
    }

    pub(super) fn asked(&self, what: &str) -> Vec<Asked> {
        self.asked.lock().unwrap().iter().filter(|asked| asked.what == what).cloned().collect()
    }

    /// The access keys by which Auto Scaling was asked, in order.
    pub(super) fn keys(&self) -> Vec<String> {
        self.asked("DescribeAutoScalingGroups").iter().map(|asked| asked.key().to_owned()).collect()
    }
}

/// The secrets that come with an access key.
pub(super) fn secrets(key: &str) -> [String; 2] {
    [format!("secret-of-{key}"), format!("token-of-{key}")]
}

/// Credentials as the endpoint of containers and the metadata of an instance have them.
pub(super) fn json(key: &str, expiration: &str) -> Response {
    let [secret, token] = secrets(key);
    let value = serde_json::json!({
        "Code": "Success", "Type": "AWS-HMAC", "LastUpdated": "2026-01-01T00:00:00Z",
        "AccessKeyId": key, "SecretAccessKey": secret, "Token": token, "Expiration": expiration,
    });
    value.to_string().into_response()
}

/// The same as STS has them.
pub(super) fn xml(action: &str, key: &str) -> Response {
    let [secret, token] = secrets(key);
    let credentials = format!(
        "<Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>\
         <SessionToken>{token}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>"
    );
    let user = "<AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/r/s</Arn><AssumedRoleId>R:s</AssumedRoleId></AssumedRoleUser>";
    format!("<{action}Response><{action}Result>{credentials}{user}</{action}Result></{action}Response>").into_response()
}

pub(super) fn error(status: StatusCode, code: &str) -> Response {
    let error = format!("<Error><Type>Sender</Type><Code>{code}</Code><Message>as the test wants it</Message></Error>");
    (status, format!("<ErrorResponse>{error}<RequestId>1</RequestId></ErrorResponse>")).into_response()
}

/// Auto Scaling without any group.
pub(super) fn no_groups() -> Response {
    let (answer, result) = ("DescribeAutoScalingGroupsResponse", "DescribeAutoScalingGroupsResult");
    format!("<{answer}><{result}><AutoScalingGroups/></{result}></{answer}>").into_response()
}

/// The program that [`Stage::ask`] starts.
#[tokio::test]
#[ignore = "other tests start it with an environment of its own"]
async fn program() {
    let Some(rounds) = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse::<u32>().ok()) else { return };
    let account = Account { role: std::env::var("ROLE").ok().map(Into::into), ..Account::default() };
    let log = log_of(async {
        let aws = Aws::new(account, vec![named("web")], Fence::open());
        for _ in 0..rounds {
            match aws.groups().await {
                Ok(groups) => println!("has {} groups", groups.len()),
                Err(error) => println!("error: {}", whole(&error)),
            }
        }
        println!("{aws:?}");
    })
    .await;
    println!("{log}");
}
