//! Tasks that wait for a place: where they fit on servers that are there or on their way, and how many more servers they
//! need. An average hides that what is free may be in pieces.

use std::sync::Arc;

use super::Pass;
use super::servers::Servers;
use crate::plan::{Resource, Subject, Why};
use crate::quantity::{Resources, ceil_div};
use crate::round::Round;
use crate::scheduling::{Host, allows, labels_asked};
use crate::snapshot::{ClassView, Node, NodeView, PodSpec, Template};

/// What is free on one server.
#[derive(Clone, Debug)]
pub(super) struct Free<'a> {
    /// None for a machine that is no node yet.
    pub(super) node: Option<&'a Node>,
    /// It is ready now, and stays.
    pub(super) in_service: bool,
    memory: i128,
    /// None when nobody knows how much it has.
    cpu: Option<i128>,
    /// Waiting tasks that are to come here: equal ones, and how many.
    pub(super) promised: Vec<(ClassView<'a>, u32)>,
}

/// What a server that does not exist yet offers.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewServer {
    pub(super) memory: i64,
    pub(super) cpu: Option<i64>,
}

/// What waits and can be helped.
#[derive(Debug, Default)]
pub(super) struct Unplaced {
    /// Tasks that could run on servers of the pool.
    pub(super) tasks: u64,
    /// Servers that have to come for them.
    pub(super) servers: u32,
}

/// What is free on the servers in service, in their order, and then on those that have registered and not been ready yet.
pub(super) fn free<'a>(servers: &Servers<'a>) -> Vec<Free<'a>> {
    let on = |in_service| {
        move |view: &NodeView<'a>| {
            let left = view.sums.used.left_of(&view.node.allocatable);
            let cpu = Some(i128::from(left.cpu));
            Free { node: Some(view.node), in_service, memory: left.memory.into(), cpu, promised: Vec::new() }
        }
    };
    servers.in_service.iter().map(on(true)).chain(servers.booting.iter().map(on(false))).collect()
}

impl<'a> Free<'a> {
    fn on(new: NewServer) -> Self {
        let (memory, cpu) = (new.memory.into(), new.cpu.map(i128::from));
        Free { node: None, in_service: false, memory, cpu, promised: Vec::new() }
    }

    /// Whether such tasks may run there, room aside. What keeps them off a server that boots will be gone.
    pub(super) fn suits(&self, round: &Round<'_>, spec: &PodSpec) -> bool {
        let Some(node) = self.node else { return true };
        let host = Host::of(node);
        let host = if self.in_service { host } else { Host { taints: &[], ..host } };
        allows(round.snapshot, spec, &host).is_ok()
    }

    /// How many such tasks have room.
    fn room(&self, requests: &Resources) -> u32 {
        let times = |free: i128, each: i64| match each {
            ..=0 => u32::MAX,
            each => u32::try_from(free.max(0) / i128::from(each)).unwrap_or(u32::MAX),
        };
        times(self.memory, requests.memory).min(self.cpu.map_or(u32::MAX, |cpu| times(cpu, requests.cpu)))
    }

    /// Whether one such task has room.
    pub(super) fn has_room(&self, requests: &Resources) -> bool {
        // Asked of every server for every task: a division each would be most of the time.
        let fits = |free: i128, each: i64| each <= 0 || free >= i128::from(each);
        fits(self.memory, requests.memory) && self.cpu.is_none_or(|cpu| fits(cpu, requests.cpu))
    }

    /// Takes as many of `count` such tasks as have room, and answers how many.
    pub(super) fn take(&mut self, requests: &Resources, count: u32) -> u32 {
        let taken = self.room(requests).min(count);
        self.memory -= i128::from(requests.memory) * i128::from(taken);
        if let Some(cpu) = &mut self.cpu {
            *cpu -= i128::from(requests.cpu) * i128::from(taken);
        }
        taken
    }

    /// Gives back what a task has taken.
    pub(super) fn give_back(&mut self, requests: &Resources) {
        self.memory += i128::from(requests.memory);
        if let Some(cpu) = &mut self.cpu {
            *cpu += i128::from(requests.cpu);
        }
    }
}

impl<'a> Pass<'_, 'a> {
    /// Gives waiting tasks the places that are free, the largest first, and counts the servers that the others need. Without
    /// `new` nobody knows what a server would offer, and none is counted.
    pub(super) fn place_waiting(
        &mut self,
        round: &mut Round<'a>,
        classes: &[ClassView<'a>],
        new: Option<NewServer>,
    ) -> Unplaced {
        let unregistered = new.map_or(0, |_| self.servers.unregistered as usize);
        self.free.extend(new.into_iter().flat_map(|new| std::iter::repeat_n(Free::on(new), unregistered)));
        let mut waiting: Vec<&ClassView<'a>> = classes.iter().filter(|class| class.pending() > 0).collect();
        let size = |class: &ClassView<'_>| (class.spec.requests.memory, class.spec.requests.cpu);
        waiting.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| a.spec.cmp(b.spec)));
        let mut unplaced = Unplaced::default();
        for class in waiting {
            let requests = &class.spec.requests;
            let mut left = class.pending();
            for free in self.free.iter_mut().filter(|free| free.has_room(requests)) {
                if left > 0 && free.suits(round, class.spec) {
                    let taken = free.take(requests, left);
                    free.promised.push((*class, taken));
                    left -= taken;
                }
            }
            let Some(new) = new else { continue };
            let all = class.pending();
            let hopeless = if left > 0 { self.hopeless(round, class.spec, &new) } else { None };
            match hopeless.zip(class.first_pending()) {
                Some((why, first)) => {
                    unplaced.tasks += u64::from(all - left);
                    round.refuse(Subject::Pods { first: first.full_name(), count: left }, why);
                }
                None => {
                    unplaced.tasks += u64::from(all);
                    unplaced.servers = unplaced.servers.saturating_add(self.open(new, requests, left));
                }
            }
        }
        unplaced
    }

    /// Adds the servers that so many tasks need, and answers how many.
    fn open(&mut self, new: NewServer, requests: &Resources, tasks: u32) -> u32 {
        let each = Free::on(new).room(requests).max(1);
        let servers = u32::try_from(ceil_div(tasks.into(), each.into())).unwrap_or(u32::MAX);
        // What the last one has left may do for smaller tasks, and so may what is left on each of the others.
        let mut left = tasks;
        for _ in 0..servers {
            let mut free = Free::on(new);
            left -= free.take(requests, left);
            self.free.push(free);
        }
        servers
    }

    /// Why no new server would help such a task, if so.
    fn hopeless(&self, round: &Round<'_>, spec: &PodSpec, new: &NewServer) -> Option<Why> {
        let group = || Arc::clone(&self.group.name);
        let larger = |resource, needs: i64, offers: i64| Why::LargerThanNode {
            group: group(),
            resource,
            needs: needs.into(),
            offers: offers.into(),
        };
        if spec.requests.memory > new.memory {
            return Some(larger(Resource::Memory, spec.requests.memory, new.memory));
        }
        if let Some(cpu) = new.cpu.filter(|cpu| spec.requests.cpu > *cpu) {
            return Some(larger(Resource::Cpu, spec.requests.cpu, cpu));
        }
        // What the pool's selection does not say of a new server, servers that are there may, or the last that was.
        let known = &self.group.select.labels;
        let unknown: Vec<&str> = labels_asked(spec).filter(|key| known.get(key).is_none()).collect();
        let first = unknown.first()?;
        let suits =
            |view: &NodeView<'_>| allows(round.snapshot, spec, &Host { taints: &[], ..Host::of(view.node) }).is_ok();
        let learnt = |template: &Template| allows(round.snapshot, spec, &Host::new(template)).is_ok();
        let nobody = self.servers.counting().next().is_none();
        if self.servers.counting().any(suits) || nobody && self.memory.template.as_ref().is_none_or(learnt) {
            return None;
        }
        Some(Why::ConstraintUnmet { group: group(), constraint: (*first).to_owned() })
    }
}
