//! What nodes and pods cost.

use headroom_core::pricing::{NodePrice, Offering, PriceSources, Quote, UnitPrices, on_one_scale};
use headroom_core::quantity::{Money, Resources};
use headroom_core::snapshot::{CloudGroup, Labels};
use prost_types::Timestamp;
use tonic::Status;

use super::offer::Offered;
use super::translate::{self, GROUP};
use super::{ExternalGrpcNode, machine};

/// What machines and pods cost where neither a group's own `price` nor its cloud says it.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    /// Prices by machine type.
    pub sources: PriceSources,
    /// What pods are worth, and machines whose price nobody says.
    pub unit: UnitPrices,
}

impl Prices {
    /// What a node costs in an hour, by the rules that Headroom itself goes by: what somebody says, or else an estimate
    /// from its capacity, on one scale with the prices of all groups.
    pub(super) fn of_node(
        &self,
        node: &ExternalGrpcNode,
        groups: &[(&Offered, CloudGroup)],
    ) -> Result<NodePrice, Status> {
        let own = group_of(node, groups);
        let template = own.and_then(|(of, group)| of.template(group));
        let known = template.iter().flat_map(|template| template.labels.iter());
        let labels = known.chain(node.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()))).collect();
        let quote = self.quote(own, &labels);
        if let Some(quote) = quote {
            return Ok(NodePrice::Stated(quote));
        }
        let capacity =
            template.ok_or_else(|| Status::not_found("nobody says what this node costs or is like"))?.capacity;
        let mut machines: Vec<(Resources, Option<Quote>)> = groups
            .iter()
            .filter_map(|both @ (of, group)| {
                let template = of.template(group)?;
                Some((template.capacity, self.quote(Some(both), &template.labels)))
            })
            .collect();
        machines.push((capacity, None));
        let machines = machines.iter().map(|(capacity, quote)| (capacity, *quote));
        let price = on_one_scale(machines, &self.unit).pop();
        price.ok_or_else(|| Status::internal("no price of a machine that was asked for"))
    }

    /// What a pod is worth in an hour: what it would cost on a machine that fits it perfectly.
    pub(super) fn of_pod(&self, bytes: &[u8]) -> Result<Money, Status> {
        let invalid = |error: translate::ObjectError| {
            let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |cause| cause.source());
            Status::invalid_argument(causes.map(ToString::to_string).collect::<Vec<_>>().join(": "))
        };
        Ok(self.unit.price_of_one(&translate::pod_requests(bytes).map_err(invalid)?))
    }

    fn quote(&self, of: Option<&(&Offered, CloudGroup)>, labels: &Labels) -> Option<Quote> {
        let (own, from_cloud) = of.map_or((None, None), |(of, group)| (of.group.price, group.price));
        self.sources.quote(own, &Offering::of(labels), from_cloud)
    }
}

/// The group that has this node, or that would have it: it may be one that is only thought of.
fn group_of<'g, 'o>(
    node: &ExternalGrpcNode,
    groups: &'g [(&'o Offered, CloudGroup)],
) -> Option<&'g (&'o Offered, CloudGroup)> {
    let is_of = |of: &Offered| {
        let name = &*of.group.name;
        node.annotations.get(GROUP).is_some_and(|group| *group == *name) || node.name == translate::name_of(name)
    };
    let by_machine = groups.iter().find(|(_, group)| machine(group, node).is_some());
    let named = || groups.iter().find(|(of, _)| is_of(of));
    by_machine.or_else(named).or_else(|| {
        // What is like the template of a group has its labels. The more there are, the less could that be by chance.
        let like = |(of, group): &(&Offered, CloudGroup)| {
            let labels = of.template(group)?.labels;
            let own = |(key, value): (&str, &str)| node.labels.get(key).is_some_and(|own| own == value);
            (!labels.is_empty() && labels.iter().all(own)).then_some(labels.len())
        };
        let likes = groups.iter().filter_map(|both| Some((like(both)?, both)));
        likes.rev().max_by_key(|(labels, _)| *labels).map(|(_, both)| both)
    })
}

/// What comes of a price in an hour from one time to another, in dollars. The protocol has a float there.
pub(super) fn for_time(Money(nanos): Money, start: Option<Timestamp>, end: Option<Timestamp>) -> f64 {
    let seconds = |time: Option<Timestamp>| {
        time.map(|time| time.seconds as f64 + f64::from(time.nanos) / 1e9).unwrap_or_default()
    };
    let hours = (seconds(end) - seconds(start)).max(0.0) / 3600.0;
    nanos as f64 / 1e9 * hours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pod_has_no_price() {
        let reason = |bytes: &[u8]| Prices::default().of_pod(bytes).unwrap_err().message().to_owned();
        assert!(reason(&[0x0f, 0xff]).starts_with("what was sent is no Pod of core/v1: "));
        // spec.containers[0].resources.requests["cpu"] = "much"
        let pair = [&[0x0a, 3][..], b"cpu", &[0x12, 6, 0x0a, 4], b"much"].concat();
        let nested = |tag: u8, content: Vec<u8>| [vec![tag, content.len() as u8], content].concat();
        let pod = nested(0x12, nested(0x12, nested(0x42, nested(0x12, pair))));
        assert!(reason(&pod).starts_with("the pod cannot be understood: "), "{}", reason(&pod));
        assert_eq!(Prices::default().of_pod(&[]).unwrap(), Money(0));
    }
}
