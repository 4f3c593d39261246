//! Room that the cluster keeps free for pods to come.

use headroom_core::policy::{Basis, Largest, Percent, SlackPolicy};

use super::pair::wrong_pair;
use crate::config::kind::{Kind, count, flag, hundredths, words, written};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

/// All of the basis.
const WHOLE: Percent = Percent::whole(100);

/// Ten times the basis. Whoever writes `10` most likely means 10 %.
const TOO_MUCH: Percent = Percent::whole(1_000);

/// What the file says about spare room. Without the key there is none.
#[derive(Default)]
pub(crate) struct Slack {
    pub(super) policy: SlackPolicy,
    places: Places,
}

pub(super) fn kind() -> Kind<Slack> {
    Record::new(
        "slack",
        "Room that is kept free for pods to come, so that they need not wait for a machine. It is kept by placeholders: \
         pods that live only inside Headroom, for which nodes of groups with the strategy `pending` are bought and kept \
         as for others, and which give way to real pods. With `slack: {}` room is kept for what asks for some: marked \
         workloads and CapacityBuffers. [slack.md](slack.md) explains all of it; a group may keep room of its own with \
         [`spare`](configuration.md#groupsspare).",
        start,
    )
    .field(
        "rate",
        rate().optional(),
        |slack| &mut slack.policy.rate,
        "Keep this share of `basis` free, in placeholders that are no larger than the largest pod. Other placeholders \
         count towards it, but not those of groups and of CapacityBuffers. Left out: none.",
    )
    .field(
        "basis",
        words(&[
            ("requested", Basis::Requested, "of what pods request"),
            ("capacity", Basis::Capacity, "of what nodes offer, the room that is kept included"),
        ]),
        |slack| &mut slack.policy.basis,
        "What `rate` is a share of.",
    )
    .field(
        "granularity",
        count(1),
        |slack| &mut slack.policy.granularity,
        "A placeholder of `rate` is at most as large as the average node divided by this.",
    )
    .field(
        "largest",
        words(&[
            ("off", Largest::Off, "none"),
            (
                "pods",
                Largest::Pods,
                "one more of the pod that requests most cpu, and one more of the pod that requests most memory",
            ),
            ("combined", Largest::Combined, "a pod with the most cpu of the one and the most memory of the other"),
        ]),
        |slack| &mut slack.policy.largest,
        "Keep room for the largest pods. A workload annotated with `headroom.dev/spare-copies: \"0\"` does not count.",
    )
    .field(
        "marked",
        flag(),
        |slack| &mut slack.policy.marked,
        "Keep room for as many copies as the annotation `headroom.dev/spare-copies` on a Deployment, ReplicaSet, \
         StatefulSet, Job, ReplicationController or Pod says: a number, or a percentage of its replicas.",
    )
    .field(
        "capacityBuffers",
        flag(),
        |slack| &mut slack.policy.buffers,
        "Keep room for the objects of the kind CapacityBuffer (`autoscaling.x-k8s.io`).",
    )
    .check(&["rate", "basis"], never_settles)
    .placed(|slack, places| slack.places = places.clone())
    .kind()
}

/// Whoever writes the key wants what asks for room to get some.
fn start() -> Slack {
    Slack { policy: SlackPolicy { marked: true, buffers: true, ..SlackPolicy::default() }, places: Places::default() }
}

/// `0.1` or `10%`.
fn rate() -> Kind<Percent> {
    let parse = |text: &str| {
        let rate = match text.strip_suffix('%') {
            Some(percent) => hundredths(percent.trim_end()),
            None => ten_thousandths(text),
        };
        match rate.map(Percent) {
            Some(Percent(0)) => Err("remove it to keep none".to_owned()),
            Some(rate) if rate >= TOO_MUCH && text.ends_with('%') => Err("write less than 1000%".to_owned()),
            Some(rate) if rate >= TOO_MUCH => Err(format!("write {text}% for {text} hundredths, or less than 10")),
            Some(rate) => Ok(rate),
            None if text.starts_with('-') => Err("write a number above 0, or remove it to keep none".to_owned()),
            None => Err("write a number with at most four decimals, or two and a percent sign".to_owned()),
        }
    };
    let show = |rate: &Percent| format!("{rate}%");
    let pattern = r"^(\d+(\.\d{1,4})?|\d+(\.\d{1,2})? *%)$";
    written("a share such as 0.1 or 10%", pattern, parse, show)
}

/// `0.125` as 1250. None for anything that is not a number with at most four decimals.
fn ten_thousandths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str, most: usize| (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, 5) || !digits(decimals, 4) {
        return None;
    }
    let parts = format!("{decimals:0<4}").parse::<u32>().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(10_000)?.checked_add(parts)
}

fn never_settles(slack: &Slack, at: &Places, problems: &mut Problems) {
    let SlackPolicy { rate: Some(rate), basis: Basis::Capacity, .. } = &slack.policy else { return };
    if *rate >= WHOLE {
        let message = format!(
            "{rate}% of the `capacity` can never be free: the room that is kept is a part of it, so that every new node \
             asks for another"
        );
        let hint = "write `basis: requested`, or a rate below 1";
        problems.add(wrong_pair(at, message, ("rate", "basis"), hint));
    }
}

impl Slack {
    /// Keys that decide nothing, since another one is missing.
    pub(super) fn warnings(&self) -> Vec<Problem> {
        let idle =
            ["basis", "granularity"].into_iter().filter(|key| self.places.has(key) && self.policy.rate.is_none());
        idle.map(|key| {
            let message = format!("`{key}` decides nothing without `rate`");
            Problem::at(self.places.of(key), message, "remove it, or add `rate: 0.1`")
        })
        .collect()
    }
}
