use axum::http::Method;
use expect_test::expect;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::api::status;
use super::{Api, Reaction};
use crate::bulletin::{About, Bulletin, Event, Tone};
use crate::cluster::ClusterError;
use crate::cluster::kubernetes::News;
use crate::fence::Fence;

const EVENTS: &str = "/api/v1/namespaces/shop/events";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn pod(name: &str) -> About {
    About::Pod { namespace: "shop".into(), name: name.into() }
}

fn waits(name: &str, message: &str) -> Event {
    Event {
        about: pod(name),
        tone: Tone::Normal,
        reason: "NotTriggerScaleUp",
        message: message.to_owned(),
        lasting: Some("".into()),
    }
}

fn once(about: About, message: &str) -> Event {
    Event { about, tone: Tone::Warning, reason: "ScaleDownFailed", message: message.to_owned(), lasting: None }
}

fn server() -> (Api, News) {
    let api = Api::default();
    api.put("/api/v1/namespaces/shop/pods/a", json!({}));
    api.put("/api/v1/namespaces/headroom/configmaps/headroom-status", json!({}));
    let news = News::new(api.client(Fence::open()), "headroom");
    (api, news)
}

/// All events of a namespace, without what the server adds.
fn written(api: &Api, namespace: &str) -> Vec<Value> {
    let mut events = api.under(&format!("/api/v1/namespaces/{namespace}/events/"));
    for event in &mut events {
        let metadata = event["metadata"].as_object_mut().unwrap();
        metadata.retain(|key, _| key == "name" || key == "namespace");
    }
    events
}

#[tokio::test]
async fn events_are_found_by_the_object_that_they_are_about() {
    let (api, news) = server();
    let events = vec![
        once(About::Headroom, "of the program"),
        once(About::Node("n1".into()), "of a node"),
        once(pod("a"), "of a pod"),
        once(pod("gone"), "of one that is gone"),
    ];
    news.tell(events, at(0)).await.unwrap();
    expect![[r#"
        [
          {
            "apiVersion": "v1",
            "count": 1,
            "firstTimestamp": "2023-11-14T22:13:20Z",
            "involvedObject": {
              "apiVersion": "v1",
              "kind": "Pod",
              "name": "a",
              "namespace": "shop",
              "uid": "uid-1"
            },
            "kind": "Event",
            "lastTimestamp": "2023-11-14T22:13:20Z",
            "message": "of a pod",
            "metadata": {
              "name": "a.17979cfe362a0003",
              "namespace": "shop"
            },
            "reason": "ScaleDownFailed",
            "reportingComponent": "headroom",
            "reportingInstance": "",
            "source": {
              "component": "headroom"
            },
            "type": "Warning"
          },
          {
            "apiVersion": "v1",
            "count": 1,
            "firstTimestamp": "2023-11-14T22:13:20Z",
            "involvedObject": {
              "apiVersion": "v1",
              "kind": "Pod",
              "name": "gone",
              "namespace": "shop"
            },
            "kind": "Event",
            "lastTimestamp": "2023-11-14T22:13:20Z",
            "message": "of one that is gone",
            "metadata": {
              "name": "gone.17979cfe362a0004",
              "namespace": "shop"
            },
            "reason": "ScaleDownFailed",
            "reportingComponent": "headroom",
            "reportingInstance": "",
            "source": {
              "component": "headroom"
            },
            "type": "Warning"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&written(&api, "shop")).unwrap());
    let involved = |namespace| written(&api, namespace)[0]["involvedObject"].to_string();
    expect![[r#"
        {"apiVersion":"v1","kind":"ConfigMap","name":"headroom-status","namespace":"headroom","uid":"uid-2"}
        {"apiVersion":"v1","kind":"Node","name":"n1","uid":"n1"}"#]]
    .assert_eq(&[involved("headroom"), involved("default")].join("\n"));
}

#[tokio::test]
async fn what_lasts_is_counted_and_written_again_after_a_while_in_the_words_of_then() {
    let (api, news) = server();
    for second in 0..=300 {
        news.tell(vec![waits("a", &format!("{second} pods wait"))], at(second)).await.unwrap();
    }
    let [event] = &written(&api, "shop")[..] else { panic!("one event: {:?}", written(&api, "shop")) };
    assert_eq!((&event["count"], &event["message"]), (&json!(301), &json!("300 pods wait")));
    assert_eq!(event["firstTimestamp"], json!(at(0).to_string()));
    assert_eq!(event["lastTimestamp"], json!(at(300).to_string()));
    assert_eq!(api.writes().len(), 2, "{:?}", api.writes());
}

#[tokio::test]
async fn what_the_server_has_forgotten_is_written_anew() {
    let (api, news) = server();
    news.tell(vec![waits("a", "no room")], at(0)).await.unwrap();
    let name = written(&api, "shop")[0]["metadata"]["name"].as_str().unwrap().to_owned();
    api.remove(&format!("{EVENTS}/{name}"));
    news.tell(vec![waits("a", "no room")], at(400)).await.unwrap();
    assert_eq!(written(&api, "shop")[0]["count"], 2);
    // What did not come for long is another one.
    news.tell(vec![waits("a", "no room")], at(400) + SignedDuration::from_hours(1)).await.unwrap();
    assert_eq!(written(&api, "shop").len(), 2);
}

#[tokio::test]
async fn no_more_is_written_at_once_than_is_good_and_the_rest_comes_later() {
    let (api, news) = server();
    let all: Vec<Event> = (0..120).map(|number| waits(&format!("p{number:03}"), "no room")).collect();
    let mut counts = Vec::new();
    for second in 0..4 {
        news.tell(all.clone(), at(second)).await.unwrap();
        counts.push(written(&api, "shop").len());
    }
    assert_eq!(counts, [50, 100, 120, 120]);
    // The same twice is one.
    news.tell(vec![once(pod("a"), "x"), once(pod("a"), "x")], at(5)).await.unwrap();
    assert_eq!(written(&api, "shop").len(), 121);
}

#[tokio::test]
async fn long_messages_and_names_are_cut_where_the_api_takes_them() {
    let (api, news) = server();
    let name = format!("{}.{}", "a".repeat(218), "b".repeat(30));
    news.tell(vec![waits(&name, &"ü".repeat(600))], at(0)).await.unwrap();
    let event = &written(&api, "shop")[0];
    assert_eq!(event["message"].as_str().unwrap().len(), 1024);
    let written = event["metadata"]["name"].as_str().unwrap();
    assert!(written.len() <= 253 && written.starts_with(&"a".repeat(218)), "{written}");
    assert_eq!(event["involvedObject"]["name"], json!(name));
}

#[tokio::test]
async fn a_failure_is_said_and_tried_again_and_ends_the_rest() {
    let (api, news) = server();
    api.next(Method::POST, "/events", Reaction::Answer(status(403, "Forbidden", "events is forbidden")));
    let all: Vec<Event> = (0..40).map(|number| waits(&format!("p{number:03}"), "no room")).collect();
    let error = news.tell(all.clone(), at(0)).await.unwrap_err();
    assert!(matches!(error, ClusterError::Forbidden { .. }), "{error}");
    assert_eq!(written(&api, "shop").len(), 9, "those that were under way with it");
    news.tell(all, at(1)).await.unwrap();
    assert_eq!(written(&api, "shop").len(), 40);
}

#[tokio::test]
async fn a_namespace_on_its_way_out_takes_none_and_that_is_no_error() {
    let (api, news) = server();
    let mut answer = status(403, "Forbidden", "unable to create new content in namespace shop");
    answer["details"] = json!({ "causes": [{ "reason": "NamespaceTerminating" }] });
    api.next(Method::POST, "/events", Reaction::Answer(answer));
    news.tell(vec![waits("a", "no room")], at(0)).await.unwrap();
}

#[tokio::test]
async fn an_instance_that_does_not_lead_writes_nothing() {
    let (api, _) = server();
    let news = News::new(api.client(Fence::closed()), "headroom");
    let error = news.tell(vec![waits("a", "no room")], at(0)).await.unwrap_err();
    assert!(matches!(error, ClusterError::NotLeading), "{error}");
    assert_eq!(api.writes(), [""; 0]);
}
