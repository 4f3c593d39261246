//! What is right but can hardly be meant: keys that decide nothing, and groups that can never do what they are told.

use headroom_core::expander::Expander;
use headroom_core::limits::Present;
use headroom_core::policy::Strategy;
use headroom_core::pricing::Offering;
use headroom_core::quantity::Resources;
use headroom_core::snapshot::Labels;

use super::File;
use super::cloud::Cloud;
use super::group::Draft;
use crate::config::problem::Problem;

/// Keys that mean something for groups with the strategy `pending` alone, but for [`FOR_POOLS`].
const FOR_PENDING: [&str; 10] = [
    "expander",
    "priorities",
    "prices",
    "limits",
    "balanceSimilar",
    "balanceIgnoreLabels",
    "backoff",
    "expendablePodsBelowPriority",
    "scaleDown",
    "slack",
];

/// The one that means something for pools too.
const FOR_POOLS: &str = "backoff";

pub(super) fn of(file: &File) -> Vec<Problem> {
    let mut warnings: Vec<Problem> = file.groups.iter().filter_map(boundless).collect();
    let all = || file.groups.iter().chain(&file.discover);
    let pending: Vec<&Draft> = all().filter(|draft| is_pending(draft)).collect();
    if pending.is_empty() {
        let pools = all().any(is_pool);
        let idle = FOR_PENDING.into_iter().filter(|key| !pools || *key != FOR_POOLS);
        warnings.extend(idle.filter_map(|key| without_pending(file, key)));
        return warnings;
    }
    warnings.extend(pending.iter().filter_map(|draft| without_template(draft)));
    warnings.extend(pending.iter().filter_map(|draft| without_price(file, draft)));
    warnings.extend(pending.iter().filter_map(|draft| without_room(file, draft)));
    warnings.extend(only_estimates(file, &pending));
    warnings.extend(pending.iter().filter_map(|draft| kept_anyway(file, draft)));
    warnings.extend(pending.iter().filter_map(|draft| more_spare_than_nodes(draft)));
    warnings.extend(file.growth.slack.warnings());
    warnings.extend(idle_priorities(file));
    warnings.extend(idle_labels(file));
    warnings
}

fn is_pending(draft: &Draft) -> bool {
    matches!(draft.group.strategy, Strategy::Pending(_))
}

fn is_pool(draft: &Draft) -> bool {
    matches!(draft.group.strategy, Strategy::MemoryPool(_) | Strategy::CpuPool(_))
}

/// A size without a maximum is never changed.
fn boundless(draft: &Draft) -> Option<Problem> {
    let by_server = draft.cloud.hardware_names().is_some();
    ((draft.cloud == Cloud::None || by_server) && draft.group.size.max.is_none()).then(|| {
        let message = format!("nobody says how large `{}` may become, so its size is left alone", draft.group.name);
        let hint = match by_server {
            true => "add `size: { max: … }`",
            false => "add `size: { max: … }`, or say with `cloud:` who makes its machines",
        };
        Problem::at(draft.places.of("name"), message, hint)
    })
}

fn without_pending(file: &File, key: &str) -> Option<Problem> {
    file.places.has(key).then(|| {
        let message = format!("no group has the strategy `pending`, so `{key}` decides nothing");
        Problem::at(file.places.of(key), message, "remove it, or give a group `strategy: { pending: {} }`")
    })
}

fn without_template(draft: &Draft) -> Option<Problem> {
    let group = &draft.group;
    let may_be_empty = group.size.min.is_none_or(|min| min == 0);
    (draft.cloud == Cloud::None && group.template.is_none() && may_be_empty).then(|| {
        let message = format!("nobody says what a node of `{}` is like before it has had one", group.name);
        let hint = "add `template:`, or keep a node with `size: { min: 1 }`; the group cannot grow until then";
        Problem::at(draft.places.of("name"), message, hint)
    })
}

/// A type that is in none of the lists is most likely misspelt, here or there.
fn without_price(file: &File, draft: &Draft) -> Option<Problem> {
    let group = &draft.group;
    let template = group.template.as_ref()?;
    let labels: Labels = template.labels.iter().chain(group.select.labels.iter()).collect();
    let offering = Offering::of(&labels);
    let prices = &file.growth.prices;
    let named = offering.instance_type.is_some() && prices.are_stated() && draft.cloud == Cloud::None;
    (named && prices.sources().quote(group.price, &offering, None).is_none()).then(|| {
        let message = format!("no price is stated for {offering}, so it is estimated");
        let hint = format!("add it to `prices`, or a `price` to `{}`", group.name);
        Problem::at(draft.places.of("template"), message, hint)
    })
}

/// Limits that leave too little for the group, even when nothing is there yet.
fn without_room(file: &File, draft: &Draft) -> Option<Problem> {
    let group = &draft.group;
    let (Strategy::Pending(settings), Some(max)) = (&group.strategy, group.size.max) else { return None };
    let capacity = group.template.as_ref().map_or_else(Resources::default, |template| template.capacity.clone());
    let room = file.growth.limits.room(0, max, &capacity, &Present::default());
    let needed = if settings.all_or_nothing { max } else { max.min(1) };
    (room.nodes < needed).then(|| {
        let (name, nodes, bound) = (draft.called(), room.nodes, room.bound);
        let message = match settings.all_or_nothing {
            true => format!("{name} gets {max} nodes at once or none, and cannot get more than {nodes}: {bound}"),
            false => format!("{name} can get no node: {bound}"),
        };
        let hint = "raise the limit, or remove the group";
        let problem = Problem::at(draft.places.written("name", "cloud"), message, hint);
        if file.places.has("limits") { problem.also(file.places.of("limits"), "the limits") } else { problem }
    })
}

fn only_estimates(file: &File, pending: &[&Draft]) -> Option<Problem> {
    let (place, _) = file.growth.expander.iter().find(|(_, expander)| *expander == Expander::Price)?;
    let unknown = |draft: &&Draft| draft.group.price.is_none() && draft.cloud == Cloud::None;
    (!file.growth.prices.are_stated() && pending.iter().all(unknown)).then(|| {
        let message = "no price is stated, so `price` compares nothing but estimates";
        let hint = "add `prices: { machines: … }`, `prices: { catalogue: … }`, or a `price` to each group";
        Problem::at(place.clone(), message, hint)
    })
}

/// Settings for the removal of nodes that all stay.
fn kept_anyway(file: &File, draft: &Draft) -> Option<Problem> {
    (draft.places.has("scaleDown") && !file.growth.scale_down.enabled).then(|| {
        let message =
            format!("no node goes while `scaleDown` is not enabled, so this decides nothing for {}", draft.called());
        let problem = Problem::at(draft.places.of("scaleDown"), message, "remove it, or `enabled: false`");
        problem.also(file.places.of("scaleDown"), "not enabled")
    })
}

/// Nodes that the group may never have cannot be spare ones.
fn more_spare_than_nodes(draft: &Draft) -> Option<Problem> {
    let (spare, max) = (draft.spare.nodes, draft.group.size.max?);
    (spare > max).then(|| {
        let message = format!("`{}` keeps {spare} nodes empty and may have no more than {max}", draft.group.name);
        let problem = Problem::at(draft.places.of("spare"), message, "raise `size.max`, or keep fewer");
        problem.also(draft.places.of("size"), "its size")
    })
}

fn idle_priorities(file: &File) -> Option<Problem> {
    let asked = file.growth.expander.iter().any(|(_, expander)| *expander == Expander::Priority);
    (file.places.has("priorities") && !asked).then(|| {
        let message = "no expander asks for `priorities`";
        Problem::at(file.places.of("priorities"), message, "write `expander: priority`, or a list with it")
    })
}

fn idle_labels(file: &File) -> Option<Problem> {
    (file.places.has("balanceIgnoreLabels") && !file.growth.balance_similar).then(|| {
        let message = "nothing is balanced while `balanceSimilar` is false";
        let problem = Problem::at(file.places.of("balanceIgnoreLabels"), message, "remove one of the two");
        problem.also(file.places.of("balanceSimilar"), "here")
    })
}
