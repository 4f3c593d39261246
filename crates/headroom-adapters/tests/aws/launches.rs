//! Machines that cannot be had, by what an Auto Scaling group says of its own attempts.

use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::fence::Fence;
use headroom_core::snapshot::{LaunchError, LaunchFailure};

use super::{account, look, named};
use crate::fake_aws::{Answer, FakeAws, group, nothing};

const NO_CAPACITY: &str = "We currently do not have sufficient m5.large capacity in the Availability Zone you requested \
                           (eu-west-1a). Launching EC2 instance failed.";

/// An attempt: when, what came of it, and why.
pub(super) type Attempt = (&'static str, &'static str, &'static str);

/// What a group that lacks a machine says after these attempts, the latest first.
async fn after(attempts: &'static [Attempt]) -> Option<LaunchFailure> {
    let server = FakeAws::start(move |call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 9, 2], &[("i-1", "InService")], ""),
        "DescribeScalingActivities" => {
            assert_eq!(call["AutoScalingGroupName"], "web");
            activities(attempts)
        }
        action => nothing(action),
    })
    .await;
    look(&Aws::new(account(&server.endpoint), vec![named("web")], Fence::open())).await.failure
}

/// What a group says of them.
pub(super) fn activities(attempts: &[Attempt]) -> Answer {
    let activity = |(at, status, why): &Attempt| {
        let what =
            if why.starts_with("ending") { "Terminating EC2 instance: i-9" } else { "Launching a new EC2 instance" };
        format!(
            "<member><ActivityId>1</ActivityId><Description>{what}</Description><Cause>desired capacity</Cause>\
             <StartTime>{at}</StartTime><StatusCode>{status}</StatusCode><StatusMessage>{why}</StatusMessage></member>"
        )
    };
    let all: String = attempts.iter().map(activity).collect();
    let result =
        format!("<DescribeScalingActivitiesResult><Activities>{all}</Activities></DescribeScalingActivitiesResult>");
    Answer::Xml(format!("<DescribeScalingActivitiesResponse>{result}</DescribeScalingActivitiesResponse>"))
}

#[tokio::test]
async fn a_launch_that_fails_is_told_at_once_with_its_reason() {
    let failure = after(&[("2026-03-02T10:15:00.123Z", "Failed", NO_CAPACITY)]).await.expect("a failure");
    assert_eq!(failure.at, "2026-03-02T10:15:00.123Z".parse().unwrap());
    assert_eq!((failure.error, &*failure.message), (LaunchError::OutOfStock, NO_CAPACITY));
}

#[tokio::test]
async fn what_is_out_of_stock_is_told_from_what_is_refused() {
    const STOCK: [&[Attempt]; 4] = [
        &[(
            "2026-03-02T10:15:00Z",
            "Failed",
            "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have",
        )],
        &[(
            "2026-03-02T10:15:00Z",
            "Failed",
            "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity",
        )],
        &[("2026-03-02T10:15:00Z", "Failed", "There is no Spot capacity available that matches your request.")],
        &[("2026-03-02T10:15:00Z", "Failed", "InsufficientHostCapacity")],
    ];
    for attempts in STOCK {
        assert_eq!(after(attempts).await.map(|failure| failure.error), Some(LaunchError::OutOfStock), "{attempts:?}");
    }
    const REFUSED: [&[Attempt]; 3] = [
        &[(
            "2026-03-02T10:15:00Z",
            "Failed",
            "You have requested more vCPU capacity than your current vCPU limit of 32 allows",
        )],
        &[("2026-03-02T10:15:00Z", "Failed", "The image id '[ami-1]' does not exist. Launching EC2 instance failed.")],
        &[("2026-03-02T10:15:00Z", "Failed", "Could not launch Spot Instances. MaxSpotInstanceCountExceeded")],
    ];
    for attempts in REFUSED {
        assert_eq!(after(attempts).await.map(|failure| failure.error), Some(LaunchError::Refused), "{attempts:?}");
    }
}

#[tokio::test]
async fn the_latest_attempt_counts() {
    let over = after(&[("2026-03-02T10:16:00Z", "InProgress", ""), ("2026-03-02T10:15:00Z", "Failed", NO_CAPACITY)]);
    assert_eq!(over.await, None, "another zone is tried");
    let twice = after(&[
        ("2026-03-02T10:17:00Z", "Successful", "ending i-9"),
        ("2026-03-02T10:16:00Z", "Failed", "The image does not exist"),
        ("2026-03-02T10:15:00Z", "Successful", ""),
        ("2026-03-02T10:14:00Z", "Failed", NO_CAPACITY),
    ]);
    let twice = twice.await.expect("the later one");
    assert_eq!((twice.at, twice.error), ("2026-03-02T10:16:00Z".parse().unwrap(), LaunchError::Refused));
    let together =
        after(&[("2026-03-02T10:16:00Z", "Successful", ""), ("2026-03-02T10:16:00Z", "Failed", NO_CAPACITY)]);
    assert!(together.await.is_some(), "of several at once some fail");
    assert_eq!(after(&[]).await, None);
}

#[tokio::test]
async fn a_group_with_all_its_machines_is_not_asked_and_one_that_hides_its_attempts_is_a_group() {
    let server = FakeAws::start(|call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 9, 1], &[("i-1", "Pending:Wait"), ("i-2", "Terminating")], ""),
        action => nothing(action),
    })
    .await;
    look(&Aws::new(account(&server.endpoint), vec![named("web")], Fence::open())).await;
    assert_eq!(server.asked("DescribeScalingActivities"), 0);

    let server = FakeAws::start(|call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 9, 2], &[("i-1", "InService")], ""),
        "DescribeScalingActivities" => Answer::Error(403, "AccessDenied", "no"),
        action => nothing(action),
    })
    .await;
    let found = look(&Aws::new(account(&server.endpoint), vec![named("web")], Fence::open())).await;
    assert_eq!((found.target, found.failure), (2, None));
}
