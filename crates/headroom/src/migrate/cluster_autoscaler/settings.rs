//! Flags that do not become one key with the same value.

use std::net::SocketAddr;

use super::file::Keys;
use super::flags::{self, Fate, Flag};
use super::values::{Values, Worded, seconds};
use crate::config::problem::{Problem, Problems};
use crate::config::tree::shorten;
use crate::migrate::yaml::scalar;

/// The settings of the program itself.
pub(super) fn program(values: &Values, keys: &mut Keys, problems: &mut Problems) {
    match address(values.text("address")) {
        Some(address) => keys.set("http.address", format!("\"{address}\"")),
        None => {
            let message = format!("`--address` cannot be `{}`", shorten(values.text("address")));
            problems.add(Problem::at(values.place("address"), message, "write an IP address and a port: 0.0.0.0:8085"));
        }
    }
    keys.set("metrics.compatible", "[clusterAutoscaler]");
    if values.has("leader-elect") {
        keys.set("leaderElection", values.on("leader-elect"));
    }
}

/// `HOST:PORT` as Go listens at it: without a host at all addresses.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.rsplit_once(':')?;
    let host = match host {
        "" => "0.0.0.0",
        "localhost" => "127.0.0.1",
        host => host,
    };
    format!("{host}:{port}").parse().ok()
}

/// Keys with the same value as a flag: where it was given, and where Headroom's default is another.
pub(super) fn same(values: &Values, keys: &mut Keys) {
    for flag in flags::all() {
        let Fate::Key { path, otherwise } = flag.fate else { continue };
        let Worded { value, changed } = values.worded(flag);
        if values.has(flag.name) || value != otherwise {
            keys.noted(path, value, note(values, flag, changed));
        }
    }
}

fn note(values: &Values, flag: &Flag, changed: Option<&'static str>) -> Option<String> {
    changed.map(|changed| format!("--{}={}: {changed}", flag.name, shorten(values.text(flag.name))))
}

pub(super) fn growth(values: &Values, keys: &mut Keys) {
    let labels = values.each("balancing-ignore-label").iter().map(|given| &*given.value);
    let labels: Vec<String> = labels.filter(|label| !label.is_empty()).map(scalar).collect();
    if !labels.is_empty() {
        keys.set("balanceIgnoreLabels", format!("[{}]", labels.join(", ")));
    }
    backoff(values, keys);
    if values.has("capacity-buffer-pod-injection-enabled") && values.on("capacity-buffer-pod-injection-enabled") {
        keys.set("slack.capacityBuffers", true);
    }
}

fn backoff(values: &Values, keys: &mut Keys) {
    let (first, most) = ("initial-node-group-backoff-duration", "max-node-group-backoff-duration");
    if !values.has(first) && !values.has(most) {
        return;
    }
    for (name, path) in [(first, "backoff.initial"), (most, "backoff.max")] {
        let Some(flag) = flags::find(name) else { continue };
        if name == most && values.duration(most) < values.duration(first) {
            let text = format!("--{most}={} is less than the first back-off, which is not cut", values.text(most));
            keys.noted(path, seconds(values.duration(first), 1).value, [text]);
            continue;
        }
        let Worded { value, changed } = values.worded(flag);
        keys.noted(path, value, note(values, flag, changed));
    }
}

pub(super) fn removal(values: &Values, keys: &mut Keys) {
    let worded = |name: &str| flags::find(name).map(|flag| (flag, values.worded(flag)));
    if !values.on("scale-down-unready-enabled") {
        keys.set("scaleDown.unreadyTime", "never");
    } else if values.has("scale-down-unready-time")
        && let Some((flag, Worded { value, changed })) = worded("scale-down-unready-time")
    {
        keys.noted("scaleDown.unreadyTime", value, note(values, flag, changed));
    }
    let all = match values.has("max-scale-down-parallelism") || !values.has("max-empty-bulk-delete") {
        true => "max-scale-down-parallelism",
        false => "max-empty-bulk-delete",
    };
    if let (Some((all, of_all)), Some((drains, of_drains))) = (worded(all), worded("max-drain-parallelism")) {
        let notes = [note(values, all, of_all.changed), note(values, drains, of_drains.changed)];
        // No budget of a group: there was none.
        keys.set("scaleDown.budgets", "[]");
        keys.noted(
            "scaleDown.totalBudgets",
            format!(
                "[{{ nodes: {} }}, {{ nodes: {}, reasons: [underutilized, unready, old] }}]",
                of_all.value, of_drains.value
            ),
            notes.into_iter().flatten(),
        );
    }
    let soft =
        values.integer("max-bulk-soft-taint-count") > 0 && values.duration("max-bulk-soft-taint-time").is_positive();
    if !soft || values.has("max-bulk-soft-taint-count") || values.has("max-bulk-soft-taint-time") {
        keys.set("scaleDown.softTaint", soft);
    }
}

/// `bootTimeout` of each group, where it was given, and what to say about it.
pub(super) fn boot_timeout(values: &Values) -> Option<String> {
    let flag = flags::find("max-node-provision-time").filter(|flag| values.has(flag.name))?;
    Some(values.worded(flag).value)
}

/// `startupTaints` of each group.
pub(super) fn startup_taints(values: &Values) -> Vec<String> {
    let mut taints: Vec<String> = Vec::new();
    for given in values.each("startup-taint").iter().chain(values.each("ignore-taint")) {
        if !given.value.is_empty() && !taints.contains(&given.value) {
            taints.push(given.value.clone());
        }
    }
    taints
}
