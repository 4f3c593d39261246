//! What is told of groups.

use std::collections::BTreeSet;

use headroom_adapters::fence::Fence;
use headroom_core::snapshot::InstanceState;

use super::{DB, Stage, WEB, group};

pub(crate) async fn what_there_is_is_told<S: Stage>() {
    let given = [WEB.of(3), DB.of(0)];
    let stage = S::start(&given, Fence::open()).await;
    let groups = stage.cloud().groups().await.unwrap();
    assert_eq!(groups.len(), 2);
    for given in given {
        let group = groups.iter().find(|group| *group.name == *given.name).unwrap();
        assert_eq!(group.target, given.size, "{}", given.name);
        let limits = S::LIMITS.then_some((given.min, given.max)).unzip();
        assert_eq!((group.min, group.max), limits, "{}", given.name);
        assert_eq!(group.failure, None, "{}", given.name);
        let instances = group.instances.as_ref().unwrap();
        assert!(instances.iter().all(|instance| instance.state == InstanceState::Running), "{instances:?}");
        let ids: BTreeSet<&str> = instances.iter().map(|instance| &*instance.provider_id).collect();
        assert_eq!(ids.len(), given.size as usize, "each has an id of its own: {instances:?}");
        assert!(!ids.contains(""));
    }
}

pub(crate) async fn what_a_new_machine_is_like_is_told<S: Stage>() {
    // Whether or not there is a machine to look at.
    let stage = S::start(&[WEB.of(1), DB.of(0)], Fence::open()).await;
    for name in ["web", "db"] {
        let told = stage.cloud().template(name).await.unwrap();
        assert_eq!(told, group(&stage, name).await.template, "both say the same of {name}");
        let Some(meant) = stage.template(name) else {
            assert_eq!(told, None);
            continue;
        };
        let told = told.unwrap();
        assert_eq!((&told.capacity, &told.allocatable), (&meant.capacity, &meant.allocatable), "{name}");
        assert_eq!(told.taints, meant.taints, "{name}");
        for (key, value) in meant.labels.iter() {
            assert_eq!(told.labels.get(key), Some(value), "{name}: {:?}", told.labels);
        }
        assert_eq!(told.labels.get("kubernetes.io/hostname"), None, "no two machines share it");
    }
}
