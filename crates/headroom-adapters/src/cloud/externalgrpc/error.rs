//! What the codes of gRPC mean.

use std::time::Duration;

use prost::Message as _;
use tonic::{Code, Status};

use super::fenced::NoGrpc;
use super::link::Failed;
use crate::cloud::CloudError;
use crate::fenced::{comes_of, is_fenced};

/// What was tried.
pub(super) struct Call<'c> {
    pub(super) verb: &'static str,
    pub(super) group: &'c str,
    pub(super) deadline: Duration,
}

/// What is done to a group.
pub(super) const READ: &str = "read";
pub(super) const GROW: &str = "grow";
pub(super) const SHRINK: &str = "shrink";
pub(super) const REMOVE: &str = "remove machines of";

/// What this answer to a call means.
pub(super) fn failed(status: Status, call: &Call<'_>) -> Failed {
    let (verb, group) = (call.verb.to_owned(), call.group.to_owned());
    let reason = || status.message().to_owned();
    if is_fenced(&status) {
        return Failed::Other(CloudError::NotLeading);
    }
    if comes_of::<NoGrpc>(&status) || is_unreadable(&status) {
        return Failed::Other(CloudError::NotUnderstood(Box::new(status)));
    }
    if comes_of::<tonic::TimeoutExpired>(&status) {
        return Failed::Other(CloudError::Timeout { seconds: call.deadline.as_secs(), verb, group });
    }
    // It never came so far that somebody could have answered.
    if std::error::Error::source(&status).is_some() {
        return Failed::Other(CloudError::Unreachable(Box::new(status)));
    }
    Failed::Other(match status.code() {
        Code::Unimplemented => return Failed::NotOffered,
        Code::DeadlineExceeded | Code::Cancelled => {
            CloudError::Timeout { seconds: call.deadline.as_secs(), verb, group }
        }
        Code::Unauthenticated => CloudError::Unauthorized { reason: reason() },
        Code::PermissionDenied => CloudError::Forbidden { verb, group },
        Code::Unavailable => CloudError::Unreachable(Box::new(status)),
        Code::ResourceExhausted => {
            let retry_after = retry_after(status.details());
            // The same code says that there are no machines and that too much is asked, and only the latter may say for how
            // long.
            if call.verb == GROW && retry_after.is_none() {
                return Failed::Refused(CloudError::OutOfStock { group, reason: reason() });
            }
            CloudError::Throttled { reason: reason(), retry_after }
        }
        Code::NotFound if call.verb == READ => return Failed::Refused(CloudError::NoSuchGroup { group }),
        _ => return Failed::Refused(CloudError::Refused { verb, group, reason: reason() }),
    })
}

/// Whether an answer came that is none of the messages of the protocol. Decoding says so by these words only.
fn is_unreadable(status: &Status) -> bool {
    let begins =
        ["failed to decode Protobuf message", "protocol error", "grpc-status header missing", "error decoding"];
    let codes = [Code::Internal, Code::Unknown, Code::OutOfRange];
    codes.contains(&status.code()) && begins.iter().any(|begin| status.message().starts_with(begin))
}

/// `google.rpc.Status`, by which servers say more than a code.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Details {
    #[prost(int32, tag = "1")]
    pub(super) code: i32,
    #[prost(string, tag = "2")]
    pub(super) message: String,
    #[prost(message, repeated, tag = "3")]
    pub(super) details: Vec<prost_types::Any>,
}

/// `google.rpc.RetryInfo`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    pub(super) retry_delay: Option<prost_types::Duration>,
}

pub(super) const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";

/// How long a server wants to be left alone, if it says so.
fn retry_after(details: &[u8]) -> Option<Duration> {
    let details = Details::decode(details).ok()?.details;
    let info = details.iter().find(|any| any.type_url == RETRY_INFO)?;
    let delay = RetryInfo::decode(info.value.as_slice()).ok()?.retry_delay?;
    Duration::try_from(delay).ok()
}
