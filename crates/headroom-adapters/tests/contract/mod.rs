//! What every cloud keeps to: the same cases for all, with nothing in them that is of one cloud.
//!
//! A cloud is plugged in by a [`Stage`] and the line `contract::holds!(itsStage);`. What a cloud cannot do (it has no
//! limits, it never throttles) its stage says; everything else has to hold.

#![allow(dead_code, reason = "a stage says that of each what its cloud has")]

pub(crate) mod changes;
pub(crate) mod fenced;
pub(crate) mod log;
pub(crate) mod removals;
pub(crate) mod secrets;
pub(crate) mod sizes;
pub(crate) mod troubles;

use std::time::Duration;

use async_trait::async_trait;
use headroom_adapters::cloud::Cloud;
use headroom_adapters::fence::Fence;
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{CloudGroup, Effect, InstanceState, Taint, Template};

/// Makes a test of each case for one stage.
macro_rules! holds {
    ($stage:ident) => {
        $crate::contract::holds!($stage: sizes {
            what_there_is_is_told,
            what_a_new_machine_is_like_is_told,
        });
        $crate::contract::holds!($stage: changes {
            a_group_grows_to_the_size_that_it_is_given,
            a_size_that_is_there_already_is_no_error,
            a_plan_for_another_size_is_refused,
            a_size_outside_the_limits_is_refused,
            a_group_that_is_not_configured_is_refused,
        });
        $crate::contract::holds!($stage: removals {
            the_machines_that_are_named_go_and_the_size_with_them,
            removing_again_removes_nothing_more,
            a_machine_that_is_replaced_goes_and_another_comes,
            replacing_again_replaces_nothing_more,
            a_machine_of_another_group_stays_and_the_others_go,
            a_machine_that_cannot_go_stays_and_the_others_go,
            a_machine_that_cannot_be_replaced_stays_and_the_others_are,
            as_many_go_as_the_minimum_allows,
            no_machine_is_asked_to_go,
        });
        $crate::contract::holds!($stage: troubles {
            every_trouble_is_an_error_of_its_kind,
            nothing_is_lost_by_it,
            a_cloud_in_trouble_is_not_pressed,
            a_cloud_that_is_sold_out_says_so_and_keeps_what_there_is,
        });
        $crate::contract::holds!($stage: fenced {
            behind_a_closed_fence_nothing_changes_and_everything_can_be_read,
        });
        $crate::contract::holds!($stage: secrets {
            nobody_is_told_a_secret,
        });
    };
    ($stage:ident: $subject:ident { $($case:ident,)+ }) => {
        mod $subject {
            $(
                #[tokio::test]
                async fn $case() {
                    $crate::contract::$subject::$case::<super::$stage>().await;
                }
            )+
        }
    };
}
pub(crate) use holds;

/// A cloud with everything behind it, which does as a test wants.
#[async_trait]
pub(crate) trait Stage: Sized + Send + Sync {
    /// Whether groups have limits of the cloud's own.
    const LIMITS: bool = true;

    /// A cloud with these groups, all of whose machines run. No change passes `fence` while it is closed.
    async fn start(groups: &[Given], fence: Fence) -> Self;

    /// The cloud.
    fn cloud(&self) -> &dyn Cloud;

    /// From now on every call fails like that, or none. False if this cloud cannot fail like that.
    async fn trouble(&self, trouble: Option<Trouble>) -> bool;

    /// From now on there are no machines to be had, or there are again. False if this cloud never runs out of them here.
    async fn sell_out(&self, _out: bool) -> bool {
        false
    }

    /// From now on this machine cannot go, whoever asks. False if machines of this cloud always can.
    async fn hold(&self, _machine: &str) -> bool {
        false
    }

    /// What a new machine of this group is like, as the cloud was told; None when the cloud cannot tell.
    fn template(&self, group: &str) -> Option<Template> {
        Some(machine(group))
    }

    /// How many requests came to the other side so far, refused ones too.
    fn requests(&self) -> usize;

    /// What nobody may be told: tokens, passwords and keys that the cloud goes by.
    fn secrets(&self) -> Vec<String>;

    /// How everything that knows a secret shows itself to whoever looks for a bug.
    fn shown(&self) -> String;
}

/// A group that a case starts with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    /// Its name in the policy: `web` or `db`.
    pub(crate) name: &'static str,
    /// How many machines it has.
    pub(crate) size: u32,
    /// The cloud's own lower limit, if it has limits.
    pub(crate) min: u32,
    /// The upper limit.
    pub(crate) max: u32,
}

/// How calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Too much is asked.
    Throttled,
    /// The credentials are too old.
    Unauthorized,
    /// Nothing is answered.
    Silent,
    /// Something else is answered than what was asked for.
    Garbage,
    /// The cloud has an error of its own.
    Broken,
}

pub(crate) const TROUBLES: [Trouble; 5] =
    [Trouble::Throttled, Trouble::Unauthorized, Trouble::Silent, Trouble::Garbage, Trouble::Broken];

/// What the machines of a group are like.
pub(crate) fn machine(group: &str) -> Template {
    let offers = Resources { pods: 110, ..Resources::new(4000, 16 << 30) };
    let taint = Taint { key: "dedicated".into(), value: group.into(), effect: Effect::NoSchedule };
    let labels = [("pool", group)].into_iter().collect();
    Template { allocatable: offers.clone(), capacity: offers, labels, taints: vec![taint] }
}

/// A stage with a group `web` of so many machines.
async fn web<S: Stage>(size: u32) -> S {
    S::start(&[WEB.of(size)], Fence::open()).await
}

const WEB: Given = Given { name: "web", size: 0, min: 0, max: 10 };
const DB: Given = Given { name: "db", ..WEB };

impl Given {
    const fn of(self, size: u32) -> Self {
        Given { size, ..self }
    }
}

/// The group of this name.
async fn group(stage: &impl Stage, name: &str) -> CloudGroup {
    let groups = stage.cloud().groups().await.unwrap();
    groups.into_iter().find(|group| *group.name == *name).unwrap()
}

/// The machines of a group that are not on their way out, in order.
fn machines(group: &CloudGroup) -> Vec<String> {
    let stay = group.instances.iter().flatten().filter(|instance| instance.state != InstanceState::Deleting);
    let mut ids: Vec<String> = stay.map(|instance| instance.provider_id.to_string()).collect();
    ids.sort_unstable();
    ids
}

/// Looks until the group is as wanted.
pub(crate) async fn until(stage: &impl Stage, name: &str, wanted: impl Fn(&CloudGroup) -> bool) -> CloudGroup {
    for _ in 0..500 {
        let group = group(stage, name).await;
        if wanted(&group) {
            return group;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("not within 10 s: {:#?}", group(stage, name).await);
}

/// What comes of a call while time flies: whatever it waits for comes soon, and an answer takes its real time.
async fn hurried<T>(call: impl Future<Output = T>) -> T {
    tokio::time::pause();
    let flies = async {
        loop {
            // Time does not advance by itself while this sleeps.
            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(20))).await.unwrap();
            tokio::time::advance(Duration::from_millis(250)).await;
        }
    };
    let answer = tokio::select! {
        answer = call => answer,
        () = flies => unreachable!(),
    };
    tokio::time::resume();
    answer
}
