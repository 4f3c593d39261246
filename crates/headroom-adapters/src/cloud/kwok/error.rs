//! Why something did not work, before it is known for which group it was tried.

use std::time::Duration;

use super::provider::ProviderError;
use crate::cloud::CloudError;
use crate::fenced;

#[derive(Debug, thiserror::Error)]
pub(super) enum KwokError {
    #[error("{verb} {object}")]
    Call { verb: &'static str, object: String, source: Box<kube::Error> },
    #[error("no answer within {seconds} s to {verb} {object}")]
    Timeout { verb: &'static str, object: String, seconds: u64 },
    #[error(
        "ConfigMap {config_map} does not hold the state of a group; hint: delete it, and the group has the size that it has nodes"
    )]
    State { config_map: String, source: serde_json::Error },
    #[error(transparent)]
    Provider(#[from] ProviderError),
}

impl KwokError {
    /// What the port says, for this group.
    pub(super) fn of(self, group: &str) -> CloudError {
        let group = group.to_owned();
        match self {
            KwokError::Timeout { verb, seconds, .. } => CloudError::Timeout { seconds, verb: verb.to_owned(), group },
            KwokError::Call { verb, .. } if self.has_code(403) => {
                CloudError::Forbidden { verb: verb.to_owned(), group }
            }
            KwokError::Call { .. } if self.has_code(401) => CloudError::Unauthorized { reason: self.answer() },
            KwokError::Call { .. } if self.has_code(429) => {
                CloudError::Throttled { reason: self.answer(), retry_after: self.retry_after() }
            }
            KwokError::Call { .. } if self.is_fenced() => CloudError::NotLeading,
            KwokError::Call { .. } if self.is_unreadable() => CloudError::NotUnderstood(Box::new(self)),
            KwokError::Call { .. } => CloudError::Unreachable(Box::new(self)),
            KwokError::State { .. } | KwokError::Provider(_) => CloudError::NotUnderstood(Box::new(self)),
        }
    }

    pub(super) fn is_not_found(&self) -> bool {
        self.has_code(404)
    }

    /// Somebody else made or changed the object first.
    pub(super) fn is_conflict(&self) -> bool {
        self.has_code(409)
    }

    /// The API server will say the same every time.
    pub(super) fn is_refusal(&self) -> bool {
        [400, 403, 422].into_iter().any(|code| self.has_code(code))
    }

    /// Nothing was sent, since another instance may lead.
    pub(super) fn is_fenced(&self) -> bool {
        fenced::is_fenced(self)
    }

    /// The API server's own words, when it refused.
    pub(super) fn answer(&self) -> String {
        match self {
            KwokError::Call { source, .. } => match &**source {
                kube::Error::Api(status) => status.message.clone(),
                error => error.to_string(),
            },
            error => error.to_string(),
        }
    }

    /// What was answered is none of the API server's objects.
    fn is_unreadable(&self) -> bool {
        let KwokError::Call { source, .. } = self else { return false };
        matches!(&**source, kube::Error::SerdeError(_) | kube::Error::FromUtf8(_))
    }

    /// How long the API server wants to be left alone.
    fn retry_after(&self) -> Option<Duration> {
        let KwokError::Call { source, .. } = self else { return None };
        let kube::Error::Api(status) = &**source else { return None };
        let seconds = status.details.as_ref()?.retry_after_seconds;
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }

    fn has_code(&self, code: u16) -> bool {
        let KwokError::Call { source, .. } = self else { return false };
        matches!(&**source, kube::Error::Api(status) if status.code == code)
    }
}
