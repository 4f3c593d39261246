//! What a user can change about the price score.

use serde::{Deserialize, Serialize};

use super::PreferredCpu;
use crate::pricing::UnitPrices;
use crate::quantity::{MilliCpu, Money, Resources};

/// Every constant of the formula.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// Prices of pods, and of nodes whose price nobody states.
    pub unit_prices: UnitPrices,
    /// The pod whose price is X. The proposal takes 500m cpu; Cluster Autoscaler adds 500 MiB of memory.
    pub stabilization_pod: Resources,
    /// How large a node should be.
    pub preferred_cpu: PreferredCpu,
    /// The divisor within tanh: the more nodes, the longer a node of the wrong size is held against an option. 15 in the
    /// proposal.
    pub suppress_over: u32,
    /// Stands in for the suppressed unfitness of nodes with GPUs when no pod asks for one. 1000 in Cluster Autoscaler,
    /// which uses it for pods that do ask for GPUs as well.
    pub unneeded_gpu_factor: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            unit_prices: UnitPrices::default(),
            stabilization_pod: Resources::new(500, 0),
            preferred_cpu: PreferredCpu::default(),
            suppress_over: 15,
            unneeded_gpu_factor: 1_000,
        }
    }
}

impl Settings {
    /// X, or what is wrong with the settings.
    pub(super) fn check(&self) -> Result<Money, SettingsError> {
        let prices = &self.unit_prices;
        let named = [
            ("cpu", prices.cpu),
            ("memoryGib", prices.memory_gib),
            ("gpu", prices.gpu),
            ("storage50Gb", prices.storage_50_gb),
        ];
        if let Some((name, price)) = named.into_iter().find(|(_, price)| *price < Money(0)) {
            return Err(SettingsError::PriceBelowZero { name, price });
        }
        if self.suppress_over == 0 {
            return Err(SettingsError::SuppressOverZero);
        }
        if self.unneeded_gpu_factor == 0 {
            return Err(SettingsError::GpuFactorZero);
        }
        let PreferredCpu { steps, above } = &self.preferred_cpu;
        let mut cpus = steps.iter().map(|step| step.cpu).chain([*above]);
        if let Some(cpu) = cpus.find(|cpu| *cpu <= MilliCpu(0)) {
            return Err(SettingsError::PreferredCpuNotPositive { cpu });
        }
        for (step, next) in steps.iter().zip(steps.iter().skip(1)) {
            let (nodes, next) = (step.up_to_nodes, next.up_to_nodes);
            if next <= nodes {
                return Err(SettingsError::PreferredCpuOutOfOrder { nodes, next });
            }
        }
        match self.damper() {
            Money(0) => Err(SettingsError::DamperZero),
            damper => Ok(damper),
        }
    }

    /// X: what the stabilization pod costs.
    pub(super) fn damper(&self) -> Money {
        self.unit_prices.price_of_one(&self.stabilization_pod)
    }
}

/// Why the formula cannot be used with some settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// X is zero: pods without requests would divide by zero, and small ones would outweigh everything.
    #[error(
        "the stabilization pod costs $0.00; hint: leave it at 500m cpu, or give the resources it has a price above zero"
    )]
    DamperZero,
    /// A unit price is negative.
    #[error("the unit price of {name} is {price}; hint: write 0 or more")]
    PriceBelowZero {
        /// The setting.
        name: &'static str,
        /// Its value.
        price: Money,
    },
    /// The divisor is zero.
    #[error("suppressOver is 0; hint: write 1 or more, the proposal has 15")]
    SuppressOverZero,
    /// The factor is zero, so that nodes with idle GPUs would win always.
    #[error(
        "unneededGpuFactor is 0, so nodes with idle GPUs would always win; hint: write 1 or more, the default is 1000"
    )]
    GpuFactorZero,
    /// A preferred size is nothing.
    #[error("preferredCpu has a node of {cpu} cpu; hint: write more than 0")]
    PreferredCpuNotPositive {
        /// The size.
        cpu: MilliCpu,
    },
    /// Two steps are not in ascending order.
    #[error("preferredCpu goes from {nodes} nodes to {next}; hint: order the steps by upToNodes, each number once")]
    PreferredCpuOutOfOrder {
        /// The number of nodes of one step.
        nodes: u32,
        /// That of the next.
        next: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expander::price::{Formula, Step};

    #[test]
    fn the_default_is_sound() {
        assert_eq!(Formula::new(Settings::default()), Ok(Formula::default()));
        // X by the proposal, and with Cluster Autoscaler's 500 MiB.
        assert_eq!(Settings::default().check(), Ok(Money(16_587_000)));
        let theirs = Settings { stabilization_pod: Resources::new(500, 500 << 20), ..Settings::default() };
        assert_eq!(theirs.check(), Ok(Money(18_757_898)));
    }

    #[test]
    fn each_mistake_has_its_error() {
        let default = Settings::default;
        let free = UnitPrices { cpu: Money(0), ..UnitPrices::default() };
        let negative = UnitPrices { gpu: Money(-1_000_000_000), ..UnitPrices::default() };
        let steps = |steps: &[(u32, i64)]| {
            let steps = steps.iter().map(|(up_to_nodes, cpu)| Step { up_to_nodes: *up_to_nodes, cpu: MilliCpu(*cpu) });
            PreferredCpu { steps: steps.collect(), above: MilliCpu(32_000) }
        };
        let table = [
            (Settings { stabilization_pod: Resources::default(), ..default() }, SettingsError::DamperZero),
            (Settings { unit_prices: free, ..default() }, SettingsError::DamperZero),
            (
                Settings { unit_prices: negative, ..default() },
                SettingsError::PriceBelowZero { name: "gpu", price: Money(-1_000_000_000) },
            ),
            (Settings { suppress_over: 0, ..default() }, SettingsError::SuppressOverZero),
            (Settings { unneeded_gpu_factor: 0, ..default() }, SettingsError::GpuFactorZero),
            (
                Settings { preferred_cpu: steps(&[(2, 0)]), ..default() },
                SettingsError::PreferredCpuNotPositive { cpu: MilliCpu(0) },
            ),
            (
                Settings { preferred_cpu: steps(&[(6, 2_000), (6, 4_000)]), ..default() },
                SettingsError::PreferredCpuOutOfOrder { nodes: 6, next: 6 },
            ),
        ];
        for (settings, expected) in table {
            let json = serde_json::to_string(&settings).unwrap();
            assert!(serde_json::from_str::<Formula>(&json).is_err(), "{expected}");
            assert!(expected.to_string().contains("hint: "), "{expected}");
            assert_eq!(Formula::new(settings), Err(expected));
        }
    }

    #[test]
    fn settings_read_back() {
        let formula: Formula = serde_json::from_str(r#"{"suppressOver": 5}"#).unwrap();
        assert_eq!(formula.settings().suppress_over, 5);
        let json = serde_json::to_string(&formula).unwrap();
        assert_eq!(serde_json::from_str::<Formula>(&json).unwrap(), formula);
    }
}
