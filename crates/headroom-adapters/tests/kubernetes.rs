//! Kubernetes objects in, Headroom's values out.

mod kubernetes {
    mod affinity;
    mod daemon_sets;
    mod disruption;
    mod groups;
    mod nodes;
    mod pods;
    mod ports;
    mod requests;
    mod spread;
    mod storage;
    mod volumes;
    mod workloads;

    use headroom_adapters::cluster::kubernetes::object;
    use headroom_adapters::cluster::kubernetes::translate::{self, Malformed, Specs, Translated};
    use headroom_core::snapshot::{Change, Node, Pod, PodSpec};
    use serde::{Deserialize, Serialize};

    /// A pod from the text of its fields, for example `"spec": {..}`.
    pub(crate) fn pod(fields: &str) -> Result<Translated<Pod>, Malformed> {
        let text = format!("{{{fields}}}");
        translate::pod(&read::<object::Pod<'_>>(&text), &mut Specs::default())
    }

    /// A node from the text of its fields.
    pub(crate) fn node(fields: &str) -> Result<Translated<Node>, Malformed> {
        let text = format!("{{{fields}}}");
        translate::node(&read::<object::Node<'_>>(&text))
    }

    /// An object from its text.
    pub(crate) fn read<'t, T: Deserialize<'t>>(text: &'t str) -> T {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    /// What of the specification of a pod is neither empty nor the same for all pods of these tests, a line for each
    /// part, and the warnings. `spec` is the text of its fields.
    pub(crate) fn spec(spec: &str) -> String {
        let translated = pod(&format!(r#""metadata": {{"name": "p"}}, "spec": {{{spec}}}"#));
        let Translated { value, warnings } = translated.unwrap_or_else(|error| panic!("{error}"));
        shown(&value.spec, &warnings)
    }

    /// The same of any pod.
    pub(crate) fn shown(spec: &PodSpec, warnings: &[String]) -> String {
        let same = ["namespace", "labels", "requests", "hasAffinity", "priority", "kind"];
        let serde_json::Value::Object(parts) = serde_json::to_value(spec).unwrap() else { panic!("no object") };
        let parts = parts.iter().filter(|(part, _)| !same.contains(&part.as_str()));
        let lines = parts.flat_map(|(part, value)| match value {
            serde_json::Value::Array(items) => items.iter().map(|item| format!("{part} {item}\n")).collect(),
            value => vec![format!("{part} {value}\n")],
        });
        lines.chain(warnings.iter().map(|warning| format!("warning: {warning}\n"))).collect()
    }

    /// A change as JSON, and the warnings.
    pub(crate) fn change(translated: Result<Translated<Change>, Malformed>) -> String {
        fn line(value: &impl Serialize) -> String {
            format!("{}\n", serde_json::to_string(value).unwrap())
        }
        match translated {
            Ok(Translated { value, warnings }) => {
                line(&value) + &warnings.iter().map(|warning| format!("warning: {warning}\n")).collect::<String>()
            }
            Err(error) => format!("error: {error}\n"),
        }
    }
}
