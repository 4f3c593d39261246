//! Whether a group cannot get the machines that it wants, by what it says of its own attempts.

use headroom_core::snapshot::{LaunchError, LaunchFailure};
use jiff::{SignedDuration, Timestamp};

use super::client::{AwsError, Call, Client};
use super::object::auto_scaling::{Activities, Activity, Group};
use super::translate;
use crate::cloud::CloudError;

/// How far back attempts are looked at. Auto Scaling goes on trying as long as machines are missing.
const LATEST: SignedDuration = SignedDuration::from_mins(30);
/// What a text says when a kind of machines is used up.
const OUT_OF_STOCK: [&str; 6] = [
    "insufficientinstancecapacity",
    "insufficienthostcapacity",
    "insufficientreservedinstancecapacity",
    "unfulfillablecapacity",
    "do not have sufficient",
    "there is no spot capacity available",
];

/// The last attempt, if it failed and machines are missing. A group with all its machines is not asked.
pub(super) async fn last(client: &Client, group: &Group) -> Result<Option<LaunchFailure>, AwsError> {
    if translate::alive(group) >= group.desired_capacity {
        return Ok(None);
    }
    let since = Timestamp::now().saturating_sub(LATEST).unwrap_or(Timestamp::MIN);
    let call = Call::auto_scaling("DescribeScalingActivities")
        .with("AutoScalingGroupName", &*group.auto_scaling_group_name)
        .with("Filters.member.1.Name", "StartTimeLowerBound")
        .with("Filters.member.1.Values.member.1", since.to_string());
    let pages: Vec<Activities> = client.pages(&call).await?;
    let activities: Vec<Activity> = pages.into_iter().flat_map(Activities::into_activities).collect();
    Ok(of(&activities))
}

/// The failure among these activities. One that was followed by an attempt which did not fail is over.
fn of(activities: &[Activity]) -> Option<LaunchFailure> {
    let launches = || activities.iter().filter(|activity| activity.description.starts_with("Launching"));
    let is_failed = |activity: &&Activity| activity.status_code == "Failed";
    let failed = launches().filter(is_failed).max_by_key(|activity| activity.start_time)?;
    let later = launches().filter(|activity| !is_failed(activity)).map(|activity| activity.start_time).max();
    (later.is_none_or(|later| later <= failed.start_time)).then(|| LaunchFailure {
        at: failed.start_time,
        error: kind(&failed.status_message),
        message: failed.status_message.as_str().into(),
    })
}

/// Why a fleet has no machine, in the words of the pool that EC2 tried first.
pub(super) fn of_fleet(group: &str, code: &str, message: &str) -> CloudError {
    let reason = match (code, message) {
        ("", "") => "EC2 gave no machine and no reason".to_owned(),
        (code, message) => format!("{code}: {message}"),
    };
    let group = group.to_owned();
    match kind(&reason) {
        LaunchError::OutOfStock => CloudError::OutOfStock { group, reason },
        LaunchError::Refused => CloudError::Refused { verb: "ec2:CreateFleet".to_owned(), group, reason },
    }
}

fn kind(message: &str) -> LaunchError {
    let message = message.to_ascii_lowercase();
    let is_out = OUT_OF_STOCK.iter().any(|words| message.contains(words));
    if is_out { LaunchError::OutOfStock } else { LaunchError::Refused }
}
