use std::sync::Arc;

use axum::http::Method;
use headroom_core::memory::{GroupMemory, Lock, Memory};
use jiff::Timestamp;
use serde_json::json;

use super::api::status;
use super::{Api, Reaction};
use crate::cluster::ClusterError;
use crate::cluster::kubernetes::store::{Store, StoreError};
use crate::fence::Fence;

const PATH: &str = "/api/v1/namespaces/headroom/configmaps/memory";

fn store(api: &Api) -> Store {
    Store::new(api.client(Fence::open()), "headroom", "memory")
}

fn memory(second: i64) -> Memory {
    Memory::fresh(Timestamp::from_second(second).unwrap())
}

/// Of so many groups, each with a name that compresses badly.
fn large(groups: u64) -> Memory {
    let mut state = 1_u64;
    let mut name = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        Arc::from(format!("{state:016x}"))
    };
    let lock = Some(Lock { at: Timestamp::UNIX_EPOCH, requested: 7 });
    let of_group = GroupMemory { lock, ..GroupMemory::default() };
    Memory { groups: (0..groups).map(|_| (name(), of_group.clone())).collect(), ..Memory::default() }
}

#[tokio::test]
async fn a_memory_survives_its_instance() {
    let api = Api::default();
    let first = store(&api);
    assert_eq!(first.load().await.unwrap(), None);
    first.save(&memory(1)).await.unwrap();
    first.save(&memory(2)).await.unwrap();
    assert_eq!(store(&api).load().await.unwrap(), Some(memory(2)));
}

#[tokio::test]
async fn nothing_is_written_that_is_there_already() {
    let api = Api::default();
    let first = store(&api);
    first.save(&memory(1)).await.unwrap();
    first.save(&memory(1)).await.unwrap();
    let second = store(&api);
    second.load().await.unwrap();
    second.save(&memory(1)).await.unwrap();
    assert_eq!(api.writes().len(), 1, "{:?}", api.writes());
}

#[tokio::test]
async fn a_large_memory_is_compressed_and_a_small_one_is_not() {
    let api = Api::default();
    let it = store(&api);
    for (groups, compressed) in [(1, false), (2000, true), (1, false)] {
        it.save(&large(groups)).await.unwrap();
        let found = api.object(PATH).unwrap();
        assert_eq!(found["data"]["memory.json"].is_null(), compressed);
        assert_eq!(!found["binaryData"]["memory.json.zst"].is_null(), compressed);
        assert_eq!(store(&api).load().await.unwrap(), Some(large(groups)));
    }
}

#[tokio::test]
async fn a_memory_that_does_not_fit_leaves_the_one_that_is_there() {
    let api = Api::default();
    let it = store(&api);
    it.save(&memory(1)).await.unwrap();
    let error = it.save(&large(150_000)).await.unwrap_err();
    let StoreError::TooLarge { bytes, packed, limit } = &error else { panic!("{error}") };
    assert!(bytes > packed && packed > limit, "{error}");
    assert!(error.to_string().contains("hint: "), "{error}");
    assert_eq!(store(&api).load().await.unwrap(), Some(memory(1)));
}

#[tokio::test]
async fn what_cannot_be_read_is_said_and_replaced() {
    let corrupt = [
        json!({ "data": { "format": "1", "memory.json": "{\"since\": 7}" } }),
        json!({ "data": { "format": "1" } }),
        json!({ "data": { "format": "one", "memory.json": "{}" } }),
        json!({ "data": { "format": "1" }, "binaryData": { "memory.json.zst": "AAAA" } }),
    ];
    for object in corrupt {
        let api = Api::default();
        api.put(PATH, object.clone());
        let it = store(&api);
        let error = it.load().await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{object}: {error}");
        it.save(&memory(1)).await.unwrap();
        assert_eq!(store(&api).load().await.unwrap(), Some(memory(1)), "{object}");
    }
}

#[tokio::test]
async fn a_later_format_is_said_and_replaced() {
    let api = Api::default();
    api.put(PATH, json!({ "data": { "format": "2", "memory.json": "{}" } }));
    let it = store(&api);
    let error = it.load().await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 2, known: 1, .. }), "{error}");
    it.save(&memory(1)).await.unwrap();
    assert_eq!(store(&api).load().await.unwrap(), Some(memory(1)));
}

#[tokio::test]
async fn two_instances_do_not_overwrite_each_other() {
    let api = Api::default();
    let (first, second) = (store(&api), store(&api));
    first.save(&memory(1)).await.unwrap();
    // One that has not even looked.
    let error = second.save(&memory(2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Overtaken { .. }), "{error}");
    assert_eq!(second.load().await.unwrap(), Some(memory(1)));
    second.save(&memory(2)).await.unwrap();
    for _ in 0..2 {
        let error = first.save(&memory(3)).await.unwrap_err();
        assert!(matches!(error, StoreError::Overtaken { .. }), "{error}");
    }
    assert_eq!(store(&api).load().await.unwrap(), Some(memory(2)));
}

#[tokio::test]
async fn annotations_of_others_stay_and_hinder_nothing() {
    let api = Api::default();
    let it = store(&api);
    it.save(&memory(1)).await.unwrap();
    api.edit(PATH, |found| found["metadata"]["annotations"] = json!({ "headroom.dev/paused": "web" }));
    it.save(&memory(2)).await.unwrap();
    let found = api.object(PATH).unwrap();
    assert_eq!(found["metadata"]["annotations"]["headroom.dev/paused"], "web");
    assert_eq!(store(&api).load().await.unwrap(), Some(memory(2)));
}

#[tokio::test]
async fn a_config_map_that_holds_no_memory_yet_gets_one() {
    let api = Api::default();
    api.put(PATH, json!({ "metadata": { "annotations": { "headroom.dev/paused": "web" } } }));
    let it = store(&api);
    assert_eq!(it.load().await.unwrap(), None);
    it.save(&memory(1)).await.unwrap();
    assert_eq!(store(&api).load().await.unwrap(), Some(memory(1)));
    assert_eq!(api.object(PATH).unwrap()["metadata"]["annotations"]["headroom.dev/paused"], "web");
}

#[tokio::test]
async fn a_config_map_that_somebody_deletes_is_made_anew() {
    let api = Api::default();
    let it = store(&api);
    it.save(&memory(1)).await.unwrap();
    api.remove(PATH);
    it.save(&memory(2)).await.unwrap();
    assert_eq!(store(&api).load().await.unwrap(), Some(memory(2)));
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_is_lost_is_known_again() {
    let api = Api::default();
    let it = store(&api);
    for (method, round) in [(Method::POST, 1), (Method::PATCH, 2)] {
        let end = if method == Method::POST { "/configmaps" } else { "/memory" };
        api.next(method, end, Reaction::Lost);
        let error = it.save(&memory(round)).await.unwrap_err();
        assert!(matches!(error, StoreError::Cluster(ClusterError::Timeout { .. })), "{error}");
        it.save(&memory(round)).await.unwrap();
    }
    // Back to what was there before the lost answer.
    api.next(Method::PATCH, "/memory", Reaction::Lost);
    it.save(&memory(3)).await.unwrap_err();
    it.save(&memory(2)).await.unwrap();
    assert_eq!(store(&api).load().await.unwrap(), Some(memory(2)));
}

#[tokio::test]
async fn what_the_account_may_not_do_is_said() {
    let api = Api::default();
    api.next(Method::GET, "/memory", Reaction::Answer(status(403, "Forbidden", "")));
    let error = store(&api).load().await.unwrap_err();
    assert_eq!(error.to_string(), "not allowed to get ConfigMap headroom/memory; hint: grant it to Headroom's account");
}
