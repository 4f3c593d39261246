//! The cloud `aws`: over moto, which behaves like AWS, and over a server of the test's own for what moto does not do.

mod batches;
mod errors;
mod fleets;
mod groups;
mod identity;
mod launches;
mod options;
mod removal;
mod sizes;
mod stage;
mod templates;

use headroom_adapters::cloud::Cloud as _;
use headroom_adapters::cloud::aws::{Account, Aws, AwsGroup, FoundBy, Key};
use headroom_adapters::fence::Fence;
use headroom_core::snapshot::{CloudGroup, InstanceState};

use crate::moto::{Moto, REGION};

const SECRET: &str = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "IQoJb3JpZ2luX2VjEXAMPLETOKEN";

/// The account that an endpoint has.
pub(crate) fn account(endpoint: &str) -> Account {
    let key = Key { id: "AKIDEXAMPLE".into(), secret: SECRET.into(), session_token: Some(TOKEN.into()) };
    Account { region: Some(REGION.into()), endpoint: Some(endpoint.into()), key: Some(key), role: None }
}

/// A group that goes by the name of its Auto Scaling group.
pub(crate) fn named(name: &str) -> AwsGroup {
    AwsGroup { name: name.into(), found_by: FoundBy::Name(name.into()), fleet: None }
}

/// A cloud with one such group.
pub(crate) fn over(moto: &Moto, name: &str) -> Aws {
    Aws::new(account(&moto.endpoint), vec![named(name)], Fence::open())
}

/// The only group.
pub(crate) async fn look(aws: &Aws) -> CloudGroup {
    let mut groups = aws.groups().await.unwrap();
    assert_eq!(groups.len(), 1, "{groups:?}");
    groups.remove(0)
}

/// The machines of a group that do not go.
pub(crate) fn alive(group: &CloudGroup) -> Vec<String> {
    let instances = group.instances.iter().flatten();
    let alive = instances.filter(|instance| instance.state != InstanceState::Deleting);
    alive.map(|instance| instance.provider_id.to_string()).collect()
}
