//! No flag is dropped, and whatever combination is given, the file loads.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::flags::{self, Fate, Flag, Kind};
use super::*;
use crate::config;

/// Each flag and its default.
const FLAGS: &str = include_str!("../../../tests/fixtures/cluster-autoscaler-flags.txt");

fn migrated(words: &[String]) -> String {
    migrate(&CommandLine::of_words(words), None).unwrap_or_else(|errors| panic!("{words:?}: {errors}"))
}

/// Lines that are no comments.
fn keys(yaml: &str) -> String {
    yaml.lines().filter(|line| !line.trim_start().starts_with('#')).map(|line| format!("{line}\n")).collect()
}

/// A value that is not the default.
fn unusual(flag: &Flag) -> &'static str {
    match (flag.name, flag.kind) {
        ("address", _) => "127.0.0.1:9",
        ("nodes", _) => "2:7:other",
        ("node-group-auto-discovery", _) => "asg:tag=team=web",
        ("cloud-provider", _) => "kwok",
        ("expander", _) => "most-pods",
        ("cores-total" | "memory-total", _) => "3:77",
        ("gpu-total", _) => "nvidia.com/gpu:1:8",
        // Where a boolean decides about a number, the number is what it is not by default.
        (_, Kind::Flag) if flag.default == "true" => "false",
        (_, Kind::Flag) => "true",
        (_, Kind::Share) => "0.77",
        (_, Kind::Integer { .. } | Kind::Seconds { .. } | Kind::Percent) => "77",
        (_, Kind::Duration { .. }) => "77s",
        (_, Kind::Text | Kind::Texts) => "seventy-seven",
    }
}

#[test]
fn every_flag_becomes_a_key_or_is_named_with_the_reason() {
    let known: Vec<&str> = FLAGS.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(known.len() > 130, "only {} flags", known.len());
    let base = ["--nodes=1:10:web".to_owned(), "--cloud-provider=aws".to_owned()];
    let before = migrated(&base);
    for line in known {
        let (name, default) = line.split_once(' ').unwrap_or((line, ""));
        let flag = flags::find(name).unwrap_or_else(|| panic!("--{name} is not in the list"));
        assert!(flag.default == default || default == "0" || name == "cloud-provider", "--{name}: {default}");
        let given = format!("--{name}={}", unusual(flag));
        let after = migrated(&[&base[..], std::slice::from_ref(&given)].concat());
        match flag.fate {
            Fate::Gone => {
                let text = after.replace("\n#  ", "").replace("\n#", "");
                assert!(text.contains(&given), "{given} is not named:\n{after}");
                assert_eq!(keys(&before), keys(&after), "{given} changes something");
            }
            Fate::Keys(_) if ["max-bulk-soft-taint-count", "max-bulk-soft-taint-time"].contains(&name) => {
                let off = migrated(&[&base[..], &[format!("--{name}=0")]].concat());
                assert!(keys(&after).contains("softTaint: true") && keys(&off).contains("softTaint: false"));
            }
            // What it says is the default already.
            Fate::Keys(_) if name == "emit-per-nodegroup-metrics" => {
                assert_ne!(before, after, "{given} changes nothing");
            }
            Fate::Key { path, .. } | Fate::Keys(path) => {
                assert_ne!(keys(&before), keys(&after), "{given} changes nothing");
                for path in path.split(", ") {
                    let key = path.split(':').next().unwrap().rsplit(['.', ']']).next().unwrap();
                    assert!(keys(&after).contains(&format!("{key}:")), "{given}: no {path} in\n{after}");
                }
            }
        }
    }
}

#[test]
fn a_group_is_found_by_the_tags_by_which_cluster_autoscaler_finds_it() {
    let discovery = |rules: &[&str]| {
        let rules = rules.iter().map(|rule| format!("--node-group-auto-discovery={rule}"));
        migrated(&rules.collect::<Vec<_>>())
    };
    let table = [
        ("asg:tag=enabled", Some("{ enabled: \"\" }")),
        ("asg:tag=k8s.io/enabled,owner=web=1", Some("{ k8s.io/enabled: \"\", owner: \"web=1\" }")),
        ("asg:tag=", None),
        ("asg:tag=a,", None),
        ("asg:tag==a", None),
        ("asg:tag=a=1,a=2", None),
        ("asg:name=a", None),
    ];
    for (rule, tags) in table {
        let text = discovery(&[rule]);
        match tags {
            Some(tags) => {
                let entry =
                    format!("discover:\n  - cloud: {{ aws: {{ tags: {tags} }} }}\n    strategy: {{ pending: {{}} }}\n");
                assert!(text.ends_with(&entry) && !text.contains("groups:"), "{text}");
            }
            None => {
                assert!(text.contains(&format!("DECIDE: --node-group-auto-discovery={rule} found groups")), "{text}")
            }
        }
    }
    let several = discovery(&["asg:tag=a", "asg:tag=b", "asg:tag=a", "asg:"]);
    assert_eq!(several.matches("- cloud:").count(), 2, "{several}");
}

#[test]
fn of_an_external_provider_the_same_file_says_how_it_is_reached() {
    let given = ["--cloud-provider=externalgrpc", "--cloud-config=/etc/provider.yaml", "--nodes=1:10:web"];
    let text = migrated(&given.map(str::to_owned));
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "#").collect();
    let text = words.join(" ");
    assert!(text.contains(r#"discover: --nodes did nothing: the provider says which groups there are, and how large they may be. - cloud: { externalgrpc: { cloudConfig: "/etc/provider.yaml" } } strategy:"#), "{text}");
    assert!(text.contains("--cloud-config=/etc/provider.yaml"), "{text}");
}

/// Some value of the kind, in one of the forms that Go reads.
fn value(flag: &'static Flag) -> BoxedStrategy<String> {
    let number = prop_oneof![0_i64..20, any::<i64>()];
    match (flag.name, flag.kind) {
        ("cloud-provider", _) => {
            prop_oneof![Just("aws"), Just("kwok"), Just("azure"), Just("externalgrpc")].prop_map(str::to_owned).boxed()
        }
        // The file that it names is read when the result is loaded, and there is none.
        ("nodes" | "cloud-config", _) => Just(String::new()).boxed(),
        ("node-group-auto-discovery", _) => "(asg:tag=|asg:|mig:)?[ -~]{0,12}(,[a-z]=?){0,2}".boxed(),
        ("expander", _) => {
            let names = ["price", "priority", "most-pods", "least-waste", "least-nodes", "grpc"];
            let chain = proptest::sample::subsequence(names.to_vec(), 1..=names.len()).prop_shuffle();
            (chain, any::<bool>())
                .prop_map(|(chain, random)| chain.join(",") + if random { ",random" } else { "" })
                .boxed()
        }
        ("address", _) => {
            prop_oneof![Just(":8085"), Just("localhost:1"), Just("[::]:8085")].prop_map(str::to_owned).boxed()
        }
        ("cores-total" | "memory-total", _) => {
            (0..i64::MAX, 0..i64::MAX).prop_map(|(a, b)| format!("{}:{}", a.min(b), a.max(b))).boxed()
        }
        ("gpu-total", _) => ("[a-z][a-z./-]{0,8}", 0..i64::MAX, 0..i64::MAX)
            .prop_map(|(kind, a, b)| format!("{kind}:{}:{}", a.min(b), a.max(b)))
            .boxed(),
        (_, Kind::Flag) => prop_oneof![Just("true"), Just("F"), Just("1")].prop_map(str::to_owned).boxed(),
        (_, Kind::Integer { .. } | Kind::Seconds { .. }) => number.prop_map(|number| number.to_string()).boxed(),
        (_, Kind::Share) => prop_oneof![(0.0..1.0_f64), any::<f64>().prop_filter("finite", |x| x.is_finite())]
            .prop_map(|share| share.to_string())
            .boxed(),
        (_, Kind::Percent) => (-200.0..200.0_f64).prop_map(|percent| percent.to_string()).boxed(),
        (_, Kind::Duration { .. }) => "(-)?[0-9]{1,4}(\\.[0-9]{1,3})?(ms|s|m|h)".boxed(),
        (_, Kind::Text | Kind::Texts) => "[ -~é]{0,12}".boxed(),
    }
}

fn any_flag() -> impl Strategy<Value = String> {
    let all: Vec<&'static Flag> = flags::all().filter(|flag| flag.name != "nodes").collect();
    proptest::sample::select(all).prop_flat_map(|flag| value(flag).prop_map(|value| format!("--{}={value}", flag.name)))
}

fn any_groups() -> impl Strategy<Value = Vec<String>> {
    let name =
        prop_oneof!["[ -~]{1,60}", "[a-z-]{1,70}", Just("eks-web-1ebea4c0-1234-5678-9abc-0123456789ab".to_owned())];
    proptest::collection::vec((name, any::<u32>(), any::<u32>()), 0..4).prop_map(|groups| {
        let mut names = BTreeSet::new();
        let new = groups.into_iter().filter(|(name, ..)| names.insert(name.clone())).collect::<Vec<_>>();
        new.into_iter().map(|(name, a, b)| format!("--nodes={}:{}:{name}", a.min(b), a.max(b))).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_combination_of_flags_loads(
        groups in any_groups(),
        flags in proptest::collection::vec(any_flag(), 0..40),
        priorities in proptest::option::of(proptest::collection::vec((any::<i64>(), "[ -~]{0,6}|[.]\\*"), 0..4)),
    ) {
        let words = [groups, flags].concat();
        let priorities = priorities.map(|list| {
            let lines = list.iter().map(|(number, pattern)| (number.to_string(), serde_json::json!([pattern])));
            let map: serde_json::Map<String, serde_json::Value> = lines.collect();
            Priorities::read("priorities", &serde_json::Value::from(map).to_string()).unwrap()
        });
        let yaml = migrate(&CommandLine::of_words(&words), priorities.as_ref());
        let yaml = yaml.map_err(|errors| TestCaseError::fail(format!("{errors}")))?;
        let loaded = config::parse("headroom.yaml", &yaml);
        loaded.map_err(|errors| TestCaseError::fail(format!("{errors}\n{yaml}")))?;
    }

    #[test]
    fn no_words_panic(words in proptest::collection::vec("\\PC{0,20}|--[a-z-]{0,12}(=.{0,8})?|-v.?|--nodes=[0-9:a]*", 0..6)) {
        if let Err(errors) = migrate(&CommandLine::of_words(&words), None) {
            prop_assert!(!errors.to_string().is_empty());
        }
    }
}
