//! The exploratory figures as a compact list: one row for each measure, with the difference in each group.

use std::fmt::Write;

use super::{Figure, FigureTest, LEVEL, Pair, Role};

/// The width of a row.
const WIDTH: usize = 118;
/// The smallest width of the column of measures.
const TITLE_MIN: usize = 24;

/// Lists the exploratory figures in which the policies seem to differ: those whose uncorrected p-value is at most
/// [`LEVEL`]. Writes nothing if no exploratory figure was tested.
pub(super) fn list(pair: &Pair, text: &mut String) {
    let tested: Vec<&FigureTest> =
        pair.tests.iter().filter(|row| row.figure.role == Role::Exploratory && row.test.is_some()).collect();
    if tested.is_empty() {
        return;
    }
    let could_differ = tested.iter().filter(|row| row.test.is_some_and(|test| test.differing > 0)).count();
    let differs = |row: &&&FigureTest| row.test.is_some_and(|test| test.p <= LEVEL);
    let rows = rows(tested.iter().filter(differs).copied());
    let _ = write!(text, "  Exploratory: {could_differ} of {} further figures differ in some seed", tested.len());
    if rows.is_empty() {
        let _ = writeln!(text, ", none of them with an uncorrected p of {LEVEL} or less.");
        return;
    }
    let _ = writeln!(
        text,
        ". Those with p <= {LEVEL}, not corrected (chance alone gives about {} of {could_differ}):",
        by_chance(could_differ)
    );
    let width = rows.iter().map(|(title, _)| title.chars().count()).fold(TITLE_MIN, usize::max);
    for (title, items) in rows {
        let mut line = format!("    {title:<width$}");
        for item in items {
            if line.chars().count() + 2 + item.chars().count() > WIDTH {
                let _ = writeln!(text, "{line}");
                line = " ".repeat(4 + width);
            }
            let _ = write!(line, "  {item}");
        }
        let _ = writeln!(text, "{line}");
    }
}

/// Groups the differences by measure: `migrate`, with `all +66.2`, `WS +44`.
fn rows<'a>(tests: impl Iterator<Item = &'a FigureTest>) -> Vec<(String, Vec<String>)> {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for row in tests {
        let (figure, Some(test)) = (&row.figure, &row.test) else { continue };
        let shown = figure.signed(test.shift.mean);
        let item = if figure.part().is_empty() { shown } else { format!("{} {shown}", figure.part()) };
        let title = titled(figure);
        match rows.iter_mut().find(|(known, _)| *known == title) {
            Some((_, items)) => items.push(item),
            None => rows.push((title, vec![item])),
        }
    }
    rows
}

fn titled(figure: &Figure) -> String {
    let unit = figure.unit();
    if unit.is_empty() { figure.quantity().to_owned() } else { format!("{}, {unit}", figure.quantity()) }
}

/// The number of `tests` whose p is at most the level by chance alone, with one decimal where that matters.
fn by_chance(tests: usize) -> String {
    let expected = tests as f64 * LEVEL;
    if expected < 10.0 { format!("{expected:.1}") } else { format!("{expected:.0}") }
}
