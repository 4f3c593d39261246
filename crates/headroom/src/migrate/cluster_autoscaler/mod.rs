//! The command line of Cluster Autoscaler, turned into `headroom.yaml`.

mod cloud;
mod expander;
mod file;
mod flags;
mod groups;
mod page;
mod settings;
mod totals;
mod values;

use self::cloud::Cloud;
pub use self::expander::Priorities;
use self::file::Keys;
use self::flags::{Fate, Kind};
use self::groups::Shared;
use self::values::Values;
use super::command_line::{CommandLine, Program, Style};
use super::yaml::comment;
use crate::config::ConfigErrors;
use crate::config::problem::Problems;

pub use page::page;

/// The page that has every difference.
const PAGE: &str = "docs/cluster-autoscaler-migration.md";

/// The `headroom.yaml` that does what Cluster Autoscaler does with the flags in `line` and, for its expander `priority`,
/// with these `priorities`. Defaults are Cluster Autoscaler's, and each difference is a comment.
///
/// Errors are flags that Cluster Autoscaler does not have, and values that it does not start with.
pub fn migrate(line: &CommandLine, priorities: Option<&Priorities>) -> Result<String, ConfigErrors> {
    let mut problems = Problems::default();
    let given = program().read(&line.words, &mut problems);
    let values = Values::new(given, &mut problems);
    let cloud = Cloud::of(&values);
    let groups = groups::named(&values, &mut problems);
    let searches = cloud.searches(&values);
    let names = match cloud.names(&groups) {
        names if names.is_empty() => vec![groups::EXAMPLE.to_owned()],
        names => names,
    };
    let names = searches.is_empty().then_some(names.as_slice());
    let mut keys = Keys::default();
    settings::program(&values, &mut keys, &mut problems);
    expander::write(&values, priorities, names, &mut keys, &mut problems);
    settings::same(&values, &mut keys);
    settings::growth(&values, &mut keys);
    settings::removal(&values, &mut keys);
    totals::write(&values, &mut keys, &mut problems);
    let mut out = header(&values);
    out.push_str("cluster: { kubernetes: {} }\n");
    let text = "Cluster Autoscaler acts. Set this to false once it is stopped; while it renews its Lease, Headroom plans and \
                does not act.";
    out.push_str(&comment(0, text));
    out.push_str("dryRun: true\n");
    out.push_str(&keys.write());
    let shared = Shared {
        cloud,
        searches,
        boot_timeout: settings::boot_timeout(&values),
        startup_taints: settings::startup_taints(&values),
        values: &values,
    };
    out.push_str(&shared.write(&groups));
    problems.none_or(&line.name, &line.text, Some(out))
}

/// Cluster Autoscaler, as far as its command line goes.
pub(super) fn program() -> Program {
    let flags = flags::all().map(|flag| (flag.name, flag.kind == Kind::Flag)).collect();
    Program { name: "Cluster Autoscaler", style: Style::Pflag, flags }
}

fn header(values: &Values) -> String {
    let mut out = comment(0, "Made by `headroom migrate`.");
    let text = "What no flag says is as Cluster Autoscaler has it by default, and is written out where Headroom's default is \
                another. What is marked DECIDE only you can say.";
    out.push_str(&comment(0, text));
    let differ = together(values, |fate| match fate {
        Fate::Key { path, .. } | Fate::Keys(path) => Some(path),
        Fate::Gone => None,
    });
    if !differ.is_empty() {
        out.push_str(&comment(
            0,
            &format!("What differs in the flags that are used here ({PAGE} has every difference):"),
        ));
        differ.iter().for_each(|(what, differs)| out.push_str(&comment(0, &format!("- {what}: {differs}"))));
    }
    let gone = together(values, |fate| (fate == Fate::Gone).then_some(""));
    if !gone.is_empty() {
        out.push_str(&comment(0, "What nothing takes the place of:"));
        gone.iter().for_each(|(what, why)| out.push_str(&comment(0, &format!("- {what}: {why}"))));
    }
    for given in &values.all {
        let once = flags::find(given.flag).is_some_and(|flag| flag.kind != Kind::Texts);
        if once && values.each(given.flag).last().is_some_and(|last| last != given) {
            out.push_str(&comment(0, &format!("{} does not count: the flag is given again.", given.show())));
        }
    }
    out
}

/// The flags that are given and chosen, each with the key it becomes, under what is said about them.
fn together(values: &Values, choose: impl Fn(Fate) -> Option<&'static str>) -> Vec<(String, &'static str)> {
    let mut all: Vec<(Vec<String>, &'static str)> = Vec::new();
    for given in &values.all {
        let Some(flag) = flags::find(given.flag).filter(|flag| !flag.differs.is_empty()) else { continue };
        let Some(key) = choose(flag.fate) else { continue };
        let counts = flag.kind == Kind::Texts || values.each(given.flag).last() == Some(given);
        if !counts {
            continue;
        }
        let what = match key {
            "" => given.show(),
            key => format!("{key} (--{})", flag.name),
        };
        match all.iter_mut().find(|(_, differs)| *differs == flag.differs) {
            Some((known, _)) if known.contains(&what) => {}
            Some((known, _)) => known.push(what),
            None => all.push((vec![what], flag.differs)),
        }
    }
    all.into_iter().map(|(what, differs)| (what.join(", "), differs)).collect()
}

#[cfg(test)]
mod tests;
