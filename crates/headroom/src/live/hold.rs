//! What keeps a whole plan from being carried out. It is decided and shown all the same.

use std::fmt;

use headroom_core::snapshot::Kind;
use jiff::SignedDuration;

/// Why nothing is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The configuration says so.
    DryRun,
    /// A user paused everything.
    Paused,
    /// What is known of the cluster is too old.
    Blind {
        /// The kind.
        kind: Kind,
        /// Its age.
        age: SignedDuration,
    },
    /// Another autoscaler is at work.
    Rival {
        /// Which.
        program: &'static str,
        /// Its lease, as `namespace/name`.
        lease: String,
        /// Who holds it.
        holder: String,
    },
    /// What the next round must know could not be kept.
    NotRemembered {
        /// Why.
        error: String,
    },
}

impl Hold {
    /// One word of a closed set, for metrics.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Hold::DryRun => "dry_run",
            Hold::Paused => "paused",
            Hold::Blind { .. } => "blind",
            Hold::Rival { .. } => "rival",
            Hold::NotRemembered { .. } => "not_remembered",
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::DryRun => f.write_str("dryRun is set; hint: set `dryRun: false` once the plans look right"),
            Hold::Paused => f.write_str("everything is paused; hint: headroom resume --all"),
            Hold::Blind { kind, age } => write!(f, "the last news of {kind} are {age:#} old"),
            Hold::Rival { program, lease, holder } => write!(
                f,
                "{program} is at work: {holder} renews the lease {lease}; hint: scale it to 0, or set \
                 `otherAutoscalers: ignore` if it has other node groups"
            ),
            Hold::NotRemembered { error } => write!(f, "what the next round must know could not be kept: {error}"),
        }
    }
}
