//! What EC2 machines cost, by the files that AWS itself gives out.

mod offer;
mod spot;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::Catalogue;

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
        "{file} is no price list of AWS: {source}; hint: give the JSON offer file of AmazonEC2, what `aws pricing \
         get-products` prints, or what `aws ec2 describe-spot-price-history` prints"
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

/// The prices in these files, and where they are from.
pub(crate) fn read(files: &[impl AsRef<Path>], wanted: &Wanted) -> Result<(Catalogue, Vec<String>), PricesError> {
    let (mut catalogue, mut from) = (Catalogue::default(), Vec::new());
    for file in files {
        let name = file.as_ref().display().to_string();
        let unreadable = |source| PricesError::Unreadable { file: name.clone(), source };
        let mut input = BufReader::new(File::open(file.as_ref()).map_err(unreadable)?);
        let start = input.fill_buf().map_err(unreadable)?;
        let read = if is_spot(start) { spot::read(input, wanted) } else { offer::read(input, wanted) };
        let read = read.map_err(|source| match source.classify() {
            serde_json::error::Category::Io => unreadable(source.into()),
            _ => PricesError::Foreign { file: name.clone(), source },
        })?;
        if read.regions.len() > 1 {
            return Err(PricesError::Regions { file: name, regions: read.regions.into_iter().collect() });
        }
        if read.entries.is_empty() {
            let region = wanted.region.as_ref().map(|region| format!(" in {region}")).unwrap_or_default();
            let only = if wanted.types.is_empty() { "machines" } else { "the machine types that are asked for" };
            let what = format!("{only} with {}{region}", wanted.operating_system);
            return Err(PricesError::Nothing { file: name, what });
        }
        let region = read.regions.first().map(|region| format!(" in {region}")).unwrap_or_default();
        let system = &wanted.operating_system;
        from.push(format!("{} of EC2 with {system}{region}, from {name}{}", read.what, read.published));
        read.entries.into_iter().for_each(|entry| catalogue.add(entry));
    }
    Ok((catalogue, from))
}

/// What a file says.
struct Said {
    entries: Vec<headroom_core::pricing::PriceEntry>,
    /// The regions for which it says it.
    regions: BTreeSet<String>,
    what: &'static str,
    /// Of when it is.
    published: String,
}

/// The history has one key, and this is it.
fn is_spot(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    text.trim_start_matches(|char: char| char == '{' || char.is_whitespace()).starts_with("\"SpotPriceHistory\"")
}
