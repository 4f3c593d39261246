//! Lists that are read page by page.

use crate::cloud::servers::provider::ProviderError;

/// How often a list is read that changes while it is read.
const READINGS: u32 = 3;

/// One page of a list.
pub(in crate::cloud::servers) struct Page<T> {
    /// What stands on it.
    pub(in crate::cloud::servers) items: Vec<T>,
    /// The number of the page after it.
    pub(in crate::cloud::servers) next: Option<u32>,
    /// How many items there are on all pages, where that is said.
    pub(in crate::cloud::servers) total: Option<u64>,
}

/// A list that was another one on every reading.
#[derive(Debug, thiserror::Error)]
#[error("the list of servers changed {READINGS} times while it was read")]
struct Restless;

/// Everything on all pages, as it was at one time. `page` reads the page with a number, from 1 on.
pub(in crate::cloud::servers) async fn whole<T, P, R>(page: P) -> Result<Vec<T>, ProviderError>
where
    P: Fn(u32) -> R,
    R: Future<Output = Result<Page<T>, ProviderError>>,
{
    for _ in 0..READINGS {
        if let Some(items) = reading(&page).await? {
            return Ok(items);
        }
    }
    Err(ProviderError::NotUnderstood(Box::new(Restless)))
}

/// All pages, if nothing changed while they were read.
async fn reading<T, P, R>(page: &P) -> Result<Option<Vec<T>>, ProviderError>
where
    P: Fn(u32) -> R,
    R: Future<Output = Result<Page<T>, ProviderError>>,
{
    let (mut all, mut number) = (Vec::new(), 1);
    loop {
        let Page { items, next, total } = page(number).await?;
        all.extend(items);
        match next {
            Some(next) if next > number => number = next,
            _ => {
                let found = all.len() as u64;
                return Ok((total.unwrap_or(found) == found).then_some(all));
            }
        }
    }
}
