//! Nomad's official Go client reads the pretended server, with both of its faces (`make nomad-check` builds the program).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fake_nomad::{Face, Fake, JobSpec, NodeSpec};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testenv/bin/nomad-check");

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_understands_both_faces() {
    if !Path::new(PROGRAM).exists() {
        let message = format!("skipped: {PROGRAM} is missing; hint: make nomad-check");
        assert!(std::env::var_os("HEADROOM_REQUIRE_ALL").is_none(), "{message}");
        eprintln!("{message}");
        return;
    }
    for (face, name) in [(Face::Old, "old"), (Face::New, "new")] {
        let fake = Fake::start(face).await.expect("a port");
        let meta = BTreeMap::from([("hardware".to_owned(), "large".to_owned())]);
        fake.add_node(NodeSpec { class: "job".to_owned(), meta, busy: vec![40.0, 20.0], ..NodeSpec::default() });
        fake.run(JobSpec { count: 2, memory: 600, class: "job".to_owned(), ..JobSpec::default() });
        while fake.waiting_and_running("default", "job") != (1, 1) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let url = fake.url();
        let checked = tokio::task::spawn_blocking(move || Command::new(PROGRAM).args([url.as_str(), name]).output());
        let checked = checked.await.expect("it ends").expect("it starts");
        assert!(checked.status.success(), "{name}: {}", String::from_utf8_lossy(&checked.stderr));
    }
}
