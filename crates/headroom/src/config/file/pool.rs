//! Strategies for the pools of a Nomad cluster.

use std::sync::Arc;

use headroom_core::policy::{CpuPool, Hardware, MemoryPool};
use headroom_core::quantity::Bytes;
use jiff::SignedDuration;

use super::pair::wrong_pair;
use crate::config::kind::{Kind, bytes, count, duration, flag, integer, list, requested, text};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

const SECOND: SignedDuration = SignedDuration::from_secs(1);

const REMOVE_DOWN_AFTER: &str = "A server that has been down for so long is removed, unless most of the pool is. It counts for \
                                 nothing once another one could have come.";

const KEEP_PAID_HOUR: &str = "For clouds that charge whole hours: a drained server stays until 5 minutes before the end of its \
                              hour, and is put back to work before another is made.";

const DRAIN_DEADLINE: &str = "How long the tasks of a server that is to go may take to leave it. It goes when all of them have \
                              ended, never before.";

pub(super) fn memory() -> Kind<MemoryPool> {
    let record = Record::new(
        "groups[].strategy.memoryPool",
        "For Nomad. As many servers as the memory of the tasks needs, counted in servers of the first \
         hardware, plus as many as smaller hardware makes up for, plus a margin; and more where waiting \
         tasks fit in no free place (docs/nomad.md).",
        MemoryPool::default,
    )
    .required(
        "hardware",
        list(hardware()).filled("add one: `- { name: …, memory: … }`"),
        |pool| &mut pool.hardware,
        "What its servers may be, the best first. A server that is not there yet is taken to be the first.",
    )
    .field(
        "reserve",
        requested(),
        |pool| &mut pool.reserve,
        "Memory of every server that tasks cannot have: that of the system, and of the system jobs. It is taken off \
         what the hardware has, until a server of that hardware has been seen.",
    )
    .field("margin", count(0), |pool| &mut pool.margin, "Servers beyond what is used.")
    .field("drainDeadline", duration(SECOND), |pool| &mut pool.drain_deadline, DRAIN_DEADLINE);
    let record = record
        .field("removeDownAfter", duration(SECOND), |pool| &mut pool.life.remove_down_after, REMOVE_DOWN_AFTER)
        .field("keepPaidHour", flag(), |pool| &mut pool.life.keep_paid_hour, KEEP_PAID_HOUR);
    record.check(&["hardware", "reserve"], hardware_beyond_reserve).kind()
}

pub(super) fn cpu() -> Kind<CpuPool> {
    let record = Record::new(
        "groups[].strategy.cpuPool",
        "For Nomad. Compares how busy the cpus of all servers are together with what they have; all numbers are \
         percentages of one server, whatever its size. The pool never has less than one server.",
        CpuPool::default,
    )
    .field("addBelow", count(0), |pool| &mut pool.add_below, "Add servers when less than this is free.")
    .field(
        "removeAbove",
        count(1),
        |pool| &mut pool.remove_above,
        "Remove servers when more than this is free. It must be more than `addBelow` by what one step adds or \
         removes, 100 for each server: otherwise a step up would be followed by a step down.",
    )
    .field("addStep", count(1), |pool| &mut pool.add_step, "Servers that one step adds.")
    .field("removeStep", count(1), |pool| &mut pool.remove_step, "Servers that one step removes.")
    .field("stepInterval", duration(SECOND), |pool| &mut pool.step_interval, "The shortest time between two steps.")
    .field("drainDeadline", duration(SECOND), |pool| &mut pool.drain_deadline, DRAIN_DEADLINE);
    let record = record
        .field("removeDownAfter", duration(SECOND), |pool| &mut pool.life.remove_down_after, REMOVE_DOWN_AFTER)
        .field("keepPaidHour", flag(), |pool| &mut pool.life.keep_paid_hour, KEEP_PAID_HOUR);
    record.check(&["addBelow", "removeAbove", "addStep", "removeStep"], apart).kind()
}

fn hardware() -> Kind<Hardware> {
    let start = || Hardware { name: Arc::from(""), memory: 0, cpu: None };
    Record::new("groups[].strategy.memoryPool.hardware[]", "A kind of machine.", start)
        .required(
            "name",
            text(),
            |hardware| &mut hardware.name,
            "What its servers carry in their meta attribute `hardware`. One that carries none counts as the hardware \
             whose memory is nearest to its own, if that is within 10 %.",
        )
        .required("memory", bytes(), |hardware| &mut hardware.memory, "The memory that it has.")
        .field(
            "cpu",
            integer(1, i64::from(u32::MAX)).optional(),
            |hardware| &mut hardware.cpu,
            "The cpu that its servers offer, in MHz. Left out: what servers of it have offered; until then waiting tasks \
             are counted by their memory alone.",
        )
        .kind()
}

/// What is left of each kind of hardware is what the formula divides by.
fn hardware_beyond_reserve(pool: &MemoryPool, at: &Places, problems: &mut Problems) {
    for Hardware { name, memory, .. } in pool.hardware.iter().filter(|hardware| hardware.memory > 0) {
        if *memory <= pool.reserve {
            let (memory, reserve) = (Bytes(*memory), Bytes(pool.reserve));
            let message = format!("`{name}` has {memory} of memory, and {reserve} are reserved");
            let problem = Problem::at(at.of("hardware"), message, "leave it out, or make `reserve` less");
            problems.add(problem.also(at.of("reserve"), "`reserve`"));
        }
    }
    for (at_index, Hardware { name, .. }) in pool.hardware.iter().enumerate() {
        let twice = pool.hardware.iter().take(at_index).any(|earlier| earlier.name == *name && !name.is_empty());
        if twice {
            let message = format!("`{name}` is in the list twice");
            problems.add(Problem::at(at.of("hardware"), message, "leave the second one out"));
        }
    }
}

fn apart(pool: &CpuPool, at: &Places, problems: &mut Problems) {
    let step = pool.add_step.max(pool.remove_step);
    let least = u64::from(pool.add_below) + 100 * u64::from(step);
    if u64::from(pool.remove_above) < least {
        let message = format!(
            "`removeAbove` {} must be at least `addBelow` {} + 100 x {step}",
            pool.remove_above, pool.add_below
        );
        let hint = format!("make it at least {least}");
        problems.add(wrong_pair(at, message, ("removeAbove", "addBelow"), &hint));
    }
}
