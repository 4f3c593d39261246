//! Any cloud of Headroom as a provider for Cluster Autoscaler, or for another Headroom.

mod listen;
mod offer;
mod price;
mod status;

use std::collections::HashMap;

use headroom_core::snapshot::{CloudGroup, Instance, InstanceState, LaunchError};
use tonic::metadata::MetadataValue;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use self::offer::{Offered, Offers};
use super::protocol::provider::cloud_provider_server::{CloudProvider, CloudProviderServer};
use super::protocol::provider::*;
use super::{ESTIMATED, options, translate};

pub use listen::{ServeError, ServerTls, serve};
pub use offer::Offer;
pub use price::Prices;

/// The service.
pub struct Provider {
    offers: Offers,
    prices: Prices,
}

impl Provider {
    /// A service with these groups, which go by their names. `prices` says what machines and pods cost.
    pub fn new(offers: Vec<Offer>, prices: Prices) -> Self {
        Provider { offers: Offers::new(offers), prices }
    }

    /// The service, to be served by whatever serves HTTP/2.
    pub fn routes(self) -> Routes {
        Routes::new(CloudProviderServer::new(self))
    }
}

type Answer<A> = Result<Response<A>, Status>;

fn answer<A>(answer: A) -> Answer<A> {
    Ok(Response::new(answer))
}

#[tonic::async_trait]
impl CloudProvider for Provider {
    async fn node_groups(&self, _: Request<NodeGroupsRequest>) -> Answer<NodeGroupsResponse> {
        let (groups, silent) = self.offers.known().await;
        // To Cluster Autoscaler an error is a list without groups, and all their nodes would be nobody's.
        match silent {
            Some(status) if groups.is_empty() => Err(status),
            _ => answer(NodeGroupsResponse {
                node_groups: groups.iter().map(|(of, group)| node_group(of, group)).collect(),
            }),
        }
    }

    async fn node_group_for_node(&self, request: Request<NodeGroupForNodeRequest>) -> Answer<NodeGroupForNodeResponse> {
        let node = request.into_inner().node.unwrap_or_default();
        let (groups, silent) = self.offers.known().await;
        let of = groups.iter().find(|(_, group)| machine(group, &node).is_some());
        match (of, silent) {
            // It may be one that the cloud has made meanwhile.
            (None, Some(status)) => Err(status),
            (of, _) => {
                let group = of.map(|(of, group)| node_group(of, group)).unwrap_or_default();
                answer(NodeGroupForNodeResponse { node_group: Some(group) })
            }
        }
    }

    async fn pricing_node_price(&self, request: Request<PricingNodePriceRequest>) -> Answer<PricingNodePriceResponse> {
        let PricingNodePriceRequest { node, start_time, end_time, start_timestamp, end_timestamp } =
            request.into_inner();
        let price = self.prices.of_node(&node.unwrap_or_default(), &self.offers.all().await?)?;
        let (start, end) = (start_timestamp.or(start_time), end_timestamp.or(end_time));
        let price_for_time = price::for_time(price.amount(), start, end);
        let mut answer = Response::new(PricingNodePriceResponse { price: price_for_time });
        if price.is_estimated() {
            answer.metadata_mut().insert(ESTIMATED, MetadataValue::from_static("true"));
        }
        Ok(answer)
    }

    async fn pricing_pod_price(&self, request: Request<PricingPodPriceRequest>) -> Answer<PricingPodPriceResponse> {
        let PricingPodPriceRequest { pod, start_time, end_time, pod_bytes, start_timestamp, end_timestamp } =
            request.into_inner();
        let price = self.prices.of_pod(if pod_bytes.is_empty() { &pod } else { &pod_bytes })?;
        let (start, end) = (start_timestamp.or(start_time), end_timestamp.or(end_time));
        answer(PricingPodPriceResponse { price: price::for_time(price, start, end) })
    }

    async fn gpu_label(&self, _: Request<GpuLabelRequest>) -> Answer<GpuLabelResponse> {
        // No label: Cluster Autoscaler asks once and for ever, and then goes by the resources of nodes.
        answer(GpuLabelResponse::default())
    }

    async fn get_available_gpu_types(
        &self,
        _: Request<GetAvailableGpuTypesRequest>,
    ) -> Answer<GetAvailableGpuTypesResponse> {
        answer(GetAvailableGpuTypesResponse { gpu_types: HashMap::new() })
    }

    async fn cleanup(&self, _: Request<CleanupRequest>) -> Answer<CleanupResponse> {
        // Whoever asks ends; the service and its machines go on for the next.
        answer(CleanupResponse {})
    }

    async fn refresh(&self, _: Request<RefreshRequest>) -> Answer<RefreshResponse> {
        self.offers.forget().await;
        self.offers.all().await?;
        answer(RefreshResponse {})
    }

    async fn node_group_target_size(
        &self,
        request: Request<NodeGroupTargetSizeRequest>,
    ) -> Answer<NodeGroupTargetSizeResponse> {
        let (_, group) = self.offers.one(&request.into_inner().id).await?;
        answer(NodeGroupTargetSizeResponse { target_size: whole(group.target) })
    }

    async fn node_group_increase_size(
        &self,
        request: Request<NodeGroupIncreaseSizeRequest>,
    ) -> Answer<NodeGroupIncreaseSizeResponse> {
        let NodeGroupIncreaseSizeRequest { delta, id } = request.into_inner();
        let delta = u32::try_from(delta).ok().filter(|delta| *delta > 0);
        let delta = delta.ok_or_else(|| Status::invalid_argument("the delta must be above zero"))?;
        let change = self.offers.change(&id).await?;
        change.resize(change.group.target.saturating_add(delta)).await?;
        answer(NodeGroupIncreaseSizeResponse {})
    }

    async fn node_group_delete_nodes(
        &self,
        request: Request<NodeGroupDeleteNodesRequest>,
    ) -> Answer<NodeGroupDeleteNodesResponse> {
        let NodeGroupDeleteNodesRequest { nodes, id } = request.into_inner();
        let change = self.offers.change(&id).await?;
        let machines: Vec<&str> = nodes
            .iter()
            .map(|node| machine(&change.group, node).map_or(&*node.provider_id, |machine| &*machine.provider_id))
            .collect();
        change.remove(&machines).await?;
        answer(NodeGroupDeleteNodesResponse {})
    }

    async fn node_group_decrease_target_size(
        &self,
        request: Request<NodeGroupDecreaseTargetSizeRequest>,
    ) -> Answer<NodeGroupDecreaseTargetSizeResponse> {
        let NodeGroupDecreaseTargetSizeRequest { delta, id } = request.into_inner();
        let by = (delta < 0).then(|| delta.unsigned_abs());
        let by = by.ok_or_else(|| Status::invalid_argument("the delta must be below zero"))?;
        self.offers.change(&id).await?.withdraw(by).await?;
        answer(NodeGroupDecreaseTargetSizeResponse {})
    }

    async fn node_group_nodes(&self, request: Request<NodeGroupNodesRequest>) -> Answer<NodeGroupNodesResponse> {
        let (_, group) = self.offers.one(&request.into_inner().id).await?;
        let instances = group.instances.iter().flatten().map(|told| instance(told, &group)).collect();
        answer(NodeGroupNodesResponse { instances })
    }

    async fn node_group_template_node_info(
        &self,
        request: Request<NodeGroupTemplateNodeInfoRequest>,
    ) -> Answer<NodeGroupTemplateNodeInfoResponse> {
        let (of, group) = self.offers.one(&request.into_inner().id).await?;
        let template = of.template(&group);
        let template =
            template.ok_or_else(|| Status::unimplemented("nobody says what a machine of this group is like"))?;
        let bytes = translate::node(&group.name, &template);
        answer(NodeGroupTemplateNodeInfoResponse { node_info: bytes.clone(), node_bytes: bytes })
    }

    async fn node_group_get_options(
        &self,
        request: Request<NodeGroupAutoscalingOptionsRequest>,
    ) -> Answer<NodeGroupAutoscalingOptionsResponse> {
        let NodeGroupAutoscalingOptionsRequest { id, defaults } = request.into_inner();
        let (of, group) = self.offers.one(&id).await?;
        let mut treated = of.group.clone();
        // What the cloud behind says is stated too, even where it is as by default.
        let said = treated.heed(&group.options);
        treated.stated.extend(said);
        let options = options::of(&treated, defaults);
        answer(NodeGroupAutoscalingOptionsResponse { node_group_autoscaling_options: Some(options) })
    }
}

fn node_group(of: &Offered, group: &CloudGroup) -> NodeGroup {
    let (min, max) = of.limits(group);
    let debug = format!("{}: {} machines wanted, {min} to {max} allowed", group.name, group.target);
    NodeGroup { id: group.name.to_string(), min_size: whole(min), max_size: whole(max), debug }
}

/// The machine of `group` that this node is.
fn machine<'g>(group: &'g CloudGroup, node: &ExternalGrpcNode) -> Option<&'g Instance> {
    let mut machines = group.instances.iter().flatten();
    let by_id = machines.clone().find(|machine| *machine.provider_id == *node.provider_id);
    by_id.or_else(|| machines.find(|machine| machine.addresses.iter().any(|address| **address == *node.name)))
}

fn instance(told: &Instance, group: &CloudGroup) -> super::protocol::provider::Instance {
    use instance_status::InstanceState as State;
    let state = match told.state {
        InstanceState::Running => State::InstanceRunning,
        InstanceState::Creating | InstanceState::Failed => State::InstanceCreating,
        InstanceState::Deleting => State::InstanceDeleting,
    };
    let error_info = (told.state == InstanceState::Failed).then(|| {
        let failure = group.failure.as_ref();
        let (code, class) = match failure.map(|failure| failure.error) {
            Some(LaunchError::OutOfStock) => ("OUT_OF_STOCK", translate::OUT_OF_RESOURCES),
            Some(LaunchError::Refused) | None => ("REFUSED", translate::OTHER),
        };
        let error_message = failure.map(|failure| failure.message.to_string()).unwrap_or_default();
        InstanceErrorInfo { error_code: code.to_owned(), error_message, instance_error_class: class }
    });
    let status = InstanceStatus { instance_state: state.into(), error_info };
    super::protocol::provider::Instance { id: told.provider_id.to_string(), status: Some(status) }
}

fn whole(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
