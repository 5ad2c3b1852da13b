//! The figures of a report: drawn once, with `mario_page::drawing`, for the page and for files.
//!
//! The page contains every figure in a few widths, and in every view that a reader can choose. Its script shows the
//! drawing that fits (decision 25 in `docs/decisions`).

mod areas;
mod bars;
mod inhibited;
mod map;
mod points;
mod regret;
mod responses;
mod scale;
mod sections;
mod services;
mod steady;

use mario_page::drawing::{Chart, Csv, FileWidth};
use serde::Serialize;

use crate::Report;

pub(crate) use sections::sections;

/// A figure as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawing {
    /// The name of the file.
    pub file_name: String,
    /// Its content.
    pub svg: String,
}

/// The widths in which a figure is drawn, in pixels: for a phone or a column, and wider. The page shows the widest one
/// that fits, and scales it to the available width.
const WIDTHS: [f64; 2] = [350.0, 560.0];
/// The widths of a figure that spans the whole page.
const WIDTHS_WIDE: [f64; 3] = [350.0, 640.0, 1_140.0];

/// A part of the page, with a title and figures.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Section {
    /// The id of the section in URLs.
    pub(crate) id: &'static str,
    /// Its name in the list of sections.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Its introduction.
    pub(crate) lead: &'static str,
    /// What a reader can choose in it.
    pub(crate) choices: Vec<Choice>,
    pub(crate) figures: Vec<Figure>,
}

/// A choice of a reader between several options.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Choice {
    /// What is chosen.
    pub(crate) key: Key,
    pub(crate) label: &'static str,
    /// The values of the key, and their labels.
    pub(crate) options: Vec<(String, String)>,
}

/// What a reader can choose. All except the outcomes select a view of each figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Key {
    /// The group of applications, by its index. A run with fewer groups shows its last.
    Group,
    /// Whether a bar is a cycle or a step.
    By,
    /// The quantity whose regret is shown.
    Measure,
    /// The outcomes to stack. The script restacks the bars.
    Outcomes,
}

/// A figure with its views and its data.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Figure {
    /// The name of files downloaded from the page, without extension.
    pub(crate) name: String,
    pub(crate) title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) caption: Option<String>,
    pub(crate) is_wide: bool,
    /// The first view that matches the choices is shown.
    pub(crate) views: Vec<View>,
    /// The data for downloading; if they depend on [`Key::By`], one table for each of its values.
    pub(crate) data: Vec<Data>,
    /// The files for the figure, if it has any.
    #[serde(skip)]
    pub(crate) file: Option<FileOf>,
}

/// The files of a figure.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FileOf {
    /// The index of the run; `usize::MAX` for a figure that is not about a run.
    run: usize,
    /// The name without extension. With [`FileGroups::Each`], the name of the group is appended.
    prefix: String,
    /// A description of the figure.
    title: String,
    width: FileWidth,
    groups: FileGroups,
}

/// Whether a figure is written to one file for each group of applications, or to one for all applications.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FileGroups {
    /// Each group. A figure without groups has one file.
    Each,
    /// Only the first group, which is all applications.
    All,
}

/// A drawing of a figure for some choices. A key that is `None` matches every choice.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct View {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) group: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) measure: Option<&'static str>,
    #[cfg_attr(test, ts(type = "Chart"))]
    pub(crate) chart: Chart,
}

/// A table for downloading. If `by` is `None`, it is the same for cycles and steps.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Data {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) by: Option<&'static str>,
    #[cfg_attr(test, ts(type = "string"))]
    pub(crate) csv: Csv,
}

/// The files of all figures of a report. Names of files about a run begin with its number, from 1.
pub(crate) fn drawings(report: &Report) -> Vec<Drawing> {
    let mut drawings = Vec::new();
    let sections = sections(report);
    let figures = sections.iter().flat_map(|section| &section.figures);
    let mut filed: Vec<(&FileOf, &Figure)> =
        figures.filter_map(|figure| Some((figure.file.as_ref()?, figure))).collect();
    // The sort is stable: the figures of a run stay in the order of the page.
    filed.sort_by_key(|(file, _)| file.run);
    for (file, figure) in filed {
        // Files have bars by cycle, and the first measure of regret.
        let views = figure.views.iter().filter(|view| view.by.is_none_or(|by| by == bars::By::Cycle.name()));
        let views = views.filter(|view| view.measure.is_none_or(|measure| measure == regret::Measure::ALL[0].name()));
        for view in views {
            let group = view.group.and_then(|group| Some(report.runs.get(file.run)?.groups[group].as_str()));
            let (suffix, title) = match (group, file.groups) {
                (Some(_), FileGroups::All) if view.group > Some(0) => continue,
                (Some(group), FileGroups::Each) => {
                    (format!("-{}", file_name(group)), format!("{}, {group}", file.title))
                }
                _ => (String::new(), file.title.clone()),
            };
            let svg = view.chart.svg(&title, file.width);
            drawings.push(Drawing { file_name: format!("{}{suffix}.svg", file.prefix), svg });
        }
    }
    drawings
}

/// Converts a text to a part of a file name: lower-case letters, digits, and single hyphens between them.
fn file_name(text: &str) -> String {
    let safe = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(safe).collect();
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use mario_domain::AgentOperation;
    use mario_page::drawing::light_and_dark;

    use super::*;

    #[test]
    fn every_colour_of_an_outcome_or_an_operation_is_in_the_palette() {
        let operations = AgentOperation::ALL.map(AgentOperation::as_str);
        for outcome in crate::series::OUTCOMES.into_iter().chain(operations) {
            let name = format!("var(--{outcome})");
            assert!(light_and_dark(&name).iter().all(|colour| colour.starts_with('#')), "{name}");
        }
    }

    #[test]
    fn file_names_have_only_safe_characters() {
        assert_eq!(file_name("with memory, memory 10/../x"), "with-memory-memory-10-x");
    }
}
