//! What goes wrong becomes an error that says what it is, after as many attempts as make sense.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use headroom_adapters::cloud::aws::{Account, Aws};
use headroom_adapters::cloud::{Cloud as _, CloudError};
use headroom_adapters::fence::Fence;

use super::{account, look, named};
use crate::fake_aws::{Answer, FakeAws, done, group, nothing};

fn aws(server: &FakeAws) -> Aws {
    Aws::new(account(&server.endpoint), vec![named("web")], Fence::open())
}

fn web() -> Answer {
    group("web", [0, 9, 1], &[("i-1", "InService")], "")
}

/// A server that answers so to `action`, and to the others as a healthy one.
async fn where_it_answers(
    action: &'static str,
    answer: impl Fn(usize) -> Answer + Clone + Send + Sync + 'static,
) -> FakeAws {
    let asked = Arc::new(AtomicUsize::new(0));
    FakeAws::start(move |call| match call["Action"].as_str() {
        asked_for if asked_for == action => answer(asked.fetch_add(1, Ordering::SeqCst)),
        "DescribeAutoScalingGroups" => web(),
        "SetDesiredCapacity" => done("SetDesiredCapacity"),
        other => nothing(other),
    })
    .await
}

#[tokio::test]
async fn a_throttled_call_is_tried_again_with_growing_pauses() {
    let answer = |asked| match asked {
        0..2 => Answer::Error(400, "Throttling", "Rate exceeded"),
        _ => done("SetDesiredCapacity"),
    };
    let server = where_it_answers("SetDesiredCapacity", answer).await;
    let start = Instant::now();
    aws(&server).resize("web", 1, 2).await.unwrap();
    assert_eq!(server.asked("SetDesiredCapacity"), 3);
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_call_that_stays_throttled_ends_as_an_error() {
    for (status, code) in [(400, "RequestLimitExceeded"), (503, "Throttling"), (400, "ScalingActivityInProgress")] {
        let server = where_it_answers("SetDesiredCapacity", move |_| Answer::Error(status, code, "later")).await;
        let error = aws(&server).resize("web", 1, 2).await.unwrap_err();
        assert!(matches!(&error, CloudError::Throttled { reason, .. } if reason.contains(code)), "{error:?}");
        // More than seven would be as many pauses as have no room in what a call may take.
        let asked = server.asked("SetDesiredCapacity");
        assert!((4..=7).contains(&asked), "{asked}");
    }
}

/// A last attempt in what is left of eight seconds would be given up before its answer: whether the change was made
/// would not be known.
#[tokio::test]
async fn what_has_no_time_for_another_attempt_ends_as_what_it_was_told() {
    let busy = || (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "2")], "busy").into_response();
    let answer = move |_| Answer::Late(Duration::from_millis(600), busy());
    let server = where_it_answers("SetDesiredCapacity", answer).await;
    let error = aws(&server).resize("web", 1, 2).await.unwrap_err();
    let two = Some(Duration::from_secs(2));
    assert!(matches!(error, CloudError::Throttled { retry_after, .. } if retry_after == two), "{error:?}");
}

#[tokio::test]
async fn a_server_that_says_how_long_to_wait_is_left_alone_so_long() {
    let answer = |_| Answer::Other((StatusCode::TOO_MANY_REQUESTS, [("retry-after", "30")], "busy").into_response());
    let server = where_it_answers("DescribeAutoScalingGroups", answer).await;
    let error = aws(&server).groups().await.unwrap_err();
    let thirty = Some(Duration::from_secs(30));
    assert!(matches!(error, CloudError::Throttled { retry_after, .. } if retry_after == thirty), "{error:?}");
    assert_eq!(server.asked("DescribeAutoScalingGroups"), 1);
}

/// Other credentials may be had by now, so it is tried once more.
#[tokio::test]
async fn expired_credentials_are_an_error_of_their_own() {
    for code in ["ExpiredToken", "RequestExpired", "InvalidClientTokenId", "AuthFailure", "SignatureDoesNotMatch"] {
        let answer = move |_| {
            Answer::Error(403, code, "The security token included in the request is expired\nX-Amz-Security-Token:abc")
        };
        let server = where_it_answers("DescribeAutoScalingGroups", answer).await;
        let error = aws(&server).groups().await.unwrap_err();
        assert!(matches!(&error, CloudError::Unauthorized { reason } if reason.contains(code)), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("abc"), "what was signed may hold a token: {error:?}");
        assert_eq!(server.asked("DescribeAutoScalingGroups"), 2);
    }
}

#[tokio::test]
async fn a_missing_right_is_named() {
    let answer = |_| Answer::Error(403, "AccessDenied", "User: arn:aws:iam::1:user/x is not authorized");
    let server = where_it_answers("SetDesiredCapacity", answer).await;
    let error = aws(&server).resize("web", 1, 2).await.unwrap_err();
    assert!(
        matches!(&error, CloudError::Forbidden { verb, .. } if verb == "autoscaling:SetDesiredCapacity"),
        "{error:?}"
    );
    assert_eq!(server.asked("SetDesiredCapacity"), 1);
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_no_answer() {
    let bodies = ["", "<html>", "{\"groups\": []}", "<DescribeAutoScalingGroupsResponse/>", "\u{0}", "<A><B></A></B>"];
    for body in bodies {
        let server = where_it_answers("DescribeAutoScalingGroups", move |_| Answer::Xml(body.to_owned())).await;
        let error = aws(&server).groups().await.unwrap_err();
        assert!(matches!(error, CloudError::NotUnderstood(_)), "{body:?}: {error:?}");
    }
    let server = where_it_answers("DescribeAutoScalingGroups", |_| {
        Answer::Other((StatusCode::BAD_REQUEST, "no").into_response())
    })
    .await;
    let error = aws(&server).groups().await.unwrap_err();
    assert!(matches!(error, CloudError::NotUnderstood(_)), "{error:?}");
}

/// Numbers that are none, or too large, are garbage too.
#[tokio::test]
async fn numbers_that_cannot_be_are_not_believed() {
    for wrong in ["-1", "4294967296", "many", ""] {
        let answer = move |_| match web() {
            Answer::Xml(body) => Answer::Xml(body.replace("<MaxSize>9<", &format!("<MaxSize>{wrong}<"))),
            other => other,
        };
        let server = where_it_answers("DescribeAutoScalingGroups", answer).await;
        let error = aws(&server).groups().await.unwrap_err();
        assert!(matches!(error, CloudError::NotUnderstood(_)), "{wrong}: {error:?}");
    }
}

#[tokio::test]
async fn a_reading_is_tried_again_where_aws_is_in_trouble_and_a_change_is_not() {
    let broken = |_| Answer::Error(500, "InternalFailure", "oops");
    let server = where_it_answers("SetDesiredCapacity", broken).await;
    let error = aws(&server).resize("web", 1, 2).await.unwrap_err();
    assert!(matches!(error, CloudError::Unreachable(_)), "{error:?}");
    assert_eq!(server.asked("SetDesiredCapacity"), 1, "it may have been done");

    let recovers = |asked| if asked == 0 { Answer::Error(503, "ServiceUnavailable", "") } else { web() };
    let server = where_it_answers("DescribeAutoScalingGroups", recovers).await;
    assert_eq!(look(&aws(&server)).await.target, 1);
}

#[tokio::test]
async fn a_change_without_an_answer_ends_in_time() {
    let server = where_it_answers("SetDesiredCapacity", |_| Answer::Silence).await;
    let error = aws(&server).resize("web", 1, 2).await.unwrap_err();
    assert!(matches!(error, CloudError::Timeout { seconds: 5, .. }), "{error:?}");
    assert_eq!(server.asked("SetDesiredCapacity"), 1, "it may have been done");
}

#[tokio::test]
async fn nobody_at_the_endpoint_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let aws = Aws::new(account(&endpoint), vec![named("web")], Fence::open());
    let error = aws.groups().await.unwrap_err();
    assert!(matches!(error, CloudError::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn nothing_is_changed_while_the_fence_is_closed() {
    let server = where_it_answers("", |_| web()).await;
    let fence = Fence::open();
    let aws = Aws::new(account(&server.endpoint), vec![named("web")], fence.clone());
    fence.close();
    let error = aws.resize("web", 1, 2).await.unwrap_err();
    assert!(matches!(error, CloudError::NotLeading), "{error:?}");
    let error = aws.remove("web", &["aws:///eu-west-1a/i-1"]).await.unwrap_err();
    assert!(matches!(error, CloudError::NotLeading), "{error:?}");
    let error = aws.replace("web", &["aws:///eu-west-1a/i-1"]).await.unwrap_err();
    assert!(matches!(error, CloudError::NotLeading), "{error:?}");
    assert_eq!(look(&aws).await.target, 1, "it may be read");
    let changes = server.calls().into_iter().filter(|call| !call["Action"].starts_with("Describe")).count();
    assert_eq!(changes, 0);
}

#[tokio::test]
async fn no_secret_is_printed_or_sent() {
    let server = where_it_answers("", |_| web()).await;
    let aws = aws(&server);
    look(&aws).await;
    let secret = account("").key.unwrap().secret;
    let printed = format!("{aws:?} {:?}", account(&server.endpoint));
    assert!(!printed.contains(&*secret), "{printed}");
    let headers = format!("{:?}", server.headers());
    assert!(headers.contains("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"), "{headers}");
    assert!(headers.contains("/eu-west-1/autoscaling/aws4_request"), "{headers}");
    assert!(!headers.contains(&*secret), "{headers}");
}

#[tokio::test]
async fn a_group_that_nobody_configured_is_refused() {
    let aws = Aws::new(Account::default(), Vec::new(), Fence::open());
    let error = aws.resize("web", 1, 2).await.unwrap_err();
    assert!(matches!(error, CloudError::NoSuchGroup { .. }), "{error:?}");
}
