//! No call that changes something leaves while the [`Fence`] is closed.

use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use tonic::body::Body;
use tonic::transport::Channel;
use tower::{BoxError, Service};

use crate::fence::Fence;
use crate::fenced::FencedBody;

/// The calls that change nothing. Any other waits for the fence, whatever a later version of the protocol adds.
const READS: [&str; 9] = [
    "NodeGroups",
    "NodeGroupForNode",
    "PricingNodePrice",
    "PricingPodPrice",
    "Refresh",
    "NodeGroupTargetSize",
    "NodeGroupNodes",
    "NodeGroupTemplateNodeInfo",
    "NodeGroupGetOptions",
];

/// What answers is no gRPC server.
#[derive(Debug, thiserror::Error)]
#[error("{status} with content of type {content_type:?} is no answer of a gRPC server")]
pub(super) struct NoGrpc {
    status: http::StatusCode,
    content_type: String,
}

/// A connection with a fence around it.
#[derive(Clone, Debug)]
pub(super) struct FencedChannel {
    pub(super) channel: Channel,
    pub(super) fence: Fence,
}

impl Service<Request<Body>> for FencedChannel {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.channel.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let method = request.uri().path().rsplit('/').next().unwrap_or_default();
        let fence = (!READS.contains(&method)).then(|| self.fence.clone());
        if let Some(Err(fenced)) = fence.as_ref().map(Fence::check) {
            return Box::pin(std::future::ready(Err(fenced.into())));
        }
        let answer = self.channel.call(request.map(|body| Body::new(FencedBody::new(body, fence))));
        Box::pin(async move {
            let answer = answer.await?;
            let content_type = answer.headers().get(CONTENT_TYPE).map(|value| value.as_bytes()).unwrap_or_default();
            if content_type.starts_with(b"application/grpc") {
                return Ok(answer);
            }
            let content_type = String::from_utf8_lossy(content_type).into_owned();
            Err(NoGrpc { status: answer.status(), content_type }.into())
        })
    }
}
