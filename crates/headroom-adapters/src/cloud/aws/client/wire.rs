//! No request that changes something leaves while the [`Fence`] is closed.

use bytes::Bytes;

use crate::fence::Fence;
use crate::fenced::FencedBody;

/// The way out: every request goes through here.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    http: reqwest::Client,
    fence: Fence,
}

impl Wire {
    pub(super) fn new(http: reqwest::Client, fence: Fence) -> Self {
        Wire { http, fence }
    }

    /// Sends a signed request with this body. Only one that `changes` nothing passes a closed fence.
    pub(super) async fn send(
        &self,
        mut request: reqwest::Request,
        body: Bytes,
        changes: bool,
    ) -> Result<reqwest::Response, reqwest::Error> {
        let fence = changes.then(|| self.fence.clone());
        *request.body_mut() = Some(reqwest::Body::wrap(FencedBody::new(reqwest::Body::from(body), fence)));
        self.http.execute(request).await
    }
}
