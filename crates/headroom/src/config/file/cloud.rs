//! Who makes and ends the machines of a group.

use std::sync::Arc;

use serde_json::json;

use super::kwok::{self, Kwok};
use crate::config::kind::{Kind, one_of, text, variant, word};
use crate::config::record::Record;

/// Who makes and ends the machines of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cloud {
    /// Nobody: the size is decided and reported.
    #[default]
    None,
    /// An EC2 Auto Scaling group.
    Aws {
        /// Its name.
        auto_scaling_group: Arc<str>,
    },
    /// kwok, which pretends to be nodes.
    Kwok(Kwok),
}

pub(super) fn kind() -> Kind<Cloud> {
    let aws = Record::new("groups[].cloud.aws", "An EC2 Auto Scaling group.", || Arc::from("")).required(
        "autoScalingGroup",
        text(),
        |name| name,
        "The name of the Auto Scaling group. No two groups may share one.",
    );
    let variants = vec![
        variant(
            "aws",
            "An EC2 Auto Scaling group.",
            aws.kind().map(|auto_scaling_group| Cloud::Aws { auto_scaling_group }),
        ),
        variant("kwok", "kwok, which pretends to be nodes.", kwok::kind().map(Cloud::Kwok)),
        word("none", "Nobody: the size is decided and reported.", Cloud::None),
    ];
    one_of(variants, |cloud| (*cloud == Cloud::None).then(|| json!("none")))
}
