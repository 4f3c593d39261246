//! Where credentials come from, by the chain that every AWS program has: requests are signed with them, they are fetched
//! anew when they have run out, and nobody is told a secret.

mod endpoints;
mod stage;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use self::stage::{Stage, error, json, no_groups, secrets, xml};
use crate::contract::secrets::are_not_in;

const REGION: (&str, &str) = ("AWS_REGION", "eu-west-1");
const LATER: &str = "2099-01-01T00:00:00Z";
const PAST: &str = "2020-01-01T00:00:00Z";

/// Auto Scaling answers, and STS gives each role a key of its own.
fn aws(what: &str, _: usize) -> Response {
    match what {
        "DescribeAutoScalingGroups" => no_groups(),
        "AssumeRole" | "AssumeRoleWithWebIdentity" => xml(what, "AKIDROLE"),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// What a program says that asked, with these keys having been in play.
fn keeps_secrets(told: &str, keys: &[&str]) {
    let secrets: Vec<String> = keys.iter().flat_map(|key| secrets(key)).collect();
    are_not_in(&secrets, told);
    assert!(told.contains("the log is read") || told.contains("Aws {"), "{told}");
}

#[tokio::test]
async fn a_key_in_the_environment_signs() {
    let stage = Stage::start(aws).await;
    let [secret, token] = secrets("AKIDENV");
    let environment =
        [REGION, ("AWS_ACCESS_KEY_ID", "AKIDENV"), ("AWS_SECRET_ACCESS_KEY", &secret), ("AWS_SESSION_TOKEN", &token)];
    let told = stage.ask(1, &environment).await;
    assert!(told.contains("has 0 groups"), "{told}");
    assert_eq!(stage.keys(), ["AKIDENV"]);
    let asked = stage.asked("DescribeAutoScalingGroups").remove(0);
    assert!(asked.header("authorization").contains("/eu-west-1/autoscaling/aws4_request"));
    assert_eq!(asked.header("x-amz-security-token"), token);
    keeps_secrets(&told, &["AKIDENV"]);
}

#[tokio::test]
async fn a_profile_has_a_key_and_a_region() {
    let stage = Stage::start(aws).await;
    let [secret, _] = secrets("AKIDPROFILE");
    let keys = format!("[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = {secret}\n");
    let (keys, config) = (stage.file("keys", &keys), stage.file("config", "[profile work]\nregion = eu-north-1\n"));
    let files = [("AWS_SHARED_CREDENTIALS_FILE", &*keys), ("AWS_CONFIG_FILE", &config), ("AWS_PROFILE", "work")];
    let told = stage.ask(1, &files).await;
    assert_eq!(stage.keys(), ["AKIDPROFILE"], "{told}");
    let asked = stage.asked("DescribeAutoScalingGroups").remove(0);
    assert!(asked.header("authorization").contains("/eu-north-1/autoscaling/"));
    keeps_secrets(&told, &["AKIDPROFILE"]);
}

#[tokio::test]
async fn a_profile_may_assume_a_role() {
    let stage = Stage::start(aws).await;
    let [secret, _] = secrets("AKIDSOURCE");
    let keys = format!("[source]\naws_access_key_id = AKIDSOURCE\naws_secret_access_key = {secret}\n");
    let role = "arn:aws:iam::111122223333:role/by-profile";
    let config = format!("[profile work]\nrole_arn = {role}\nsource_profile = source\n");
    let (keys, config) = (stage.file("keys", &keys), stage.file("config", &config));
    let files =
        [("AWS_SHARED_CREDENTIALS_FILE", &*keys), ("AWS_CONFIG_FILE", &config), ("AWS_PROFILE", "work"), REGION];
    let told = stage.ask(2, &files).await;
    let assumed = stage.asked("AssumeRole");
    assert_eq!(assumed.len(), 1, "once for both rounds: {told}");
    assert_eq!((assumed[0].key(), &*assumed[0].parameters["RoleArn"]), ("AKIDSOURCE", role));
    assert_eq!(stage.keys(), ["AKIDROLE", "AKIDROLE"]);
    keeps_secrets(&told, &["AKIDSOURCE", "AKIDROLE"]);
}

#[tokio::test]
async fn a_role_of_a_group_is_assumed_with_what_the_chain_finds() {
    let stage = Stage::start(aws).await;
    let [secret, _] = secrets("AKIDENV");
    let role = "arn:aws:iam::111122223333:role/of-the-group";
    let environment = [REGION, ("AWS_ACCESS_KEY_ID", "AKIDENV"), ("AWS_SECRET_ACCESS_KEY", &*secret), ("ROLE", role)];
    let told = stage.ask(2, &environment).await;
    let assumed = stage.asked("AssumeRole");
    assert_eq!(assumed.len(), 1, "once for both rounds: {told}");
    assert_eq!((assumed[0].key(), &*assumed[0].parameters["RoleArn"]), ("AKIDENV", role));
    assert_eq!(assumed[0].parameters["RoleSessionName"], "headroom");
    assert_eq!(stage.keys(), ["AKIDROLE", "AKIDROLE"]);
    keeps_secrets(&told, &["AKIDENV", "AKIDROLE"]);
}

/// IRSA.
#[tokio::test]
async fn a_token_of_a_service_account_is_changed_for_a_key() {
    let stage = Stage::start(aws).await;
    let role = "arn:aws:iam::111122223333:role/irsa";
    let token = "eyJ-the-token-of-a-service-account";
    let file = stage.file("token", token);
    let told = stage.ask(2, &[REGION, ("AWS_WEB_IDENTITY_TOKEN_FILE", &file), ("AWS_ROLE_ARN", role)]).await;
    let changed = stage.asked("AssumeRoleWithWebIdentity");
    assert_eq!(changed.len(), 1, "once for both rounds: {told}");
    let parameters = &changed[0].parameters;
    assert_eq!((&*parameters["RoleArn"], &*parameters["WebIdentityToken"], changed[0].key()), (role, token, ""));
    assert_eq!(stage.keys(), ["AKIDROLE", "AKIDROLE"]);
    keeps_secrets(&told, &["AKIDROLE"]);
    are_not_in(&[token.to_owned()], &told);
}

/// EKS Pod Identity: the agent on the node, with a token in a file. What has run out is asked for again.
#[tokio::test]
async fn the_agent_of_pod_identity_is_asked_again_when_its_credentials_have_run_out() {
    let stage = Stage::start(|what, before| match (what, before) {
        ("GET /v1/credentials", 0) => json("AKIDFIRST", PAST),
        ("GET /v1/credentials", _) => json("AKIDSECOND", LATER),
        _ => aws(what, before),
    })
    .await;
    let uri = format!("{}/v1/credentials", stage.address);
    let file = stage.file("token", "the-token-of-the-agent");
    let agent = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*uri), ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &*file)];
    let told = stage.ask(3, &[agent[0], agent[1], REGION]).await;
    assert_eq!(stage.keys(), ["AKIDFIRST", "AKIDSECOND", "AKIDSECOND"], "{told}");
    let fetched = stage.asked("GET /v1/credentials");
    assert!(fetched.iter().all(|asked| asked.header("authorization") == "the-token-of-the-agent"), "{fetched:?}");
    keeps_secrets(&told, &["AKIDFIRST", "AKIDSECOND"]);
    are_not_in(&["the-token-of-the-agent".to_owned()], &told);
}

/// Version 2: nothing is told without a token.
#[tokio::test]
async fn an_instance_has_a_region_and_a_role() {
    let stage = Stage::start(|what, before| match what {
        "PUT /latest/api/token" => ([("x-aws-ec2-metadata-token-ttl-seconds", "21600")], "imds-token").into_response(),
        "GET /latest/meta-data/placement/region" => "eu-south-1".into_response(),
        "GET /latest/meta-data/iam/security-credentials/" => "node".into_response(),
        "GET /latest/meta-data/iam/security-credentials/node" => json("AKIDNODE", LATER),
        _ => aws(what, before),
    })
    .await;
    let metadata = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*stage.address), ("AWS_EC2_METADATA_DISABLED", "false")];
    let told = stage.ask(1, &metadata).await;
    assert_eq!(stage.keys(), ["AKIDNODE"], "{told}");
    let asked = stage.asked("DescribeAutoScalingGroups").remove(0);
    assert!(asked.header("authorization").contains("/eu-south-1/autoscaling/"));
    let role = stage.asked("GET /latest/meta-data/iam/security-credentials/node").remove(0);
    assert_eq!(role.header("x-aws-ec2-metadata-token"), "imds-token");
    keeps_secrets(&told, &["AKIDNODE"]);
}

/// AWS may end a session before its time.
#[tokio::test]
async fn credentials_that_aws_does_not_take_any_more_are_fetched_once_more() {
    let stage = Stage::start(|what, before| match (what, before) {
        ("GET /credentials", 0) => json("AKIDFIRST", LATER),
        ("GET /credentials", _) => json("AKIDSECOND", LATER),
        ("DescribeAutoScalingGroups", 0) => error(StatusCode::FORBIDDEN, "ExpiredToken"),
        _ => aws(what, before),
    })
    .await;
    let uri = format!("{}/credentials", stage.address);
    let told = stage.ask(1, &[REGION, ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*uri)]).await;
    assert_eq!(stage.keys(), ["AKIDFIRST", "AKIDSECOND"], "{told}");
    assert!(told.contains("has 0 groups"), "{told}");
    keeps_secrets(&told, &["AKIDFIRST", "AKIDSECOND"]);
}

#[tokio::test]
async fn where_there_are_no_credentials_the_reason_is_told() {
    let refusing = |what: &str, before| match what {
        "AssumeRole" | "AssumeRoleWithWebIdentity" => error(StatusCode::FORBIDDEN, "AccessDenied"),
        "GET /credentials" => StatusCode::FORBIDDEN.into_response(),
        _ => aws(what, before),
    };
    let stage = Stage::start(refusing).await;
    let [secret, _] = secrets("AKIDENV");
    let token = stage.file("token", "eyJ-the-token-of-a-service-account");
    let refused = format!("{}/credentials", stage.address);
    let key = [("AWS_ACCESS_KEY_ID", "AKIDENV"), ("AWS_SECRET_ACCESS_KEY", &*secret)];
    let role = ("ROLE", "arn:aws:iam::1:role/r");
    let irsa = [("AWS_WEB_IDENTITY_TOKEN_FILE", &*token), ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r")];
    let gone = [("AWS_WEB_IDENTITY_TOKEN_FILE", "/no/such/file"), ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r")];
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[REGION], "there are no credentials"),
        (&[REGION, key[0], key[1], role], "AccessDenied"),
        (&[REGION, irsa[0], irsa[1]], "AccessDenied"),
        (&[REGION, gone[0], gone[1]], "there are no credentials"),
        (&[REGION, ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &refused)], "there are no credentials"),
        (&[REGION, ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/")], "there are no credentials"),
    ];
    for (environment, reason) in cases {
        let told = stage.ask(1, environment).await;
        let (_, said) =
            told.split_once("error: the cloud does not accept Headroom's credentials: ").unwrap_or_default();
        let (said, _) = said.split_once("; hint: renew them").unwrap_or_default();
        assert!(said.contains(reason), "{environment:?}: {told}");
        keeps_secrets(&told, &["AKIDENV"]);
        are_not_in(&["eyJ-the-token-of-a-service-account".to_owned()], &told);
    }
    assert_eq!(stage.keys(), Vec::<String>::new(), "nothing is sent unsigned");
    let told = stage.ask(1, &[key[0], key[1]]).await;
    assert!(told.contains("no region is set; hint: set AWS_REGION"), "{told}");
}
