//! Texts, maps and quantities that point into what they were read from.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// A text; null is the empty one.
pub type Text<'a> = Scalar<'a, false>;

/// A quantity as it is written, as a text or as a number.
pub type Quantity<'a> = Scalar<'a, true>;

/// One value, as a text. With `NUMBERS` it may also be written as a number. It is a copy only when it was a number or
/// had escapes in it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Scalar<'a, const NUMBERS: bool>(Cow<'a, str>);

impl<const NUMBERS: bool> Deref for Scalar<'_, NUMBERS> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const NUMBERS: bool> fmt::Debug for Scalar<'_, NUMBERS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'de: 'a, 'a, const NUMBERS: bool> Deserialize<'de> for Scalar<'a, NUMBERS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor::<NUMBERS>).map(Scalar)
    }
}

/// An object of the API as a list of its entries; null is the empty one.
#[derive(Clone, PartialEq, Eq)]
pub struct Map<'a, V>(Vec<(Text<'a>, V)>);

impl<'a, V> Map<'a, V> {
    /// The entries as they were written.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> + Clone {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V> Default for Map<'_, V> {
    fn default() -> Self {
        Map(Vec::new())
    }
}

impl<V: fmt::Debug> fmt::Debug for Map<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Map<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MapVisitor(PhantomData)).map(Map)
    }
}

struct ScalarVisitor<const NUMBERS: bool>;

impl<const NUMBERS: bool> ScalarVisitor<NUMBERS> {
    fn number<'de, E: Error>(&self, written: String, found: Unexpected<'_>) -> Result<Cow<'de, str>, E> {
        if NUMBERS { Ok(Cow::Owned(written)) } else { Err(E::invalid_type(found, self)) }
    }
}

impl<'de, const NUMBERS: bool> Visitor<'de> for ScalarVisitor<NUMBERS> {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if NUMBERS { "a quantity such as \"500m\" or 2" } else { "a string" })
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.number(number.to_string(), Unexpected::Unsigned(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        self.number(number.to_string(), Unexpected::Signed(number))
    }

    /// The shortest decimal that means this number: what was written, unless it had more than 15 digits.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        self.number(number.to_string(), Unexpected::Float(number))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        if NUMBERS { Err(E::invalid_type(Unexpected::Unit, &self)) } else { Ok(Cow::Borrowed("")) }
    }
}

struct MapVisitor<'a, V>(PhantomData<(&'a (), V)>);

impl<'de: 'a, 'a, V: Deserialize<'de>> Visitor<'de> for MapVisitor<'a, V> {
    type Value = Vec<(Text<'a>, V)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(map)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
}
