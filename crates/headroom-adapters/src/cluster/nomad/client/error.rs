//! Why Nomad did not do what it was asked for.

use crate::cluster::ClusterError;

/// More of an answer is no help.
const WORDS: usize = 300;

/// Why there is no answer, or none that helps.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nomad says no, in its own words.
    #[error("Nomad answers {status}: {words}{}", hint(*status, words))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it says.
        words: String,
    },
    /// Another instance leads, or may lead by now: nothing was sent.
    #[error("this instance does not lead")]
    NotLeading,
    /// This Nomad does not have that.
    #[error("this Nomad has no {missing}")]
    Missing {
        /// What, and since when there is such a thing.
        missing: &'static str,
    },
    /// There was no answer in time.
    #[error("no answer within {seconds} s")]
    Timeout {
        /// How long was waited.
        seconds: u64,
    },
    /// The answer is not what Nomad writes.
    #[error("the answer cannot be understood")]
    NotUnderstood(#[source] serde_json::Error),
    /// There is no connection.
    #[error("Nomad does not answer")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What the user can do about a refusal, where that is known.
fn hint(status: u16, words: &str) -> &'static str {
    if words.contains("No path to region") {
        "; hint: set `region` in `cluster: { nomad: … }`, or NOMAD_REGION, to one that `nomad server members` shows"
    } else if words.contains("UUID must be 36 characters") {
        "; hint: give the whole ID, which has 36 characters"
    } else if status == 403 {
        "; hint: set NOMAD_TOKEN to the secret ID of a token with the policy that docs/nomad.md shows"
    } else {
        ""
    }
}

impl CallError {
    pub(super) fn refused(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let words: String = text.trim().chars().take(WORDS).collect();
        CallError::Refused { status, words }
    }

    /// The HTTP status of a refusal.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            CallError::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// What the port says, when this was tried.
    pub(crate) fn of(self, verb: &str, object: &str) -> ClusterError {
        let (verb, object) = (verb.to_owned(), object.to_owned());
        match self {
            CallError::NotLeading => ClusterError::NotLeading,
            CallError::Timeout { seconds } => ClusterError::Timeout { seconds, verb, object },
            CallError::Missing { missing } => ClusterError::TooOld { missing },
            CallError::Refused { status: 403, .. } => ClusterError::Forbidden { verb, object },
            CallError::Refused { status: 409, .. } => ClusterError::Conflict { object },
            error => ClusterError::Unreachable(Box::new(error)),
        }
    }
}
