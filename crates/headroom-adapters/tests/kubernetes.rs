//! Kubernetes objects in, Headroom's values out.

mod kubernetes {
    mod groups;
    mod nodes;
    mod pods;
    mod requests;

    use headroom_adapters::cluster::kubernetes::object;
    use headroom_adapters::cluster::kubernetes::translate::{self, Malformed, Specs, Translated};
    use headroom_core::snapshot::{Node, Pod};

    /// A pod from the text of its fields, for example `"spec": {..}`.
    pub(crate) fn pod(fields: &str) -> Result<Translated<Pod>, Malformed> {
        let text = format!("{{{fields}}}");
        let object: object::Pod<'_> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        translate::pod(&object, &mut Specs::default())
    }

    /// A node from the text of its fields.
    pub(crate) fn node(fields: &str) -> Result<Translated<Node>, Malformed> {
        let text = format!("{{{fields}}}");
        let object: object::Node<'_> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        translate::node(&object)
    }
}
