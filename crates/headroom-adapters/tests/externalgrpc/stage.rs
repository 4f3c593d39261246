//! externalgrpc keeps to what every cloud keeps to, with kwok behind the server.

use std::sync::Arc;

use async_trait::async_trait;
use headroom_adapters::cloud::Cloud;
use headroom_adapters::cloud::externalgrpc::server::{Offer, Prices, Provider};
use headroom_adapters::cloud::externalgrpc::{ExternalGroup, ExternalGrpc};
use headroom_adapters::fence::Fence;
use headroom_core::policy::Group;

use super::front::{Fault, Front};
use super::peer::file;
use super::wanted;
use crate::contract::{self, Given, Stage, Trouble};
use crate::kwok::stage::OnKwok;

contract::holds!(OnExternalGrpc);

pub(crate) struct OnExternalGrpc {
    pub(crate) front: Front,
    pub(crate) cloud: ExternalGrpc,
    pub(crate) behind: OnKwok,
}

impl OnExternalGrpc {
    /// The server has these groups as `offered` says.
    pub(crate) async fn offering(groups: &[Given], fence: Fence, offered: impl Fn(&str) -> Group) -> Self {
        let behind = OnKwok::start(groups, Fence::open()).await;
        let offered = groups.iter().map(|given| offered(given.name)).collect();
        let offer = Offer { groups: offered, cloud: Arc::clone(&behind.kwok) as Arc<dyn Cloud> };
        let front = Front::start(Provider::new(vec![offer], Prices::default())).await;
        let group = |given: &Given| ExternalGroup { group: wanted(given.name), id: given.name.into() };
        let cloud = ExternalGrpc::new(front.reach(), groups.iter().map(group).collect(), fence);
        OnExternalGrpc { front, cloud, behind }
    }
}

#[async_trait]
impl Stage for OnExternalGrpc {
    async fn start(groups: &[Given], fence: Fence) -> Self {
        OnExternalGrpc::offering(groups, fence, wanted).await
    }

    fn cloud(&self) -> &dyn Cloud {
        &self.cloud
    }

    async fn trouble(&self, trouble: Option<Trouble>) -> bool {
        let fault = trouble.map(|trouble| match trouble {
            Trouble::Throttled => Fault::Code(8),
            Trouble::Unauthorized => Fault::Code(16),
            Trouble::Silent => Fault::Silence,
            Trouble::Garbage => Fault::Garbage,
            Trouble::Broken => Fault::Code(14),
        });
        self.front.set_fault(None, fault);
        true
    }

    async fn sell_out(&self, out: bool) -> bool {
        self.front.set_fault(Some("NodeGroupIncreaseSize"), out.then_some(Fault::Code(8)));
        true
    }

    async fn hold(&self, machine: &str) -> bool {
        self.front.add_fault("NodeGroupDeleteNodes", machine, Fault::Code(9));
        true
    }

    fn requests(&self) -> usize {
        self.front.requests()
    }

    fn secrets(&self) -> Vec<String> {
        let key = std::fs::read_to_string(file("client.key")).unwrap();
        key.lines().filter(|line| !line.starts_with("---")).map(str::to_owned).collect()
    }

    fn shown(&self) -> String {
        format!("{:?}", self.cloud)
    }
}
