//! The size of a group is set.

use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::cloud::{Cloud as _, CloudError};
use headroom_adapters::fence::Fence;

use super::{account, alive, look, named, over};
use crate::fake_aws::{Answer, FakeAws, done, group, nothing};
use crate::moto::Moto;

#[tokio::test]
async fn a_group_gets_the_size_that_is_wanted() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("grows", [0, 5, 1], &[]).await;
    let aws = over(&moto, "grows");
    aws.resize("grows", 1, 4).await.unwrap();
    let found = look(&aws).await;
    assert_eq!((found.target, alive(&found).len()), (4, 4));
    aws.resize("grows", 4, 4).await.unwrap();
    assert_eq!(look(&aws).await, found, "nothing came of it");
}

#[tokio::test]
async fn a_size_for_which_no_plan_was_made_is_left() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("stale", [0, 5, 2], &[]).await;
    let aws = over(&moto, "stale");
    let error = aws.resize("stale", 1, 4).await.unwrap_err();
    assert!(matches!(error, CloudError::StaleSize { planned: 1, actual: 2, .. }), "{error:?}");
    assert_eq!(look(&aws).await.target, 2);
}

#[tokio::test]
async fn the_limits_of_the_auto_scaling_group_hold() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("limited", [2, 5, 3], &[]).await;
    let aws = over(&moto, "limited");
    for wanted in [1, 6] {
        let error = aws.resize("limited", 3, wanted).await.unwrap_err();
        assert!(matches!(error, CloudError::OutsideLimits { min: 2, max: 5, .. }), "{error:?}");
    }
    assert_eq!(look(&aws).await.target, 3);
}

/// moto takes any size; AWS refuses one when the limits have changed after they were read.
#[tokio::test]
async fn a_refusal_at_a_limit_is_told_as_one() {
    let messages = [
        "New SetDesiredCapacity value 9 is above max value 5 for the AutoScalingGroup.",
        "New SetDesiredCapacity value 9 is below min value 10 for the AutoScalingGroup.",
    ];
    for message in messages {
        let server = FakeAws::start(move |call| match call["Action"].as_str() {
            "DescribeAutoScalingGroups" => group("web", [0, 20, 3], &[], ""),
            _ => Answer::Error(400, "ValidationError", message),
        })
        .await;
        let aws = Aws::new(account(&server.endpoint), vec![named("web")], Fence::open());
        let error = aws.resize("web", 3, 9).await.unwrap_err();
        assert!(matches!(error, CloudError::OutsideLimits { wanted: 9, .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_group_does_not_grow_while_launch_is_suspended() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("suspended", [0, 5, 1], &[]).await;
    let process = [("AutoScalingGroupName", "suspended"), ("ScalingProcesses.member.1", "Launch")];
    moto.call("autoscaling", "SuspendProcesses", &process).await;
    let aws = over(&moto, "suspended");
    let error = aws.resize("suspended", 1, 2).await.unwrap_err();
    assert!(matches!(&error, CloudError::Suspended { process, .. } if process == "Launch"), "{error:?}");
    assert_eq!(look(&aws).await.target, 1);
    moto.call("autoscaling", "ResumeProcesses", &process).await;
    aws.resize("suspended", 1, 2).await.unwrap();
}

/// Auto Scaling would choose which machines go.
#[tokio::test]
async fn a_size_below_the_machines_that_are_there_is_refused_and_one_above_taken_back() {
    let server = FakeAws::start(|call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => {
            group("web", [0, 9, 5], &[("i-1", "InService"), ("i-2", "Pending"), ("i-3", "Terminating")], "")
        }
        "SetDesiredCapacity" => done("SetDesiredCapacity"),
        action => nothing(action),
    })
    .await;
    let aws = Aws::new(account(&server.endpoint), vec![named("web")], Fence::open());
    let error = aws.resize("web", 5, 1).await.unwrap_err();
    assert!(matches!(error, CloudError::WouldChoose { wanted: 1, alive: 2, .. }), "{error:?}");
    aws.resize("web", 5, 2).await.unwrap();
    let set = server.calls().into_iter().find(|call| call["Action"] == "SetDesiredCapacity").unwrap();
    assert_eq!((&*set["DesiredCapacity"], &*set["HonorCooldown"]), ("2", "false"));
    assert_eq!(server.asked("SetDesiredCapacity"), 1);
}
