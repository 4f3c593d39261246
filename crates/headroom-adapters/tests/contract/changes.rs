//! Sizes are set.

use headroom_adapters::cloud::CloudError;

use super::{Stage, group, machines, until, web};

pub(crate) async fn a_group_grows_to_the_size_that_it_is_given<S: Stage>() {
    let stage = web::<S>(2).await;
    let before = machines(&group(&stage, "web").await);
    stage.cloud().resize("web", 2, 5).await.unwrap();
    let after = until(&stage, "web", |group| machines(group).len() == 5).await;
    assert_eq!(after.target, 5);
    let after = machines(&after);
    assert!(before.iter().all(|machine| after.contains(machine)), "{before:?} {after:?}");
}

pub(crate) async fn a_size_that_is_there_already_is_no_error<S: Stage>() {
    let stage = web::<S>(2).await;
    stage.cloud().resize("web", 2, 2).await.unwrap();
    assert_eq!(group(&stage, "web").await.target, 2);
}

pub(crate) async fn a_plan_for_another_size_is_refused<S: Stage>() {
    let stage = web::<S>(2).await;
    stage.cloud().resize("web", 2, 4).await.unwrap();
    // The same call once more, as after an answer that was lost, and one that was planned long ago.
    for (from, to) in [(2, 4), (3, 4), (5, 6)] {
        let refused = stage.cloud().resize("web", from, to).await;
        let Err(CloudError::StaleSize { group, planned, actual }) = &refused else { panic!("{refused:?}") };
        assert_eq!((&**group, *planned, *actual), ("web", from, 4));
    }
    let after = until(&stage, "web", |group| machines(group).len() == 4).await;
    assert_eq!(after.target, 4);
}

pub(crate) async fn a_size_outside_the_limits_is_refused<S: Stage>() {
    let stage = web::<S>(2).await;
    if !S::LIMITS {
        return;
    }
    let refused = stage.cloud().resize("web", 2, 11).await;
    let Err(CloudError::OutsideLimits { group: name, wanted, min, max }) = &refused else { panic!("{refused:?}") };
    assert_eq!((&**name, *wanted, *min, *max), ("web", 11, 0, 10));
    assert_eq!(group(&stage, "web").await.target, 2);
    stage.cloud().resize("web", 2, 10).await.unwrap();
    assert_eq!(group(&stage, "web").await.target, 10);
}

pub(crate) async fn a_group_that_is_not_configured_is_refused<S: Stage>() {
    let stage = web::<S>(1).await;
    let cloud = stage.cloud();
    let machine = machines(&group(&stage, "web").await).pop().unwrap();
    let refusals = [
        cloud.resize("nobodys", 0, 1).await,
        cloud.remove("nobodys", &[&machine]).await.map(drop),
        cloud.replace("nobodys", &[&machine]).await.map(drop),
        cloud.template("nobodys").await.map(drop),
    ];
    for refused in refusals {
        assert!(matches!(&refused, Err(CloudError::NoSuchGroup { group }) if group == "nobodys"), "{refused:?}");
    }
    assert_eq!(machines(&group(&stage, "web").await), [machine]);
}
