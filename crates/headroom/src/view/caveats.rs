//! What an action rests on that the dump does not show.

use headroom_core::plan::Action;
use headroom_core::snapshot::{Coverage, Kind, Snapshot};

/// What has to hold for `action` and could not be judged. Only actions that end pods depend on more than nodes and pods.
pub(super) fn caveats(action: &Action, snapshot: &Snapshot) -> Vec<&'static str> {
    let ends_pods = matches!(action, Action::Remove { pods, .. } if !pods.is_empty());
    let depends_on = [
        (Kind::PodDisruptionBudgets, "if no PDB forbids it"),
        (Kind::PersistentVolumeClaims, "volumes not in the dump"),
    ];
    let unknown = |kind| ends_pods && snapshot.coverage(kind) == Coverage::Absent;
    depends_on.into_iter().filter(|(kind, _)| unknown(*kind)).map(|(_, text)| text).collect()
}

/// How to get what is missing, when there are caveats.
pub(super) const HINT: &str = "kubectl get nodes,pods,ds,ns,pdb,pv,pvc,sc,csinodes -A -o json";
