//! Escalator's command line.

use headroom_adapters::go_duration;
use jiff::SignedDuration;

use super::options::FLAGS;
use crate::config::problem::{Problem, Problems};
use crate::migrate::command_line::{Given, Program, Style, Word};

/// Those that are on or off.
const BOOLEAN: [&str; 2] = ["drymode", "leader-elect"];

/// Those that become something in the file, or are asked for by name.
const READ: [&str; 4] = ["nodegroups", "scaninterval", "drymode", "aws-assume-role-arn"];

/// What Escalator was told on its command line, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags {
    /// `--scaninterval`: how often Escalator looked, and so how often it could taint nodes.
    pub scan_interval: SignedDuration,
    /// `--drymode`: no group was touched.
    pub drymode: bool,
    /// `--aws-assume-role-arn`.
    pub aws_assume_role_arn: Option<String>,
    /// Other flags with their values, and what to say about them.
    pub others: Vec<(String, &'static str)>,
}

impl Default for Flags {
    fn default() -> Self {
        Flags {
            scan_interval: SignedDuration::from_secs(60),
            drymode: false,
            aws_assume_role_arn: None,
            others: Vec::new(),
        }
    }
}

/// The flags in `words`, and the path of `--nodegroups`.
pub(in crate::migrate) fn command_line(words: &[Word], problems: &mut Problems) -> (Flags, Option<String>) {
    let names = FLAGS.iter().filter_map(|flag| flag.key.strip_prefix("--"));
    let flags = names.map(|name| (name, BOOLEAN.contains(&name))).collect();
    let program = Program { name: "Escalator", style: Style::Kingpin, flags };
    let given = program.read(words, problems);
    let last = |name: &str| given.iter().rev().find(|given| given.flag == name);
    let mut flags = Flags::default();
    if let Some(Given { value, place, .. }) = last("scaninterval") {
        match go_duration::parse(value).filter(|interval| interval.is_positive()) {
            Some(interval) => flags.scan_interval = interval,
            None => {
                let message = "`--scaninterval` must be a duration of more than 0";
                problems.add(Problem::at(place.clone(), message, "write a duration such as 60s or 1m30s"));
            }
        }
    }
    flags.drymode = last("drymode").is_some_and(|given| given.value == "true");
    flags.aws_assume_role_arn =
        last("aws-assume-role-arn").map(|given| given.value.clone()).filter(|arn| !arn.is_empty());
    let why = |given: &Given| FLAGS.iter().find(|flag| flag.key.strip_prefix("--") == Some(given.flag));
    let others = given.iter().filter(|given| !READ.contains(&given.flag));
    flags.others = others.filter_map(|given| Some((given.show(), why(given)?.differs))).collect();
    let file = last("nodegroups").map(|given| given.value.clone());
    (flags, file)
}
