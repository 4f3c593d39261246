//! `headroom simulate`: play a simulated cluster and say what came of it.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::Context;
use clap::ValueEnum;
use headroom_core::expander::{Chain, Expander};
use headroom_core::policy::{Percent, Strategy};
use headroom_core::quantity::{Round, parse_milli};
use headroom_sim::{Scenario, Simulation, Summary};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::stdout;
use crate::record::Recorder;
use crate::scenario::trace::Scaling;
use crate::scenario::{self, trace};
use crate::view;

/// Arguments of `headroom simulate`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A scenario file. Without one, a day in a small company is played; `nomad` is the pools of a Nomad cluster.
    #[arg(conflicts_with = "trace")]
    scenario: Option<PathBuf>,
    /// Play the pods of a recorded trace: `openb:pods.csv`, from Alibaba's cluster-trace-gpu-v2023.
    #[arg(long, value_name = "FORMAT:FILE", requires = "nodes", value_parser = trace_file)]
    trace: Option<PathBuf>,
    /// The trace's nodes: what kinds there are, and how many of each.
    #[arg(long, value_name = "FILE", requires = "trace")]
    nodes: Option<PathBuf>,
    /// How the trace's groups are scaled.
    #[arg(long, value_enum, default_value_t, requires = "trace")]
    scaling: Scaling,
    /// The share of what the trace's pods request for which room is kept, such as 10%.
    #[arg(long, value_name = "PERCENT", requires = "trace", value_parser = percent)]
    slack: Option<Percent>,
    /// Fixes the random draws, instead of the scenario's own seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Play it once with each of these expanders and set the results side by side. `price+least-waste` is a chain: the
    /// second decides where the first ties.
    #[arg(long, value_name = "EXPANDERS,...", value_delimiter = ',', value_parser = chain, conflicts_with = "record")]
    compare: Vec<Chain>,
    /// Write every round to this file, one JSON object on each line, for `headroom replay`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// How the summary is written.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Output {
    /// Costs, waiting times and a chart.
    #[default]
    Text,
    /// Before that, one line for each action with its reason, and for what is refused.
    Wide,
    /// For programs.
    Json,
}

/// Runs `headroom simulate`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut scenario = scenario(&args)?;
    if let Some(seed) = args.seed {
        scenario.seed = seed;
    }
    if args.slack.is_some() {
        scenario.policy.slack.rate = args.slack;
    }
    if !args.compare.is_empty() {
        return compare(&scenario, &args);
    }
    // Side by side, so that the comparison takes no longer where there are two cores.
    let (simulation, without_slack) = thread::scope(|threads| {
        let without_slack = threads.spawn(|| without_slack(&scenario));
        (play(&scenario, &args), without_slack.join())
    });
    let summary = simulation?.summary();
    let without_slack = without_slack.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    match args.output {
        Output::Text | Output::Wide => stdout::print(&view::summary(&summary, without_slack.as_ref()))?,
        Output::Json => {
            let played = Played { summary, without_slack };
            stdout::print(&format!("{}\n", serde_json::to_string_pretty(&played)?))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What came of a scenario, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Played {
    #[serde(flatten)]
    summary: Summary,
    /// What comes of it when no spare room is kept; left out where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_slack: Option<Summary>,
}

/// Plays the scenario once more without the spare room that its policy keeps, to say what that costs and saves.
fn without_slack(scenario: &Scenario) -> anyhow::Result<Option<Summary>> {
    let Some(policy) = scenario.policy.without_slack() else { return Ok(None) };
    let mut simulation = Simulation::new(&Scenario { policy, ..scenario.clone() });
    while simulation.next_round()?.is_some() {}
    Ok(Some(simulation.summary()))
}

/// A run for programs.
#[derive(Serialize)]
struct Run<'a> {
    expanders: &'a Chain,
    summary: &'a Summary,
}

/// Plays the scenario once for each chain of expanders.
fn compare(scenario: &Scenario, args: &Args) -> anyhow::Result<ExitCode> {
    if !scenario.policy.groups.iter().any(|group| matches!(group.strategy, Strategy::Pending(_))) {
        let hint = "expanders choose among groups with `strategy: { pending: {} }`";
        anyhow::bail!("no group is grown by an expander; hint: {hint}");
    }
    let mut runs = Vec::new();
    for expanders in &args.compare {
        let mut scenario = scenario.clone();
        scenario.policy.pending.expander = expanders.clone();
        if matches!(args.output, Output::Wide) {
            stdout::print(&format!("{}\n", name(expanders)))?;
        }
        runs.push((expanders, play(&scenario, args)?.summary()));
    }
    if let Output::Json = args.output {
        let runs: Vec<Run<'_>> = runs.iter().map(|(expanders, summary)| Run { expanders, summary }).collect();
        stdout::print(&format!("{}\n", serde_json::to_string_pretty(&runs)?))?;
    } else {
        let runs: Vec<(String, Summary)> = runs.into_iter().map(|(chain, summary)| (name(chain), summary)).collect();
        stdout::print(&view::comparison(&runs))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A chain as it is written on the command line. None of those that are read there is empty.
fn name(chain: &Chain) -> String {
    chain.expanders(true).iter().map(ToString::to_string).collect::<Vec<_>>().join("+")
}

fn chain(text: &str) -> Result<Chain, String> {
    let expanders = text.split('+').map(str::parse).collect::<Result<Vec<Expander>, _>>();
    Chain::new(expanders.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

fn scenario(args: &Args) -> anyhow::Result<Scenario> {
    Ok(match (&args.trace, &args.nodes, &args.scenario) {
        (Some(pods), Some(nodes), _) => trace::openb(pods, nodes, args.scaling)?,
        (.., Some(file)) if file.as_os_str() == "nomad" && !file.exists() => {
            scenario::parse("the built-in scenario nomad", scenario::NOMAD)?
        }
        (.., Some(file)) => scenario::load(file)?,
        (.., None) => scenario::parse("the built-in scenario", scenario::BUILT_IN)?,
    })
}

fn play(scenario: &Scenario, args: &Args) -> anyhow::Result<Simulation> {
    let record = args.record.as_ref();
    let writing = || format!("cannot write {}", record.map(|file| file.display().to_string()).unwrap_or_default());
    let mut simulation = Simulation::new(scenario);
    let mut recorder = match record {
        Some(file) => {
            let out = BufWriter::new(File::create(file).with_context(writing)?);
            Some(Recorder::new(out, &scenario.policy).with_context(writing)?)
        }
        None => None,
    };
    let progress = Progress::new(scenario);
    let mut diary = matches!(args.output, Output::Wide).then(view::Diary::default);
    while let Some(round) = simulation.next_round()? {
        if let Some(recorder) = &mut recorder {
            let memory = (round.number == 1).then_some(&round.memory);
            recorder.round(round.number, memory, &round.changes, &round.plan).with_context(writing)?;
        }
        if let Some(diary) = &mut diary {
            stdout::print(&diary.entries(&round))?;
        }
        progress.at(round.at);
    }
    recorder.map(Recorder::finish).transpose().with_context(writing)?;
    progress.end();
    if diary.is_some() {
        stdout::print("\n")?;
    }
    Ok(simulation)
}

/// A bar on standard error, if that is a terminal.
struct Progress {
    bar: ProgressBar,
    start: jiff::Timestamp,
}

impl Progress {
    fn new(scenario: &Scenario) -> Self {
        let bar = ProgressBar::new(u64::try_from(scenario.duration.as_secs()).unwrap_or(0));
        let style = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Progress { bar, start: scenario.start }
    }

    fn at(&self, now: jiff::Timestamp) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_position(u64::try_from(now.duration_since(self.start).as_secs()).unwrap_or(0));
        self.bar.set_message(now.strftime("%F %H:%M").to_string());
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn percent(text: &str) -> Result<Percent, String> {
    let thousandths = parse_milli(text.strip_suffix('%').unwrap_or(text), Round::Up).ok();
    let percent = thousandths.and_then(|parsed| u32::try_from(parsed.value / 10).ok());
    percent.map(Percent).ok_or_else(|| "write a percentage such as 10%".to_owned())
}

fn trace_file(text: &str) -> Result<PathBuf, String> {
    match text.split_once(':') {
        Some(("openb", file)) if !file.is_empty() => Ok(file.into()),
        _ => Err("write openb: and the name of the file, such as openb:pods.csv".to_owned()),
    }
}
