//! No request that changes something leaves while the [`Fence`] is closed.

use std::task::{Context, Poll};

use futures::future::{Either, Ready, ready};
use http::{Method, Request};
use kube::client::Body;
use tower::{BoxError, Layer, Service};

use crate::fence::Fence;
use crate::fenced::FencedBody;

/// Marks a request of the leader election, which is what opens the fence and so cannot wait for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfElection;

/// Lays a fence around the connections to an API server, inside of everything that may take time, such as getting a
/// token.
#[derive(Clone, Debug)]
pub(super) struct FenceLayer(pub(super) Fence);

impl<S> Layer<S> for FenceLayer {
    type Service = FencedService<S>;
    fn layer(&self, inner: S) -> Self::Service {
        FencedService { inner, fence: self.0.clone() }
    }
}

#[derive(Clone, Debug)]
pub(super) struct FencedService<S> {
    inner: S,
    fence: Fence,
}

impl<S> Service<Request<Body>> for FencedService<S>
where
    S: Service<Request<FencedBody<Body>>>,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future =
        Either<Ready<Result<S::Response, BoxError>>, futures::future::MapErr<S::Future, fn(S::Error) -> BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let harmless = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
        let free = harmless || request.extensions().get::<OfElection>().is_some();
        let fence = (!free).then(|| self.fence.clone());
        if let Some(Err(fenced)) = fence.as_ref().map(Fence::check) {
            return Either::Left(ready(Err(fenced.into())));
        }
        let answer = self.inner.call(request.map(|body| FencedBody::new(body, fence)));
        Either::Right(futures::TryFutureExt::map_err(answer, Into::into as fn(S::Error) -> BoxError))
    }
}
