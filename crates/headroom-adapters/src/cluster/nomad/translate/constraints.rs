//! What a job asks of its nodes, as far as Headroom knows it of nodes: datacenter, class, pool, meta attributes.

use headroom_core::keys::{META, NODE_CLASS, NODE_DATACENTER, NODE_POOL};
use headroom_core::snapshot::{Expression, NodeTerm, Operator};

use crate::cluster::nomad::object::{Constraint, Job, TaskGroup};

/// What a group of a job asks of its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// All of these.
    pub expressions: Vec<Expression>,
    /// What is asked of what is known and is not understood: it is left aside.
    pub left_aside: Vec<String>,
}

impl Asks {
    /// What this group of this job asks for; without the group, what the job does.
    pub fn of(job: &Job, group: Option<&TaskGroup>) -> Asks {
        let mut asks = Asks::default();
        // A pattern such as `dc*` may match any datacenter.
        if !job.datacenters.is_empty() && !job.datacenters.iter().any(|name| name.contains(['*', '?', '['])) {
            asks.add(NODE_DATACENTER, Operator::In, job.datacenters.iter().map(|name| (**name).into()).collect());
        }
        if !job.node_pool.is_empty() && job.node_pool != "all" {
            asks.add(NODE_POOL, Operator::In, vec![(*job.node_pool).into()]);
        }
        let of_group = group.into_iter().flat_map(|group| &group.constraints);
        let of_tasks = group.into_iter().flat_map(|group| &group.tasks).flat_map(|task| &task.constraints);
        job.constraints.iter().chain(of_group).chain(of_tasks).for_each(|constraint| asks.constraint(constraint));
        asks.expressions.sort();
        asks.expressions.dedup();
        asks
    }

    /// No node of one of these classes will do.
    pub(super) fn not_of_classes(&mut self, classes: Vec<Box<str>>) {
        if !classes.is_empty() {
            self.add(NODE_CLASS, Operator::NotIn, classes);
        }
    }

    /// As a pod says it.
    pub fn terms(&self) -> Vec<NodeTerm> {
        if self.expressions.is_empty() {
            return Vec::new();
        }
        vec![NodeTerm { labels: self.expressions.clone(), fields: Vec::new() }]
    }

    /// Attributes of nodes are not read: servers of one pool have the same.
    fn constraint(&mut self, constraint: &Constraint) {
        let target = constraint.left.strip_prefix("${").and_then(|target| target.strip_suffix('}'));
        let Some(key) = target.filter(|key| key.starts_with("node.") || key.starts_with(META)) else { return };
        let value = || vec![Box::from(&*constraint.right)];
        let (operator, values) = match &*constraint.operand {
            "" | "=" | "==" | "is" => (Operator::In, value()),
            "!=" | "not" => (Operator::NotIn, value()),
            "is_set" => (Operator::Exists, Vec::new()),
            "is_not_set" => (Operator::DoesNotExist, Vec::new()),
            "set_contains_any" => {
                (Operator::In, constraint.right.split(',').map(|value| value.trim().into()).collect())
            }
            operand => {
                self.left_aside.push(format!("{} {operand} {}", constraint.left, constraint.right));
                return;
            }
        };
        self.add(key, operator, values);
    }

    fn add(&mut self, key: &str, operator: Operator, values: Vec<Box<str>>) {
        self.expressions.push(Expression { key: key.into(), operator, values });
    }
}
