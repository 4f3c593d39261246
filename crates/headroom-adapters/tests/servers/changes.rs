//! Sizes, removals, and servers that nobody remembers.

use std::num::NonZeroUsize;
use std::time::Duration;

use headroom_adapters::cloud::servers::process::Process;
use headroom_adapters::cloud::servers::{ServerGroup, Servers};
use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_adapters::fence::Fence;

use super::shed::{Shed, group, jobs, show};

#[tokio::test]
async fn servers_that_nobody_remembers_are_servers_of_their_group() {
    let shed = Shed::new();
    for id in ["a", "b", "c", "d", "e"] {
        shed.server(id, "prod", "jobs");
    }
    let cloud = shed.cloud();
    let group = jobs(&cloud).await;
    assert_eq!(group.target, 5);
    let first = group.instances.expect("machines").remove(0);
    assert_eq!(&*first.provider_id, "process://a");
    assert_eq!(first.addresses, ["a", "jobs-a"].map(Box::<str>::from), "its id, then its name");
    cloud.resize("jobs", 5, 6).await.expect("one more");
    assert_eq!(show(&cloud).await, "6, 6 Running");
    assert_eq!(shed.calls(), "create first");
}

#[tokio::test]
async fn servers_of_another_cluster_do_not_exist() {
    let shed = Shed::new();
    // The same account, the same name of a group.
    shed.server("ours", "prod", "jobs");
    shed.server("theirs", "staging", "jobs");
    let (ours, theirs) = (shed.cloud(), shed.cloud_of("staging", shed.commands(), Fence::open()));
    assert_eq!((show(&ours).await, show(&theirs).await), ("1, 1 Running".into(), "1, 1 Running".into()));
    let stay = ours.remove("jobs", &["process://theirs"]).await.expect("nothing to do");
    assert!(stay.is_empty());
    assert_eq!(shed.calls(), "", "nothing is deleted");
    ours.remove("jobs", &["process://ours"]).await.expect("it goes");
    assert_eq!((show(&ours).await, show(&theirs).await), ("0".into(), "1, 1 Running".into()));
}

#[tokio::test]
async fn a_size_that_changed_is_not_changed_again() {
    let shed = Shed::new();
    shed.server("a", "prod", "jobs");
    let cloud = shed.cloud();
    let error = cloud.resize("jobs", 0, 1).await.expect_err("there is one");
    assert_eq!(error.to_string(), "jobs has size 1, the plan was made for 0");
    let error = cloud.resize("jobs", 1, 0).await.expect_err("which one?");
    assert_eq!(error.to_string(), "jobs has 1 machines and would lose some of the cloud's choice with size 0");
    let error = cloud.resize("unknown", 0, 1).await.expect_err("no such group");
    assert!(matches!(error, CloudError::NoSuchGroup { .. }));
    assert_eq!(shed.calls(), "");
}

#[tokio::test]
async fn of_machines_that_are_to_go_those_go_that_can() {
    let shed = Shed::new().with("stuck-b");
    for (id, pool) in [("a", "jobs"), ("b", "jobs"), ("c", "edge")] {
        shed.server(id, "prod", pool);
    }
    let cloud = shed.cloud();
    let machines = ["process://a", "process://b", "process://c", "process://gone"];
    let stay = cloud.remove("jobs", &machines).await.expect("an answer");
    let stay: Vec<String> = stay.into_iter().map(|stays| format!("{}: {}", stays.machine, stays.reason)).collect();
    let foreign = "process://c: process://c is no machine of jobs";
    let locked = "process://b: the cloud refuses to delete a server of jobs: it is locked";
    assert_eq!(stay, [foreign, locked]);
    assert_eq!(show(&cloud).await, "1, 1 Running");
}

#[tokio::test]
async fn a_replaced_server_gives_way_to_another() {
    let shed = Shed::new();
    shed.server("a", "prod", "jobs");
    let cloud = shed.cloud();
    assert!(cloud.replace("jobs", &["process://a"]).await.expect("replaced").is_empty());
    let machines = jobs(&cloud).await.instances.expect("machines");
    assert_eq!(machines.len(), 1);
    assert_ne!(&*machines[0].provider_id, "process://a");
}

#[tokio::test]
async fn nothing_is_begun_behind_a_closed_fence() {
    let shed = Shed::new();
    shed.server("a", "prod", "jobs");
    let cloud = shed.cloud_of("prod", shed.commands(), Fence::closed());
    assert!(matches!(cloud.resize("jobs", 1, 2).await, Err(CloudError::NotLeading)));
    assert!(matches!(cloud.remove("jobs", &["process://a"]).await, Err(CloudError::NotLeading)));
    assert_eq!((shed.calls(), show(&cloud).await), (String::new(), "1, 1 Running".to_owned()));
}

#[tokio::test]
async fn servers_that_are_being_asked_for_count() {
    let shed = Shed::new().with("slow");
    let cloud = shed.cloud();
    let resize = cloud.resize("jobs", 0, 2);
    let look = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        show(&cloud).await
    };
    let (resized, meanwhile) = tokio::join!(resize, look);
    resized.expect("two servers");
    assert!(meanwhile.starts_with('2'), "{meanwhile}");
    assert_eq!(show(&cloud).await, "2, 2 Running");
    // One that is broken off is in the list, or it never was.
    let broken_off = tokio::time::timeout(Duration::from_millis(500), cloud.resize("jobs", 2, 4)).await;
    assert!(broken_off.is_err());
    assert_eq!(show(&cloud).await, "2, 2 Running");
}

/// As many as the configuration says are made at the same time, and no more.
#[tokio::test]
async fn servers_are_made_side_by_side_but_not_all_at_once() {
    let shed = Shed::new().with("hold");
    let process = Process::new(shed.commands(), "prod".into(), Fence::open());
    let two = ServerGroup { parallel: NonZeroUsize::MIN.saturating_add(1), ..group("jobs") };
    let cloud = Servers::new(process, "prod".into(), vec![two]);
    let look = async {
        while shed.calls() != "create first, create first" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let meanwhile = shed.calls();
        shed.without("hold");
        meanwhile
    };
    let (resized, meanwhile) = tokio::join!(cloud.resize("jobs", 0, 3), look);
    resized.expect("three servers");
    assert_eq!(meanwhile, "create first, create first", "the third waits");
    assert_eq!(shed.calls(), "create first, create first, create first");
}
