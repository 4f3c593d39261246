//! Another instance leads.

use headroom_adapters::cloud::CloudError;
use headroom_adapters::fence::Fence;

use super::{Stage, WEB, group, machines};

pub(crate) async fn behind_a_closed_fence_nothing_changes_and_everything_can_be_read<S: Stage>() {
    let fence = Fence::open();
    let stage = S::start(&[WEB.of(2)], fence.clone()).await;
    let before = group(&stage, "web").await;
    fence.close();
    let all = machines(&before);
    let cloud = stage.cloud();
    let refusals = [
        cloud.resize("web", 2, 3).await,
        cloud.remove("web", &[&all[0]]).await.map(drop),
        cloud.replace("web", &[&all[0]]).await.map(drop),
    ];
    for refused in refusals {
        assert!(matches!(refused, Err(CloudError::NotLeading)), "{refused:?}");
    }
    assert_eq!(group(&stage, "web").await, before);
    cloud.template("web").await.unwrap();
}
