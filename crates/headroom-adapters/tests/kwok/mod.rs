//! The cloud `kwok`, over an API server in memory.

mod crashes;
mod growing;
mod provider;
mod refusals;
mod shrinking;
pub(crate) mod stage;

use std::time::Duration;

use headroom_adapters::cloud::Cloud as _;
pub(crate) use headroom_adapters::cloud::kwok::KwokGroup;
use headroom_adapters::cloud::kwok::{Kwok, Machines};
use headroom_core::policy::Percent;
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{CloudGroup, InstanceState, Template};
use jiff::SignedDuration;

use crate::api_server::ApiServer;

pub(crate) const NODES: &str = "/api/v1/nodes";
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/autoscaling/configmaps";

/// A group `web` whose machines are there at once.
pub(crate) fn web() -> KwokGroup {
    let allocatable = Resources { pods: 110, ..Resources::new(3920, 16 << 30) };
    let capacity = Resources { pods: 110, ..Resources::new(4000, 17 << 30) };
    KwokGroup {
        name: "web".into(),
        machines: Machines::Stated(Template { allocatable, capacity, ..Template::default() }),
        labels: [("pool", "web")].into_iter().collect(),
        zones: Vec::new(),
        boot: SignedDuration::ZERO,
        stock: None,
        boot_failures: Percent(0),
    }
}

pub(crate) fn kwok(server: &ApiServer, group: KwokGroup) -> Kwok {
    Kwok::new(server.client(), "autoscaling", vec![group])
}

/// The only group.
pub(crate) async fn look(kwok: &Kwok) -> CloudGroup {
    kwok.groups().await.unwrap().pop().unwrap()
}

/// How many instances there are in each state: creating, running, deleting, failed.
pub(crate) fn states(group: &CloudGroup) -> [usize; 4] {
    let instances = group.instances.as_ref().unwrap();
    let states = [InstanceState::Creating, InstanceState::Running, InstanceState::Deleting, InstanceState::Failed];
    states.map(|state| instances.iter().filter(|instance| instance.state == state).count())
}

/// Looks until the group is as wanted.
pub(crate) async fn until(kwok: &Kwok, wanted: impl Fn(&CloudGroup) -> bool) -> CloudGroup {
    for _ in 0..500 {
        let group = look(kwok).await;
        if wanted(&group) {
            return group;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not within 5 s: {:#?}", look(kwok).await);
}

/// A kwok with so many running machines of `web`.
pub(crate) async fn with_running(server: &ApiServer, count: u32) -> Kwok {
    let kwok = kwok(server, web());
    kwok.resize("web", 0, count).await.unwrap();
    until(&kwok, |group| states(group) == [0, count as usize, 0, 0]).await;
    kwok
}
