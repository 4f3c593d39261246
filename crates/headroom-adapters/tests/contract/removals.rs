//! Machines go.

use headroom_adapters::cloud::{CloudError, Stays};
use headroom_adapters::fence::Fence;

use super::{DB, Given, Stage, WEB, group, machines, until, web};

fn refs(machines: &[String]) -> Vec<&str> {
    machines.iter().map(String::as_str).collect()
}

fn ids(stay: &[Stays]) -> Vec<&str> {
    stay.iter().map(|stays| &*stays.machine).collect()
}

pub(crate) async fn the_machines_that_are_named_go_and_the_size_with_them<S: Stage>() {
    let stage = web::<S>(4).await;
    let all = machines(&group(&stage, "web").await);
    let stay = stage.cloud().remove("web", &[&all[1], &all[3]]).await.unwrap();
    assert!(stay.is_empty(), "{stay:?}");
    let after = until(&stage, "web", |group| machines(group).len() == 2).await;
    assert_eq!((after.target, machines(&after)), (2, vec![all[0].clone(), all[2].clone()]));
}

pub(crate) async fn removing_again_removes_nothing_more<S: Stage>() {
    let stage = web::<S>(4).await;
    let all = machines(&group(&stage, "web").await);
    for _ in 0..3 {
        let stay = stage.cloud().remove("web", &[&all[0], &all[2]]).await.unwrap();
        assert!(stay.is_empty(), "{stay:?}");
    }
    let after = until(&stage, "web", |group| machines(group).len() == 2).await;
    assert_eq!((after.target, machines(&after)), (2, vec![all[1].clone(), all[3].clone()]));
    // One that is gone and one that is not yet.
    stage.cloud().remove("web", &[&all[0], &all[1]]).await.unwrap();
    let after = until(&stage, "web", |group| machines(group).len() == 1).await;
    assert_eq!((after.target, machines(&after)), (1, vec![all[3].clone()]));
}

pub(crate) async fn a_machine_that_is_replaced_goes_and_another_comes<S: Stage>() {
    let stage = web::<S>(3).await;
    let all = machines(&group(&stage, "web").await);
    let stay = stage.cloud().replace("web", &[&all[1]]).await.unwrap();
    assert!(stay.is_empty(), "{stay:?}");
    let renewed = |machines: &[String]| machines.len() == 3 && !machines.contains(&all[1]);
    let after = until(&stage, "web", |group| renewed(&machines(group))).await;
    assert_eq!(after.target, 3);
    let after = machines(&after);
    assert!(after.contains(&all[0]) && after.contains(&all[2]), "{after:?}");
}

pub(crate) async fn replacing_again_replaces_nothing_more<S: Stage>() {
    let stage = web::<S>(3).await;
    let all = machines(&group(&stage, "web").await);
    for _ in 0..3 {
        let stay = stage.cloud().replace("web", &[&all[1]]).await.unwrap();
        assert!(stay.is_empty(), "{stay:?}");
    }
    let after = until(&stage, "web", |group| machines(group).len() == 3 && group.target == 3).await;
    let kept: Vec<_> = machines(&after).into_iter().filter(|machine| all.contains(machine)).collect();
    assert_eq!(kept, [all[0].clone(), all[2].clone()]);
}

pub(crate) async fn a_machine_of_another_group_stays_and_the_others_go<S: Stage>() {
    let stage = S::start(&[WEB.of(2), DB.of(2)], Fence::open()).await;
    let own = machines(&group(&stage, "web").await);
    let foreign = machines(&group(&stage, "db").await);
    let stay = stage.cloud().remove("web", &[&foreign[0], &own[0]]).await.unwrap();
    assert_eq!(ids(&stay), [&foreign[0]]);
    assert!(matches!(&stay[0].reason, CloudError::NotInGroup { .. }), "{stay:?}");
    let after = until(&stage, "web", |group| machines(group).len() == 1).await;
    assert_eq!((after.target, machines(&after)), (1, vec![own[1].clone()]));
    let stay = stage.cloud().replace("web", &[&foreign[1]]).await.unwrap();
    assert_eq!(ids(&stay), [&foreign[1]]);
    let other = group(&stage, "db").await;
    assert_eq!((other.target, machines(&other)), (2, foreign));
}

pub(crate) async fn a_machine_that_cannot_go_stays_and_the_others_go<S: Stage>() {
    let stage = web::<S>(4).await;
    let all = machines(&group(&stage, "web").await);
    if !stage.hold(&all[1]).await {
        return;
    }
    let stay = stage.cloud().remove("web", &refs(&all[..3])).await.unwrap();
    assert_eq!(ids(&stay), [&all[1]], "{stay:?}");
    let after = until(&stage, "web", |group| machines(group).len() == 2).await;
    assert_eq!((after.target, machines(&after)), (2, vec![all[1].clone(), all[3].clone()]));
}

pub(crate) async fn a_machine_that_cannot_be_replaced_stays_and_the_others_are<S: Stage>() {
    let stage = web::<S>(4).await;
    let all = machines(&group(&stage, "web").await);
    if !stage.hold(&all[1]).await {
        return;
    }
    let stay = stage.cloud().replace("web", &refs(&all[..3])).await.unwrap();
    assert_eq!(ids(&stay), [&all[1]], "{stay:?}");
    let renewed =
        |machines: &[String]| machines.len() == 4 && !machines.contains(&all[0]) && !machines.contains(&all[2]);
    let after = until(&stage, "web", |group| group.target == 4 && renewed(&machines(group))).await;
    assert!(machines(&after).contains(&all[1]) && machines(&after).contains(&all[3]), "{after:?}");
}

pub(crate) async fn as_many_go_as_the_minimum_allows<S: Stage>() {
    if !S::LIMITS {
        return;
    }
    let stage = S::start(&[Given { min: 2, ..WEB.of(4) }], Fence::open()).await;
    let all = machines(&group(&stage, "web").await);
    let stay = stage.cloud().remove("web", &refs(&all[..3])).await.unwrap();
    assert_eq!(stay.len(), 1, "{stay:?}");
    let Stays { machine, reason } = &stay[0];
    assert!(all[..3].contains(machine));
    assert!(matches!(reason, CloudError::OutsideLimits { wanted: 1, min: 2, max: 10, .. }), "{reason:?}");
    let after = until(&stage, "web", |group| machines(group).len() == 2).await;
    assert_eq!(after.target, 2);
    assert!(machines(&after).contains(machine) && machines(&after).contains(&all[3]), "{after:?}");
}

pub(crate) async fn no_machine_is_asked_to_go<S: Stage>() {
    let stage = web::<S>(2).await;
    assert!(stage.cloud().remove("web", &[]).await.unwrap().is_empty());
    assert!(stage.cloud().replace("web", &[]).await.unwrap().is_empty());
    let after = group(&stage, "web").await;
    assert_eq!((after.target, machines(&after).len()), (2, 2));
}
