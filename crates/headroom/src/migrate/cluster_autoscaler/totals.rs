//! What the cluster has at least and at most: `--cores-total`, `--memory-total`, `--gpu-total`, `--max-nodes-total`.

use std::collections::BTreeMap;

use headroom_core::quantity::MAX;

use super::file::Keys;
use super::values::Values;
use crate::config::problem::{Problem, Problems};
use crate::config::tree::{Place, shorten};
use crate::migrate::yaml::scalar;

/// The resource of GPUs where only their type is known.
const USUAL_GPU: &str = "nvidia.com/gpu";

const MILLI: i64 = 1_000;
const GIB: i64 = 1 << 30;

pub(super) fn write(values: &Values, keys: &mut Keys, problems: &mut Problems) {
    nodes(values, keys);
    for (flag, key, unit, factor) in [("cores-total", "cpu", "", MILLI), ("memory-total", "memory", "Gi", GIB)] {
        let Some((least, most)) = bounds(flag, values.text(flag), values.place(flag), problems) else { continue };
        let path = format!("limits.{key}");
        match most {
            0 => keys.noted(&path, if key == "cpu" { "1m" } else { "1" }, [format!("--{flag}: nothing may grow")]),
            most if most > MAX / factor => {
                keys.noted(&path, "", [format!("--{flag}: {most} is no limit that can be written")]);
            }
            most => keys.set(&path, format!("{most}{unit}")),
        }
        if (1..=MAX / factor).contains(&least) {
            keys.set(&format!("scaleDown.atLeast.{key}"), format!("{least}{unit}"));
        } else if least > 0 {
            let text = format!("--{flag}: {least} is more than can be written, so no node may go");
            keys.noted(&format!("scaleDown.atLeast.{key}"), format!("{}{unit}", MAX / factor), [text]);
        }
    }
    gpus(values, keys, problems);
}

fn nodes(values: &Values, keys: &mut Keys) {
    match values.integer("max-nodes-total") {
        most if most > 0 => keys.set("limits.nodes", most.min(u32::MAX.into())),
        _ if values.has("max-nodes-total") => {
            keys.noted("limits.nodes", "", ["--max-nodes-total is not more than 0: no limit"]);
        }
        _ => {}
    }
    match values.integer("max-nodes-per-scaleup") {
        most if most > 0 && values.has("max-nodes-per-scaleup") => {
            keys.set("limits.nodesPerScaleUp", most.min(u32::MAX.into()));
        }
        most if most > 0 => {}
        0 => keys.noted("limits.nodesPerScaleUp", u32::MAX, ["--max-nodes-per-scaleup is 0: no limit"]),
        _ => keys.noted("limits.nodesPerScaleUp", 1, ["--max-nodes-per-scaleup is below 0, with which nothing grew"]),
    }
}

/// GPUs by the resource that nodes offer. Cluster Autoscaler counted them by the value of a label.
fn gpus(values: &Values, keys: &mut Keys, problems: &mut Problems) {
    let mut totals: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    let mut notes = Vec::new();
    for given in values.each("gpu-total") {
        let Some((kind, range)) = given.value.split_once(':').filter(|(kind, _)| !kind.is_empty()) else {
            let hint = "write TYPE:MIN:MAX, for example nvidia.com/gpu:0:8";
            let message = format!("`--gpu-total` cannot be `{}`", shorten(&given.value));
            problems.add(Problem::at(given.place.clone(), message, hint));
            continue;
        };
        let Some((least, most)) = bounds("gpu-total", range, given.place.clone(), problems) else { continue };
        let resource = if kind.contains('/') { kind } else { USUAL_GPU };
        if resource != kind {
            notes.push(format!(
                "DECIDE: {} counts GPUs by their type; these are all of {USUAL_GPU}. Write the resource that nodes offer.",
                given.show()
            ));
        }
        let total = totals.entry(resource).or_default();
        let sum = |before: i64, more: i64| before.saturating_add(more).min(MAX);
        *total = (sum(total.0, least), sum(total.1, most));
    }
    if totals.is_empty() {
        return;
    }
    let map = |amounts: Vec<(&str, i64)>| {
        let entries = amounts.into_iter().map(|(resource, amount)| format!("{}: {amount}", scalar(resource)));
        format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
    };
    keys.noted("limits.extended", map(totals.iter().map(|(resource, (_, most))| (*resource, *most)).collect()), notes);
    let least = totals.iter().map(|(resource, (least, _))| (*resource, *least));
    let least: Vec<_> = least.filter(|(_, least)| *least > 0).collect();
    if !least.is_empty() {
        keys.set("scaleDown.atLeast.extended", map(least));
    }
}

/// `MIN:MAX`
fn bounds(flag: &str, text: &str, place: Place, problems: &mut Problems) -> Option<(i64, i64)> {
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
    let range = text.split_once(':').and_then(|(least, most)| Some((number(least)?, number(most)?)));
    match range {
        Some((least, most)) if least <= most => return range,
        Some(_) => {
            let message = format!("`--{flag}`: the minimum is more than the maximum");
            problems.add(Problem::at(place, message, "make the minimum at most the maximum"));
        }
        None => {
            let message = format!("`--{flag}` cannot be `{}`", shorten(text));
            problems.add(Problem::at(place, message, "write MIN:MAX in whole numbers, for example 0:100"));
        }
    }
    None
}
