//! What exactly a cloud is asked for: a machine type, in a zone, under certain terms.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::snapshot::Labels;

/// Labels that name the machine type, the current one first.
const INSTANCE_TYPE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];

/// Labels that name the zone, the current one first.
const ZONE: [&str; 2] = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];

/// Labels by which clouds and Karpenter mark machines that are not paid for on demand.
const NOT_ON_DEMAND: [(&str, &str, CapacityType); 6] = [
    ("karpenter.sh/capacity-type", "spot", CapacityType::Spot),
    ("karpenter.sh/capacity-type", "reserved", CapacityType::Reserved),
    ("eks.amazonaws.com/capacityType", "SPOT", CapacityType::Spot),
    ("cloud.google.com/gke-spot", "true", CapacityType::Spot),
    ("cloud.google.com/gke-preemptible", "true", CapacityType::Spot),
    ("kubernetes.azure.com/scalesetpriority", "spot", CapacityType::Spot),
];

/// A machine type in a zone under certain terms: what has one price, and what runs out of stock on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Offering {
    /// The cloud's name for the machine type, such as `n1-standard-8`. None when nobody says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<Box<str>>,
    /// None when nobody says, or when the group's machines may be in any of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<Box<str>>,
    /// How the machine is paid for.
    pub capacity_type: CapacityType,
}

/// How a machine is paid for. The words are Karpenter's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityType {
    /// At the list price; also whatever is not marked as something else.
    #[default]
    OnDemand,
    /// Spare capacity that the cloud may take back (spot, preemptible).
    Spot,
    /// Paid for in advance.
    Reserved,
}

impl Offering {
    /// The offering that nodes with these labels come from.
    pub fn of(labels: &Labels) -> Self {
        let first = |keys: [&str; 2]| keys.into_iter().find_map(|key| labels.get(key)).map(Box::from);
        let marked = NOT_ON_DEMAND.into_iter().find(|(key, value, _)| labels.get(key) == Some(value));
        Offering {
            instance_type: first(INSTANCE_TYPE),
            zone: first(ZONE),
            capacity_type: marked.map_or(CapacityType::OnDemand, |(_, _, capacity_type)| capacity_type),
        }
    }
}

impl fmt::Display for Offering {
    /// `n1-standard-8 in europe-west1-b (spot)`, leaving out what is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.instance_type.as_deref().unwrap_or("machine of unknown type"))?;
        if let Some(zone) = &self.zone {
            write!(f, " in {zone}")?;
        }
        match self.capacity_type {
            CapacityType::OnDemand => Ok(()),
            CapacityType::Spot => f.write_str(" (spot)"),
            CapacityType::Reserved => f.write_str(" (reserved)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_every_cloud_are_read() {
        let table = [
            (vec![], "machine of unknown type"),
            (vec![("node.kubernetes.io/instance-type", "n1-standard-8")], "n1-standard-8"),
            (
                vec![
                    ("beta.kubernetes.io/instance-type", "m5.large"),
                    ("failure-domain.beta.kubernetes.io/zone", "1b"),
                ],
                "m5.large in 1b",
            ),
            (
                vec![("topology.kubernetes.io/zone", "1a"), ("failure-domain.beta.kubernetes.io/zone", "1b")],
                "machine of unknown type in 1a",
            ),
            (vec![("karpenter.sh/capacity-type", "on-demand")], "machine of unknown type"),
            (vec![("karpenter.sh/capacity-type", "reserved")], "machine of unknown type (reserved)"),
            (vec![("eks.amazonaws.com/capacityType", "SPOT")], "machine of unknown type (spot)"),
            (vec![("cloud.google.com/gke-preemptible", "true")], "machine of unknown type (spot)"),
            (vec![("cloud.google.com/gke-spot", "false")], "machine of unknown type"),
            (vec![("kubernetes.azure.com/scalesetpriority", "spot")], "machine of unknown type (spot)"),
        ];
        for (labels, expected) in table {
            assert_eq!(Offering::of(&labels.into_iter().collect()).to_string(), expected);
        }
    }
}
