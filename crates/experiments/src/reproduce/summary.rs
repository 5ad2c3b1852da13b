//! An overview of the results, in the published world and in others: as text, and as tables for the report.

use std::fmt::Write;

use super::worlds::{World, WorldFigures};
use super::{ExperimentResults, Reproduction};
use crate::figures::TraceFigures;
use crate::measures::{Measure, key, values};
use crate::reproduce::claims::Claim;
use crate::table::Table;

/// The paragraphs that explain why results differ between the worlds.
const WHY: [&str; 4] = [
    "One number makes most of the difference: the link between an access point and its edge node takes 3 ms in the paper's text \
     and 1 ms in its prototype.",
    "The way from a user to an LS application may take 1 ms. With a link of 1 ms, an instance on the edge node is near enough for all \
     users below it, and edge nodes have room.",
    "With 3 ms only an instance on the user's own access point is near enough, and an access point has room for one: LS \
     instances crowd there, are inhibited, and move with every handover.",
    "With 1 ms in the paper's text, nothing is inhibited under policy 2, as in the prototype. The two worlds still differ in \
     the hardware of nodes and in how agents observe, requests are routed and proposals are judged.",
];

/// Explains the terms in the tables.
const LEGEND: &str = "WS: workload-sensitive applications, LS: latency-sensitive ones. Policies: 1 workload-aware, 2 latency-aware, 3 \
                      both, 4 both with a memory of 1 and of 10 cycles. Service usage: rate of requests over what an instance \
                      handles. Inhibited: proposals that node managers turned down. Stored run: what the prototype's authors \
                      kept of theirs.";

const PUBLISHED_HEAD: &str =
    "                  response time, ms                service usage                     equal to
                    WS   paper       LS   paper       WS   paper       LS   paper     paper  stored run
";
const PUBLISHED_WIDTHS: [usize; 11] = [14, 8, 8, 9, 8, 9, 8, 9, 8, 10, 12];

const WORLDS_HEAD: &str =
    "                                      ms under policy 3  inhibited under policy              claims
                                           WS     LS     1     2     3   4 (1)  4 (10)   that hold
";
const WORLDS_WIDTHS: [usize; 9] = [38, 7, 7, 6, 6, 6, 8, 8, 12];

/// The maximum number of characters in a line of prose.
const WIDTH: usize = 100;

impl Reproduction {
    /// Returns the published figures beside ours, the claims that are false, and the results in other worlds. The title
    /// assumes that the stored runs are those of [`World::PUBLISHED`].
    pub fn summary(&self) -> String {
        let mut text = String::new();
        text.push_str(
            "The paper's experiments in the world of its prototype: 85 nodes, 51 recorded users, 52,000 ms\n\n",
        );
        push_wrapped(&mut text, LEGEND);
        text.push('\n');
        text.push_str(PUBLISHED_HEAD);
        for row in self.published_table().rows {
            push_row(&mut text, &row, &PUBLISHED_WIDTHS);
        }
        for sentence in self.published_notes() {
            push_wrapped(&mut text, &sentence);
        }
        text.push('\n');
        let claims = self.claims();
        let missed: Vec<&Claim> = claims.iter().map(|judged| &judged.claim).filter(|claim| !claim.holds).collect();
        let _ =
            write!(text, "{} of {} claims of the paper hold in these runs", claims.len() - missed.len(), claims.len());
        text.push_str(if missed.is_empty() { "\n" } else { "; these do not:\n" });
        for claim in missed {
            push_wrapped(&mut text, &format!("- {}: {}", claim.claim, claim.numbers));
        }
        if !self.worlds.is_empty() {
            let _ = writeln!(text, "\nThe same experiments in other worlds\n");
            text.push_str(WORLDS_HEAD);
            for row in self.worlds_table().rows {
                push_row(&mut text, &row, &WORLDS_WIDTHS);
            }
            text.push('\n');
            WHY.iter().for_each(|sentence| push_wrapped(&mut text, sentence));
        }
        text
    }

    /// The tables of the summary for the report.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.published_table()];
        tables[0].notes = self.published_notes();
        if !self.worlds.is_empty() {
            let mut worlds = self.worlds_table();
            worlds.notes = WHY.iter().map(|&sentence| sentence.to_owned()).collect();
            tables.push(worlds);
        }
        tables
    }

    fn published_table(&self) -> Table {
        let mut head = vec![String::new()];
        for measure in [Measure::Response, Measure::ServiceUsage] {
            for group in ["WS", "LS"] {
                let unit = if measure == Measure::Response { ", ms" } else { "" };
                head.push(format!("{} {group}{unit}", measure.title()));
                head.push("paper".to_owned());
            }
        }
        head.push("equal to the paper".to_owned());
        head.push("equal to the stored run".to_owned());
        Table {
            id: "published".to_owned(),
            title: "What was published".to_owned(),
            lead: "Our figures beside the paper's, and how many figures equal the paper's and those of the prototype's stored \
                   run."
                .to_owned(),
            head,
            rows: self.experiments.iter().map(published_row).collect(),
            notes: Vec::new(),
        }
    }

    fn published_notes(&self) -> Vec<String> {
        let agreements: Vec<_> = self.experiments.iter().map(ExperimentResults::agreement).collect();
        let total = |count: fn(&super::Agreement) -> &super::agreement::Count| {
            let counts = || agreements.iter().map(count);
            let of: usize = counts().map(|count| count.of).sum();
            let differing: Vec<&str> = counts().flat_map(|count| count.differing.iter().map(String::as_str)).collect();
            let met = of - differing.len();
            let verdict = if differing.is_empty() { String::new() } else { format!(", not {}", differing.join(", ")) };
            format!("{met} of {of}{verdict}")
        };
        let findings: u64 = self.experiments.iter().map(|one| one.findings).sum();
        vec![
            format!(
                "Response times and service usage equal the paper's digits: {} (the paper cuts some numbers and rounds \
                 others). Figures that equal the stored runs of the prototype: {}.",
                total(|agreement| &agreement.paper),
                total(|agreement| &agreement.run)
            ),
            format!(
                "The paper's operations for each movement and its correlations are those of other runs, which were not kept: \
                 they differ by up to {:.3} and {:.3}. Of policy 4 with a memory of 1 cycle there is no stored run.",
                self.largest_difference(&[
                    Measure::ReplicatePerMovement,
                    Measure::MigratePerMovement,
                    Measure::UndeployPerMovement,
                ]),
                self.largest_difference(&[Measure::PearsonR])
            ),
            match findings {
                0 => "The auditor found nothing wrong with the traces.".to_owned(),
                findings => format!("The auditor found {findings} mistakes in the traces."),
            },
        ]
    }

    /// The largest absolute difference from the paper in these measures, over all experiments and groups.
    fn largest_difference(&self, measures: &[Measure]) -> f64 {
        let rows = self.experiments.iter().flat_map(ExperimentResults::differences);
        let of_measures = rows.filter(|row| measures.iter().any(|measure| row.figure.ends_with(measure.as_str())));
        of_measures.filter_map(|row| Some((row.ours? - row.paper?).abs())).fold(0.0, f64::max)
    }

    fn worlds_table(&self) -> Table {
        let mut head = vec!["world".to_owned()];
        head.extend(["WS", "LS"].map(|group| format!("response time {group}, policy 3, ms")));
        head.extend(self.experiments.iter().map(|one| format!("inhibited, {}", one.experiment.short_title())));
        head.push("claims that hold".to_owned());
        let kept = WorldFigures {
            world: World::PUBLISHED,
            experiments: self.experiments.iter().map(|one| (one.experiment, one.figures.clone())).collect(),
        };
        Table {
            id: "worlds".to_owned(),
            title: "The same experiments in other worlds".to_owned(),
            lead: "Response times under policy 3, inhibited proposals under each policy, and how many of the paper's claims \
                   hold."
                .to_owned(),
            head,
            rows: std::iter::once(&kept).chain(&self.worlds).map(world_row).collect(),
            notes: Vec::new(),
        }
    }
}

fn published_row(one: &ExperimentResults) -> Vec<String> {
    let ours = values(&one.figures.figures);
    let published = one.experiment.published_values();
    let mut row = vec![one.experiment.short_title()];
    for measure in [Measure::Response, Measure::ServiceUsage] {
        for group in ["WS", "LS"] {
            let name = key(group, measure);
            row.push(number(ours.get(&name).copied().flatten(), 4));
            let paper = published.and_then(|known| known.paper.get(&name));
            row.push(paper.map_or("-".to_owned(), |value| format!("{value:.3}")));
        }
    }
    let agreement = one.agreement();
    row.push(agreement.paper.text());
    row.push(agreement.run.text());
    row
}

fn world_row(world: &WorldFigures) -> Vec<String> {
    let figure = |experiment: &str, group: &str, measure: Measure| {
        let found = world.experiments.iter().find(|(known, _)| known.name == experiment);
        let of = |figures: &TraceFigures| measure.of(figures.figures.group(group)?);
        number(found.and_then(|(_, figures)| of(figures)), measure.decimals())
    };
    let mut row = vec![world.world.title.to_owned()];
    for group in ["WS", "LS"] {
        row.push(figure("policy-3", group, Measure::Response));
    }
    for (experiment, _) in &world.experiments {
        row.push(figure(experiment.name, "all", Measure::Inhibited));
    }
    let claims = world.claims();
    row.push(format!("{} of {}", claims.iter().filter(|claim| claim.holds).count(), claims.len()));
    row
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.decimals$}"))
}

fn push_row(text: &mut String, row: &[String], widths: &[usize]) {
    let mut line = String::new();
    for (column, (cell, &width)) in row.iter().zip(widths).enumerate() {
        let _ = if column == 0 { write!(line, "{cell:<width$}") } else { write!(line, "{cell:>width$}") };
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

fn push_wrapped(text: &mut String, sentence: &str) {
    let mut length = 0;
    for word in sentence.split(' ') {
        let width = word.chars().count();
        if length > 0 && length + 1 + width > WIDTH {
            text.push('\n');
            length = 0;
            // Continuation lines of a list item are indented.
            if sentence.starts_with("- ") {
                text.push(' ');
                length = 1;
            }
        }
        if length > 0 {
            text.push(' ');
            length += 1;
        }
        text.push_str(word);
        length += width;
    }
    text.push('\n');
}
