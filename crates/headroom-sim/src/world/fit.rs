//! Whether a pod can run on a node, and how good a place it is.
//!
//! This is the simulated scheduler's own reading of Kubernetes' rules. It shares no code with what decides about node
//! groups, so that a mistake there shows here as a pod that waits.

use headroom_core::quantity::{Resources, Totals};
use headroom_core::snapshot::{Effect, Expression, Labels, Node, NodeTerm, Operator, PodSpec, Readiness, Taint};

use crate::scenario::Placement;

/// Whether a pod like `spec` can be placed on `node`, whose pods use `used` of it.
pub(super) fn fits(spec: &PodSpec, node: &Node, used: &Totals) -> bool {
    node.readiness == Readiness::Ready
        && !node.unschedulable
        && !node.deleting
        && has_room(&spec.requests, &node.allocatable, used)
        && node.labels.contains_all(&spec.node_selector)
        && (spec.node_affinity.is_empty() || spec.node_affinity.iter().any(|term| holds(term, node)))
        && node
            .taints
            .iter()
            .filter(|taint| taint.effect != Effect::PreferNoSchedule)
            .all(|taint| tolerates(spec, taint))
}

/// Whether a DaemonSet's pod belongs on `node`: like [`fits`], but the node need not be ready or take other pods.
pub(super) fn daemon_fits(spec: &PodSpec, node: &Node, used: &Totals) -> bool {
    let patient = Node {
        readiness: Readiness::Ready,
        unschedulable: false,
        taints: node.taints.iter().filter(|taint| !taint.key.starts_with("node.kubernetes.io/")).cloned().collect(),
        ..node.clone()
    };
    fits(spec, &patient, used)
}

/// Whether a pod that runs on a node may stay once the node has `taint`.
pub(super) fn may_stay(spec: &PodSpec, taint: &Taint) -> bool {
    taint.effect != Effect::NoExecute || tolerates(spec, taint)
}

/// How good a place `node` is for the pod; the largest wins. Per resource it is the share, of 100, that is free (or
/// used) with the pod there, and the result the mean of cpu and memory, as in kube-scheduler's NodeResourcesFit.
pub(super) fn score(placement: Placement, spec: &PodSpec, node: &Node, used: &Totals) -> i128 {
    let share = |has: i64, used: i128, wants: i64| {
        let (has, used) = (i128::from(has), used + i128::from(wants));
        match placement {
            _ if has <= 0 || used > has => 0,
            Placement::LeastAllocated => (has - used) * 100 / has,
            Placement::MostAllocated => used * 100 / has,
        }
    };
    let (has, wants) = (&node.allocatable, &spec.requests);
    let avoided = node.taints.iter().filter(|taint| taint.effect == Effect::PreferNoSchedule);
    // A taint to be avoided outweighs every share.
    let penalty = 1000 * avoided.filter(|taint| !tolerates(spec, taint)).count() as i128;
    (share(has.cpu, used.cpu, wants.cpu) + share(has.memory, used.memory, wants.memory)) / 2 - penalty
}

fn has_room(wants: &Resources, has: &Resources, used: &Totals) -> bool {
    // What is not asked for is not looked at, so that it does not matter when it is overdrawn.
    let enough = |has: i64, used: i128, wants: i64| wants == 0 || used + i128::from(wants) <= i128::from(has);
    enough(has.cpu, used.cpu, wants.cpu)
        && enough(has.memory, used.memory, wants.memory)
        && enough(has.ephemeral_storage, used.ephemeral_storage, wants.ephemeral_storage)
        && enough(has.pods, used.pods, wants.pods)
        && wants.extended.iter().all(|(name, wants)| enough(has.extended(name), used.extended(name), *wants))
}

fn tolerates(spec: &PodSpec, taint: &Taint) -> bool {
    spec.tolerations.iter().any(|toleration| {
        let key = if toleration.key.is_empty() { toleration.exists } else { toleration.key == taint.key };
        let value = toleration.exists || toleration.value == taint.value;
        key && value && toleration.effect.is_none_or(|effect| effect == taint.effect)
    })
}

/// Whether a term of a required node affinity holds. An empty one never does.
fn holds(term: &NodeTerm, node: &Node) -> bool {
    let name = Labels::from_iter([("metadata.name", &*node.name)]);
    !(term.labels.is_empty() && term.fields.is_empty())
        && term.labels.iter().all(|expression| matches(expression, &node.labels))
        && term.fields.iter().all(|expression| matches(expression, &name))
}

fn matches(expression: &Expression, labels: &Labels) -> bool {
    let value = labels.get(&expression.key);
    let listed = || value.is_some_and(|value| expression.values.iter().any(|known| **known == *value));
    let compared = |wanted: std::cmp::Ordering| {
        let bound = expression.values.first().and_then(|bound| bound.parse::<i64>().ok());
        let value = value.and_then(|value| value.parse::<i64>().ok());
        value.zip(bound).is_some_and(|(value, bound)| value.cmp(&bound) == wanted)
    };
    match expression.operator {
        Operator::In => listed(),
        Operator::NotIn => !listed(),
        Operator::Exists => value.is_some(),
        Operator::DoesNotExist => value.is_none(),
        Operator::Gt => compared(std::cmp::Ordering::Greater),
        Operator::Lt => compared(std::cmp::Ordering::Less),
    }
}

#[cfg(test)]
mod tests {
    use headroom_core::snapshot::Toleration;

    use super::*;

    fn node() -> Node {
        Node {
            name: "n1".into(),
            labels: Labels::from_iter([("zone", "a"), ("cores", "8")]),
            allocatable: Resources { pods: 2, ..Resources::new(1000, 100) },
            ..Node::default()
        }
    }

    fn asks(key: &str, operator: Operator, values: &[&str]) -> Vec<Expression> {
        vec![Expression { key: key.into(), operator, values: values.iter().map(|value| (*value).into()).collect() }]
    }

    #[test]
    fn required_affinity() {
        use Operator::*;
        let table = [
            (asks("zone", In, &["b", "a"]), true),
            (asks("zone", In, &["b"]), false),
            (asks("none", In, &["a"]), false),
            (asks("zone", NotIn, &["a"]), false),
            (asks("none", NotIn, &["a"]), true),
            (asks("zone", Exists, &[]), true),
            (asks("none", Exists, &[]), false),
            (asks("none", DoesNotExist, &[]), true),
            (asks("zone", DoesNotExist, &[]), false),
            (asks("cores", Gt, &["7"]), true),
            (asks("cores", Gt, &["8"]), false),
            (asks("cores", Lt, &["9"]), true),
            (asks("zone", Lt, &["9"]), false),
            (vec![], false),
        ];
        for (labels, expected) in table {
            let spec = PodSpec { node_affinity: vec![NodeTerm { labels, fields: vec![] }], ..PodSpec::default() };
            assert_eq!(fits(&spec, &node(), &Totals::default()), expected, "{:?}", spec.node_affinity);
        }
        let term = |labels, fields| NodeTerm { labels, fields };
        let either = vec![term(asks("zone", In, &["b"]), vec![]), term(vec![], asks("metadata.name", In, &["n1"]))];
        let spec = PodSpec { node_affinity: either, ..PodSpec::default() };
        assert!(fits(&spec, &node(), &Totals::default()), "one term is enough, and the name is a field");
    }

    #[test]
    fn taints_and_tolerations() {
        let taint = |effect| Taint { key: "k".into(), value: "v".into(), effect };
        let toleration = |key: &str, exists, value: &str, effect| Toleration {
            key: key.into(),
            exists,
            value: value.into(),
            effect,
        };
        let table = [
            (toleration("k", false, "v", None), true),
            (toleration("k", false, "w", None), false),
            (toleration("k", true, "", None), true),
            (toleration("j", true, "", None), false),
            (toleration("", true, "", None), true),
            (toleration("", false, "v", None), false),
            (toleration("k", true, "", Some(Effect::NoSchedule)), true),
            (toleration("k", true, "", Some(Effect::NoExecute)), false),
        ];
        let tainted = Node { taints: vec![taint(Effect::NoSchedule)], ..node() };
        for (toleration, expected) in table {
            let spec = PodSpec { tolerations: vec![toleration], ..PodSpec::default() };
            assert_eq!(fits(&spec, &tainted, &Totals::default()), expected, "{:?}", spec.tolerations);
        }
        let avoided = Node { taints: vec![taint(Effect::PreferNoSchedule)], ..node() };
        let spec = PodSpec::default();
        assert!(fits(&spec, &avoided, &Totals::default()), "a taint to be avoided forbids nothing");
        let score = |node: &Node| score(Placement::LeastAllocated, &spec, node, &Totals::default());
        assert!(score(&avoided) < score(&node()));
    }

    #[test]
    fn room() {
        let spec = |cpu, memory| PodSpec {
            requests: Resources { pods: 1, ..Resources::new(cpu, memory) },
            ..PodSpec::default()
        };
        let mut used = Totals::default();
        used += &Resources { pods: 1, ..Resources::new(900, 100) };
        assert!(fits(&spec(100, 0), &node(), &used));
        assert!(!fits(&spec(101, 0), &node(), &used));
        assert!(!fits(&spec(0, 1), &node(), &used));
        used += &Resources { pods: 1, ..Resources::default() };
        assert!(!fits(&spec(0, 0), &node(), &used), "no more than two pods");
        let mut gpu = spec(0, 0);
        gpu.requests.set_extended("gpu", 1);
        assert!(!fits(&gpu, &node(), &Totals::default()));
        for unfit in [
            Node { unschedulable: true, ..node() },
            Node { deleting: true, ..node() },
            Node { readiness: Readiness::NotReady { since: None }, ..node() },
        ] {
            assert!(!fits(&spec(0, 0), &unfit, &Totals::default()));
        }
    }
}
