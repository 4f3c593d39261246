//! A real Nomad: one server on loopback, and clients whose memory is only pretended.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::until;

/// A server. It is killed when this is dropped.
pub(super) struct Real {
    program: PathBuf,
    folder: PathBuf,
    /// Of HTTP, of what clients call, and of what servers tell each other.
    ports: [u16; 3],
    server: Child,
}

impl Real {
    pub(super) async fn start(program: &Path, folder: &Path) -> Self {
        let free = [0; 3].map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let ports = free.each_ref().map(|free| free.local_addr().expect("an address").port());
        drop(free);
        let [http, rpc, serf] = ports;
        let config = json!({
            "name": "server", "data_dir": folder.join("server"), "bind_addr": "127.0.0.1", "advertise": reached_at("127.0.0.1"),
            "disable_update_check": true,
            "ports": { "http": http, "rpc": rpc, "serf": serf },
            // A client that is silent is missed after about 2 s.
            "server": { "enabled": true, "bootstrap_expect": 1, "heartbeat_grace": "1s", "min_heartbeat_ttl": "1s" },
            "consul": alone(),
        });
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join("server.json"), config.to_string()).expect("a file");
        let server = launch(program, folder);
        let real = Real { program: program.to_owned(), folder: folder.to_owned(), ports, server };
        real.leads().await;
        real
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    /// Each client has an address of its own, by the number of its process, so that its ports are free.
    pub(super) fn client(&self) -> String {
        format!(
            "address=127.$((1 + $$ / 62500)).$(($$ / 250 % 250)).$((2 + $$ % 250))\n\
             sed \"s/@ADDRESS@/$address/g\" \"$1\" >\"$1.json\"\n\
             exec {} agent -config \"$1.json\"\n",
            self.program.display()
        )
    }

    pub(super) fn user_data(&self, name: &str, class: &str, meta: &Value, folder: &Path) -> String {
        let config = json!({
            "name": name, "data_dir": folder.join("${HEADROOM_SERVER_ID}.data"), "bind_addr": "@ADDRESS@",
            "advertise": reached_at("@ADDRESS@"), "disable_update_check": true,
            "client": {
                "enabled": true, "servers": [format!("127.0.0.1:{}", self.ports[1])], "node_class": class,
                "network_interface": "lo", "no_host_uuid": true, "memory_total_mb": "@MEMORY@",
                "cpu_total_compute": 4000, "meta": meta,
            },
            "plugin": [{ "raw_exec": [{ "config": [{ "enabled": true }] }] }],
            "consul": alone(),
        });
        config.to_string()
    }

    pub(super) fn stop(&mut self) {
        self.server.kill().expect("it runs");
        self.server.wait().expect("it ends");
    }

    pub(super) async fn resume(&mut self) {
        self.server = launch(&self.program, &self.folder);
        self.leads().await;
    }

    async fn leads(&self) {
        until("Nomad's server leads", async || {
            let answer = reqwest::get(format!("{}/v1/status/leader", self.url())).await;
            let leader = answer.map_err(|error| error.to_string())?.text().await.map_err(|error| error.to_string())?;
            let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
            if leader.contains(':') { Ok(()) } else { Err(format!("{leader}: {log}")) }
        })
        .await;
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Nomad tells nobody an address of loopback, unless it is told to.
fn reached_at(address: &str) -> Value {
    json!({ "http": address, "rpc": address, "serf": address })
}

/// It looks for no Consul.
fn alone() -> Value {
    json!({ "auto_advertise": false, "server_auto_join": false, "client_auto_join": false })
}

fn launch(program: &Path, folder: &Path) -> Child {
    let log = File::options().create(true).append(true).open(folder.join("server.log")).expect("a log");
    let errors = log.try_clone().expect("the log again");
    let mut command = Command::new(program);
    command.args(["agent", "-config"]).arg(folder.join("server.json"));
    command.stdin(Stdio::null()).stdout(log).stderr(errors).spawn().expect("Nomad starts")
}
