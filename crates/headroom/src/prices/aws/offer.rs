//! Prices on demand: the offer file of `AmazonEC2`, or what `aws pricing get-products` prints.
//!
//! An offer file has several hundred megabytes, of which little is wanted: it is read once, from front to end, and what
//! is not wanted is not kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead;

use headroom_core::pricing::PriceEntry;
use headroom_core::quantity::Money;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};

use super::{Said, Wanted};

/// The prices of machines on demand, shared, with no software in them.
pub(super) fn read(input: impl BufRead, wanted: &Wanted) -> Result<Said, serde_json::Error> {
    let mut list = List { wanted, kinds: BTreeMap::new(), prices: BTreeMap::new(), published: None, is_list: false };
    let mut deserializer = serde_json::Deserializer::from_reader(input);
    deserializer.deserialize_map(&mut list)?;
    deserializer.end()?;
    if !list.is_list {
        return Err(serde_json::Error::custom("it has neither `products` and `terms` nor a `PriceList`"));
    }
    let List { kinds, prices, published, .. } = list;
    let regions: BTreeSet<String> = kinds.values().filter_map(|(_, region)| region.clone()).collect();
    let entries = kinds.into_iter().filter_map(|(sku, (instance_type, _))| {
        let price = *prices.get(&sku)?;
        Some(PriceEntry { instance_type: instance_type.into(), zone: None, capacity_type: None, price })
    });
    let published = published.map(|at| format!(", published {at}")).unwrap_or_default();
    Ok(Said { entries: entries.collect(), regions, published, ..Said::new("prices on demand") })
}

/// What has been read of a list so far.
struct List<'w> {
    wanted: &'w Wanted,
    /// By stock keeping unit: type and region of the machines that are wanted.
    kinds: BTreeMap<String, (String, Option<String>)>,
    /// By stock keeping unit: dollars for an hour on demand.
    prices: BTreeMap<String, Money>,
    published: Option<String>,
    is_list: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Product {
    sku: String,
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    instance_type: Option<String>,
    region_code: Option<String>,
    operating_system: Option<String>,
    tenancy: Option<String>,
    /// `Used`, unless it is of a reservation.
    capacitystatus: Option<String>,
    /// `NA`, unless there is SQL Server in it.
    pre_installed_sw: Option<String>,
    marketoption: Option<String>,
    license_model: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offer {
    price_dimensions: BTreeMap<String, Dimension>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimension {
    unit: String,
    price_per_unit: BTreeMap<String, String>,
}

/// One product with its terms, as the query API has it: JSON within a text.
#[derive(Deserialize)]
struct Whole {
    product: Product,
    #[serde(default)]
    terms: Terms,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Terms {
    on_demand: BTreeMap<String, Offer>,
}

impl List<'_> {
    fn product(&mut self, product: Product) {
        let Attributes { instance_type, region_code, operating_system, .. } = &product.attributes;
        let Some(instance_type) = instance_type else { return };
        let is = |value: &Option<String>, wanted: &str| {
            value.as_ref().is_none_or(|value| value.eq_ignore_ascii_case(wanted))
        };
        let plain = is(&product.attributes.tenancy, "Shared")
            && is(&product.attributes.capacitystatus, "Used")
            && is(&product.attributes.pre_installed_sw, "NA")
            && is(&product.attributes.marketoption, "OnDemand")
            && !is_own_license(product.attributes.license_model.as_deref());
        let here = self.wanted.region.is_none() || *region_code == self.wanted.region;
        let wanted = &self.wanted.operating_system;
        let system = operating_system.as_ref().is_some_and(|system| system.eq_ignore_ascii_case(wanted));
        if plain && here && system && self.wanted.has(instance_type) {
            self.kinds.insert(product.sku, (instance_type.clone(), region_code.clone()));
        }
    }

    fn offers(&mut self, sku: String, offers: impl IntoIterator<Item = Offer>) -> Result<(), String> {
        for dimension in offers.into_iter().flat_map(|offer| offer.price_dimensions.into_values()) {
            let hourly = dimension.unit.eq_ignore_ascii_case("hrs");
            let Some(text) = dimension.price_per_unit.get("USD").filter(|_| hourly) else { continue };
            let price = Money::from_dollars_text(text).map_err(|error| error.to_string())?;
            // What is free is no price: there are such entries beside the real ones.
            if price.0 > 0 {
                let known = self.prices.entry(sku.clone()).or_insert(price);
                *known = (*known).max(price);
            }
        }
        Ok(())
    }
}

fn is_own_license(model: Option<&str>) -> bool {
    model.is_some_and(|model| model.eq_ignore_ascii_case("Bring your own license"))
}

impl<'de> Visitor<'de> for &mut List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "publicationDate" => self.published = Some(map.next_value()?),
                "products" => {
                    self.is_list = true;
                    map.next_value_seed(Products(&mut *self))?;
                }
                "terms" => map.next_value_seed(ByTerm(&mut *self))?,
                "PriceList" => {
                    self.is_list = true;
                    for text in map.next_value::<Vec<String>>()? {
                        let whole: Whole = serde_json::from_str(&text).map_err(A::Error::custom)?;
                        let sku = whole.product.sku.clone();
                        self.product(whole.product);
                        self.offers(sku, whole.terms.on_demand.into_values()).map_err(A::Error::custom)?;
                    }
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The products of an offer file, one after the other.
struct Products<'l, 'w>(&'l mut List<'w>);

impl<'de> DeserializeSeed<'de> for Products<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Products<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("products by stock keeping unit")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((_, product)) = map.next_entry::<IgnoredAny, Product>()? {
            self.0.product(product);
        }
        Ok(())
    }
}

/// The terms of an offer file, of which those on demand are read.
struct ByTerm<'l, 'w>(&'l mut List<'w>);

impl<'de> DeserializeSeed<'de> for ByTerm<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ByTerm<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("offers by term")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(term) = map.next_key::<String>()? {
            match term.as_str() {
                "OnDemand" => map.next_value_seed(Offers(&mut *self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The offers of one term, by stock keeping unit.
struct Offers<'l, 'w>(&'l mut List<'w>);

impl<'de> DeserializeSeed<'de> for Offers<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Offers<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("offers by stock keeping unit")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(sku) = map.next_key::<String>()? {
            // Products stand before terms; where they do not, all are kept.
            if self.0.is_list && !self.0.kinds.contains_key(&sku) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let offers: BTreeMap<String, Offer> = map.next_value()?;
            self.0.offers(sku, offers.into_values()).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
