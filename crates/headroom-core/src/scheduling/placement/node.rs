//! Nodes while pods are placed on them.

use std::sync::Arc;

use smallvec::SmallVec;

use super::NONE;
use super::class::{Class, Row, Rules};
use super::shape::{Key, Shapes};
use crate::scheduling::Devices;

/// A node, or several that are equal in everything but their names and have equal pods on them.
///
/// Machines that do not exist yet are such copies: a hundred new nodes with the same pods are one entry. Where fewer of
/// them get a pod, the entry is split in two.
#[derive(Clone, Debug)]
pub(in crate::scheduling) struct Node {
    /// Empty for machines that do not exist yet.
    pub(super) name: Arc<str>,
    /// The value of the hostname label; empty for machines that do not exist yet.
    pub(super) hostname: Option<Arc<str>>,
    pub(in crate::scheduling) shape: u32,
    /// Its position in the shape.
    pub(super) slot: u32,
    /// How many equal ones this stands for.
    pub(in crate::scheduling) copies: u32,
    /// Its domain of the hostname label, each copy being one like it; NONE without the label.
    pub(in crate::scheduling) host: u32,
    /// It takes no more pods.
    pub(super) closed: bool,
    /// What it is a copy of; NONE for nodes that exist.
    pub(super) template: u32,
    /// What is free of each resource.
    pub(in crate::scheduling) free: Row,
    /// What DaemonSet pods take of each resource.
    pub(in crate::scheduling) daemon_sets: Row,
    /// Host ports in use.
    pub(in crate::scheduling) ports: SmallVec<[u32; 2]>,
    /// Devices that are shared, by the number of the resource that counts their parts.
    pub(super) devices: Vec<Devices>,
    /// Attached volumes: driver, volume, and how many pods use it.
    pub(in crate::scheduling) attached: Vec<(u32, u32, u32)>,
    /// The most volumes of a driver.
    pub(in crate::scheduling) limits: Vec<(u32, u32)>,
    /// Pods by class, those that are being deleted left out: the ones that some rule or wish looks at, the ones that are not
    /// in the snapshot and, on machines without a name, all.
    pub(super) pods: SmallVec<[(u32, u32); 4]>,
}

impl Default for Node {
    fn default() -> Self {
        Node {
            name: Arc::default(),
            hostname: None,
            shape: NONE,
            slot: NONE,
            copies: 0,
            host: NONE,
            closed: true,
            template: NONE,
            free: Row::new(),
            daemon_sets: Row::new(),
            ports: SmallVec::new(),
            devices: Vec::new(),
            attached: Vec::new(),
            limits: Vec::new(),
            pods: SmallVec::new(),
        }
    }
}

impl Node {
    /// Whether the machine exists, or is at least known by name.
    pub(super) fn is_named(&self) -> bool {
        !self.name.is_empty()
    }

    /// The domain that it is in; NONE without the label.
    pub(in crate::scheduling) fn domain(&self, key: Key, shapes: &Shapes) -> u32 {
        if key == Key::Host { self.host } else { shapes.at(self.shape).domain(key) }
    }

    /// Puts `each` pods of a class on each copy, or takes them away when negative. `deleting` says that they are on their
    /// way out. What counters make of it is not known here.
    pub(super) fn take(&mut self, id: u32, class: &Class, each: i64, deleting: bool) {
        self.use_resources(class, each);
        if let Some(rules) = &class.rules {
            self.occupy(rules, each);
            self.share(rules, each);
        }
        if !deleting && (class.is_listed() || !self.is_named()) {
            self.list(id, each);
        }
    }

    /// The part of [`Node::take`] that is about resources.
    pub(super) fn use_resources(&mut self, class: &Class, each: i64) {
        for (free, need) in self.free.iter_mut().zip(&class.need) {
            *free = free.saturating_sub(need.saturating_mul(each));
        }
    }

    /// The part of [`Node::take`] that is about ports and volumes.
    pub(super) fn occupy(&mut self, rules: &Rules, each: i64) {
        for port in &rules.ports {
            if each > 0 {
                self.ports.push(*port);
            } else if let Some(at) = self.ports.iter().position(|known| known == port) {
                self.ports.remove(at);
            }
        }
        for (driver, volume) in &rules.attach {
            self.attach(*driver, *volume, each);
        }
    }

    /// The part of [`Node::take`] that is about shares of devices.
    fn share(&mut self, rules: &Rules, each: i64) {
        for (at, amount) in &rules.shares {
            let Some(devices) = self.devices.get_mut(*at as usize) else { continue };
            for _ in 0..each.unsigned_abs() {
                if each > 0 { devices.take(*amount, &[]) } else { devices.give_back(*amount) }
            }
        }
    }

    /// The devices by which a resource, given by its number, is counted.
    pub(in crate::scheduling) fn devices(&self, resource: u32) -> Option<&Devices> {
        self.devices.get(resource as usize)
    }

    /// Changes the number of pods of a class that are listed, keeping the list free of zeros.
    pub(super) fn list(&mut self, class: u32, each: i64) {
        match self.pods.iter().position(|(known, _)| *known == class) {
            Some(at) => {
                if let Some((_, count)) = self.pods.get_mut(at) {
                    *count = added(*count, each);
                    if *count == 0 {
                        self.pods.swap_remove(at);
                    }
                }
            }
            None if each > 0 => self.pods.push((class, added(0, each))),
            None => {}
        }
    }

    /// Volumes of a driver that are attached.
    pub(in crate::scheduling) fn attached_of(&self, driver: u32) -> u32 {
        let count = self.attached.iter().filter(|(known, ..)| *known == driver).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn attach(&mut self, driver: u32, volume: u32, each: i64) {
        match self.attached.iter().position(|(_, known, _)| *known == volume) {
            Some(at) => {
                if let Some((.., users)) = self.attached.get_mut(at) {
                    *users = added(*users, each);
                    if *users == 0 {
                        self.attached.swap_remove(at);
                    }
                }
            }
            None if each > 0 => self.attached.push((driver, volume, added(0, each))),
            None => {}
        }
    }
}

fn added(count: u32, each: i64) -> u32 {
    u32::try_from(i64::from(count).saturating_add(each).max(0)).unwrap_or(u32::MAX)
}
