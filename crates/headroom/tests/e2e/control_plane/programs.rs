//! How the programs of a control plane are called.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::access::{Access, Role};
use super::binaries::Binaries;
use crate::audit;

/// What is the same for all starts of the programs of one control plane.
pub(super) struct Programs {
    pub(super) binaries: Binaries,
    pub(super) access: Access,
    pub(super) directory: PathBuf,
    pub(super) etcd_port: u16,
    pub(super) peer_port: u16,
}

impl Programs {
    pub(super) fn etcd(&self) -> (&'static str, Command) {
        let mut command = self.command(&self.binaries.etcd);
        let (clients, peers) = (address(self.etcd_port), address(self.peer_port));
        command.arg("--data-dir").arg(self.directory.join("etcd"));
        command.args(["--unsafe-no-fsync", "--log-level", "warn", "--name", "default"]);
        command.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
        command.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
        command.args(["--initial-cluster", &format!("default={peers}")]);
        ("etcd", command)
    }

    pub(super) fn api_server(&self) -> (&'static str, Command) {
        let policy = self.directory.join("audit-policy.yaml");
        std::fs::write(&policy, audit::POLICY).expect("the policy can be written");
        let access = &self.access;
        let mut command = self.command(&self.binaries.api_server);
        command.args(["--etcd-servers", &address(self.etcd_port)]);
        command.args(["--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1"]);
        // Without it a loopback address is refused.
        command.args(["--endpoint-reconciler-type", "none"]);
        command.args(["--secure-port", &access.port.to_string()]);
        command.arg("--cert-dir").arg(access.certificates());
        command.arg("--service-account-signing-key-file").arg(access.private_key());
        command.arg("--service-account-key-file").arg(access.public_key());
        command.args(["--service-account-issuer", "https://kubernetes.default.svc"]);
        command.arg("--token-auth-file").arg(access.token_file());
        command.args(["--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24"]);
        // Pods that nobody runs need no token.
        command.args(["--disable-admission-plugins", "ServiceAccount"]);
        command.arg("--audit-policy-file").arg(policy);
        // Blocking: who has got an answer finds it in the log.
        command.args(["--audit-log-mode", "blocking"]).arg("--audit-log-path").arg(self.audit_log());
        ("kube-apiserver", command)
    }

    pub(super) fn scheduler(&self) -> (&'static str, Command) {
        let mut command = self.command(&self.binaries.scheduler);
        command.arg("--kubeconfig").arg(self.access.kubeconfig_of(Role::Scheduler));
        command.args(["--leader-elect=false", "--secure-port=0", "--kube-api-qps=400", "--kube-api-burst=800"]);
        ("kube-scheduler", command)
    }

    pub(super) fn controller_manager(&self) -> (&'static str, Command) {
        // What runs and moves pods, what keeps nodes and budgets up to date, and what cleans up.
        let controllers = [
            "deployment-controller",
            "replicaset-controller",
            "statefulset-controller",
            "job-controller",
            "daemonset-controller",
            "node-lifecycle-controller",
            "taint-eviction-controller",
            "disruption-controller",
            "namespace-controller",
            "garbage-collector-controller",
        ];
        let mut command = self.command(&self.binaries.controller_manager);
        command.arg("--kubeconfig").arg(self.access.kubeconfig_of(Role::Controllers));
        command.args(["--leader-elect=false", "--secure-port=0", "--kube-api-qps=400", "--kube-api-burst=800"]);
        command.args(["--controllers", &controllers.join(",")]);
        ("kube-controller-manager", command)
    }

    pub(super) fn kwok(&self) -> (&'static str, Command) {
        let mut command = self.command(&self.binaries.kwok);
        command.arg("--kubeconfig").arg(self.access.kubeconfig_of(Role::Kwok));
        command.arg("--config").arg(&self.binaries.stages);
        command.args(["--manage-nodes-with-annotation-selector", "kwok.x-k8s.io/node=fake"]);
        command.args(["--node-lease-duration-seconds", "40"]);
        ("kwok", command)
    }

    pub(super) fn log(&self, program: &str) -> PathBuf {
        self.directory.join(format!("{program}.log"))
    }

    pub(super) fn audit_log(&self) -> PathBuf {
        self.directory.join("audit.jsonl")
    }

    /// A call of `program` that reads no settings of whoever runs the tests.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.directory).env_clear().env("HOME", &self.directory);
        command
    }
}

fn address(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
