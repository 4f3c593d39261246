//! How a node names its machine: `aws:///eu-west-1a/i-0123456789abcdef0`.

/// The provider id of a machine.
pub(crate) fn of(zone: &str, instance: &str) -> String {
    format!("aws:///{zone}/{instance}")
}

/// The instance in a provider id; None when it is of another cloud or malformed.
pub(crate) fn instance(provider_id: &str) -> Option<&str> {
    let path = provider_id.strip_prefix("aws://")?.strip_prefix('/').unwrap_or_default();
    let (_, instance) = path.rsplit_once('/')?;
    (!instance.is_empty()).then_some(instance)
}
