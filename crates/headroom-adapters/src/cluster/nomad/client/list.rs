//! Lists: in pages where Nomad serves them, and with what cannot be understood left out.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Answer, Call, CallError, Client, LIST_DEADLINE};

/// Objects in one page, from Nomad 1.2.4 on. Older ones answer with the whole list.
const PAGE: u32 = 5000;

/// What a list holds.
#[derive(Debug)]
pub struct Listed<T> {
    /// What could be understood.
    pub objects: Vec<T>,
    /// Why something could not: one reason for each.
    pub skipped: Vec<String>,
    /// The number of the state that the first page is about.
    pub index: u64,
}

impl Client {
    /// The whole list at this path.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Listed<T>, CallError> {
        let mut listed = Listed { objects: Vec::new(), skipped: Vec::new(), index: 0 };
        let mut next: Option<String> = None;
        loop {
            let mut pairs: Vec<(&str, String)> =
                query.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
            pairs.push(("per_page", PAGE.to_string()));
            pairs.extend(next.iter().map(|token| ("next_token", token.clone())));
            let answer = self.send(Call { path, query: pairs, deadline: LIST_DEADLINE, ..Call::reading() }).await?;
            if next.is_none() {
                listed.index = answer.index();
            }
            listed.add(&answer)?;
            let token = answer.header("x-nomad-nexttoken").filter(|token| !token.is_empty()).map(str::to_owned);
            // A page that leads to itself would be read for ever.
            if token.is_none() || token == next {
                return Ok(listed);
            }
            next = token;
        }
    }
}

impl<T: DeserializeOwned> Listed<T> {
    fn add(&mut self, answer: &Answer) -> Result<(), CallError> {
        // Nomad writes null for an empty list.
        if let Ok(page) = answer.read::<Option<Vec<T>>>() {
            self.objects.extend(page.into_iter().flatten());
            return Ok(());
        }
        let page: Option<Vec<&RawValue>> = serde_json::from_slice(&answer.body).map_err(CallError::NotUnderstood)?;
        for object in page.into_iter().flatten() {
            match serde_json::from_str(object.get()) {
                Ok(object) => self.objects.push(object),
                Err(error) => self.skipped.push(error.to_string()),
            }
        }
        Ok(())
    }
}
