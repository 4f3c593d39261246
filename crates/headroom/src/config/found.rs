//! The groups that clouds were found to have.

use headroom_adapters::cloud::FoundGroup;

use super::Cloud;

/// Groups that clouds have, by what was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found(Vec<(Cloud, Vec<FoundGroup>)>);

impl Found {
    /// What was found for `search`.
    pub(super) fn of(&self, search: &Cloud) -> &[FoundGroup] {
        self.0.iter().find(|(asked, _)| asked == search).map(|(_, groups)| groups.as_slice()).unwrap_or_default()
    }
}

impl FromIterator<(Cloud, Vec<FoundGroup>)> for Found {
    fn from_iter<I: IntoIterator<Item = (Cloud, Vec<FoundGroup>)>>(found: I) -> Self {
        Found(found.into_iter().collect())
    }
}
