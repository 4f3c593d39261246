//! What a server is told at its first start.

use std::fmt;
use std::sync::Arc;

use super::provider::Tags;

/// What a server is told at its first start. It may hold what lets the server join a cluster, and so it is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct UserData(Arc<str>);

/// What stands for the parts of a server's tags in user data, and in the environment of commands.
pub(super) fn variables(tags: &Tags, name: &str) -> [(&'static str, String); 5] {
    [
        ("HEADROOM_CLUSTER_ID", tags.cluster.to_string()),
        ("HEADROOM_POOL", tags.pool.to_string()),
        ("HEADROOM_SERVER_ID", tags.server.to_string()),
        ("HEADROOM_SERVER_NAME", name.to_owned()),
        ("HEADROOM_HARDWARE", tags.hardware.to_string()),
    ]
}

impl UserData {
    /// User data with `${HEADROOM_SERVER_ID}` and the like in it.
    pub fn new(text: &str) -> Self {
        UserData(text.into())
    }

    /// What one server is told: each `${HEADROOM_…}` is replaced. Whatever else stands there stays, since shells and
    /// cloud-init have placeholders of their own.
    pub(super) fn fill_in(&self, tags: &Tags, name: &str) -> String {
        let mut text = self.0.to_string();
        for (variable, value) in variables(tags, name) {
            text = text.replace(&format!("${{{variable}}}"), &value);
        }
        text
    }
}

impl fmt::Debug for UserData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserData")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_placeholders_are_replaced() {
        let tags = Tags { cluster: "prod".into(), pool: "jobs".into(), server: "k7".into(), hardware: "first".into() };
        let text = "meta { server_id = \"${HEADROOM_SERVER_ID}\" hardware = \"${HEADROOM_HARDWARE}\" }\n\
                    ${HEADROOM_CLUSTER_ID}/${HEADROOM_POOL}/${HEADROOM_SERVER_NAME} ${HOME} {{ v1.region }}";
        let expected = "meta { server_id = \"k7\" hardware = \"first\" }\nprod/jobs/jobs-k7 ${HOME} {{ v1.region }}";
        let user_data = UserData::new(text);
        assert_eq!(user_data.fill_in(&tags, "jobs-k7"), expected);
        assert_eq!(format!("{user_data:?}"), "UserData");
    }
}
