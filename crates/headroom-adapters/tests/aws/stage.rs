//! aws keeps to what every cloud keeps to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use headroom_adapters::cloud::Cloud;
use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::fence::Fence;

use super::launches::activities;
use super::{SECRET, TOKEN, account, named};
use crate::contract::{self, Given, Stage, Trouble};
use crate::fake_aws::{Answer, FakeAws, Parameters, done, groups, member, nothing};

contract::holds!(OnAws);

pub(crate) struct OnAws {
    server: FakeAws,
    aws: Aws,
    region: Arc<Mutex<Region>>,
}

/// What there is in a pretended region.
#[derive(Default)]
struct Region {
    groups: BTreeMap<String, Group>,
    launched: u32,
    /// Machines that cannot go.
    held: BTreeSet<String>,
    trouble: Option<Trouble>,
    /// What is asked for is not launched.
    is_sold_out: bool,
}

#[derive(Default)]
struct Group {
    min: u32,
    max: u32,
    desired: u32,
    machines: Vec<String>,
}

#[async_trait]
impl Stage for OnAws {
    async fn start(given: &[Given], fence: Fence) -> Self {
        let region: Arc<Mutex<Region>> = Arc::default();
        for Given { name, size, min, max } in given {
            let mut region = region.lock().unwrap();
            region.groups.insert((*name).to_owned(), Group { min: *min, max: *max, ..Group::default() });
            region.set(name, *size);
        }
        let answers = Arc::clone(&region);
        let server = FakeAws::start(move |call| answers.lock().unwrap().answer(call)).await;
        let aws = Aws::new(account(&server.endpoint), given.iter().map(|given| named(given.name)).collect(), fence);
        OnAws { server, aws, region }
    }

    fn cloud(&self) -> &dyn Cloud {
        &self.aws
    }

    async fn trouble(&self, trouble: Option<Trouble>) -> bool {
        self.region.lock().unwrap().trouble = trouble;
        true
    }

    async fn sell_out(&self, out: bool) -> bool {
        self.region.lock().unwrap().is_sold_out = out;
        true
    }

    async fn hold(&self, machine: &str) -> bool {
        let instance = machine.rsplit('/').next().unwrap().to_owned();
        self.region.lock().unwrap().held.insert(instance)
    }

    fn requests(&self) -> usize {
        self.server.calls().len()
    }

    fn secrets(&self) -> Vec<String> {
        vec![SECRET.to_owned(), TOKEN.to_owned()]
    }

    fn shown(&self) -> String {
        format!("{:?} {:?}", self.aws, account(&self.server.endpoint))
    }
}

impl Region {
    fn answer(&mut self, call: &Parameters) -> Answer {
        match self.trouble {
            None => {}
            Some(Trouble::Throttled) => return Answer::Error(400, "Throttling", "Rate exceeded"),
            Some(Trouble::Unauthorized) => return Answer::Error(403, "ExpiredToken", "The token has expired"),
            Some(Trouble::Silent) => return Answer::Silence,
            Some(Trouble::Garbage) => return Answer::Xml("<html>It works!</html>".to_owned()),
            Some(Trouble::Broken) => return Answer::Error(500, "InternalFailure", "An internal error has occurred"),
        }
        let told = |name: &str| call.get(name).map(String::as_str).unwrap_or_default();
        match told("Action") {
            "DescribeAutoScalingGroups" => {
                let asked = listed(call, "AutoScalingGroupNames.member.");
                let asked = self.groups.iter().filter(|(name, _)| asked.contains(name));
                groups(&asked.map(|(name, group)| group.member(name)).collect::<Vec<_>>())
            }
            "SetDesiredCapacity" => {
                let desired = told("DesiredCapacity").parse().unwrap();
                self.set(told("AutoScalingGroupName"), desired);
                done("SetDesiredCapacity")
            }
            "TerminateInstanceInAutoScalingGroup" => {
                self.end(told("InstanceId"), told("ShouldDecrementDesiredCapacity") == "true")
            }
            "DescribeInstances" => {
                let asked = listed(call, "Filter.1.Value.");
                let here = self.groups.values().flat_map(|group| &group.machines).filter(|id| asked.contains(id));
                let state = "<instanceState><name>running</name></instanceState>";
                let items: String =
                    here.map(|id| format!("<item><instanceId>{id}</instanceId>{state}</item>")).collect();
                let set = format!("<item><instancesSet>{items}</instancesSet></item>");
                Answer::Xml(format!("<R><reservationSet>{set}</reservationSet></R>"))
            }
            "DescribeScalingActivities" => activities(&[(
                "2026-03-02T10:15:00Z",
                "Failed",
                "We currently do not have sufficient m5.large capacity in the Availability Zone you requested.",
            )]),
            action => nothing(action),
        }
    }

    /// What is missing is launched.
    fn set(&mut self, name: &str, desired: u32) {
        let Some(group) = self.groups.get_mut(name) else { return };
        group.desired = desired;
        while !self.is_sold_out && group.machines.len() < desired as usize {
            self.launched += 1;
            group.machines.push(format!("i-{:017x}", self.launched));
        }
    }

    fn end(&mut self, instance: &str, shrinks: bool) -> Answer {
        if self.held.contains(instance) {
            return Answer::Error(400, "ValidationError", "The instance is not in a state that can be terminated");
        }
        let found = self.groups.iter_mut().find(|(_, group)| group.machines.iter().any(|id| id == instance));
        let Some((name, group)) = found else {
            return Answer::Error(400, "ValidationError", "Instance Id not found - No managed instance found");
        };
        group.machines.retain(|id| id != instance);
        let (name, desired) = (name.clone(), group.desired - u32::from(shrinks));
        self.set(&name, desired);
        done("TerminateInstanceInAutoScalingGroup")
    }
}

/// A list among the parameters.
fn listed<'c>(call: &'c Parameters, name: &str) -> BTreeSet<&'c String> {
    call.iter().filter(|(key, _)| key.starts_with(name)).map(|(_, value)| value).collect()
}

impl Group {
    /// What Auto Scaling tells of it. Its tags say what its machines are like.
    fn member(&self, name: &str) -> String {
        let tag = |key: &str, value: &str| {
            let key = format!("k8s.io/cluster-autoscaler/node-template/{key}");
            format!("<member><Key>{key}</Key><Value>{value}</Value></member>")
        };
        let tags = [
            tag("resources/cpu", "4"),
            tag("resources/memory", "16Gi"),
            tag("resources/pods", "110"),
            tag("label/pool", name),
            tag("taint/dedicated", &format!("{name}:NoSchedule")),
        ];
        let machines: Vec<(&str, &str)> = self.machines.iter().map(|id| (id.as_str(), "InService")).collect();
        member(name, [self.min, self.max, self.desired], &machines, &format!("<Tags>{}</Tags>", tags.concat()))
    }
}
