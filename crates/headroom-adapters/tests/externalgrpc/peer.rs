//! The other side of the protocol, in Go. `make external-provider` builds it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headroom_adapters::cloud::externalgrpc::{ExternalGroup, ExternalGrpc, Reach, Tls};
use headroom_adapters::fence::Fence;
use serde_json::Value;

use super::wanted;

/// The program; without it the test is left out, unless nothing may be.
pub(crate) fn program() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testenv/bin/externalgrpc-peer");
    if path.exists() {
        return Some(path);
    }
    let missing = "testenv/bin/externalgrpc-peer is missing; hint: make external-provider";
    assert!(std::env::var_os("HEADROOM_REQUIRE_ALL").is_none(), "{missing}");
    eprintln!("skipped: {missing}");
    None
}

/// A file of the certificates of these tests.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/externalgrpc/certificates").join(name)
}

/// By this Headroom shows the certificate of this name and knows the other side's.
pub(crate) fn tls_as(name: &str) -> Tls {
    Tls { ca: file("ca.pem"), own: Some((file(&format!("{name}.pem")), file(&format!("{name}.key")))) }
}

/// By these the Go program shows the certificate of this name and knows the other side's.
pub(crate) fn as_whom(name: &str) -> Vec<String> {
    let path = |file_name: &str| file(file_name).to_str().unwrap().to_owned();
    let (cert, key) = (path(&format!("{name}.pem")), path(&format!("{name}.key")));
    vec!["-cert".to_owned(), cert, "-key".to_owned(), key, "-cacert".to_owned(), path("ca.pem")]
}

/// What is answered to one call by Go's client, or why not.
pub(crate) async fn call(
    program: &Path,
    address: &str,
    call: &str,
    request: &Value,
    more: &[String],
) -> Result<Value, String> {
    let mut command = tokio::process::Command::new(program);
    command.args(["call", address, call, &request.to_string()]).args(more);
    let output = command.output().await.unwrap();
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).unwrap())
    } else {
        Err(String::from_utf8(output.stderr).unwrap().trim().to_owned())
    }
}

/// A running provider in Go. It ends when it is dropped.
pub(crate) struct Peer {
    child: Child,
    address: String,
    changes: Arc<Mutex<Vec<Value>>>,
}

impl Peer {
    pub(crate) fn serve(program: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(["serve", "127.0.0.1:0"]).args(more);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.next().unwrap().unwrap();
        let changes: Arc<Mutex<Vec<Value>>> = Arc::default();
        let told = Arc::clone(&changes);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                told.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Peer { child, address, changes }
    }

    /// Headroom's client of its group `pool`, which is `web` in the policy.
    pub(crate) fn cloud(&self, tls: Option<Tls>) -> ExternalGrpc {
        let address = self.address.replace("127.0.0.1", "localhost").into();
        let reach = Reach { address, tls, deadline: Duration::from_secs(5) };
        let group = ExternalGroup { group: wanted("web"), id: "pool".into() };
        ExternalGrpc::new(reach, vec![group], Fence::open())
    }

    /// What it was asked to change so far.
    pub(crate) async fn changes(&self, count: usize) -> Vec<Value> {
        for _ in 0..200 {
            if self.changes.lock().unwrap().len() >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.changes.lock().unwrap().clone()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}
