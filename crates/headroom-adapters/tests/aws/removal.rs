//! Machines go.

use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::cloud::{Cloud as _, CloudError};
use headroom_adapters::fence::Fence;

use super::{account, alive, look, named, over};
use crate::fake_aws::{Answer, FakeAws, done, group, nothing};
use crate::moto::Moto;

fn refs(machines: &[String]) -> Vec<&str> {
    machines.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn machines_go_and_the_size_with_them() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("shrinks", [0, 5, 4], &[]).await;
    let aws = over(&moto, "shrinks");
    let before = alive(&look(&aws).await);
    let stay = aws.remove("shrinks", &refs(&before[1..3])).await.unwrap();
    assert!(stay.is_empty(), "{stay:?}");
    let after = look(&aws).await;
    assert_eq!((after.target, alive(&after)), (2, vec![before[0].clone(), before[3].clone()]));
    let again = aws.remove("shrinks", &refs(&before[1..3])).await.unwrap();
    assert!(again.is_empty(), "what has gone already is no error: {again:?}");
    assert_eq!(look(&aws).await.target, 2);
}

#[tokio::test]
async fn another_machine_comes_for_one_that_is_replaced() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("replaces", [2, 5, 2], &[]).await;
    let aws = over(&moto, "replaces");
    let before = alive(&look(&aws).await);
    let stay = aws.replace("replaces", &refs(&before[..1])).await.unwrap();
    assert!(stay.is_empty(), "{stay:?}");
    let after = look(&aws).await;
    assert_eq!((after.target, alive(&after).len()), (2, 2));
    assert!(!alive(&after).contains(&before[0]), "{after:?}");
    assert!(alive(&after).contains(&before[1]), "{after:?}");
}

#[tokio::test]
async fn of_a_batch_that_would_pass_the_minimum_as_many_go_as_may() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("minimal", [2, 5, 3], &[]).await;
    let aws = over(&moto, "minimal");
    let before = alive(&look(&aws).await);
    let stay = aws.remove("minimal", &refs(&before)).await.unwrap();
    assert_eq!(stay.len(), 2, "{stay:?}");
    let held = |reason: &CloudError| matches!(reason, CloudError::OutsideLimits { min: 2, .. });
    assert!(stay.iter().all(|stays| held(&stays.reason)), "{stay:?}");
    assert_eq!(look(&aws).await.target, 2);
}

#[tokio::test]
async fn a_machine_of_somebody_else_stays_and_the_others_go() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("ours", [0, 5, 2], &[]).await;
    moto.group("theirs", [0, 5, 1], &[]).await;
    let aws = over(&moto, "ours");
    let (ours, theirs) = (alive(&look(&aws).await), alive(&look(&over(&moto, "theirs")).await));
    let machines = [&*ours[0], &*theirs[0], "gce://project/zone/vm", "aws:///eu-west-1a/i-0aaaaaaaaaaaaaaaa"];
    let stay = aws.remove("ours", &machines).await.unwrap();
    let mut foreign: Vec<&str> = stay.iter().map(|stays| stays.machine.as_str()).collect();
    foreign.sort_unstable();
    assert_eq!(foreign, [&*theirs[0], "gce://project/zone/vm"], "the last is gone already");
    assert!(stay.iter().all(|stays| matches!(stays.reason, CloudError::NotInGroup { .. })), "{stay:?}");
    assert_eq!(look(&aws).await.target, 1);
    assert_eq!(look(&over(&moto, "theirs")).await.target, 1);
}

#[tokio::test]
async fn nothing_goes_while_terminate_is_suspended_and_nothing_is_replaced_while_launch_is() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("kept", [0, 5, 1], &[]).await;
    let aws = over(&moto, "kept");
    let machines = alive(&look(&aws).await);
    let process = [("AutoScalingGroupName", "kept"), ("ScalingProcesses.member.1", "Launch")];
    moto.call("autoscaling", "SuspendProcesses", &process).await;
    let error = aws.replace("kept", &refs(&machines)).await.unwrap_err();
    assert!(matches!(&error, CloudError::Suspended { process, .. } if process == "Launch"), "{error:?}");
    let process = [("AutoScalingGroupName", "kept"), ("ScalingProcesses.member.1", "Terminate")];
    moto.call("autoscaling", "SuspendProcesses", &process).await;
    let error = aws.remove("kept", &refs(&machines)).await.unwrap_err();
    assert!(matches!(&error, CloudError::Suspended { process, .. } if process == "Terminate"), "{error:?}");
    assert_eq!(alive(&look(&aws).await), machines);
}

/// One is at the minimum by now, one has gone meanwhile, one may not go, and one goes.
#[tokio::test]
async fn what_becomes_of_each_machine_is_told() {
    let server = FakeAws::start(|call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => {
            let machines = ["i-least", "i-gone", "i-kept", "i-goes", "i-ending"];
            let states = ["InService", "InService", "Standby", "Pending:Wait", "Terminating:Wait"];
            let machines: Vec<(&str, &str)> = machines.into_iter().zip(states).collect();
            group("web", [0, 9, 5], &machines, "")
        }
        "TerminateInstanceInAutoScalingGroup" => match call["InstanceId"].as_str() {
            "i-least" => Answer::Error(
                400,
                "ValidationError",
                "Currently, desiredSize equals minSize (4). Terminating instance without replacement will violate \
                 group's min size constraint. Either set shouldDecrementDesiredCapacity flag to false or lower group's \
                 min size.",
            ),
            "i-gone" => Answer::Error(
                400,
                "ValidationError",
                "Instance Id not found - No managed instance found for instance ID i-gone",
            ),
            "i-kept" => Answer::Error(403, "AccessDenied", "User is not authorized"),
            _ => done("TerminateInstanceInAutoScalingGroup"),
        },
        action => nothing(action),
    })
    .await;
    let aws = Aws::new(account(&server.endpoint), vec![named("web")], Fence::open());
    let machines = ["least", "gone", "kept", "goes", "ending"].map(|name| format!("aws:///eu-west-1a/i-{name}"));
    let mut stay = aws.remove("web", &refs(&machines)).await.unwrap();
    stay.sort_by(|a, b| a.machine.cmp(&b.machine));
    let [kept, least] = stay.as_slice() else { panic!("{stay:?}") };
    assert!(kept.machine.ends_with("i-kept") && matches!(kept.reason, CloudError::Forbidden { .. }), "{kept:?}");
    let text = kept.reason.to_string();
    assert!(text.contains("autoscaling:TerminateInstanceInAutoScalingGroup"), "it names the right: {text}");
    assert!(least.machine.ends_with("i-least"), "{least:?}");
    assert!(matches!(least.reason, CloudError::OutsideLimits { .. }), "{least:?}");
    assert_eq!(server.asked("TerminateInstanceInAutoScalingGroup"), 4, "one goes already");
}
