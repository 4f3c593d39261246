//! Random settings for the removal of nodes, and pods that are in its way.

use headroom_core::policy::{AtLeast, Budget, Percent, Removal, ScaleDown, ScaleDownPolicy, Share};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::{seconds, span};
use crate::scenario::{Life, PodBudget, PodShare};

/// What all groups share; None now and then: nothing goes.
pub(super) fn shared() -> impl Strategy<Value = Option<ScaleDownPolicy>> {
    let policy = (
        budgets(),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        (1..300_i64, 1..300_i64, 0..300_i64, 0..30_i64, 0..90_i64),
        (0..4_u32, 0..=100_u32),
        option::of(0..4_u32),
    )
        .prop_map(|(budgets, keep, (eviction, end, retry, settle, doubt), (ok, most), nodes)| ScaleDownPolicy {
            budgets,
            keep_for_system_pods: keep.0,
            keep_for_local_storage: keep.1,
            keep_for_custom_controllers: keep.2,
            soft_taint: keep.3,
            eviction_timeout: seconds(eviction),
            end_grace: seconds(end),
            retry_after: seconds(retry),
            settle: seconds(settle),
            doubt: seconds(doubt),
            at_least: AtLeast { nodes, ..AtLeast::default() },
            ok_unready: ok,
            max_unready: Percent::whole(most),
            ..ScaleDownPolicy::default()
        });
    prop_oneof![1 => Just(None), 5 => policy.prop_map(Some)]
}

/// The settings of one group.
pub(super) fn of_group() -> impl Strategy<Value = ScaleDown> {
    (
        (0..=100_u32, 0..=100_u32),
        (0..900_i64, option::of(0..900_i64)),
        (0..300_i64, 0..120_i64, 0..300_i64),
        (any::<bool>(), any::<bool>()),
        budgets(),
    )
        .prop_map(|((threshold, gpu), (unneeded, unready), (add, delete, failure), ignore, budgets)| ScaleDown {
            threshold: Percent::whole(threshold),
            gpu_threshold: Percent::whole(gpu),
            unneeded_for: seconds(unneeded),
            unready_for: unready.map(seconds),
            expire_after: None,
            after_add: seconds(add),
            after_delete: seconds(delete),
            after_failure: seconds(failure),
            ignore_daemon_sets: ignore.0,
            ignore_mirror_pods: ignore.1,
            budgets,
        })
}

fn budgets() -> impl Strategy<Value = Vec<Budget>> {
    let share = prop_oneof![(0..5_u32).prop_map(Share::Nodes), (0..=100_u32).prop_map(percent)];
    let reasons = subsequence(vec![Removal::Empty, Removal::Underutilized, Removal::Unready], 0..3);
    let budget = (share, reasons).prop_map(|(nodes, reasons)| Budget { nodes, reasons, window: None });
    prop::collection::vec(budget, 0..3)
}

fn percent(percent: u32) -> Share {
    Share::Percent(Percent::whole(percent))
}

/// How pods start and end.
pub(super) fn life() -> impl Strategy<Value = Life> {
    let share = select(vec![
        PodShare::Pods(0),
        PodShare::Pods(1),
        PodShare::Pods(3),
        PodShare::Percent(Percent::whole(30)),
        PodShare::Percent(Percent::whole(100)),
    ]);
    let budget = (share, any::<bool>()).prop_map(|(share, least)| match least {
        true => PodBudget::MinAvailable(share),
        false => PodBudget::MaxUnavailable(share),
    });
    (span(300), span(300), option::of(budget), any::<bool>()).prop_map(|(ready_after, stops_in, budget, at_once)| {
        let stops_in = if at_once { Default::default() } else { stops_in };
        Life { ready_after, stops_in, budget }
    })
}
