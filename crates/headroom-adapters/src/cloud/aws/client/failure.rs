//! Why AWS did not do something, before it is known for which group it was tried.

use std::time::Duration;

use serde::Deserialize;

use crate::cloud::CloudError;

/// The longest message of AWS that is passed on; some carry encoded texts of several kilobytes.
const LONGEST: usize = 300;

/// Why a call did not work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AwsError {
    #[error("{action} is refused: {code}: {message}")]
    Refused { action: String, code: String, message: String, status: u16, retry_after: Option<Duration> },
    #[error("no answer within {seconds} s to {action}")]
    Timeout { action: String, seconds: u64 },
    #[error("this instance does not lead")]
    Fenced,
    #[error("{action} cannot be sent")]
    Transport { action: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the answer to {action} cannot be understood")]
    Garbage { action: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("there are no credentials: {reason}")]
    NoCredentials { reason: String },
    #[error("no region is set; hint: set AWS_REGION, or `region` in the group's cloud section")]
    NoRegion,
}

/// What an error means to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It was not done, and would be later.
    Throttled,
    /// The credentials are not accepted.
    Unauthorized,
    /// These credentials may not do it.
    Forbidden,
    /// AWS itself is in trouble.
    Broken,
    /// It never will be done as it was asked.
    Refused,
}

impl AwsError {
    /// The error in an answer with this status and body.
    pub(super) fn in_answer(action: String, status: u16, retry_after: Option<Duration>, body: &str) -> Self {
        let answer: ErrorAnswer = match quick_xml::de::from_str(body) {
            Ok(answer) => answer,
            // A proxy or a load balancer on the way speaks no XML.
            Err(_) if status == 429 || status >= 500 => ErrorAnswer::default(),
            Err(source) => return AwsError::Garbage { action, source: Box::new(source) },
        };
        let error = answer.error.or(answer.errors.and_then(|errors| errors.error)).unwrap_or_default();
        let code = if error.code.is_empty() { format!("HTTP {status}") } else { error.code };
        // The message about a wrong signature goes on to repeat the headers, a security token among them.
        let message = error.message.lines().next().unwrap_or_default().chars().take(LONGEST).collect();
        AwsError::Refused { action, code, message, status, retry_after }
    }

    /// What it means to a client; None where no answer came or it was no answer of AWS.
    pub(super) fn kind(&self) -> Option<Kind> {
        let AwsError::Refused { code, status, .. } = self else { return None };
        Some(match code.as_str() {
            "Throttling"
            | "ThrottlingException"
            | "ThrottledException"
            | "RequestThrottled"
            | "RequestThrottledException"
            | "RequestLimitExceeded"
            | "TooManyRequestsException"
            | "PriorRequestNotComplete"
            | "SlowDown"
            | "ResourceContention"
            | "ScalingActivityInProgress" => Kind::Throttled,
            "ExpiredToken"
            | "ExpiredTokenException"
            | "RequestExpired"
            | "InvalidClientTokenId"
            | "UnrecognizedClientException"
            | "AuthFailure"
            | "SignatureDoesNotMatch"
            | "InvalidSignatureException"
            | "IncompleteSignature"
            | "InvalidAccessKeyId"
            | "MissingAuthenticationToken" => Kind::Unauthorized,
            "UnauthorizedOperation" | "AccessDenied" | "AccessDeniedException" => Kind::Forbidden,
            _ if *status == 429 => Kind::Throttled,
            _ if *status >= 500 => Kind::Broken,
            _ => Kind::Refused,
        })
    }

    /// Whether AWS refused what was asked, with one of these codes.
    pub(crate) fn is_refusal(&self, codes: &[&str]) -> bool {
        matches!(self, AwsError::Refused { code, .. } if codes.contains(&code.as_str()))
    }

    /// AWS's own words, where it refused.
    pub(crate) fn message(&self) -> &str {
        if let AwsError::Refused { message, .. } = self { message } else { "" }
    }

    /// What happened, with what it comes of.
    pub(crate) fn text(&self) -> String {
        let error: &(dyn std::error::Error + 'static) = self;
        let causes: Vec<String> =
            std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect();
        causes.join(": ")
    }

    /// What the port says, for this group.
    pub(crate) fn of(self, group: &str) -> CloudError {
        let group = group.to_owned();
        match (self.kind(), self) {
            (Some(Kind::Throttled), AwsError::Refused { code, message, retry_after, .. }) => {
                CloudError::Throttled { reason: words(&code, &message), retry_after }
            }
            (Some(Kind::Unauthorized), AwsError::Refused { code, message, .. }) => {
                CloudError::Unauthorized { reason: words(&code, &message) }
            }
            (Some(Kind::Forbidden), AwsError::Refused { action, .. }) => CloudError::Forbidden { verb: action, group },
            (_, AwsError::Timeout { action, seconds }) => CloudError::Timeout { seconds, verb: action, group },
            (_, AwsError::Fenced) => CloudError::NotLeading,
            (_, error @ AwsError::NoCredentials { .. }) => CloudError::Unauthorized { reason: error.to_string() },
            (Some(Kind::Broken), error) => CloudError::Unreachable(Box::new(error)),
            (_, error @ (AwsError::Transport { .. } | AwsError::NoRegion)) => CloudError::Unreachable(Box::new(error)),
            (_, AwsError::Refused { action, code, message, .. }) => {
                CloudError::Refused { verb: action, group, reason: words(&code, &message) }
            }
            (_, error @ AwsError::Garbage { .. }) => CloudError::NotUnderstood(Box::new(error)),
        }
    }
}

fn words(code: &str, message: &str) -> String {
    if message.is_empty() { code.to_owned() } else { format!("{code}: {message}") }
}

/// Auto Scaling has one `Error`, EC2 a list of `Errors`.
#[derive(Debug, Default, Deserialize)]
struct ErrorAnswer {
    #[serde(rename = "Error")]
    error: Option<ErrorObject>,
    #[serde(rename = "Errors")]
    errors: Option<Errors>,
}

#[derive(Debug, Default, Deserialize)]
struct Errors {
    #[serde(rename = "Error")]
    error: Option<ErrorObject>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct ErrorObject {
    code: String,
    message: String,
}
