//! The commands of mario, one module each.

mod app;
mod audit;
mod bench;
mod ca;
mod compare;
mod completions;
mod dashboard;
mod figures;
mod live;
mod man;
mod merge;
pub(crate) mod node;
mod policy;
mod prolog;
#[deny(clippy::wildcard_enum_match_arm)]
mod replay;
mod report;
mod reproduce;
mod run;
mod scenario;
mod snapshot;
mod sweep;
mod trace;
mod view;

use clap::Subcommand;

use crate::{Console, Failure, Outcome};

/// A command of mario.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Sign, deploy, update and inspect applications on live nodes.
    App(app::Arguments),
    /// Check a trace without trusting the program that wrote it.
    #[command(long_about = audit::LONG_ABOUT)]
    Audit(audit::Arguments),
    /// Measure the time and memory that mario needs.
    Bench(bench::Arguments),
    /// Create keys and certificates for the nodes, operators and applications of a colony.
    Ca(ca::Arguments),
    /// Test which policy is better for a scenario, and whether the difference is significant.
    #[command(long_about = compare::LONG_ABOUT)]
    Compare(compare::Arguments),
    /// Print a completion script for a shell.
    Completions(completions::Arguments),
    /// Watch a colony of live nodes in a browser.
    #[command(long_about = dashboard::LONG_ABOUT)]
    Dashboard(dashboard::Arguments),
    /// Draw the results of a comparison or a sweep as charts for a paper.
    #[command(long_about = figures::LONG_ABOUT)]
    Figures(figures::Arguments),
    /// Run a whole colony as processes on this machine, to try it out.
    #[command(long_about = live::LONG_ABOUT)]
    Live(live::Arguments),
    /// Print the manual page, or write one for every command.
    Man(man::Arguments),
    /// Merge runs of a sweep or a comparison that were made separately.
    #[command(long_about = merge::LONG_ABOUT)]
    Merge(merge::Arguments),
    /// Run a live node, or query a running one.
    #[command(long_about = node::LONG_ABOUT)]
    Node(node::Arguments),
    /// Evaluate, explain, check, test and benchmark policies.
    Policy(policy::Arguments),
    /// Run Prolog: a single goal, or an interactive prompt.
    #[command(long_about = prolog::LONG_ABOUT)]
    Prolog(prolog::Arguments),
    /// Resume a recorded run at a given time under another policy.
    #[command(long_about = replay::LONG_ABOUT)]
    Replay(replay::Arguments),
    /// Write a report on runs as one HTML file.
    #[command(long_about = report::LONG_ABOUT)]
    Report(report::Arguments),
    /// Rerun the published experiments, and compare the results.
    #[command(long_about = reproduce::LONG_ABOUT)]
    Reproduce(reproduce::Arguments),
    /// Run a scenario in the simulator.
    #[command(long_about = run::LONG_ABOUT)]
    Run(run::Arguments),
    /// Write, check and show scenarios.
    Scenario(scenario::Arguments),
    /// Write the state of a run, or of live nodes, as a scenario from which it can be resumed.
    #[command(long_about = snapshot::LONG_ABOUT)]
    Snapshot(snapshot::Arguments),
    /// Run a scenario with all combinations of given settings.
    #[command(long_about = sweep::LONG_ABOUT)]
    Sweep(sweep::Arguments),
    /// Join the partial traces that live nodes wrote.
    Trace(trace::Arguments),
    /// Watch simulated runs in a browser: the report, updated while a run is in progress.
    #[command(long_about = view::LONG_ABOUT)]
    View(view::Arguments),
}

pub(crate) fn run(command: Command, console: &Console) -> Result<Outcome, Failure> {
    match command {
        Command::App(arguments) => app::run(&arguments, console),
        Command::Audit(arguments) => audit::run(&arguments, console),
        Command::Bench(arguments) => bench::run(&arguments, console),
        Command::Ca(arguments) => ca::run(&arguments, console),
        Command::Compare(arguments) => compare::run(&arguments, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
        Command::Dashboard(arguments) => dashboard::run(&arguments, console),
        Command::Figures(arguments) => figures::run(&arguments, console),
        Command::Live(arguments) => live::run(&arguments, console),
        Command::Man(arguments) => man::run(&arguments, console),
        Command::Merge(arguments) => merge::run(&arguments, console),
        Command::Node(arguments) => node::run(&arguments, console),
        Command::Policy(arguments) => policy::run(&arguments, console),
        Command::Prolog(arguments) => prolog::run(&arguments, console),
        Command::Replay(arguments) => replay::run(&arguments, console),
        Command::Report(arguments) => report::run(&arguments, console),
        Command::Reproduce(arguments) => reproduce::run(&arguments, console),
        Command::Run(arguments) => run::run(&arguments, console),
        Command::Scenario(arguments) => scenario::run(&arguments, console),
        Command::Snapshot(arguments) => snapshot::run(&arguments, console),
        Command::Sweep(arguments) => sweep::run(&arguments, console),
        Command::Trace(arguments) => trace::run(&arguments, console),
        Command::View(arguments) => view::run(&arguments, console),
    }
}
