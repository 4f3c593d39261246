//! Lists: in pages where Nomad serves them, and with what cannot be understood left out.

use serde::de::DeserializeOwned;

use super::elements::Elements;
use super::{Call, CallError, Client, LIST_DEADLINE, failed, header, index};

/// Objects in one page, from Nomad 1.2.4 on. Older ones answer with the whole list.
const PAGE: u32 = 5000;

/// What a list holds.
#[derive(Debug)]
pub struct Listed<T> {
    /// What could be understood.
    pub objects: Vec<T>,
    /// Why something could not: one reason for each.
    pub skipped: Vec<String>,
    /// The number of the state that it is of: it grows with every change. Of several pages the first one's.
    pub index: u64,
}

impl Client {
    /// The whole list at this path.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Listed<T>, CallError> {
        let (mut objects, mut skipped) = (Vec::new(), Vec::new());
        let found = |object: Result<T, serde_json::Error>| match object {
            Ok(object) => objects.push(object),
            Err(error) => skipped.push(error.to_string()),
        };
        let index = self.each(path, query, found).await?;
        Ok(Listed { objects, skipped, index })
    }

    /// Hands over every object of the list at this path as soon as its text is there, and answers the number of its state.
    /// The list is whole only if there is no error.
    pub(super) async fn each<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        mut found: impl FnMut(Result<T, serde_json::Error>),
    ) -> Result<u64, CallError> {
        let mut next: Option<String> = None;
        let mut first = None;
        loop {
            let mut pairs: Vec<(&str, String)> =
                query.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
            pairs.push(("per_page", PAGE.to_string()));
            pairs.extend(next.iter().map(|token| ("next_token", token.clone())));
            let call = Call { path, query: pairs, deadline: LIST_DEADLINE, ..Call::reading() };
            let mut answer = self.open(call).await?;
            let index = *first.get_or_insert(index(answer.headers()));
            let token = header(answer.headers(), "x-nomad-nexttoken");
            let token = token.filter(|token| !token.is_empty()).map(str::to_owned);
            let mut elements = Elements::default();
            while let Some(piece) = answer.chunk().await.map_err(|error| failed(error, LIST_DEADLINE))? {
                elements.push(&piece, |text| found(serde_json::from_slice(text)));
            }
            elements.finish().map_err(CallError::NotUnderstood)?;
            // A page that leads to itself would be read for ever.
            if token.is_none() || token == next {
                return Ok(index);
            }
            next = token;
        }
    }
}
