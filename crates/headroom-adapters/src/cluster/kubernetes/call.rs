//! One call to the API server: how long it may take, and what its failure means.

use std::time::Duration;

use kube::core::Status;

use crate::cluster::ClusterError;
use crate::fenced::is_fenced;

/// How long is waited for an answer. A lease is gone after 15 s.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

/// What is tried, in the words of the errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) verb: &'a str,
    /// Kind and name.
    pub(super) object: &'a str,
}

impl Call<'_> {
    /// What the API server answered, refusals included.
    pub(super) async fn answer<T>(
        self,
        answer: impl Future<Output = kube::Result<T>>,
    ) -> Result<Result<T, Box<Status>>, ClusterError> {
        let Self { verb, object } = self;
        match tokio::time::timeout(DEADLINE, answer).await {
            Ok(Ok(value)) => Ok(Ok(value)),
            Ok(Err(kube::Error::Api(status))) => Ok(Err(status)),
            Ok(Err(error)) if is_fenced(&error) => Err(ClusterError::NotLeading),
            Ok(Err(error)) => Err(ClusterError::Unreachable(error.into())),
            Err(_) => Err(ClusterError::Timeout {
                seconds: DEADLINE.as_secs(),
                verb: verb.to_owned(),
                object: object.to_owned(),
            }),
        }
    }

    /// What a refusal means that nothing special is known about.
    pub(super) fn refused(self, status: Box<Status>) -> ClusterError {
        let Self { verb, object } = self;
        match status.code {
            403 => ClusterError::Forbidden { verb: verb.to_owned(), object: object.to_owned() },
            409 => ClusterError::Conflict { object: object.to_owned() },
            _ => ClusterError::Unreachable(status),
        }
    }

    /// What the API server answered, when it must not refuse.
    pub(super) async fn demand<T>(self, answer: impl Future<Output = kube::Result<T>>) -> Result<T, ClusterError> {
        self.answer(answer).await?.map_err(|status| self.refused(status))
    }
}
