//! What the machines that came, and those that did not, say about asking for more.

use jiff::Timestamp;

use crate::backoff::{Backoffs, Cause, Key, Settings};
use crate::machines::{Machines, Observed};
use crate::memory::GroupMemory;
use crate::snapshot::{LaunchError, NodeView};

/// A group whose machines did not come, or whose cloud says that it cannot make them, backs off; a machine that comes
/// ends that.
pub(super) fn learn(
    observed: &Observed<'_, '_>,
    machines: &Machines,
    memory: &mut GroupMemory,
    backoffs: &mut Backoffs,
    key: &Key,
    settings: &Settings,
    now: Timestamp,
) {
    let Observed { group, cloud, nodes, .. } = observed;
    let failure = cloud.and_then(|cloud| cloud.failure.as_ref());
    let failure = failure.filter(|failure| Some(failure.at) > memory.failure);
    let never_came = machines.never_came();
    if let Some(failure) = failure {
        backoffs.failed(key.clone(), failure.error.into(), failure.at.min(now), settings);
        memory.failure = Some(failure.at);
    } else if never_came > memory.never_came || machines.never_ready > 0 {
        let refused = machines.lost.iter().any(|lost| lost.failed);
        backoffs.failed(key.clone(), if refused { Cause::Refused } else { Cause::NeverCame }, now, settings);
    }
    memory.never_came = never_came;
    let failed = backoffs.active(key, now).map(|backoff| backoff.failed);
    let came = |view: &NodeView<'_>| view.node.created > failed && !machines.booting.contains(&view.node.name);
    if failed.is_some() && nodes.iter().any(came) {
        backoffs.succeeded(key);
    }
    let settled = machines.unregistered == 0 && never_came == 0;
    let long_ago = |at: Timestamp| now.duration_since(at) >= group.boot_timeout;
    if settled && memory.request.is_some_and(|request| long_ago(request.last)) {
        memory.request = None;
    }
}

impl From<LaunchError> for Cause {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::OutOfStock => Cause::OutOfStock,
            LaunchError::Refused => Cause::Refused,
        }
    }
}
