//! The first hardware that can be had, and what is left of an order that failed.

use std::time::Duration;

use headroom_adapters::cloud::servers::process::{Commands, Process};
use headroom_adapters::cloud::servers::{ServerGroup, Servers};
use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_adapters::fence::Fence;
use jiff::SignedDuration;

use super::shed::{Shed, group, jobs, show};

#[tokio::test]
async fn the_first_hardware_that_can_be_had_is_taken_and_what_was_sold_out_comes_last() {
    let shed = Shed::new().with("sold-out-first");
    let cloud = shed.cloud();
    cloud.resize("jobs", 0, 2).await.expect("two servers");
    assert_eq!(shed.calls(), "create first, create second, create second");
    assert_eq!(show(&cloud).await, "2, 2 Running");
    // It is tried all the same before nothing is made at all.
    let shed = shed.with("sold-out-second");
    shed.without("sold-out-first");
    cloud.resize("jobs", 2, 3).await.expect("a server");
    assert!(shed.calls().ends_with(", create second, create first"), "{}", shed.calls());
    let user_data = std::fs::read_to_string(shed.path("user-data")).expect("user data");
    assert_eq!(user_data, "I am first of jobs first size\n");
}

#[tokio::test]
async fn what_was_sold_out_is_tried_first_again_after_a_time() {
    let shed = Shed::new().with("sold-out-first");
    let process = Process::new(shed.commands(), "prod".into(), Fence::open());
    let soon = ServerGroup { retry_hardware_after: Duration::ZERO, ..group("jobs") };
    let cloud = Servers::new(process, "prod".into(), vec![soon]);
    cloud.resize("jobs", 0, 2).await.expect("two servers");
    assert_eq!(shed.calls(), "create first, create second, create first, create second");
}

#[tokio::test]
async fn a_failed_order_is_cleaned_up_before_anything_else_is_tried() {
    let shed = Shed::new().with("breaks-first");
    let cloud = shed.cloud();
    cloud.resize("jobs", 0, 1).await.expect("a server");
    assert_eq!(shed.calls(), "create first, delete, create second");
    assert_eq!(show(&cloud).await, "1, 1 Running");
}

#[tokio::test]
async fn what_cannot_be_cleaned_up_is_said_to_have_failed() {
    let shed = Shed::new().with("breaks-first").with("stuck");
    let cloud = shed.cloud();
    let error = cloud.resize("jobs", 0, 3).await.expect_err("nothing can be deleted");
    assert_eq!(error.to_string(), "the cloud refuses to make a server of jobs: it is locked");
    assert_eq!(shed.calls(), "create first, delete", "nothing else is tried");
    assert_eq!(show(&cloud).await, "1, 1 Failed; the cloud refuses to make a server of jobs: it is locked");
    // Once it can be deleted it goes by its name like any other.
    shed.without("stuck");
    let machine = jobs(&cloud).await.instances.expect("machines").remove(0).provider_id;
    assert!(cloud.remove("jobs", &[&machine]).await.expect("it goes").is_empty());
    assert!(show(&cloud).await.starts_with('0'));
}

#[tokio::test]
async fn a_server_whose_answer_was_lost_is_the_one_that_was_asked_for() {
    let shed = Shed::new().with("hangs-first");
    let commands = Commands { timeout: SignedDuration::from_secs(4), ..shed.commands() };
    let cloud = shed.cloud_of("prod", commands, Fence::open());
    cloud.resize("jobs", 0, 1).await.expect("it is in the list");
    assert_eq!(shed.calls(), "create first");
    assert_eq!(show(&cloud).await, "1, 1 Running");
}

#[tokio::test]
async fn when_nothing_can_be_had_the_group_says_so_until_something_can() {
    let shed = Shed::new().with("sold-out-first").with("sold-out-second");
    let cloud = shed.cloud();
    let error = cloud.resize("jobs", 0, 3).await.expect_err("nothing to be had");
    let message = "the cloud is out of machines for jobs: first: no first left; second: no second left";
    assert!(matches!(error, CloudError::OutOfStock { .. }));
    assert_eq!(error.to_string(), message);
    assert_eq!(shed.calls(), "create first, create second", "the others of the order are not begun");
    assert_eq!(show(&cloud).await, format!("0; {message}"));
    shed.without("sold-out-second");
    cloud.resize("jobs", 0, 1).await.expect("a server");
    assert_eq!(show(&cloud).await, "1, 1 Running");
}

#[tokio::test]
async fn a_command_that_is_not_there_makes_nothing() {
    let shed = Shed::new();
    let commands = Commands { create: vec!["/no/such/command".to_owned()], ..shed.commands() };
    let error = shed.cloud_of("prod", commands, Fence::open()).resize("jobs", 0, 1).await.expect_err("no command");
    let source = std::error::Error::source(&error).expect("a source").to_string();
    assert_eq!(source, "cannot start /no/such/command; hint: check the command in the group's cloud section");
}

#[tokio::test]
async fn a_server_that_holds_the_streams_of_its_command_open_holds_up_nothing() {
    let shed = Shed::new().with("lingers");
    let begun = tokio::time::Instant::now();
    shed.cloud().resize("jobs", 0, 1).await.expect("a server");
    assert!(begun.elapsed() < Duration::from_secs(25), "it was waited for");
}
