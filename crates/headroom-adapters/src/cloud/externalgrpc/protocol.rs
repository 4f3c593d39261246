//! The messages and the service, as they are compiled from `proto/`.

#![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]

/// The protocol between an autoscaler and a provider.
pub(super) mod provider {
    tonic::include_proto!("clusterautoscaler.cloudprovider.v1.externalgrpc");
}

/// Kubernetes' own objects.
pub(super) mod core {
    tonic::include_proto!("k8s.io.api.core.v1");
}
