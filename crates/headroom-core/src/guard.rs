//! The limits of a group's size, and what must be known before it is decided about.

use serde::Serialize;

use crate::plan::{GroupReport, Why};
use crate::policy::Group;
use crate::round::Round;
use crate::snapshot::{CloudGroup, Coverage, Kind};

/// The limits that hold for a group: the configuration's and the cloud's together, the tighter of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// At least so many machines.
    pub min: u32,
    /// At most so many machines.
    pub max: u32,
}

impl Limits {
    /// The limits of `group`, or why there are none that make sense.
    pub fn of(group: &Group, cloud: Option<&CloudGroup>) -> Result<Limits, Why> {
        let cloud_min = cloud.and_then(|cloud| cloud.min);
        let cloud_max = cloud.and_then(|cloud| cloud.max);
        let max = [group.size.max, cloud_max].into_iter().flatten().min().ok_or(Why::NoLimits)?;
        let min = [group.size.min, cloud_min].into_iter().flatten().max().unwrap_or(0);
        if min > max { Err(Why::MinAboveMax { min, max }) } else { Ok(Limits { min, max }) }
    }
}

/// The limits of `group`, which are noted in its report. None, with the reason given, where they make no sense or where too
/// little is known of the cluster to decide about the group.
pub(crate) fn judge(
    round: &mut Round<'_>,
    group: &Group,
    cloud: Option<&CloudGroup>,
    report: &mut GroupReport,
) -> Option<Limits> {
    let limits = match Limits::of(group, cloud) {
        Ok(limits) => limits,
        Err(why) => {
            round.refuse_group(group, why);
            return None;
        }
    };
    (report.min, report.max) = (Some(limits.min), Some(limits.max));
    for kind in [Kind::Nodes, Kind::Pods] {
        let coverage = round.snapshot.coverage(kind);
        if coverage == Coverage::Absent || (kind == Kind::Nodes && coverage == Coverage::Partial) {
            round.refuse_group(group, Why::CannotJudge { kind, coverage });
            return None;
        }
    }
    Some(limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Selection, Size};

    fn limits(size: Size, cloud: Option<(u32, u32)>) -> Result<Limits, Why> {
        let cloud = cloud.map(|(min, max)| CloudGroup { min: Some(min), max: Some(max), ..CloudGroup::default() });
        Limits::of(&Group { size, ..Group::new("web", Selection::default()) }, cloud.as_ref())
    }

    #[test]
    fn the_tighter_limit_holds() {
        let size = Size { min: Some(1), max: Some(12) };
        assert_eq!(limits(size, None), Ok(Limits { min: 1, max: 12 }));
        assert_eq!(limits(size, Some((3, 50))), Ok(Limits { min: 3, max: 12 }));
        assert_eq!(limits(size, Some((0, 10))), Ok(Limits { min: 1, max: 10 }));
        assert_eq!(limits(Size::default(), Some((2, 9))), Ok(Limits { min: 2, max: 9 }));
    }

    #[test]
    fn without_a_maximum_nothing_is_decided() {
        assert_eq!(limits(Size { min: Some(1), max: None }, None), Err(Why::NoLimits));
        assert_eq!(limits(Size { min: Some(5), max: Some(0) }, None), Err(Why::MinAboveMax { min: 5, max: 0 }));
    }
}
