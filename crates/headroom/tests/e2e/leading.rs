//! Two instances: one acts, and the other takes over when it cannot.

use std::time::Duration;

use jiff::Timestamp;
use rustix::process::Signal;

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, Workload};
use crate::wait::wait_until;

#[tokio::test]
async fn a_second_instance_takes_over_and_a_stopped_leader_writes_nothing_when_it_goes_on() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "leading").await;
    let groups = [group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { min: 0, max: 10 }")];
    let first = Headroom::start(&scene, Role::FirstHeadroom, "", &groups);
    leads("the first instance leads", 30, &first).await;
    let second = Headroom::start(&scene, Role::SecondHeadroom, "", &groups);
    scene.deploy(&Workload::named("web").replicas(4)).await;
    scene.runs("web", 4, 60).await;

    first.signal(Signal::STOP);
    let stopped = Timestamp::now();
    leads("the second instance leads", 60, &second).await;
    scene.scale("web", 8).await;
    scene.runs("web", 8, 60).await;
    first.signal(Signal::CONT);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let writes = plane.audit();
    // What was on its way when the process was stopped may still arrive; the lease is over only 15 s after its last renewal.
    let arrived = stopped + Duration::from_secs(5);
    let late = writes.iter().filter(|write| {
        write.user() == Role::FirstHeadroom.name()
            && write.request_received_timestamp > arrived
            && write.resource() != "leases"
    });
    let late: Vec<_> = late
        .map(|write| {
            let after = write.request_received_timestamp.duration_since(stopped);
            format!("{} {} {}, {after:#} after the stop", write.verb, write.resource(), write.name())
        })
        .collect();
    assert!(late.is_empty(), "the stopped leader wrote {late:?}\n{}", first.log());

    second.kill();
    let turns = || first.log().matches("this instance leads").count();
    wait_until("the first instance leads again", 60, async || if turns() == 2 { Ok(()) } else { Err(first.log()) })
        .await;
    scene.scale("web", 12).await;
    scene.runs("web", 12, 60).await;
    first.stop();
}

async fn leads(what: &str, seconds: u64, headroom: &Headroom) {
    wait_until(what, seconds, async || {
        let log = headroom.log();
        if log.contains("this instance leads") { Ok(()) } else { Err(log) }
    })
    .await;
}
