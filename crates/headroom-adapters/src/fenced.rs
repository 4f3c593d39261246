//! Bodies of requests that are not sent once the [`Fence`] is closed, whatever client sends them.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use tower::BoxError;

use crate::fence::{Fence, Fenced};

/// What a request carries. It is asked for once there is a connection, right before head and body are written together:
/// a process that was stopped while it connected sends nothing any more.
#[derive(Debug)]
pub(crate) struct FencedBody<B> {
    body: B,
    fence: Option<Fence>,
}

impl<B> FencedBody<B> {
    /// Without a fence it is sent in any case.
    pub(crate) fn new(body: B, fence: Option<Fence>) -> Self {
        FencedBody { body, fence }
    }
}

impl<B> Body for FencedBody<B>
where
    B: Body + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, BoxError>>> {
        if let Some(Err(fenced)) = self.fence.as_ref().map(Fence::check) {
            return Poll::Ready(Some(Err(fenced.into())));
        }
        Pin::new(&mut self.body).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Whether this is, or comes of, the fence.
pub(crate) fn is_fenced(error: &(dyn std::error::Error + 'static)) -> bool {
    comes_of::<Fenced>(error)
}

/// Whether this is, or comes of, an error of type `E`.
pub(crate) fn comes_of<E: std::error::Error + 'static>(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| error.is::<E>())
}
