//! The program in what its container has, where no image can be built: a root that holds what the base of the Dockerfile
//! (distroless/cc) holds and no more, nothing in it that the program may write, and a user without a name.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_headroom");
const MANIFEST: &str = include_str!("../../../deploy/kubernetes.yaml");

/// Shared libraries of the base that the program may ask for, without the loader.
const BASE: [&str; 3] = ["libc.so.6", "libgcc_s.so.1", "libm.so.6"];

/// The certificates of the base.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// What the program is linked with, by the path where this machine has it.
fn libraries() -> Vec<PathBuf> {
    let listed = Command::new("ldd").arg(PROGRAM).output().expect("ldd runs");
    let text = String::from_utf8(listed.stdout).expect("text");
    let paths = text.lines().flat_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    paths.map(PathBuf::from).collect()
}

/// A root for the program. None, with the reason, where none can be entered.
fn root() -> Option<tempfile::TempDir> {
    let who = Command::new("id").arg("-u").output().expect("id runs");
    if String::from_utf8_lossy(&who.stdout).trim() != "0" {
        eprintln!("skipped: only root can enter another root");
        return None;
    }
    let root = tempfile::tempdir().expect("a folder");
    let open =
        |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("permissions");
    open(root.path(), 0o755);
    for file in libraries().into_iter().chain([PathBuf::from(CERTIFICATES)]) {
        let to = root.path().join(file.strip_prefix("/").expect("a whole path"));
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        if let Err(error) = std::fs::copy(&file, &to) {
            eprintln!("skipped: {}: {error}", file.display());
            return None;
        }
    }
    std::fs::copy(PROGRAM, root.path().join("headroom")).expect("a copy");
    std::fs::create_dir_all(root.path().join("etc/headroom")).expect("a folder");
    Some(root)
}

fn run(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("chroot");
    command.arg("--userspec=65532:65532").arg(root).arg("/headroom").args(arguments);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.output().expect("chroot runs")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn it_is_linked_with_nothing_but_the_base() {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names: BTreeSet<String> = libraries().iter().map(name).filter(|name| !name.starts_with("ld-")).collect();
    let more: Vec<_> = names.iter().filter(|name| !BASE.contains(&name.as_str())).collect();
    assert!(more.is_empty(), "{more:?}");
}

#[test]
fn it_runs_as_nobody_in_particular_with_nothing_that_it_may_write() {
    let Some(root) = root() else { return };
    let (_, text) = MANIFEST.split_once("headroom.yaml: |\n").expect("the configuration");
    let config: String =
        text.lines().take_while(|line| line.starts_with("    ")).map(|line| line[4..].to_owned() + "\n").collect();
    std::fs::write(root.path().join("etc/headroom/headroom.yaml"), config).expect("it is written");
    let checked = run(root.path(), &["config", "check", "/etc/headroom/headroom.yaml"]);
    assert!(checked.status.success(), "{}", said(&checked));
}

/// Name resolution, certificates and the clock need no more than what is there.
#[test]
fn it_looks_for_a_cluster_and_says_what_it_finds() {
    let Some(root) = root() else { return };
    let kubeconfig = r#"{"apiVersion":"v1","kind":"Config","current-context":"it",
        "clusters":[{"name":"it","cluster":{"server":"https://127.0.0.1:1"}}],
        "users":[{"name":"it","user":{"token":"t"}}],
        "contexts":[{"name":"it","context":{"cluster":"it","user":"it"}}]}"#;
    std::fs::write(root.path().join("etc/kubeconfig"), kubeconfig).expect("it is written");
    let paused = run(root.path(), &["pause", "--all", "--kubeconfig", "/etc/kubeconfig"]);
    assert_eq!(paused.status.code(), Some(2), "{}", said(&paused));
    assert!(said(&paused).contains("onnection refused"), "{}", said(&paused));
}
