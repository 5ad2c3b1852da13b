//! The optional measures of a run as tables: applications, calls, tiers, inhibitions, and energy, money and carbon.

use std::collections::BTreeMap;

use mario_scenario::Fidelity;

use crate::Table;
use crate::run::Run;
use mario_experiments::figures::{ApplicationFigures, CallFigures, Consumption, Measurements, TierFigures};

/// The maximum number of rows of a table. A note states the number of omitted rows.
const ROWS_MAX: usize = 100;

/// Rows, each with the index of its run.
type RunRows = Vec<(usize, Vec<String>)>;

/// The table of applications, and the other tables that are not empty.
fn measured_tables(measured: &Measurements) -> Vec<Table> {
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
    tables.iter_mut().for_each(cut);
    tables
}

/// The tables of runs: their optional measures, and the reasons that owners of nodes gave. A table of several runs has a
/// column with the run, and the rows of one application, tier and so on follow each other.
pub(super) fn tables_of(runs: &[Run]) -> Vec<Table> {
    let mut all: Vec<(Table, RunRows)> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let measured = run.measured.as_ref().map(measured_tables).unwrap_or_default();
        for mut table in measured.into_iter().chain(reasons(run)) {
            let rows = std::mem::take(&mut table.rows).into_iter().map(|row| (place, row));
            match all.iter_mut().find(|(known, _)| known.id == table.id) {
                Some((known, all_rows)) => {
                    all_rows.extend(rows);
                    known.notes.extend(table.notes);
                }
                None => all.push((table, rows.collect())),
            }
        }
    }
    let joined = |(mut table, rows): (Table, RunRows)| {
        table.id = format!("measured-{}", table.id);
        table.rows =
            if runs.len() > 1 { with_runs(runs, rows) } else { rows.into_iter().map(|(_, row)| row).collect() };
        if runs.len() > 1 {
            table.head.insert(1, "run".to_owned());
        }
        table
    };
    all.into_iter().map(joined).collect()
}

/// Inserts the name of the run after the first cell. Rows with the same first cell follow each other.
fn with_runs(runs: &[Run], mut rows: RunRows) -> Vec<Vec<String>> {
    let mut order: BTreeMap<String, usize> = BTreeMap::new();
    for (_, row) in &rows {
        let next = order.len();
        order.entry(row[0].clone()).or_insert(next);
    }
    rows.sort_by_key(|(_, row)| order[&row[0]]);
    let named = |(place, mut row): (usize, Vec<String>)| {
        row.insert(1, runs[place].label.clone());
        row
    };
    rows.into_iter().map(named).collect()
}

/// Leaves out the rows after [`ROWS_MAX`], and says so.
fn cut(table: &mut Table) {
    let left_out = table.rows.len().saturating_sub(ROWS_MAX);
    if left_out > 0 {
        table.rows.truncate(ROWS_MAX);
        table.notes.push(format!("{left_out} more rows are left out."));
    }
}

/// The reasons that the acceptance policies of nodes gave, the most frequent first; `None` if they rejected nothing.
fn reasons(run: &Run) -> Option<Table> {
    let mut all: Vec<(&(String, String), &u64)> = run.reasons.iter().collect();
    // The sort is stable, so equally frequent reasons stay in order.
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let row =
        |((node, reason), count): (&(String, String), &u64)| vec![reason.clone(), node.clone(), count.to_string()];
    let lead = "Why acceptance policies of node owners rejected requests, in their own words.";
    let mut table =
        table("reasons", "Reasons of owners", lead, &["reason", "node", "times"], all.into_iter().map(row).collect());
    cut(&mut table);
    (!table.rows.is_empty()).then_some(table)
}

/// Formats the tables of measures as text for a terminal, without their titles and introductions. If traffic
/// was simulated as rates, the columns of percentiles say that they are about the mean response times of users.
pub fn measured_text(measured: &Measurements, fidelity: Fidelity) -> String {
    let mut text = String::new();
    for mut table in measured_tables(measured) {
        if fidelity == Fidelity::Flow {
            mark_user_means(&mut table);
        }
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

/// Marks the columns of percentiles and of late requests as being about the mean response times of users.
fn mark_user_means(table: &mut Table) {
    const OF_SINGLE_REQUESTS: [&str; 5] = ["late, share", "p50, ms", "p95, ms", "p99, ms", "max, ms"];
    let mut is_marked = false;
    for head in table.head.iter_mut().filter(|head| OF_SINGLE_REQUESTS.contains(&head.as_str())) {
        head.push('*');
        is_marked = true;
    }
    if is_marked {
        let note = "* of the mean response time of each user in each step, not of single requests: traffic is simulated as rates";
        table.notes.push(note.to_owned());
    }
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

/// Formats an amount with five significant digits; from 10,000 on without decimals.
fn significant(value: f64) -> String {
    let whole = if value.abs() < 1e-12 { 0 } else { value.abs().log10().floor() as i64 };
    let decimals = (4 - whole).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    // Zeros at the end say nothing, e.g. in 0.21000.
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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
        let energy = tier.energy_joules.map_or_else(String::new, significant);
        vec![tier.name.clone(), decimal(tier.utilisation, 4), energy]
    };
    let lead = "Hardware in use over all hardware, on average over time; energy of the nodes where there are models.";
    table("tiers", "Tiers", lead, &["tier", "utilisation", "energy, J"], tiers.iter().map(row).collect())
}

fn inhibitions(measured: &Measurements) -> Table {
    let mut all: Vec<_> = measured.inhibitions.iter().collect();
    // The sort is stable, so nodes with equal counts stay in order.
    all.sort_by_key(|inhibitions| std::cmp::Reverse(inhibitions.count));
    let row = |inhibitions: &&mario_experiments::figures::Inhibitions| {
        vec![inhibitions.node.clone(), inhibitions.rule.clone(), inhibitions.count.to_string()]
    };
    let lead = "How often the manager of a node inhibited something, by the rule that it named.";
    table("inhibitions", "Inhibitions", lead, &["node", "rule", "times"], all.iter().map(row).collect())
}

fn consumption(consumption: &Consumption) -> Table {
    let mut rows = vec![
        ("energy of nodes", consumption.node_joules, "J"),
        ("energy of links", consumption.link_joules, "J"),
        ("energy", consumption.energy_joules, "J"),
        ("money", consumption.money, ""),
    ];
    rows.extend(consumption.carbon_grams.map(|grams| ("carbon", grams, "g")));
    let row = |(name, amount, unit): (&str, f64, &str)| vec![name.to_owned(), significant(amount), unit.to_owned()];
    let lead = "By the models of the scenario.";
    let head = ["consumption", "amount", "unit"];
    table("consumption", "Energy, money and carbon", lead, &head, rows.into_iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_five_significant_digits() {
        let shown = [264_597.0, 432.08, 0.211_359_4, 0.0, 0.000_843_56, 12.0].map(significant);
        assert_eq!(shown, ["264597", "432.08", "0.21136", "0", "0.00084356", "12"]);
    }
}
