//! What one unit of each resource costs.

use serde::{Deserialize, Serialize};

use crate::quantity::{Money, Resources, Totals};
use crate::scheduling::parts_of_device;

/// What the disk price is for: 50 GB, in bytes.
const STORAGE_UNIT: i128 = 50_000_000_000;

/// What a core, a GiB of memory, a GPU and 50 GB of local storage cost in an hour.
///
/// They give what pods would cost on machines that fit them perfectly, and what a machine of unknown price may cost. The
/// defaults are those of the cost-ranking proposal: 0.033174, 0.004446, 0.7 and 0.01 dollars.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct UnitPrices {
    /// One core.
    pub cpu: Money,
    /// One GiB of memory.
    pub memory_gib: Money,
    /// One GPU of any kind.
    pub gpu: Money,
    /// 50 GB (50 * 10^9 bytes) of ephemeral storage.
    pub storage_50_gb: Money,
    /// The extended resources that are GPUs, by exact name. The default is the list that Cluster Autoscaler knows. Resources
    /// that count parts of GPUs are known besides.
    pub gpu_resources: Vec<Box<str>>,
}

impl Default for UnitPrices {
    fn default() -> Self {
        let gpus = ["nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe", "habana.ai/gaudi", "microsoft.com/directx"];
        UnitPrices {
            cpu: Money(33_174_000),
            memory_gib: Money(4_446_000),
            gpu: Money(700_000_000),
            storage_50_gb: Money(10_000_000),
            gpu_resources: gpus.map(Box::from).to_vec(),
        }
    }
}

impl UnitPrices {
    /// What these amounts cost together, each resource rounded to the nearest nano-dollar. Negative amounts are free.
    pub fn price(&self, amounts: &Totals) -> Money {
        let parts = [
            part(amounts.cpu, self.cpu, 1_000),
            part(amounts.memory, self.memory_gib, 1 << 30),
            part(self.milli_gpus(amounts), self.gpu, 1_000),
            part(amounts.ephemeral_storage, self.storage_50_gb, STORAGE_UNIT),
        ];
        parts.into_iter().fold(Money(0), Money::saturating_add)
    }

    /// What one machine or pod of this size costs; see [`UnitPrices::price`].
    pub fn price_of_one(&self, amounts: &Resources) -> Money {
        let mut totals = Totals::default();
        totals += amounts;
        self.price(&totals)
    }

    /// How many thousandths of a GPU these amounts contain, shares of GPUs included.
    pub fn milli_gpus(&self, amounts: &Totals) -> i128 {
        let gpus = amounts.extended.iter().filter(|(name, _)| self.is_gpu(name));
        gpus.fold(0, |sum: i128, (name, amount)| {
            let whole = i128::from(parts_of_device(name).unwrap_or(1));
            sum.saturating_add(amount.saturating_mul(1_000) / whole)
        })
    }

    /// Whether a machine or pod of this size has a GPU.
    pub fn has_gpu(&self, amounts: &Resources) -> bool {
        amounts.extended.iter().any(|(name, amount)| *amount > 0 && self.is_gpu(name))
    }

    fn is_gpu(&self, resource: &str) -> bool {
        parts_of_device(resource).is_some() || self.gpu_resources.iter().any(|gpu| **gpu == *resource)
    }
}

/// `amount / unit` times `price`.
fn part(amount: i128, price: Money, unit: i128) -> Money {
    let nano = amount.max(0).saturating_mul(i128::from(price.0)).saturating_add(unit / 2).div_euclid(unit);
    Money(i64::try_from(nano).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_resource_has_its_price() {
        let prices = UnitPrices::default();
        let mut machine = Resources::new(2_000, 8 << 30);
        assert_eq!(prices.price_of_one(&machine), Money(66_348_000 + 35_568_000));
        machine.ephemeral_storage = 100_000_000_000;
        assert_eq!(prices.price_of_one(&machine), Money(101_916_000 + 20_000_000));
        machine.set_extended("nvidia.com/gpu", 2);
        machine.set_extended("example.com/fpga", 9);
        assert_eq!(prices.price_of_one(&machine), Money(121_916_000 + 1_400_000_000));
        assert!(prices.has_gpu(&machine));
    }

    #[test]
    fn nothing_requested_costs_nothing() {
        assert_eq!(UnitPrices::default().price(&Totals::default()), Money(0));
        assert_eq!(UnitPrices::default().price_of_one(&Resources::new(-5, -5)), Money(0));
    }

    /// Small amounts are summed before they are rounded: 100 bytes alone cost nothing, 50,000 times 100 bytes do.
    #[test]
    fn sums_are_rounded_once() {
        let mut many = Totals::default();
        many.add_times(&Resources::new(0, 100), 50_000);
        assert_eq!(UnitPrices::default().price(&many), Money(20_703));
    }

    proptest! {
        #[test]
        fn no_amount_panics(cpu: i64, memory: i64, storage: i64, gpus: i64, count: u32, price: i64) {
            let mut each = Resources { ephemeral_storage: storage, ..Resources::new(cpu, memory) };
            each.set_extended("nvidia.com/gpu", gpus);
            let mut totals = Totals::default();
            totals.add_times(&each, count.into());
            let unit = UnitPrices { cpu: Money(price), gpu: Money(price), ..UnitPrices::default() };
            let _ = unit.price(&totals);
        }

        /// Price is linear: twice the pod costs twice as much, to the nano-dollar that each resource is rounded to.
        #[test]
        fn twice_as_much_costs_twice_as_much(cpu in 0_i64..1_000_000, memory in 0_i64..1 << 45, storage in 0_i64..1 << 45) {
            let prices = UnitPrices::default();
            let one = Resources { ephemeral_storage: storage, ..Resources::new(cpu, memory) };
            let two = Resources { ephemeral_storage: storage * 2, ..Resources::new(cpu * 2, memory * 2) };
            prop_assert!((prices.price_of_one(&one).0 * 2 - prices.price_of_one(&two).0).abs() <= 3);
        }
    }
}
