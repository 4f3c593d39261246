//! The codes by which a client is told why not.

use prost::Message as _;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use crate::cloud::CloudError;
use crate::cloud::externalgrpc::error::{Details, RETRY_INFO, RetryInfo};

/// What a client is told of this error.
pub(super) fn of(error: &CloudError) -> Status {
    let code = match error {
        CloudError::NoSuchGroup { .. } => Code::NotFound,
        CloudError::StaleSize { .. } => Code::Aborted,
        CloudError::OutsideLimits { .. } => Code::OutOfRange,
        CloudError::OutOfStock { .. } | CloudError::Throttled { .. } => Code::ResourceExhausted,
        CloudError::Forbidden { .. } => Code::PermissionDenied,
        CloudError::Unauthorized { .. } => Code::Unauthenticated,
        CloudError::Timeout { .. } => Code::DeadlineExceeded,
        CloudError::Unreachable(_) => Code::Unavailable,
        CloudError::NotUnderstood(_) => Code::Internal,
        _ => Code::FailedPrecondition,
    };
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let text = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
    let text = match error {
        CloudError::NotLeading => "nothing may be changed; hint: set `dryRun: false`".to_owned(),
        _ => text,
    };
    let CloudError::Throttled { retry_after, .. } = error else { return Status::new(code, text) };
    // With this a client can tell it from a cloud that has no machines left, which has the same code.
    let delay = retry_after.and_then(|wait| prost_types::Duration::try_from(wait).ok()).unwrap_or_default();
    let info = RetryInfo { retry_delay: Some(delay) }.encode_to_vec();
    let any = prost_types::Any { type_url: RETRY_INFO.to_owned(), value: info };
    let details = Details { code: code.into(), message: text.clone(), details: vec![any] };
    Status::with_details_and_metadata(code, text, details.encode_to_vec().into(), MetadataMap::new())
}
