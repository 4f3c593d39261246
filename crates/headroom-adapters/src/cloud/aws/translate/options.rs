//! How a group is to be treated by what its tags say, in the words of Cluster Autoscaler.

use headroom_core::policy::Percent;
use headroom_core::snapshot::GroupOptions;
use jiff::SignedDuration;

use super::aws::Group;
use crate::go_duration;

const PREFIX: &str = "k8s.io/cluster-autoscaler/node-template/autoscaling-options/";

const SHARE: &str = "write a share of 1, such as 0.5";
const TIME: &str = "write a duration as Go does, such as 10m";
const TRUTH: &str = "write true or false";

/// The options of a group, and what is wrong with those that are none.
pub(crate) fn options(group: &Group) -> (GroupOptions, Vec<String>) {
    let (mut options, mut wrong) = (GroupOptions::default(), Vec::new());
    for tag in &group.tags.member {
        if let Some(name) = tag.key.strip_prefix(PREFIX)
            && let Err(problem) = set(&mut options, name, tag.value.trim())
        {
            wrong.push(format!("the tag {} is {:?}; hint: {problem}", tag.key, tag.value));
        }
    }
    (options, wrong)
}

fn set(options: &mut GroupOptions, name: &str, value: &str) -> Result<(), &'static str> {
    match name {
        "scaledownutilizationthreshold" => options.threshold = Some(share(value)?),
        "scaledowngpuutilizationthreshold" => options.gpu_threshold = Some(share(value)?),
        "scaledownunneededtime" => options.unneeded_for = Some(time(value, SignedDuration::ZERO)?),
        "scaledownunreadytime" => options.unready_for = Some(time(value, SignedDuration::ZERO)?),
        "maxnodeprovisiontime" => options.boot_timeout = Some(time(value, SignedDuration::from_secs(1))?),
        "ignoredaemonsetsutilization" => options.ignore_daemon_sets = Some(truth(value)?),
        "maxnodestartuptime" => return Err("leave it out, a machine has `bootTimeout` until its node is usable"),
        _ => return Err("leave it out, there is no such option"),
    }
    Ok(())
}

fn share(value: &str) -> Result<Percent, &'static str> {
    value.parse().ok().and_then(Percent::of_share).ok_or(SHARE)
}

fn time(value: &str, least: SignedDuration) -> Result<SignedDuration, &'static str> {
    go_duration::parse(value).filter(|time| *time >= least).ok_or(TIME)
}

/// What Go takes for a truth value.
fn truth(value: &str) -> Result<bool, &'static str> {
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(TRUTH),
    }
}
