//! Expanders by name, and chains of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A rule by which options are compared. The names are Cluster Autoscaler's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Box<str>", into = "&'static str")]
pub enum Expander {
    /// The lowest cost for what the pods are worth: [`super::price`].
    Price,
    /// The smallest unused share of cpu and memory: [`super::least_waste`].
    LeastWaste,
    /// The most pods: [`super::most_pods`].
    MostPods,
    /// The fewest nodes: [`super::least_nodes`].
    LeastNodes,
    /// What the user prefers: [`super::priority`].
    Priority,
    /// Any of them: [`super::random`].
    Random,
}

impl Expander {
    /// Every expander, in the order in which the documentation lists them.
    pub const ALL: [Expander; 6] = [
        Expander::Price,
        Expander::LeastWaste,
        Expander::MostPods,
        Expander::LeastNodes,
        Expander::Priority,
        Expander::Random,
    ];

    /// The word that the configuration uses.
    pub const fn name(self) -> &'static str {
        match self {
            Expander::Price => "price",
            Expander::LeastWaste => "least-waste",
            Expander::MostPods => "most-pods",
            Expander::LeastNodes => "least-nodes",
            Expander::Priority => "priority",
            Expander::Random => "random",
        }
    }
}

impl fmt::Display for Expander {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Expander> for &'static str {
    fn from(expander: Expander) -> Self {
        expander.name()
    }
}

/// There is no expander of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no expander is called {0:?}; hint: write one of {names}", names = Expander::ALL.map(Expander::name).join(", "))]
pub struct UnknownExpander(Box<str>);

impl FromStr for Expander {
    type Err = UnknownExpander;
    fn from_str(name: &str) -> Result<Self, UnknownExpander> {
        Expander::ALL.into_iter().find(|expander| expander.name() == name).ok_or_else(|| UnknownExpander(name.into()))
    }
}

impl TryFrom<Box<str>> for Expander {
    type Error = UnknownExpander;
    fn try_from(name: Box<str>) -> Result<Self, UnknownExpander> {
        name.parse()
    }
}

/// Expanders in order: a later one decides where all earlier ones tie.
///
/// The default is empty, which means: by price where a price of some option is known, by waste otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Expander>", into = "Vec<Expander>")]
pub struct Chain(Vec<Expander>);

/// Why a list of expanders is no chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// An expander occurs twice.
    #[error("{0} is listed twice; hint: remove the second, it decides nothing")]
    Repeated(Expander),
    /// Something follows `random`.
    #[error("{0} follows random, which leaves nothing to decide; hint: put random last or remove it")]
    AfterRandom(Expander),
}

impl Chain {
    /// A chain of these expanders. Each may occur once, and nothing may follow `random`.
    pub fn new(expanders: Vec<Expander>) -> Result<Self, ChainError> {
        let mut earlier: Vec<Expander> = Vec::new();
        for expander in &expanders {
            if earlier.contains(expander) {
                return Err(ChainError::Repeated(*expander));
            }
            if earlier.last() == Some(&Expander::Random) {
                return Err(ChainError::AfterRandom(*expander));
            }
            earlier.push(*expander);
        }
        Ok(Chain(expanders))
    }

    /// The expanders to ask, in order. `prices_known`: somebody states the price of at least one option.
    pub fn expanders(&self, prices_known: bool) -> &[Expander] {
        match (self.0.as_slice(), prices_known) {
            ([], true) => &[Expander::Price, Expander::LeastWaste],
            ([], false) => &[Expander::LeastWaste],
            (chosen, _) => chosen,
        }
    }
}

impl TryFrom<Vec<Expander>> for Chain {
    type Error = ChainError;
    fn try_from(expanders: Vec<Expander>) -> Result<Self, ChainError> {
        Chain::new(expanders)
    }
}

impl From<Chain> for Vec<Expander> {
    fn from(chain: Chain) -> Self {
        chain.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Chain, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn every_name_reads_back() {
        for expander in Expander::ALL {
            assert_eq!(expander.to_string().parse(), Ok(expander));
        }
        let json = r#"["priority","price","least-waste","random"]"#;
        assert_eq!(serde_json::to_string(&read(json).unwrap()).unwrap(), json);
    }

    #[test]
    fn mistakes_are_explained() {
        let table = [
            (
                r#"["cheapest"]"#,
                r#"no expander is called "cheapest"; hint: write one of price, least-waste, most-pods"#,
            ),
            (r#"["price","random","price"]"#, "price is listed twice; hint: remove the second"),
            (r#"["random","price"]"#, "price follows random, which leaves nothing to decide; hint: put random last"),
        ];
        for (json, expected) in table {
            let error = read(json).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_default_depends_on_prices() {
        assert_eq!(Chain::default().expanders(true), [Expander::Price, Expander::LeastWaste]);
        assert_eq!(Chain::default().expanders(false), [Expander::LeastWaste]);
        assert_eq!(read(r#"["random"]"#).unwrap().expanders(true), [Expander::Random]);
    }
}
