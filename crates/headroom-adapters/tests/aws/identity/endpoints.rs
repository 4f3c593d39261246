//! Where the APIs are, as the environment says it.

use axum::response::{IntoResponse as _, Response};

use super::aws;
use super::stage::{Stage, secrets};

/// A group whose machines a launch template describes, which EC2 has.
fn with_a_group(what: &str, before: usize) -> Response {
    if what != "DescribeAutoScalingGroups" {
        return aws(what, before);
    }
    let template = "<LaunchTemplate><LaunchTemplateId>lt-1</LaunchTemplateId><Version>1</Version></LaunchTemplate>";
    let group = format!(
        "<member><AutoScalingGroupName>web</AutoScalingGroupName><MinSize>0</MinSize><MaxSize>5</MaxSize>\
         <DesiredCapacity>0</DesiredCapacity>{template}</member>"
    );
    let (answer, result) = ("DescribeAutoScalingGroupsResponse", "DescribeAutoScalingGroupsResult");
    format!("<{answer}><{result}><AutoScalingGroups>{group}</AutoScalingGroups></{result}></{answer}>").into_response()
}

#[tokio::test]
async fn each_api_may_have_an_endpoint_of_its_own() {
    let all = Stage::start(with_a_group).await;
    let [auto_scaling, ec2] = [Stage::start(with_a_group).await, Stage::start(aws).await];
    let [secret, _] = secrets("AKIDENV");
    let environment = [
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIDENV"),
        ("AWS_SECRET_ACCESS_KEY", &secret),
        ("AWS_ENDPOINT_URL_AUTO_SCALING", &auto_scaling.address),
        ("AWS_ENDPOINT_URL_EC2", &ec2.address),
    ];
    let told = all.ask(1, &environment).await;
    assert!(told.contains("has 1 groups"), "{told}");
    let asked = |stage: &Stage| {
        ["DescribeAutoScalingGroups", "DescribeLaunchTemplateVersions"].map(|what| !stage.asked(what).is_empty())
    };
    assert_eq!([&all, &auto_scaling, &ec2].map(asked), [[false, false], [true, false], [false, true]], "{told}");
    // Without them all are at the one endpoint.
    all.ask(1, &environment[..3]).await;
    assert_eq!(asked(&all), [true, true]);
}
