//! Servers that commands make keep to what every cloud keeps to.

use async_trait::async_trait;
use headroom_adapters::cloud::Cloud;
use headroom_adapters::cloud::servers::process::Process;
use headroom_adapters::cloud::servers::{ServerGroup, Servers, UserData};
use headroom_adapters::fence::Fence;
use headroom_core::snapshot::Template;

use super::shed::{Shed, group};
use crate::contract::{self, Given, Stage, Trouble};

contract::holds!(OnProcess);

const SECRET: &str = "a-key-to-join-with";

struct OnProcess {
    shed: Shed,
    cloud: Servers<Process>,
}

#[async_trait]
impl Stage for OnProcess {
    const LIMITS: bool = false;

    async fn start(groups: &[Given], fence: Fence) -> Self {
        let shed = Shed::new();
        for given in groups {
            (0..given.size).for_each(|at| shed.server(&format!("{}{at}", given.name), "prod", given.name));
        }
        let process = Process::new(shed.commands(), "prod".into(), fence);
        let user_data = Some(UserData::new(SECRET));
        let groups = groups.iter().map(|given| ServerGroup { user_data: user_data.clone(), ..group(given.name) });
        let cloud = Servers::new(process, "prod".into(), groups.collect());
        OnProcess { shed, cloud }
    }

    fn cloud(&self) -> &dyn Cloud {
        &self.cloud
    }

    async fn trouble(&self, trouble: Option<Trouble>) -> bool {
        for file in ["silent", "garbage", "broken"] {
            self.shed.without(file);
        }
        let file = match trouble {
            None => return true,
            // Nothing of this is known to commands.
            Some(Trouble::Throttled | Trouble::Unauthorized) => return false,
            Some(Trouble::Silent) => "silent",
            Some(Trouble::Garbage) => "garbage",
            Some(Trouble::Broken) => "broken",
        };
        self.shed.put(file);
        true
    }

    async fn sell_out(&self, out: bool) -> bool {
        for hardware in ["sold-out-first", "sold-out-second"] {
            if out { self.shed.put(hardware) } else { self.shed.without(hardware) }
        }
        true
    }

    async fn hold(&self, machine: &str) -> bool {
        let id = machine.strip_prefix("process://").unwrap_or_default();
        self.shed.put(&format!("stuck-{id}"));
        true
    }

    fn template(&self, _: &str) -> Option<Template> {
        None
    }

    fn requests(&self) -> usize {
        self.shed.asked()
    }

    fn secrets(&self) -> Vec<String> {
        vec![SECRET.to_owned()]
    }

    fn shown(&self) -> String {
        format!("{:?}", self.cloud)
    }
}
