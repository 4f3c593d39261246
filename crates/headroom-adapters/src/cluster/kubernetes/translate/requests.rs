//! What a pod asks of its node: the rules of the API's own accounting (`PodRequests` in `k8s.io/component-helpers`).

use headroom_core::quantity::{Resources, Round};

use super::Malformed;
use super::amounts::{amount, amounts, set};
use crate::cluster::kubernetes::object::{self, Container, ContainerStatus, Map, Pod, Quantity};

/// What `pod` asks for, for each resource: the larger of what its containers need while they run and what its init
/// containers need while they start, or what the pod as a whole asks for where it says so; plus its overhead. `pods`
/// is 1. What may not hold is added to `warnings`.
pub(crate) fn requests(pod: &Pod<'_>, warnings: &mut Vec<String>) -> Result<Resources, Malformed> {
    let refused = resize_refused(pod);
    let mut running = Resources::default();
    for container in &pod.spec.containers {
        let status = status_of(container, &pod.status.container_statuses);
        running = running.saturating_add(&container_requests(container, status, refused, warnings)?);
    }
    // Restartable init containers that have started keep running beside everything that comes after them.
    let mut started = Resources::default();
    let mut starting = Resources::default();
    for container in &pod.spec.init_containers {
        if &*container.restart_policy == "Always" {
            let status = status_of(container, &pod.status.init_container_statuses);
            started = started.saturating_add(&container_requests(container, status, refused, warnings)?);
            starting = starting.max_each(&started);
        } else {
            let alone = container_requests(container, None, refused, warnings)?;
            starting = starting.max_each(&alone.saturating_add(&started));
        }
    }
    let mut total = running.saturating_add(&started).max_each(&starting);
    apply_pod_level(pod, refused, &mut total, warnings)?;
    let overhead = amounts(pod.spec.overhead.iter(), Round::Up, || "overhead".to_owned(), warnings)?;
    Ok(Resources { pods: 1, ..total.saturating_add(&overhead) })
}

/// Whether the node will never grant the resize that the spec asks for, so that the spec says nothing about the pod.
fn resize_refused(pod: &Pod<'_>) -> bool {
    let condition = |condition: &object::Condition<'_>| {
        &*condition.kind == "PodResizePending" && &*condition.reason == "Infeasible"
    };
    &*pod.status.resize == "Infeasible" || pod.status.conditions.iter().any(condition)
}

fn status_of<'s, 'a>(
    container: &Container<'_>,
    statuses: &'s [ContainerStatus<'a>],
) -> Option<&'s ContainerStatus<'a>> {
    statuses.iter().find(|status| *status.name == *container.name)
}

/// What one container asks for. During a resize that is the largest of what is wanted, set aside and used.
fn container_requests(
    container: &Container<'_>,
    status: Option<&ContainerStatus<'_>>,
    resize_refused: bool,
    warnings: &mut Vec<String>,
) -> Result<Resources, Malformed> {
    let of = |what: &'static str| move || format!("{what} of container {}", &*container.name);
    let held = match status {
        Some(status) if !status.resources.requests.is_empty() || !status.allocated_resources.is_empty() => {
            let used = amounts(status.resources.requests.iter(), Round::Up, of("status.resources"), warnings)?;
            let set_aside = amounts(status.allocated_resources.iter(), Round::Up, of("allocatedResources"), warnings)?;
            Some(used.max_each(&set_aside))
        }
        _ => None,
    };
    if let Some(held) = &held
        && resize_refused
    {
        return Ok(held.clone());
    }
    let wanted = amounts(asked(&container.resources), Round::Up, of("requests"), warnings)?;
    Ok(held.map_or(wanted.clone(), |held| wanted.max_each(&held)))
}

/// The requests, and the limits of what has no request: the API takes them for requests.
fn asked<'s, 'a>(resources: &'s object::Resources<'a>) -> impl Iterator<Item = (&'s str, &'s Quantity<'a>)> + Clone {
    let unasked = resources.limits.iter().filter(|(name, _)| find(&resources.requests, name).is_none());
    resources.requests.iter().chain(unasked)
}

/// Puts what the pod as a whole asks for in the place of what its containers add up to.
fn apply_pod_level(
    pod: &Pod<'_>,
    resize_refused: bool,
    total: &mut Resources,
    warnings: &mut Vec<String>,
) -> Result<(), Malformed> {
    let spec = &pod.spec.resources;
    for (name, quantity) in asked(spec).filter(|(name, _)| may_be_pod_level(name)) {
        let is_limit = find(&spec.requests, name).is_none();
        // The API fills a missing request in from the containers, and only when they ask for nothing from the limit.
        if is_limit && get(total, name) > 0 {
            continue;
        }
        let mut read = |quantity: &Quantity<'_>, what: &str| {
            amount(name, quantity, Round::Up, || format!("{what} of the pod"), warnings)
        };
        let used = find(&pod.status.resources.requests, name).map(|quantity| read(quantity, "status.resources"));
        let set_aside =
            find(&pod.status.allocated_resources, name).map(|quantity| read(quantity, "allocatedResources"));
        let held = used.transpose()?.max(set_aside.transpose()?);
        let wanted = if resize_refused && held.is_some() { None } else { Some(read(quantity, "resources")?) };
        set(total, name, wanted.max(held).unwrap_or(0));
    }
    Ok(())
}

/// The resources that the API accepts in a pod's `spec.resources`.
fn may_be_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

fn get(amounts: &Resources, name: &str) -> i64 {
    match name {
        "cpu" => amounts.cpu,
        "memory" => amounts.memory,
        _ => amounts.extended(name),
    }
}

fn find<'s, 'a>(map: &'s Map<'a, Quantity<'a>>, name: &str) -> Option<&'s Quantity<'a>> {
    map.iter().find(|(known, _)| *known == name).map(|(_, quantity)| quantity)
}
