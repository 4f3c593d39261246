//! Headroom is killed after any of its calls, or before its answer came, and starts again.

use headroom_adapters::cloud::Cloud as _;
use headroom_adapters::cloud::kwok::Kwok;

use super::{NODES, kwok, look, states, until, web, with_running};
use crate::api_server::{ApiServer, Fault};

/// More than any of these operations has.
const CALLS: usize = 6;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Grow,
    Shrink,
    Remove,
    Replace,
}

impl Operation {
    /// Brings the group, which had four machines, to what is wanted, as a loop does that looks before it acts.
    async fn carry_out(self, cloud: &Kwok) -> Result<(), String> {
        let said = |error: headroom_adapters::cloud::CloudError| error.to_string();
        let size = cloud.groups().await.map_err(said)?[0].target;
        match self {
            Operation::Grow => cloud.resize("web", size, 7).await,
            Operation::Shrink => cloud.resize("web", size, 2).await,
            Operation::Remove => cloud.remove("web", &["kwok://web-00002", "kwok://web-00003"]).await.map(drop),
            Operation::Replace => cloud.replace("web", &["kwok://web-00002", "kwok://web-00003"]).await.map(drop),
        }
        .map_err(said)
    }

    fn left(self) -> &'static [&'static str] {
        match self {
            Operation::Grow => {
                &["web-00001", "web-00002", "web-00003", "web-00004", "web-00005", "web-00006", "web-00007"]
            }
            Operation::Shrink => &["web-00001", "web-00002"],
            Operation::Remove => &["web-00001", "web-00004"],
            Operation::Replace => &["web-00001", "web-00004", "web-00005", "web-00006"],
        }
    }
}

#[tokio::test]
async fn whatever_call_was_the_last_one_it_comes_to_the_same() {
    for operation in [Operation::Grow, Operation::Shrink, Operation::Remove, Operation::Replace] {
        let mut struck = 0;
        for (after, applies) in (0..CALLS).flat_map(|after| [(after, false), (after, true)]) {
            let server = ApiServer::start().await;
            drop(with_running(&server, 4).await);
            server.set_fault(Some(Fault::CutOff { after, applies }));
            let killed = kwok(&server, web());
            let _lost = operation.carry_out(&killed).await;
            // What it does by itself ends there too.
            for _ in 0..20 {
                tokio::task::yield_now().await;
                let _lost = killed.groups().await;
            }
            drop(killed);
            struck += usize::from(server.writes() > after);
            server.set_fault(None);

            let next = kwok(&server, web());
            operation.carry_out(&next).await.unwrap();
            let count = operation.left().len();
            let group = until(&next, |group| states(group) == [0, count, 0, 0]).await;
            assert_eq!(group.target as usize, count, "{operation:?} cut off after {after} ({applies})");
            assert_eq!(server.names(NODES), operation.left(), "{operation:?} cut off after {after} ({applies})");
        }
        assert!(struck >= 4, "{operation:?} was cut off {struck} times only");
    }
}

#[tokio::test]
async fn what_was_asked_for_comes_although_nobody_asks_again() {
    let server = ApiServer::start().await;
    let killed = kwok(&server, web());
    server.set_fault(Some(Fault::CutOff { after: 1, applies: false }));
    killed.resize("web", 0, 3).await.unwrap();
    drop(killed);
    server.set_fault(None);
    assert_eq!(server.names(NODES), [""; 0]);
    let next = kwok(&server, web());
    assert_eq!(look(&next).await.target, 3);
    until(&next, |group| states(group) == [0, 3, 0, 0]).await;
}
