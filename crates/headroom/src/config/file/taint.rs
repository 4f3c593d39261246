//! Taints of nodes.

use headroom_core::snapshot::{Effect, Taint};

use crate::config::kind::{Kind, text, words};
use crate::config::record::Record;

pub(crate) fn kind() -> Kind<Taint> {
    let start = || Taint { key: "".into(), value: "".into(), effect: Effect::NoSchedule };
    Record::new("taints[]", "A mark that keeps pods away which do not tolerate it.", start)
        .required("key", text(), |taint: &mut Taint| &mut taint.key, "Its key.")
        .field("value", text(), |taint| &mut taint.value, "Its value.")
        .field("effect", effect(), |taint| &mut taint.effect, "What it does.")
        .kind()
}

/// What a taint does.
pub(crate) fn effect() -> Kind<Effect> {
    words(&[
        ("NoSchedule", Effect::NoSchedule, "new pods stay away"),
        ("PreferNoSchedule", Effect::PreferNoSchedule, "new pods prefer other nodes"),
        ("NoExecute", Effect::NoExecute, "new pods stay away and running ones are evicted at once"),
    ])
}
