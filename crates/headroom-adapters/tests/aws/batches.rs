//! What Escalator's own tests say of its AWS provider, by the numbers that `spec/escalator.md` and its vectors give them.
//! Where Headroom differs, the case says so.

use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::cloud::{Cloud as _, CloudError};
use headroom_adapters::fence::Fence;

use super::{account, named};
use crate::fake_aws::{Answer, FakeAws, done, group, nothing};

/// A group of this size whose machines run. What ends one answers with `ends`.
async fn cloud([min, max, target]: [u32; 3], ends: fn() -> Answer) -> Aws {
    let server = FakeAws::start(move |call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => {
            let ids: Vec<String> = (1..=target).map(|number| format!("i-{number}")).collect();
            let machines: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "InService")).collect();
            group("web", [min, max, target], &machines, "")
        }
        "TerminateInstanceInAutoScalingGroup" => ends(),
        "DescribeInstances" => {
            let state = "<instanceState><name>running</name></instanceState>";
            let found = format!("<instancesSet><item><instanceId>i-foreign</instanceId>{state}</item></instancesSet>");
            Answer::Xml(format!("<R><reservationSet><item>{found}</item></reservationSet></R>"))
        }
        "SetDesiredCapacity" => done("SetDesiredCapacity"),
        action => nothing(action),
    })
    .await;
    Aws::new(account(&server.endpoint), vec![named("web")], Fence::open())
}

fn ends() -> Answer {
    done("TerminateInstanceInAutoScalingGroup")
}

/// E174, E177 and E178, E181: more and fewer, within the limits and beyond them. Escalator's deltas below and of zero
/// (E175, E176, E179) cannot be written: sizes are absolute.
#[tokio::test]
async fn sizes_within_the_limits_are_set_and_others_refused() {
    let one = cloud([0, 10, 1], ends).await;
    one.resize("web", 1, 6).await.unwrap();
    let error = one.resize("web", 1, 21).await.unwrap_err();
    assert!(matches!(error, CloudError::OutsideLimits { wanted: 21, max: 10, .. }), "{error:?}");
    let ten = cloud([1, 10, 10], ends).await;
    let error = ten.resize("web", 10, 0).await.unwrap_err();
    assert!(matches!(error, CloudError::OutsideLimits { wanted: 0, min: 1, .. }), "{error:?}");
    // Escalator lowers the number; here machines that run go one by one.
    let error = ten.resize("web", 10, 5).await.unwrap_err();
    assert!(matches!(error, CloudError::WouldChoose { alive: 10, .. }), "{error:?}");
}

/// E182: two of four.
#[tokio::test]
async fn a_batch_goes() {
    let stay = cloud([1, 9, 4], ends).await.remove("web", &["aws:///z/i-1", "aws:///z/i-2"]).await.unwrap();
    assert!(stay.is_empty(), "{stay:?}");
}

/// E183 on purpose differs: Escalator deletes nothing of a batch that would pass the minimum, Headroom what may go.
#[tokio::test]
async fn of_a_batch_beyond_the_minimum_one_goes() {
    let stay = cloud([1, 9, 2], ends).await.remove("web", &["aws:///z/i-1", "aws:///z/i-2"]).await.unwrap();
    let [held] = stay.as_slice() else { panic!("{stay:?}") };
    assert!(matches!(held.reason, CloudError::OutsideLimits { wanted: 0, min: 1, .. }), "{held:?}");
}

/// E185 on purpose differs: with Escalator one foreign node holds up the whole batch.
#[tokio::test]
async fn a_foreign_machine_holds_up_nobody() {
    let stay = cloud([1, 9, 2], ends).await.remove("web", &["aws:///z/i-foreign", "aws:///z/i-1"]).await.unwrap();
    let [foreign] = stay.as_slice() else { panic!("{stay:?}") };
    assert!(matches!(&foreign.reason, CloudError::NotInGroup { machine, .. } if machine.ends_with("i-foreign")));
}

/// E186: the call fails.
#[tokio::test]
async fn a_machine_that_aws_does_not_end_stays() {
    let refuses = || Answer::Error(400, "ValidationError", "unable to terminate instance");
    let stay = cloud([1, 9, 2], refuses).await.remove("web", &["aws:///z/i-1"]).await.unwrap();
    let [stays] = stay.as_slice() else { panic!("{stay:?}") };
    let text = stays.reason.to_string();
    assert!(matches!(stays.reason, CloudError::Refused { .. }), "{stays:?}");
    assert!(text.contains("unable to terminate instance"), "{text}");
}

/// E195, E197, E198: a machine goes by its provider id.
#[tokio::test]
async fn provider_ids_are_those_of_nodes() {
    let cloud = cloud([0, 9, 1], ends).await;
    let groups = cloud.groups().await.unwrap();
    let machine = &groups[0].instances.as_ref().unwrap()[0].provider_id;
    assert_eq!(&**machine, "aws:///eu-west-1a/i-1");
    let stay = cloud.remove("web", &["fake://provider/id", "aws://", "aws:///", "aws:///z/", ""]).await.unwrap();
    assert_eq!(stay.len(), 5, "{stay:?}");
    assert!(stay.iter().all(|stays| matches!(stays.reason, CloudError::NotInGroup { .. })), "{stay:?}");
}
