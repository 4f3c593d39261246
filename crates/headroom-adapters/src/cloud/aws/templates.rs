//! What the machines of a group are, as far as AWS tells: by launch template, launch configuration and instance types.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};
use tokio::sync::Mutex;

use super::Fleet;
use super::client::{AwsError, Call, Client};
use super::object::auto_scaling::{Group, LaunchConfigurations, LaunchTemplate, Override};
use super::object::ec2::{InstanceTypes, LaunchTemplateVersions};
use super::translate::machine::Machine;

/// How long is gone by what a launch template said: `$Latest` may become another version.
const FRESH: Duration = Duration::from_secs(120);
/// How many launch templates are read at once.
const AT_ONCE: usize = 8;
/// How many names a filter of EC2 may have.
const NAMES: usize = 200;

/// What has been read.
#[derive(Debug, Default)]
pub(super) struct Templates {
    launches: Mutex<BTreeMap<Source, (Launch, Instant)>>,
    types: Mutex<BTreeMap<String, Machine>>,
}

/// Where it is said what a group launches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Template(LaunchTemplate),
    /// By its name. It never changes.
    Configuration(String),
}

/// What it says.
#[derive(Clone, Debug, Default)]
struct Launch {
    instance_type: Option<String>,
    /// Any type with at least so many cpus and MiB of memory.
    at_least: Option<(u32, u32)>,
    /// The disk that pods have, in GiB.
    disk: Option<u32>,
}

impl Templates {
    /// What the machines of each of these groups are; None where nobody says. The last reading stands in for one that
    /// fails.
    pub(super) async fn machines(
        &self,
        client: &Client,
        groups: &[(Option<&Fleet>, &Group)],
    ) -> Result<Vec<Option<Machine>>, AwsError> {
        let sources: Vec<Option<Source>> = groups.iter().map(|(fleet, group)| source(*fleet, group)).collect();
        let launches_read = self.read_launches(client, &sources).await;
        let kinds: Vec<(Kinds, Option<u32>)> = {
            let known = self.launches.lock().await;
            let kinds = groups.iter().zip(&sources).map(|((fleet, group), source)| {
                let launch = source.as_ref().and_then(|source| known.get(source)).map(|(launch, _)| launch);
                let launch = launch.cloned().unwrap_or_default();
                (Kinds::of(*fleet, group, &launch), launch.disk)
            });
            kinds.collect()
        };
        let types_read = self.read_types(client, &kinds).await;
        let types = self.types.lock().await;
        let machine = |(kinds, disk): &(Kinds, Option<u32>)| {
            let machine = kinds.machine(&types)?;
            Some(disk.iter().fold(machine, |machine, gib| machine.with_disk(*gib)))
        };
        let machines: Vec<Option<Machine>> = kinds.iter().map(machine).collect();
        match launches_read.and(types_read) {
            Err(error) if machines.iter().all(Option::is_none) => Err(error),
            _ => Ok(machines),
        }
    }

    async fn read_launches(&self, client: &Client, wanted: &[Option<Source>]) -> Result<(), AwsError> {
        let wanted: BTreeSet<&Source> = wanted.iter().flatten().collect();
        let known = self.launches.lock().await.clone();
        let is_old = |source: &Source| match (source, known.get(source)) {
            (_, None) => true,
            (Source::Configuration(_), Some(_)) => false,
            (Source::Template(_), Some((_, at))) => at.elapsed() >= FRESH,
        };
        let mut calls = Vec::new();
        for source in wanted {
            if is_old(source) {
                calls.push(async move { (source.clone(), launch(client, source).await) });
            }
        }
        let answers: Vec<(Source, Result<Launch, AwsError>)> =
            stream::iter(calls).buffer_unordered(AT_ONCE).collect().await;
        let mut launches = self.launches.lock().await;
        let mut outcome = Ok(());
        for (source, answer) in answers {
            match answer {
                Ok(launch) => drop(launches.insert(source, (launch, Instant::now()))),
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }

    async fn read_types(&self, client: &Client, wanted: &[(Kinds, Option<u32>)]) -> Result<(), AwsError> {
        let known: BTreeSet<String> = self.types.lock().await.keys().cloned().collect();
        let wanted: BTreeSet<&str> = wanted
            .iter()
            .flat_map(|(kinds, _)| &kinds.types)
            .filter(|kind| !known.contains(*kind))
            .map(String::as_str)
            .collect();
        let wanted: Vec<&str> = wanted.into_iter().collect();
        for names in wanted.chunks(NAMES) {
            // By a filter, which one name that this region does not have does not spoil for the others.
            let call = Call::ec2("DescribeInstanceTypes").with("Filter.1.Name", "instance-type");
            let call = call.with_all("Filter.1.Value", names.iter().copied());
            let pages: Vec<InstanceTypes> = client.pages(&call).await?;
            let found = pages.into_iter().flat_map(InstanceTypes::into_types);
            let found: Vec<(String, Machine)> =
                found.map(|kind| (kind.instance_type.clone(), Machine::of(&kind))).collect();
            self.types.lock().await.extend(found);
        }
        Ok(())
    }
}

/// The kinds of machines that a group may get.
#[derive(Debug, Default)]
struct Kinds {
    types: Vec<String>,
    at_least: Vec<(u32, u32)>,
}

impl Kinds {
    /// Overrides stand in the place of what the launch template says.
    fn of(fleet: Option<&Fleet>, group: &Group, launch: &Launch) -> Self {
        let mut kinds = Kinds::default();
        if let Some(fleet) = fleet {
            kinds.types = fleet.instance_types.iter().map(|kind| kind.to_string()).collect();
        }
        for kind in overrides(group).filter(|_| fleet.is_none()) {
            kinds.types.extend(kind.instance_type.clone());
            let requirements = kind.instance_requirements.as_ref();
            kinds.at_least.extend(requirements.map(|wanted| (wanted.cpus.min, wanted.memory_mib.min)));
        }
        if kinds.types.is_empty() && kinds.at_least.is_empty() {
            kinds.types.extend(launch.instance_type.clone());
            kinds.at_least.extend(launch.at_least);
        }
        kinds
    }

    /// What they have in common; None when one of them is not known.
    fn machine(&self, types: &BTreeMap<String, Machine>) -> Option<Machine> {
        let types = self.types.iter().map(|kind| types.get(kind).cloned());
        let others = self.at_least.iter().map(|(cpus, mib)| Some(Machine::at_least(*cpus, *mib)));
        let machines: Option<Vec<Machine>> = types.chain(others).collect();
        machines?.into_iter().reduce(Machine::either)
    }
}

fn overrides(group: &Group) -> impl Iterator<Item = &Override> {
    let policy = group.mixed_instances_policy.as_ref().and_then(|policy| policy.launch_template.as_ref());
    policy.into_iter().flat_map(|template| &template.overrides.member)
}

fn source(fleet: Option<&Fleet>, group: &Group) -> Option<Source> {
    if let Some(Fleet { launch_template, version, .. }) = fleet {
        let (id, version) = (launch_template.to_string(), version.to_string());
        let template =
            LaunchTemplate { launch_template_id: Some(id), launch_template_name: None, version: Some(version) };
        return Some(Source::Template(template));
    }
    let mixed = group.mixed_instances_policy.as_ref().and_then(|policy| policy.launch_template.as_ref());
    let mixed = mixed.and_then(|template| template.launch_template_specification.as_ref());
    let template = group.launch_template.as_ref().or(mixed).map(|template| Source::Template(template.clone()));
    let named = group.launch_configuration_name.as_ref().filter(|name| !name.is_empty());
    template.or_else(|| named.map(|name| Source::Configuration(name.clone())))
}

async fn launch(client: &Client, source: &Source) -> Result<Launch, AwsError> {
    match source {
        Source::Template(template) => {
            let call = Call::ec2("DescribeLaunchTemplateVersions");
            let call = match (&template.launch_template_id, &template.launch_template_name) {
                (Some(id), _) => call.with("LaunchTemplateId", id),
                (None, name) => call.with("LaunchTemplateName", name.as_deref().unwrap_or_default()),
            };
            let version = template.version.as_deref().filter(|version| !version.is_empty()).unwrap_or("$Default");
            let call = call.with("LaunchTemplateVersion.1", version);
            let pages: Vec<LaunchTemplateVersions> = client.pages(&call).await?;
            let data = pages.into_iter().flat_map(LaunchTemplateVersions::into_data).next().unwrap_or_default();
            let disks = data.block_device_mapping_set.item.iter();
            let disks =
                disks.map(|disk| (disk.device_name.as_deref(), disk.ebs.as_ref().and_then(|ebs| ebs.volume_size)));
            let at_least = data.instance_requirements.as_ref().map(|wanted| (wanted.cpus.min, wanted.memory_mib.min));
            Ok(Launch { disk: disk(disks), at_least, instance_type: data.instance_type })
        }
        Source::Configuration(name) => {
            let call = Call::auto_scaling("DescribeLaunchConfigurations");
            let call = call.with_all("LaunchConfigurationNames", [name.as_str()]);
            let pages: Vec<LaunchConfigurations> = client.pages(&call).await?;
            let found = pages.into_iter().flat_map(LaunchConfigurations::into_configurations).next();
            Ok(found.map_or_else(Launch::default, |found| {
                let disks = found.block_device_mappings.member.iter();
                let disks =
                    disks.map(|disk| (disk.device_name.as_deref(), disk.ebs.as_ref().and_then(|ebs| ebs.volume_size)));
                Launch { disk: disk(disks), at_least: None, instance_type: Some(found.instance_type) }
            }))
        }
    }
}

/// The size of the disk on which pods have their files. Bottlerocket has them on its second, all others on the first.
fn disk<'d>(disks: impl Iterator<Item = (Option<&'d str>, Option<u32>)>) -> Option<u32> {
    let sizes: Vec<(&str, u32)> = disks.filter_map(|(name, size)| Some((name.unwrap_or_default(), size?))).collect();
    let of = |wanted: &str| sizes.iter().find(|(name, _)| *name == wanted).map(|(_, size)| *size);
    of("/dev/xvdb").or_else(|| of("/dev/xvda")).or_else(|| sizes.first().map(|(_, size)| *size))
}
