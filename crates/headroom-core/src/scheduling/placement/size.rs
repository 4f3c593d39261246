//! How large pods are, measured by a machine.

use super::class::Row;
use super::shape::{Key, Tier};
use super::supply::Offer;
use super::{Placement, TemplateId};
use crate::quantity::ceil_div;
use crate::snapshot::ClassId;

/// A whole machine, in the units of a share.
const WHOLE: u128 = 1 << 40;

/// The column that counts pods, in which all pods are equally large.
const PODS: usize = 3;

impl Placement {
    /// What a new machine of the template has for pods; without one, the most that any node has free of each resource.
    pub(crate) fn machine(&self, template: Option<TemplateId>) -> Row {
        if let Some(template) = template {
            return self.prototype(template).free.clone();
        }
        let mut most = Row::from_elem(0, self.columns.count());
        for (_, shape) in self.shapes.iter().filter(|(_, shape)| !shape.nodes.is_empty()) {
            most.iter_mut().zip(shape.rooms.most()).for_each(|(most, free)| *most = (*most).max(*free));
        }
        most
    }

    /// The shares of a machine's resources that one pod takes, of those that the machine has.
    pub(crate) fn shares(&self, class: ClassId, machine: &Row) -> impl Iterator<Item = u128> {
        let columns = self.class(class).need.iter().zip(machine).enumerate();
        let measured = columns.filter(|(column, (need, has))| *column != PODS && **need > 0 && **has > 0);
        measured.map(|(_, (need, has))| u128::from(need.unsigned_abs()) * WHOLE / u128::from(has.unsigned_abs()))
    }

    /// Whether pods of the class keep others, or each other, off their node.
    pub(crate) fn needs_distance(&self, class: ClassId) -> bool {
        self.class(class).rules.as_deref().is_some_and(|rules| {
            let over_hosts = |counter: u32| self.counter(counter).key == Key::Host;
            !rules.ports.is_empty()
                || rules.anti.iter().any(|rule| over_hosts(rule.counter))
                || rules.spread.iter().any(|rule| rule.counts_own && over_hosts(rule.counter))
        })
    }

    /// How many nodes there are, each kind of equal ones counted once: for [`Placement::least_cost`].
    pub(crate) fn node_kinds(&self) -> u32 {
        self.nodes.len()
    }

    /// What the new machines that were added since there were `before` kinds of nodes must cost at least, however the
    /// pods on them are packed.
    pub(crate) fn least_cost(&self, offers: &[Offer], before: u32) -> u128 {
        let mut used = vec![0_i128; self.columns.count()];
        let mut largest = vec![0_i128; self.columns.count()];
        let added = self.nodes().skip(before as usize).map(|(_, node)| node);
        for node in added.filter(|node| self.shapes.at(node.shape).tier == Tier::New) {
            let whole = &self.prototypes.at(node.template).free;
            for ((used, whole), free) in used.iter_mut().zip(whole).zip(&node.free) {
                *used += (i128::from(*whole) - i128::from(*free)) * i128::from(node.copies);
            }
        }
        for offer in offers {
            let whole = &self.prototype(offer.template).free;
            largest.iter_mut().zip(whole).for_each(|(largest, whole)| *largest = (*largest).max(i128::from(*whole)));
        }
        let columns = used.iter().zip(&largest).filter(|(used, largest)| **used > 0 && **largest > 0);
        let machines = columns.map(|(used, largest)| ceil_div(*used, *largest)).max().unwrap_or(0);
        let cheapest = offers.iter().map(|offer| u128::from(offer.cost)).min().unwrap_or(0);
        machines.unsigned_abs().saturating_mul(cheapest)
    }
}
