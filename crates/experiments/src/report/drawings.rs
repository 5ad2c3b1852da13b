//! The figures as files for a paper: plain SVG with the fonts, the colours and the size written out.

mod areas;
mod bars;
mod canvas;
mod inhibited;
mod map;
mod points;
mod regret;
mod responses;
mod scale;

use super::Report;
use super::run::Run;

/// A figure as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawing {
    /// What the file is called.
    pub file_name: String,
    /// Its content.
    pub svg: String,
}

/// Applications, in the palette of Okabe and Ito, cool colours first.
const APPLICATIONS: [&str; 6] = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"];
/// Tiers, from the top.
const TIERS: [&str; 7] = ["#16324f", "#284e76", "#3a6a9c", "#5d89b7", "#7fa8d1", "#a1c0df", "#c3d7ec"];
/// What becomes of agents, in the order of the counts, in the palette "bright" of Tol.
const OUTCOME_COLOURS: [&str; 5] = ["#CCBB44", "#BBBBBB", "#4477AA", "#228833", "#EE6677"];

fn application_colour(place: usize) -> &'static str {
    APPLICATIONS[place % APPLICATIONS.len()]
}

fn tier_colour(tier: usize, count: usize) -> &'static str {
    let part = tier as f64 / count.saturating_sub(1).max(1) as f64;
    TIERS[((part * 6.0).round() as usize).min(TIERS.len() - 1)]
}

/// All figures of a report: those of each run, numbered in the order of the runs.
pub(crate) fn drawings(report: &Report) -> Vec<Drawing> {
    let of_run = |(place, run): (usize, &Run)| {
        let name = |figure: &str| format!("{}-{}-{figure}.svg", place + 1, file_name(&run.label));
        let mut drawings = Vec::new();
        for (group, group_name) in run.groups.iter().enumerate() {
            let group_name = file_name(group_name);
            drawings.push(Drawing {
                file_name: name(&format!("operations-{group_name}")),
                svg: bars::operations(run, group),
            });
            drawings.push(Drawing {
                file_name: name(&format!("movements-{group_name}")),
                svg: points::scatter(run, group),
            });
        }
        let single = [
            ("instances", areas::by_application(run)),
            ("tiers", areas::by_tier(run)),
            ("responses", responses::distribution(run)),
            ("inhibited", inhibited::by_node(run)),
            ("steady", bars::steady(run)),
        ];
        drawings.extend(single.into_iter().map(|(figure, svg)| Drawing { file_name: name(figure), svg }));
        drawings.extend(regret::satisfied(run).map(|svg| Drawing { file_name: name("regret"), svg }));
        drawings.extend(map::map(run).map(|svg| Drawing { file_name: name("map"), svg }));
        drawings
    };
    let of_scale = scale::drawings(&report.scale).into_iter();
    let of_scale = of_scale.map(|(measure, svg)| Drawing { file_name: format!("scale-{measure}.svg"), svg });
    report.runs.iter().enumerate().flat_map(of_run).chain(of_scale).collect()
}

/// A text as part of the name of a file.
fn file_name(text: &str) -> String {
    let safe = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(safe).collect();
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_has_no_character_that_a_shell_or_a_disk_minds() {
        assert_eq!(file_name("with memory, memory 10/../x"), "with-memory-memory-10-x");
    }
}
