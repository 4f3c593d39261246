//! Who makes the machines: what Cluster Autoscaler calls a provider.

use super::groups::NodeGroup;
use super::values::Values;
use crate::migrate::yaml::scalar;

/// The longest name that a group of kwok may have.
const LONGEST_KWOK_NAME: usize = 52;

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cloud {
    Aws,
    Kwok,
    /// An external provider that is reached as this file says.
    ExternalGrpc(String),
    /// One that Headroom does not know.
    Other(String),
    /// None was given, and nothing tells it.
    Unsaid,
}

impl Cloud {
    /// The one that is given, or else the one by whose rules groups are discovered.
    pub(super) fn of(values: &Values) -> Self {
        let discovery = values.each("node-group-auto-discovery").first();
        let discovers = discovery.and_then(|given| given.value.split(':').next());
        let name = match discovers {
            _ if values.has("cloud-provider") => values.text("cloud-provider"),
            Some("asg") => "aws",
            Some("mig") => "gce",
            Some("label") => "azure",
            Some("clusterapi") => "clusterapi",
            _ => return Cloud::Unsaid,
        };
        match name {
            "aws" => Cloud::Aws,
            "kwok" => Cloud::Kwok,
            "externalgrpc" if !values.text("cloud-config").is_empty() => {
                Cloud::ExternalGrpc(values.text("cloud-config").to_owned())
            }
            other => Cloud::Other(other.to_owned()),
        }
    }

    /// What to say where Headroom makes no machines.
    pub(super) fn unknown(&self) -> Option<String> {
        let decided = "so sizes are decided and reported, and nobody makes machines";
        match self {
            Cloud::Aws | Cloud::Kwok | Cloud::ExternalGrpc(_) => None,
            Cloud::Other(name) if name == "externalgrpc" => Some(format!(
                "DECIDE: Headroom speaks to the same provider and finds its groups by `discover: [{{ cloud: {{ externalgrpc: {{ \
                 cloudConfig: FILE }} }}, strategy: {{ pending: {{}} }} }}]`, FILE being the one for --cloud-config. Until then \
                 it does not, {decided}."
            )),
            Cloud::Other(name) => Some(format!("--cloud-provider={name}: Headroom does not know it, {decided}.")),
            Cloud::Unsaid => Some(format!(
                "DECIDE: nothing says which cloud the groups are in, {decided}. Write `cloud:` into each group; for an \
                 Auto Scaling group of AWS, {{ aws: {{ autoScalingGroup: NAME }} }}."
            )),
        }
    }

    /// The value of the key `cloud` of a group.
    pub(super) fn key(&self, id: &str, name: &str) -> Option<String> {
        match self {
            Cloud::Aws => Some(format!("{{ aws: {{ autoScalingGroup: {} }} }}", scalar(id))),
            Cloud::Kwok if id == name => Some("{ kwok: {} }".to_owned()),
            Cloud::Kwok => Some(format!("{{ kwok: {{ nodeGroup: {} }} }}", scalar(id))),
            Cloud::ExternalGrpc(_) | Cloud::Other(_) | Cloud::Unsaid => None,
        }
    }

    /// Where groups are looked for that nobody names: the value of the key `cloud` of each entry under `discover`.
    pub(super) fn searches(&self, values: &Values) -> Vec<String> {
        match self {
            Cloud::Aws => {
                let rules = values.each("node-group-auto-discovery").iter().filter_map(|given| tags(&given.value));
                let mut searches: Vec<String> = Vec::new();
                for rule in rules {
                    let tags = rule.iter().map(|(key, value)| format!("{}: {}", scalar(key), scalar(value)));
                    let search = format!("{{ aws: {{ tags: {{ {} }} }} }}", tags.collect::<Vec<_>>().join(", "));
                    if !searches.contains(&search) {
                        searches.push(search);
                    }
                }
                searches
            }
            Cloud::ExternalGrpc(file) => vec![format!("{{ externalgrpc: {{ cloudConfig: {} }} }}", scalar(file))],
            Cloud::Kwok | Cloud::Other(_) | Cloud::Unsaid => Vec::new(),
        }
    }

    /// Whether groups are found by this rule of `--node-group-auto-discovery`.
    pub(super) fn discovers(&self, rule: &str) -> bool {
        matches!(self, Cloud::ExternalGrpc(_)) || (*self == Cloud::Aws && tags(rule).is_some())
    }

    /// What to call the groups: by the names that they have, as far as Headroom takes those.
    pub(super) fn names(&self, groups: &[NodeGroup]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for group in groups {
            let name = match self {
                Cloud::Kwok => kwok_name(&group.id),
                Cloud::Aws | Cloud::ExternalGrpc(_) | Cloud::Other(_) | Cloud::Unsaid => group.id.clone(),
            };
            let taken = name.is_empty() || names.contains(&name) || (name != group.id && is_id(&name, groups));
            let name = if taken { unused(&names, groups) } else { name };
            names.push(name);
        }
        names
    }

    /// The label that nodes of the group carry, its value, and what kind of group it is, where its name tells.
    pub(super) fn label(&self, id: &str) -> Option<(&'static str, String, &'static str)> {
        match self {
            Cloud::Aws => eks(id).or_else(|| eksctl(id)),
            Cloud::Other(name) if name == "azure" => aks(id),
            Cloud::Kwok | Cloud::ExternalGrpc(_) | Cloud::Other(_) | Cloud::Unsaid => None,
        }
    }
}

fn is_id(name: &str, groups: &[NodeGroup]) -> bool {
    groups.iter().any(|group| group.id == name)
}

/// A name that no group has, and that is not `taken`.
fn unused(taken: &[String], groups: &[NodeGroup]) -> String {
    let mut names = (taken.len()..).map(|number| format!("group-{number}"));
    names.find(|name| !is_id(name, groups) && !taken.contains(name)).unwrap_or_default()
}

/// What is left of a name where a group of kwok may have lower-case letters, digits and `-`.
fn kwok_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = id.chars().map(plain).skip_while(|c| *c == '-').take(LONGEST_KWOK_NAME).collect();
    name.trim_end_matches('-').to_owned()
}

/// `eks-NAME-UUID` is what EKS calls the Auto Scaling group of a managed node group.
fn eks(id: &str) -> Option<(&'static str, String, &'static str)> {
    let named = id.strip_prefix("eks-")?;
    let (name, uuid) = named.split_at_checked(named.len().checked_sub(36)?)?;
    let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
    let is_uuid = lengths == [8, 4, 4, 4, 12] && uuid.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    let name = name.strip_suffix('-').filter(|name| !name.is_empty() && is_uuid)?;
    Some(("eks.amazonaws.com/nodegroup", name.to_owned(), "a managed node group of EKS"))
}

/// `eksctl-CLUSTER-nodegroup-NAME-NodeGroup-ID` is what eksctl calls that of a node group of its own.
fn eksctl(id: &str) -> Option<(&'static str, String, &'static str)> {
    let (_, rest) = id.strip_prefix("eksctl-")?.rsplit_once("-nodegroup-")?;
    let (name, _) = rest.rsplit_once("-NodeGroup-")?;
    let name = Some(name).filter(|name| !name.is_empty())?;
    Some(("alpha.eksctl.io/nodegroup-name", name.to_owned(), "a node group of eksctl"))
}

/// `aks-NAME-NUMBER-vmss` is what AKS calls the scale set of a node pool.
fn aks(id: &str) -> Option<(&'static str, String, &'static str)> {
    let (name, number) = id.strip_prefix("aks-")?.strip_suffix("-vmss")?.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = Some(name).filter(|name| is_number && !name.is_empty())?;
    Some(("kubernetes.azure.com/agentpool", name.to_owned(), "a node pool of AKS"))
}

/// The tags of a rule `asg:tag=KEY,KEY=VALUE`; an empty value stands for any. None where it is another rule, or one that says
/// a tag twice.
fn tags(rule: &str) -> Option<Vec<(&str, &str)>> {
    let mut tags: Vec<(&str, &str)> = Vec::new();
    for tag in rule.strip_prefix("asg:tag=")?.split(',') {
        let (key, value) = tag.split_once('=').unwrap_or((tag, ""));
        if key.is_empty() || tags.iter().any(|(known, _)| *known == key) {
            return None;
        }
        tags.push((key, value));
    }
    Some(tags)
}

/// How to list the groups that a rule of `--node-group-auto-discovery` finds; empty where there is no short way.
pub(super) fn listing(rule: &str) -> String {
    let (kind, rest) = rule.split_once(':').unwrap_or((rule, ""));
    match kind {
        "asg" => {
            let tags = rest.strip_prefix("tag=").unwrap_or(rest).split(',').filter(|tag| !tag.is_empty());
            let filter = |tag: &str| match tag.split_once('=') {
                Some((key, value)) => format!("Name=tag:{key},Values={value}"),
                None => format!("Name=tag-key,Values={tag}"),
            };
            let filters: Vec<String> = tags.map(filter).collect();
            format!(
                "; `aws autoscaling describe-auto-scaling-groups --filters {} --query \
                 AutoScalingGroups[].[AutoScalingGroupName,MinSize,MaxSize]` lists them",
                filters.join(" ")
            )
        }
        "mig" => "; `gcloud compute instance-groups managed list` lists them".to_owned(),
        "label" => "; `az vmss list` lists them".to_owned(),
        "clusterapi" => "; `kubectl get machinedeployments,machinepools -A` lists them".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_names_tell_the_label_of_their_nodes() {
        let uuid = "1ebea4c0-1234-5678-9abc-0123456789ab";
        let other = |name: &str| Cloud::Other(name.to_owned());
        let table = [
            (Cloud::Aws, format!("eks-web-1-{uuid}"), Some("web-1")),
            (Cloud::Aws, format!("eks-{uuid}"), None),
            (Cloud::Aws, "eks-web".to_owned(), None),
            (Cloud::Aws, "eksctl-prod-nodegroup-gpu-a-NodeGroup-1ABC".to_owned(), Some("gpu-a")),
            (Cloud::Aws, "eksctl-prod-nodegroup-gpu-a".to_owned(), None),
            (Cloud::Aws, "nodes.example.com".to_owned(), None),
            (other("azure"), "aks-system-12345678-vmss".to_owned(), Some("system")),
            (other("azure"), "aks-system-vmss".to_owned(), None),
            (other("gce"), format!("eks-web-1-{uuid}"), None),
        ];
        for (cloud, id, value) in table {
            let label = cloud.label(&id);
            assert_eq!(label.as_ref().map(|(_, value, _)| &**value), value, "{id}");
        }
    }
}
