//! How many nodes may be on their way out at once.

use headroom_core::policy::{Budget, Removal, Share, Window};
use jiff::SignedDuration;

use crate::config::kind::{Kind, duration, one_or_more, share, words, written};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

/// A budget as it is read.
#[derive(Default)]
struct Draft {
    nodes: Share,
    reasons: Vec<Removal>,
    schedule: Option<Box<str>>,
    lasts: Option<SignedDuration>,
    time_zone: Option<Box<str>>,
}

impl From<Draft> for Budget {
    fn from(Draft { nodes, reasons, schedule, lasts, time_zone }: Draft) -> Self {
        let window = |(schedule, lasts)| Window { schedule, lasts, time_zone: time_zone.unwrap_or_default() };
        Budget { nodes, reasons, window: schedule.zip(lasts).map(window) }
    }
}

pub(super) fn kind() -> Kind<Budget> {
    Record::new(
        "budgets[]",
        "How many nodes may be on their way out at once: from their taint until they are removed, or until their drain \
         is given up. With a `schedule` the budget is in force at certain times alone: `{ nodes: 0, schedule: \
         \"0 8 * * mon-fri\", duration: 10h, timeZone: Europe/Zurich }` keeps all nodes in office hours.",
        Draft::default,
    )
    .field(
        "nodes",
        share("a number of nodes such as 5, or a percentage such as 10%"),
        |budget| &mut budget.nodes,
        "A number, or a percentage of the nodes that is rounded up.",
    )
    .field(
        "reasons",
        one_or_more(reason()),
        |budget| &mut budget.reasons,
        "Only for nodes that go for one of these reasons, and they alone count. Left out: for all.",
    )
    .field(
        "schedule",
        schedule().optional(),
        |budget| &mut budget.schedule,
        "When it comes into force, as cron has it: minute, hour, day of month, month and day of week, or `@daily` and \
         the like. Left out: it is always in force.",
    )
    .field(
        "duration",
        duration(SignedDuration::from_secs(1)).optional(),
        |budget| &mut budget.lasts,
        "For how long it is in force each time.",
    )
    .field(
        "timeZone",
        time_zone().optional(),
        |budget| &mut budget.time_zone,
        "Where the clock of the `schedule` is, such as `Europe/Zurich`. Left out: UTC.",
    )
    .check(&["schedule", "duration", "timeZone"], belongs_together)
    .kind()
    .map(Budget::from)
}

fn belongs_together(_: &Draft, at: &Places, problems: &mut Problems) {
    let needs = [
        ("schedule", "duration", "add `duration: 8h`, or for how long it is in force"),
        ("duration", "schedule", "add `schedule: \"0 22 * * *\"`, or when it comes into force"),
        ("timeZone", "schedule", "add `schedule: \"0 22 * * *\"`, or when it comes into force"),
    ];
    for (key, other, hint) in needs {
        if at.has(key) && !at.has(other) {
            problems.add(Problem::at(at.of(key), format!("`{key}` means nothing without `{other}`"), hint));
            return;
        }
    }
}

fn reason() -> Kind<Removal> {
    words(&[
        ("empty", Removal::Empty, "no pod would have to move"),
        ("underutilized", Removal::Underutilized, "its pods fit on other nodes"),
        ("unready", Removal::Unready, "it is not ready"),
        ("old", Removal::Old, "it is older than `expireAfter`"),
    ])
}

fn schedule() -> Kind<Box<str>> {
    let parse = |text: &str| {
        let window = Window { schedule: text.into(), lasts: SignedDuration::from_hours(1), time_zone: "".into() };
        match window.problem() {
            None => Ok(window.schedule),
            Some(problem) => Err(format!("{problem}; write minute, hour, day of month, month and day of week")),
        }
    };
    written("a schedule such as `0 22 * * mon-fri`", ".", parse, Box::<str>::to_string)
}

fn time_zone() -> Kind<Box<str>> {
    let parse = |text: &str| {
        let (schedule, lasts) = ("@daily".into(), SignedDuration::from_hours(1));
        let window = Window { schedule, lasts, time_zone: text.into() };
        match window.problem() {
            None => Ok(window.time_zone),
            Some(problem) => Err(format!("{problem}; write a name of the IANA time zone database")),
        }
    };
    written("a time zone such as `Europe/Zurich` or `UTC`", ".", parse, Box::<str>::to_string)
}
