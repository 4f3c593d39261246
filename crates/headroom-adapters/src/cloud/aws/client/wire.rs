//! No request that changes something leaves while the [`Fence`] is closed.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::fence::{Fence, Fenced};

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
        *request.body_mut() = Some(reqwest::Body::wrap(FencedBody { body: Some(body), fence }));
        self.http.execute(request).await
    }
}

/// What a request carries. It is asked for once there is a connection, right before head and body are written together:
/// a process that was stopped while it connected sends nothing any more.
#[derive(Debug)]
struct FencedBody {
    body: Option<Bytes>,
    fence: Option<Fence>,
}

impl http_body::Body for FencedBody {
    type Data = Bytes;
    type Error = Fenced;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Fenced>>> {
        if let Some(Err(fenced)) = self.fence.as_ref().map(Fence::check) {
            return Poll::Ready(Some(Err(fenced)));
        }
        Poll::Ready(self.body.take().map(|body| Ok(Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.body.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
    }
}

/// Whether this is, or comes of, the fence.
pub(super) fn is_fenced(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| error.is::<Fenced>())
}
