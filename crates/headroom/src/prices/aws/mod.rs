//! What EC2 machines cost, by the files that AWS itself gives out.

mod offer;
mod spot;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use headroom_core::pricing::{Offering, PriceEntry, PriceSource, Quote, UnitPrices, on_one_scale};

use super::{Catalogue, dollars};
use types::Machine;

/// Which machines are meant.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// In this region; None in the only one of which a file tells.
    pub(crate) region: Option<String>,
    /// `Linux` or another value that price lists have under `operatingSystem`.
    pub(crate) operating_system: String,
    /// Only these types; all if there are none.
    pub(crate) types: BTreeSet<String>,
}

impl Wanted {
    fn has(&self, instance_type: &str) -> bool {
        self.types.is_empty() || self.types.contains(instance_type)
    }
}

/// Why a file says no prices.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PricesError {
    /// It cannot be read.
    #[error("cannot read {file}: {source}; hint: give the path of a file that you may read")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is not what AWS gives out.
    #[error(
        "{file} is no price list of AWS: {source}; hint: give the JSON offer file of AmazonEC2, or what `aws pricing \
         get-products`, `aws ec2 describe-spot-price-history` or `aws ec2 describe-instance-types` prints"
    )]
    Foreign {
        /// The file.
        file: String,
        /// Why not.
        source: serde_json::Error,
    },
    /// Prices are not the same everywhere.
    #[error("{file} tells of {}; hint: choose one with --region", regions.join(", "))]
    Regions {
        /// The file.
        file: String,
        /// Of which regions it tells.
        regions: Vec<String>,
    },
    /// None of it is wanted.
    #[error("{file} has no price of {what}")]
    Nothing {
        /// The file.
        file: String,
        /// What was looked for.
        what: String,
    },
}

/// The prices in these files, and where they are from. Machine types of which no file says a price are estimated, on one
/// scale with those that have one.
pub(crate) fn read(files: &[impl AsRef<Path>], wanted: &Wanted) -> Result<(Catalogue, Vec<String>), PricesError> {
    let (mut catalogue, mut from, mut types) = (Catalogue::default(), Vec::new(), BTreeMap::new());
    for file in files {
        let name = file.as_ref().display().to_string();
        let unreadable = |source| PricesError::Unreadable { file: name.clone(), source };
        let mut input = BufReader::new(File::open(file.as_ref()).map_err(unreadable)?);
        let start = input.fill_buf().map_err(unreadable)?;
        let read = match Form::of(start) {
            Form::Spot => spot::read(input, wanted),
            Form::Offers => offer::read(input, wanted),
            Form::Types => types::read(input, wanted).map(|types| Said { types, ..Said::new("machine types") }),
        };
        let read = read.map_err(|source| match source.classify() {
            serde_json::error::Category::Io => unreadable(source.into()),
            _ => PricesError::Foreign { file: name.clone(), source },
        })?;
        if read.regions.len() > 1 {
            return Err(PricesError::Regions { file: name, regions: read.regions.into_iter().collect() });
        }
        let system = format!(" with {}", wanted.operating_system);
        let system = if read.types.is_empty() { system.as_str() } else { "" };
        if read.entries.is_empty() && read.types.is_empty() {
            let region = wanted.region.as_ref().map(|region| format!(" in {region}")).unwrap_or_default();
            let only = if wanted.types.is_empty() { "machines" } else { "the machine types that are asked for" };
            return Err(PricesError::Nothing { file: name, what: format!("{only}{system}{region}") });
        }
        let region = read.regions.first().map(|region| format!(" in {region}")).unwrap_or_default();
        from.push(format!("{} of EC2{system}{region}, from {name}{}", read.what, read.published));
        read.entries.into_iter().for_each(|entry| catalogue.add(entry));
        types.extend(read.types);
    }
    from.extend(estimate(&mut catalogue, &types));
    Ok((catalogue, from))
}

/// Adds the machine types that have no price on demand. How many there are.
fn estimate(catalogue: &mut Catalogue, types: &BTreeMap<Box<str>, Machine>) -> Option<String> {
    let stated = catalogue.table();
    let on_demand = |name: &str| Offering { instance_type: Some(name.into()), ..Offering::default() };
    let quote = |name: &str| {
        let amount = stated.price(&on_demand(name))?;
        Some(Quote { amount, source: PriceSource::Catalogue })
    };
    let machines: Vec<_> = types.iter().map(|(name, machine)| (&machine.has, quote(name))).collect();
    let unit = UnitPrices::default();
    let prices = on_one_scale(machines.iter().copied(), &unit);
    let mut count = 0;
    for ((name, machine), price) in types.iter().zip(&prices).filter(|(_, price)| price.is_estimated()) {
        catalogue.add_estimate(name, price, machine);
        count += 1;
    }
    let [cpu, gib, gpu] = [unit.cpu, unit.memory_gib, unit.gpu].map(dollars);
    (count > 0).then(|| {
        format!("machine types without a price, estimated: {count}, by ${cpu} a cpu, ${gib} a GiB, ${gpu} a GPU")
    })
}

/// What a file says.
struct Said {
    entries: Vec<PriceEntry>,
    types: BTreeMap<Box<str>, Machine>,
    /// The regions for which it says it.
    regions: BTreeSet<String>,
    what: &'static str,
    /// Of when it is.
    published: String,
}

impl Said {
    fn new(what: &'static str) -> Self {
        Said { entries: Vec::new(), types: BTreeMap::new(), regions: BTreeSet::new(), what, published: String::new() }
    }
}

/// What files there are.
enum Form {
    Offers,
    Spot,
    Types,
}

impl Form {
    /// By how it starts. A page may have the token of the next one before its list.
    fn of(start: &[u8]) -> Self {
        let text = String::from_utf8_lossy(start);
        match () {
            () if text.contains("\"SpotPriceHistory\"") => Form::Spot,
            () if text.contains("\"InstanceTypes\"") => Form::Types,
            () => Form::Offers,
        }
    }
}
