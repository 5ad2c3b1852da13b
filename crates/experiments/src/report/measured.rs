//! The optional measures of a run as tables: applications, calls, tiers, inhibitions, and energy, money and carbon.

use super::Table;
use crate::figures::{ApplicationFigures, CallFigures, Consumption, Measurements, TierFigures};

/// The maximum number of rows of a table. A note states the number of omitted rows.
const ROWS_MAX: usize = 100;

/// The table of applications, and the other tables that are not empty. `id` prefixes their identifiers on the page.
/// `of` names the run in their titles, unless it is empty.
pub fn measured_tables(measured: &Measurements, id: &str, of: &str) -> Vec<Table> {
    let mut tables = vec![applications(&measured.applications)];
    if !measured.calls.is_empty() {
        tables.push(calls(&measured.calls));
    }
    if !measured.tiers.is_empty() {
        tables.push(tiers(&measured.tiers));
    }
    if !measured.inhibitions.is_empty() {
        tables.push(inhibitions(measured));
    }
    tables.extend(measured.consumption.as_ref().map(consumption));
    for table in &mut tables {
        table.id = format!("{id}-{}", table.id);
        if !of.is_empty() {
            table.title = format!("{}, {of}", table.title);
        }
        let left_out = table.rows.len().saturating_sub(ROWS_MAX);
        if left_out > 0 {
            table.rows.truncate(ROWS_MAX);
            table.notes.push(format!("{left_out} more rows are left out."));
        }
    }
    tables
}

/// Formats the tables of [`measured_tables`] as text for a terminal, without their titles and introductions.
pub fn measured_text(measured: &Measurements) -> String {
    let mut text = String::new();
    for table in measured_tables(measured, "", "") {
        let width = |column: usize| {
            let cells = std::iter::once(&table.head).chain(&table.rows).map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..table.head.len()).map(width).collect();
        text.push('\n');
        for row in std::iter::once(&table.head).chain(&table.rows) {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let space = " ".repeat(width - cell.chars().count());
                // The first column is left-aligned. The others, mostly numbers, are right-aligned.
                line += &if column == 0 { format!("{cell}{space}") } else { format!("  {space}{cell}") };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        for note in &table.notes {
            text.push_str(note);
            text.push('\n');
        }
    }
    text
}

fn table(id: &str, title: &str, lead: &str, head: &[&str], rows: Vec<Vec<String>>) -> Table {
    let text = |text: &&str| (*text).to_owned();
    Table {
        id: id.to_owned(),
        title: title.to_owned(),
        lead: lead.to_owned(),
        head: head.iter().map(text).collect(),
        rows,
        notes: Vec::new(),
    }
}

fn decimal(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.decimals$}"))
}

fn applications(applications: &[ApplicationFigures]) -> Table {
    let row = |figures: &ApplicationFigures| {
        let operations = figures.operations;
        let counts = [operations.replicate, operations.migrate, operations.undeploy, operations.inhibited];
        let mut row = vec![figures.application.clone(), figures.served.to_string(), figures.lost.to_string()];
        row.push(decimal(Some(figures.throughput), 2));
        row.push(decimal(figures.late_share, 4));
        let times = [figures.response_p50, figures.response_p95, figures.response_p99, figures.response_max];
        row.extend(times.map(|time| decimal(time, 3)));
        row.push(decimal(Some(figures.instances.mean), 2));
        row.extend(counts.map(|count| count.to_string()));
        row
    };
    let head = [
        "application",
        "served",
        "lost",
        "served/s",
        "late, share",
        "p50, ms",
        "p95, ms",
        "p99, ms",
        "max, ms",
        "instances",
        "replicate",
        "migrate",
        "undeploy",
        "inhibited",
    ];
    let lead = "Client requests, response times and operations of each application.";
    table("applications", "Applications", lead, &head, applications.iter().map(row).collect())
}

fn calls(calls: &[CallFigures]) -> Table {
    let row = |figures: &CallFigures| {
        let CallFigures { caller, application, stage, order, requests, sent, served, lost, response_mean } = figures;
        let mut row = vec![format!("{caller} → {application}"), stage.to_string(), order.clone()];
        row.extend([requests, sent, served, lost].map(u64::to_string));
        row.push(decimal(*response_mean, 3));
        row
    };
    let head = ["call", "stage", "order", "requests each", "sent", "served", "lost", "mean, ms"];
    let lead = "Which applications call which others for each client request that they serve: requests, and how long they took with all that \
                was called for them. A stage begins when the one before it has been answered.";
    table("calls", "Service graph", lead, &head, calls.iter().map(row).collect())
}

fn tiers(tiers: &[TierFigures]) -> Table {
    let row = |tier: &TierFigures| {
        let energy = tier.energy_joules.map_or_else(String::new, |joules| format!("{joules:.3}"));
        vec![tier.name.clone(), decimal(tier.utilisation, 4), energy]
    };
    let lead = "Hardware in use over all hardware, on average over time; energy of the nodes where there are models.";
    table("tiers", "Tiers", lead, &["tier", "utilisation", "energy, J"], tiers.iter().map(row).collect())
}

fn inhibitions(measured: &Measurements) -> Table {
    let mut all: Vec<_> = measured.inhibitions.iter().collect();
    // The sort is stable, so nodes with equal counts stay in order.
    all.sort_by_key(|inhibitions| std::cmp::Reverse(inhibitions.count));
    let row = |inhibitions: &&crate::figures::Inhibitions| {
        vec![inhibitions.node.clone(), inhibitions.rule.clone(), inhibitions.count.to_string()]
    };
    let lead = "How often the manager of a node inhibited something, by the rule that it named.";
    table("inhibitions", "Inhibitions", lead, &["node", "rule", "times"], all.iter().map(row).collect())
}

fn consumption(consumption: &Consumption) -> Table {
    let rows = [
        ("energy of nodes", Some(consumption.node_joules), "J"),
        ("energy of links", Some(consumption.link_joules), "J"),
        ("energy", Some(consumption.energy_joules), "J"),
        ("money", Some(consumption.money), ""),
        ("carbon", consumption.carbon_grams, "g"),
    ];
    let row =
        |(name, amount, unit): (&str, Option<f64>, &str)| vec![name.to_owned(), decimal(amount, 6), unit.to_owned()];
    let lead = "By the models of the scenario.";
    let head = ["consumption", "amount", "unit"];
    table("consumption", "Energy, money and carbon", lead, &head, rows.into_iter().map(row).collect())
}
