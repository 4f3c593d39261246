//! Machines that could be bought for something else than waiting pods.

use super::open::Open;
use crate::limits::Present;
use crate::policy::{Group, Mode, Policy};
use crate::quantity::Money;
use crate::scheduling::TemplateId;

/// A machine that could be bought, and whose price is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnOffer<'a> {
    /// The position of its group in the policy.
    pub(crate) at: usize,
    pub(crate) group: &'a Group,
    /// What it is made from.
    pub(crate) template: TemplateId,
    /// What it costs in an hour.
    pub(crate) price: Money,
    /// The size that the round asks for so far.
    pub(crate) planned: u32,
}

/// One machine of each group that may get one more, the cheapest first; nothing while any machine is on its way.
pub(super) fn on_offer<'a>(open: &[Open<'a>], policy: &Policy, present: &Present) -> Vec<OnOffer<'a>> {
    if open.iter().any(|open| open.has_upcoming() || open.planned != open.size) {
        return Vec::new();
    }
    let offer = |(template, open): (u32, &Open<'a>)| {
        let capacity = &open.machine.template.capacity;
        let room = policy.pending.limits.room(open.planned, open.max, capacity, present).nodes.min(open.room);
        let may_grow = room > 0 && !open.settings.all_or_nothing && open.group.mode != Mode::DryRun;
        let price = open.price.filter(|_| may_grow)?.amount;
        let (at, group, planned) = (open.at, open.group, open.planned);
        Some(OnOffer { at, group, template: TemplateId(template), price, planned })
    };
    let mut offers: Vec<OnOffer<'_>> = (0..).zip(open).filter_map(offer).collect();
    offers.sort_by_key(|offer| offer.price);
    offers
}
