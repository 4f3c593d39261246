//! The Nomad adapter against a pretended server, with both of its faces.

#[path = "nomad/actions.rs"]
mod actions;
#[path = "nomad/keeping.rs"]
mod keeping;
#[path = "nomad/prometheus.rs"]
mod prometheus;
#[path = "nomad/reaching.rs"]
mod reaching;
#[path = "nomad/seeing.rs"]
mod seeing;

use std::time::Duration;

use fake_nomad::{Face, Fake};
use headroom_adapters::cluster::Cluster;
use headroom_adapters::cluster::nomad::Nomad;
use headroom_adapters::cluster::nomad::client::{Access, Client};
use headroom_adapters::fence::Fence;
use headroom_core::snapshot::{Builder, Snapshot};
use tokio::time::{Instant, timeout};

const FACES: [Face; 2] = [Face::Old, Face::New];

fn client(fake: &Fake, token: Option<&str>, fence: Fence) -> Client {
    let variable = |name: &str| token.filter(|_| name == "NOMAD_TOKEN").map(str::to_owned);
    let access = Access::new(Some(&fake.url()), None, variable).expect("an address");
    Client::new(&access, fence).expect("a client")
}

fn open(fake: &Fake) -> Client {
    client(fake, None, Fence::open())
}

/// A cluster and what is known of it.
struct Sight {
    cluster: Nomad,
    builder: Builder,
    warnings: Vec<String>,
}

impl Sight {
    fn of(client: Client) -> Self {
        Sight { cluster: Nomad::start(client), builder: Builder::new(), warnings: Vec::new() }
    }

    /// Looks until what is seen is as it should be.
    async fn until(&mut self, what: &str, mut is: impl FnMut(&Snapshot, &[String]) -> bool) {
        let start = Instant::now();
        loop {
            let observation = self.cluster.observe(self.builder.snapshot()).await;
            self.warnings.extend(observation.warnings);
            observation.changes.into_iter().for_each(|change| self.builder.apply(change));
            if is(self.builder.snapshot(), &self.warnings) {
                return;
            }
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "never: {what}; warnings: {:?}; seen: {:?}",
                self.warnings,
                self.builder.snapshot().to_changes()
            );
            let _ = timeout(Duration::from_secs(1), self.cluster.changed()).await;
        }
    }
}
