//! Calls fail.

use std::time::Duration;

use headroom_adapters::cloud::CloudError;
use headroom_core::snapshot::{InstanceState, LaunchError};
use tokio::time::Instant;

use super::{Stage, TROUBLES, Trouble, group, hurried, machines, until, web};

/// How long any call may take. A deadline may hold for each of the requests that a call needs.
const DEADLINE: Duration = Duration::from_secs(60);

fn is_of_its_kind(trouble: Trouble, error: &CloudError) -> bool {
    match trouble {
        Trouble::Throttled => matches!(error, CloudError::Throttled { .. }),
        Trouble::Unauthorized => matches!(error, CloudError::Unauthorized { .. }),
        Trouble::Silent => matches!(error, CloudError::Timeout { .. }),
        Trouble::Garbage => matches!(error, CloudError::NotUnderstood(_)),
        Trouble::Broken => matches!(error, CloudError::Unreachable(_)),
    }
}

/// What comes of every call that needs the cloud.
pub(super) async fn everything(stage: &impl Stage, machine: &str) -> Vec<(&'static str, Result<(), CloudError>)> {
    let cloud = stage.cloud();
    let machines = [machine];
    let calls = async {
        tokio::join!(
            cloud.groups(),
            cloud.resize("web", 3, 4),
            cloud.remove("web", &machines),
            cloud.replace("web", &machines),
            cloud.template("web"),
        )
    };
    let (groups, resize, remove, replace, template) = hurried(calls).await;
    vec![
        ("groups", groups.map(drop)),
        ("resize", resize),
        ("remove", remove.map(drop)),
        ("replace", replace.map(drop)),
        ("template", template.map(drop)),
    ]
}

pub(crate) async fn every_trouble_is_an_error_of_its_kind<S: Stage>() {
    let stage = web::<S>(3).await;
    let machine = machines(&group(&stage, "web").await).pop().unwrap();
    for trouble in TROUBLES {
        if !stage.trouble(Some(trouble)).await {
            continue;
        }
        let begin = Instant::now();
        for (call, answer) in everything(&stage, &machine).await {
            match answer {
                // What a machine is like may be known already.
                Ok(()) => assert_eq!(call, "template", "{trouble:?}"),
                Err(error) => assert!(is_of_its_kind(trouble, &error), "{call}, {trouble:?}: {error:?}"),
            }
        }
        assert!(begin.elapsed() < DEADLINE, "{trouble:?}: {:?}", begin.elapsed());
    }
}

pub(crate) async fn nothing_is_lost_by_it<S: Stage>() {
    for trouble in TROUBLES {
        let stage = web::<S>(3).await;
        let all = machines(&group(&stage, "web").await);
        if !stage.trouble(Some(trouble)).await {
            continue;
        }
        everything(&stage, &all[0]).await;
        stage.trouble(None).await;
        let after = group(&stage, "web").await;
        assert_eq!((after.target, machines(&after)), (3, all.clone()), "{trouble:?}");
        // The same calls once more come to what they come to without trouble.
        stage.cloud().resize("web", 3, 4).await.unwrap();
        stage.cloud().remove("web", &[&all[0]]).await.unwrap();
        let after = until(&stage, "web", |group| machines(group).len() == 3 && group.target == 3).await;
        assert!(!machines(&after).contains(&all[0]), "{trouble:?}: {after:?}");
    }
}

/// What may be tried again at once is tried a few times, with pauses, and what asks for a pause is given it.
pub(crate) async fn a_cloud_in_trouble_is_not_pressed<S: Stage>() {
    const CALLS: usize = 5;
    const ATTEMPTS: usize = 8;
    let stage = web::<S>(3).await;
    let machine = machines(&group(&stage, "web").await).pop().unwrap();
    for trouble in TROUBLES {
        if stage.trouble(Some(trouble)).await {
            let before = stage.requests();
            everything(&stage, &machine).await;
            let requests = stage.requests() - before;
            assert!((1..=CALLS * ATTEMPTS).contains(&requests), "{trouble:?}: {requests} requests");
        }
    }
}

pub(crate) async fn a_cloud_that_is_sold_out_says_so_and_keeps_what_there_is<S: Stage>() {
    let stage = web::<S>(2).await;
    let before = machines(&group(&stage, "web").await);
    if !stage.sell_out(true).await {
        return;
    }
    match stage.cloud().resize("web", 2, 4).await {
        Err(CloudError::OutOfStock { group, .. }) => assert_eq!(group, "web"),
        // It took the order, and tells of it afterwards.
        Ok(()) => {
            let told = until(&stage, "web", |group| group.failure.is_some()).await.failure.unwrap();
            assert_eq!(told.error, LaunchError::OutOfStock, "{told:?}");
        }
        Err(other) => panic!("{other:?}"),
    }
    let told = group(&stage, "web").await;
    let runs = |machine: &String| {
        let instances = told.instances.iter().flatten();
        instances.filter(|told| told.state == InstanceState::Running).any(|told| *told.provider_id == **machine)
    };
    assert!(before.iter().all(runs), "{told:?}");
    stage.sell_out(false).await;
    stage.cloud().resize("web", told.target, 5).await.unwrap();
    let after = until(&stage, "web", |group| group.target == 5 && machines(group).len() == 5).await;
    assert!(before.iter().all(|machine| machines(&after).contains(machine)), "{after:?}");
}
