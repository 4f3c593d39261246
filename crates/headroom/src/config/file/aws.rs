//! Machines of EC2 Auto Scaling groups.

use std::sync::Arc;

use headroom_core::pricing::CapacityType;
use headroom_core::snapshot::Labels;
use jiff::SignedDuration;

use crate::config::kind::{Kind, duration, labels, list, text, words};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

/// An EC2 Auto Scaling group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aws {
    /// Its name; None when it is found by tags.
    pub auto_scaling_group: Option<Arc<str>>,
    /// Tags that it has and no other one; empty when it is named.
    pub tags: Labels,
    /// Where it is; None is the region of the environment.
    pub region: Option<Arc<str>>,
    /// The role that is assumed for it.
    pub assume_role: Option<Arc<str>>,
    /// How it gets machines by EC2 fleets; None where Auto Scaling launches them.
    pub fleet: Option<Fleet>,
}

/// An EC2 fleet for each enlargement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// The launch template, by its id.
    pub launch_template: Arc<str>,
    /// Its version.
    pub version: Arc<str>,
    /// On which terms.
    pub capacity_type: CapacityType,
    /// The types that will do; none are those of the launch template.
    pub instance_types: Vec<Arc<str>>,
    /// How long all machines may take until they run.
    pub ready_timeout: SignedDuration,
}

impl Default for Fleet {
    fn default() -> Self {
        Fleet {
            launch_template: "".into(),
            version: "$Default".into(),
            capacity_type: CapacityType::OnDemand,
            instance_types: Vec::new(),
            ready_timeout: SignedDuration::from_mins(1),
        }
    }
}

impl Aws {
    /// Which Auto Scaling group it is, in the words of errors.
    pub(super) fn what(&self) -> Option<String> {
        let tag = |(key, value): (&str, &str)| match value {
            "" => key.to_owned(),
            value => format!("{key}={value}"),
        };
        match &self.auto_scaling_group {
            Some(name) => Some(name.to_string()),
            None if self.tags.is_empty() => None,
            None => Some(self.tags.iter().map(tag).collect::<Vec<_>>().join(", ")),
        }
    }
}

pub(super) fn kind() -> Kind<Aws> {
    let record = Record::new(
        "groups[].cloud.aws",
        "An EC2 Auto Scaling group, by its name or by its tags. Credentials are found as by every AWS program: in the \
         environment, by web identity (IRSA), in a profile, by EKS Pod Identity, in the metadata of the instance.",
        Aws::default,
    )
    .field(
        "autoScalingGroup",
        text().optional(),
        |aws| &mut aws.auto_scaling_group,
        "The name of the Auto Scaling group. No two groups may share one.",
    )
    .field(
        "tags",
        labels(),
        |aws| &mut aws.tags,
        "Instead of a name: tags that exactly one Auto Scaling group has. An empty value stands for any.",
    );
    account(record)
        .field(
            "fleet",
            fleet().optional(),
            |aws| &mut aws.fleet,
            "Its machines come by an EC2 fleet instead of by Auto Scaling: all of an enlargement at once and of one type, \
             or none. Left out: Auto Scaling launches them.",
        )
        .check(&["autoScalingGroup", "tags"], one_way)
        .kind()
}

/// Auto Scaling groups that are not named.
pub(super) fn search() -> Kind<Aws> {
    let record = Record::new(
        "discover[].cloud.aws",
        "The EC2 Auto Scaling groups of an account and region that have all these tags.",
        Aws::default,
    )
    .required(
        "tags",
        labels(),
        |aws| &mut aws.tags,
        "Tags that each of them has. An empty value stands for any: `{ k8s.io/cluster-autoscaler/enabled: \"\" }`.",
    )
    .check(&["tags"], |aws, at, problems| {
        if aws.tags.is_empty() {
            let hint = "write a tag that they have, such as `k8s.io/cluster-autoscaler/enabled: \"\"`";
            problems.add(Problem::at(at.of("tags"), "every Auto Scaling group would be meant", hint));
        }
    });
    account(record).kind()
}

/// The keys that say in which account and region it is.
fn account(record: Record<Aws>) -> Record<Aws> {
    record
        .field(
            "region",
            text().optional(),
            |aws| &mut aws.region,
            "Where it is. Left out: the region of the environment (`AWS_REGION`), the profile or the instance.",
        )
        .field(
            "assumeRole",
            text().optional(),
            |aws| &mut aws.assume_role,
            "The ARN of a role that is assumed for it, such as one in another account.",
        )
}

fn fleet() -> Kind<Fleet> {
    let terms = words(&[
        ("on-demand", CapacityType::OnDemand, "at the list price"),
        ("spot", CapacityType::Spot, "spare capacity that EC2 may take back"),
    ]);
    Record::new(
        "groups[].cloud.aws.fleet",
        "An instant EC2 fleet in the subnets of the Auto Scaling group. Machines that do not run in time, or cannot be \
         attached to the group, are ended.",
        Fleet::default,
    )
    .required("launchTemplate", text(), |fleet| &mut fleet.launch_template, "The id of the launch template, `lt-…`.")
    .field("version", text(), |fleet| &mut fleet.version, "Its version: a number, `$Latest` or `$Default`.")
    .field("capacityType", terms, |fleet| &mut fleet.capacity_type, "On which terms the machines are had.")
    .field(
        "instanceTypes",
        list(text()),
        |fleet| &mut fleet.instance_types,
        "The types that will do. Left out: what the launch template says.",
    )
    .field(
        "readyTimeout",
        duration(SignedDuration::from_secs(1)),
        |fleet| &mut fleet.ready_timeout,
        "How long the machines may take until all of them run. After that all are ended.",
    )
    .kind()
}

fn one_way(aws: &Aws, at: &Places, problems: &mut Problems) {
    match (&aws.auto_scaling_group, aws.tags.is_empty()) {
        (None, true) => {
            let hint = "add `autoScalingGroup:` with its name, or `tags:`";
            problems.add(Problem::at(at.of("tags"), "nothing says which Auto Scaling group it is", hint));
        }
        (Some(_), false) => {
            let problem = Problem::at(at.of("tags"), "it is named and has tags", "remove one of the two");
            problems.add(problem.also(at.of("autoScalingGroup"), "the name"));
        }
        _ => {}
    }
}
