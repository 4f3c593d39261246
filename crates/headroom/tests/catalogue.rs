//! Price lists in files of their own: what they become, and what is said about bad ones.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect, expect_file};
use headroom::config::{self, Config};
use headroom::scenario;
use headroom_core::pricing::{CapacityType, Offering};
use proptest::prelude::*;

const LINE: &str = "==========\n";

/// A configuration beside `catalogues`, so that paths are relative to it.
fn config_with(catalogue: &str) -> Result<Config, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config");
    let file = scratch(&format!("{}.yaml", catalogue.replace(['/', '.'], "-")));
    let path = folder.join(catalogue);
    fs::write(&file, configuration(&path.display().to_string())).unwrap();
    config::load(&file).map_err(|errors| errors.to_string())
}

fn configuration(catalogue: &str) -> String {
    let group = "{ name: web, select: { label: { pool: web } }, strategy: { pending: {} } }";
    format!("prices: {{ catalogue: \"{catalogue}\" }}\ngroups: [{group}]\n")
}

/// A path for a file that only the test of this name writes.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("catalogue");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// What `catalogue` says about a machine type everywhere, and about spot machines in two zones.
fn check(catalogue: &str, instance_type: &str, zones: [&str; 2], expect: Expect) {
    let prices = config_with(catalogue).unwrap_or_else(|errors| panic!("{errors}")).policy.pending.prices;
    assert!(prices.config.is_empty());
    let price = |zone: Option<&str>, capacity_type| {
        let zone = zone.map(Box::from);
        let offering = Offering { instance_type: Some(instance_type.into()), zone, capacity_type };
        let price = prices.catalogue.price(&offering).map(|price| price.0);
        format!("{offering}: {price:?} nano-dollars\n")
    };
    let spot = zones.map(|zone| price(Some(zone), CapacityType::Spot)).concat();
    expect.assert_eq(&format!("{}{spot}", price(None, CapacityType::OnDemand)));
}

#[test]
fn our_own_format_is_read_as_yaml_and_json() {
    for catalogue in ["catalogues/own.yaml", "catalogues/own.json"] {
        let expected = expect![[r#"
            m5.large: Some(96000000) nano-dollars
            m5.large in eu-west-1a (spot): Some(37400000) nano-dollars
            m5.large in eu-west-1b (spot): Some(96000000) nano-dollars
        "#]];
        check(catalogue, "m5.large", ["eu-west-1a", "eu-west-1b"], expected);
    }
}

/// Prices have more decimals there than are kept.
#[test]
fn instance_types_of_karpenter_are_read() {
    for catalogue in ["catalogues/karpenter.json", "catalogues/karpenter-older.json"] {
        let expected = expect![[r#"
            small: Some(27147484) nano-dollars
            small in a (spot): Some(19003239) nano-dollars
            small in b (spot): Some(19003239) nano-dollars
        "#]];
        check(catalogue, "small", ["a", "b"], expected);
    }
    let unsold = Offering { instance_type: Some("unsold".into()), ..Offering::default() };
    assert_eq!(config_with("catalogues/karpenter.json").unwrap().policy.pending.prices.catalogue.price(&unsold), None);
}

#[test]
fn the_path_is_relative_to_the_configuration() {
    let folder = scratch("relative");
    fs::create_dir_all(folder.join("lists")).unwrap();
    fs::write(folder.join("lists/prices.yaml"), "- { instanceType: a, price: 1 }").unwrap();
    fs::write(folder.join("headroom.yaml"), configuration("lists/prices.yaml")).unwrap();
    let config = config::load(&folder.join("headroom.yaml")).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(!config.policy.pending.prices.catalogue.is_empty());
}

/// What the simulated cloud charges is known too, where the file does not say something else.
#[test]
fn a_scenario_can_name_one_too() {
    let folder = scratch("scenario");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("prices.yaml"), "- { instanceType: a, price: 1 }").unwrap();
    let rest = "
nodeTypes: { a: { cpu: 4, memory: 16Gi, price: 2 }, b: { cpu: 4, memory: 16Gi, price: 3 } }
machines: { web: { nodeType: a } }
";
    fs::write(folder.join("scenario.yaml"), format!("{}{rest}", configuration("prices.yaml"))).unwrap();
    let scenario = scenario::load(&folder.join("scenario.yaml")).unwrap_or_else(|errors| panic!("{errors}"));
    let price = |name: &str| {
        let offering = Offering { instance_type: Some(name.into()), ..Offering::default() };
        scenario.policy.pending.prices.catalogue.price(&offering).map(|price| price.to_string())
    };
    assert_eq!(["a", "b"].map(price), [Some("$1.00".to_owned()), Some("$3.00".to_owned())]);
}

#[test]
fn a_file_that_is_not_there_is_shown_where_it_is_named() {
    let text = configuration("no/such/prices.yaml");
    let message = config::parse("headroom.yaml", &text).unwrap_err().to_string();
    let (first, rest) = message.split_once('\n').unwrap();
    assert!(first.starts_with("error: cannot read no/such/prices.yaml: "), "{first}");
    expect![[r#"
         --> headroom.yaml:1:22
          |
        1 | prices: { catalogue: "no/such/prices.yaml" }
          |                      ^^^^^^^^^^^^^^^^^^^^^
          |
          = hint: give the path of a file that you may read"#]]
    .assert_eq(rest);
}

/// Errors of the configuration and of the file that it names come at once.
#[test]
fn errors_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config/catalogue-errors");
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 5, "only {} cases were found", paths.len());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let input = text.split(LINE).next().unwrap();
        let catalogue = scratch(path.file_name().unwrap().to_str().unwrap());
        fs::write(&catalogue, input).unwrap();
        let name = catalogue.display().to_string();
        let broken = configuration(&name).replace("pending: {}", "pending: { more: 1 }");
        let message = config::parse("headroom.yaml", &broken).unwrap_err().to_string();
        let (own, others) = message.split_once("\n\n").unwrap();
        assert!(own.starts_with("error: there is no key `more` here"), "{own}");
        expect_file![&path].assert_eq(&format!("{input}{LINE}{}\n", others.replace(&name, "prices.yaml")));
    }
}

proptest! {
    /// Damage to a good file is either harmless or reported.
    #[test]
    fn no_damage_panics(at in 0..1_000_usize, length in 0..40_usize, new in "[ \\n\\t:\\-{}\\[\\],\"a-z0-9]{0,6}") {
        let good = include_str!("config/catalogues/karpenter.json");
        let at = at.min(good.len());
        let damaged = format!("{}{new}{}", &good[..at], &good[(at + length).min(good.len())..]);
        let path = scratch("damaged.json");
        fs::write(&path, damaged).unwrap();
        if let Err(errors) = config::parse("x", &configuration(&path.display().to_string())) {
            prop_assert!(errors.to_string().contains("error: "), "{}", errors);
        }
    }
}
