//! The outcomes of agents over time: stacked bars, with handovers on a second axis.

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, INK, Layout, Room, SOFT, Scale, Steps, TimeAxis, amount, count, nothing,
    rounded, text, ticks, whole,
};

use super::WIDTHS_WIDE;
use crate::run::Run;
use crate::series::{Counts, NOP, OUTCOMES};

/// The order in which outcomes are stacked: operations first, and outcomes without effect last.
pub(super) const STACK: [usize; 5] = [3, 2, 0, 4, NOP];

/// The interval of a bar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// A cycle; in a long run, several consecutive cycles.
    Cycle,
    /// A step of mobility.
    Step,
}

impl By {
    pub(super) const ALL: [By; 2] = [By::Cycle, By::Step];

    pub(super) fn name(self) -> &'static str {
        match self {
            By::Cycle => "cycle",
            By::Step => "step",
        }
    }
}

/// One bar.
struct Bar {
    at: f64,
    until: f64,
    counts: Counts,
}

fn bars_of(run: &Run, group: usize, by: By) -> Vec<Bar> {
    let duration = run.about.duration.0;
    match by {
        By::Step => {
            let step = run.about.step.0;
            let bar = |(place, counts): (usize, &Counts)| {
                let at = place as f64 * step;
                Bar { at, until: (at + step).min(duration), counts: *counts }
            };
            run.figures[group].steps.iter().map(|(_, counts, _)| counts).enumerate().map(bar).collect()
        }
        By::Cycle => {
            let times = &run.bars.times;
            let period = run.about.evaluation_period.0 * f64::from(run.bars.cycles_per_bar);
            let bar = |(place, groups): (usize, &Vec<Counts>)| {
                let at = times[place].0;
                let next = times.get(place + 1).map_or(at + period, |next| next.0);
                Bar { at, until: next.min(at + period * 1.5), counts: groups[group] }
            };
            run.bars.counts.iter().enumerate().map(bar).collect()
        }
    }
}

/// The ends of the axes that all runs share: the heights of the highest bars, `changes` without the agents that proposed
/// nothing and `all` with them, the most handovers in a step, and the longest duration. Each is at least 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Highest {
    changes: f64,
    all: f64,
    handovers: f64,
    duration: f64,
}

/// Returns the maximum over all runs, so that they have the same scale.
pub(super) fn highest(runs: &[Run], group: usize, by: By) -> Highest {
    let mut highest = Highest { changes: 1.0, all: 1.0, handovers: 1.0, duration: 1.0 };
    for run in runs {
        highest.handovers = highest.handovers.max(most_handovers(run, group.min(run.groups.len() - 1)));
        highest.duration = highest.duration.max(run.about.duration.0);
        for bar in bars_of(run, group.min(run.groups.len() - 1), by) {
            let all = bar.counts.iter().sum::<u64>();
            highest.all = highest.all.max(all as f64);
            highest.changes = highest.changes.max((all - bar.counts[NOP]) as f64);
        }
    }
    highest
}

pub(super) fn chart(run: &Run, group: usize, by: By, highest: Highest) -> Chart {
    let bars = bars_of(run, group, by);
    if bars.is_empty() {
        return Chart::still(WIDTHS_WIDE.iter().map(|width| nothing(*width, "No cycle has happened.")));
    }
    let layouts = WIDTHS_WIDE.iter().map(|width| layout(run, group, by, highest, *width)).collect();
    let tips = bars.iter().map(|bar| tip(run, group, bar)).collect();
    let edges = bars.iter().map(|bar| bar.at).chain(bars.last().map(|bar| bar.until)).collect();
    Chart { parts: vec![Element::new("g").all(bars.iter().map(stacked))], layouts, tips, edges }
}

/// Draws a bar in units of milliseconds and agents. Layouts scale it.
fn stacked(bar: &Bar) -> Element {
    let mut base = 0;
    let width = (bar.until - bar.at) * 0.86;
    let part = |outcome: usize| {
        let count = bar.counts[outcome];
        let fill = format!("var(--{})", OUTCOMES[outcome]);
        let part = Element::rectangle([bar.at, base as f64], [width, count as f64], &fill);
        base += count;
        // Agents that propose nothing would dwarf the others. Files omit them, and the page shows them on request.
        (count > 0).then(|| if outcome == NOP { part.in_page_only() } else { part })
    };
    let parts: Vec<Element> = STACK.into_iter().filter_map(part).collect();
    Element::group("bar").all(parts)
}

fn layout(run: &Run, group: usize, by: By, highest: Highest, width: f64) -> Layout {
    let handovers = highest.handovers;
    let room = Room::for_axes(highest.all, 20.0 + whole(handovers).chars().count() as f64 * 7.0);
    let mut canvas = Canvas::new(width, 236.0, room);
    let x = canvas.x_scale(0.0, highest.duration);
    let scales = [("changes", highest.changes), ("all", highest.all)];
    let scales = scales.map(|(name, most)| (name, most, canvas.y_scale(0.0, most)));
    for (name, most, scale) in scales {
        let grid = canvas.grid(|value| scale.at(value), &ticks(0.0, most, 4, Steps::Whole));
        let grid = Element::new("g").with("data-scale", name).all(grid);
        canvas.add(if name == "all" { grid.hidden() } else { grid });
    }
    canvas.y_label(match by {
        By::Cycle => "agents per cycle",
        By::Step => "agents per step",
    });
    let [changes, all] = scales.map(|(_, _, scale)| transform(x, scale));
    let stack = Element::group("bars").with("transform", changes.as_str()).with("data-changes", changes);
    canvas.add(stack.with("data-all", all).part(0));
    add_handovers(run, group, &mut canvas, x, handovers);
    canvas.time_axis(x, &TimeAxis::of_run(highest.duration));
    canvas.add(legend(width));
    canvas.hover(x);
    canvas.finish()
}

/// The SVG transform from milliseconds and agents to the coordinates of a layout.
fn transform(x: Scale, y: Scale) -> String {
    // These factors need more digits than coordinates, because they are multiplied by times.
    let six = |value: f64| (value * 1e6).round() / 1e6 + 0.0;
    format!("matrix({} 0 0 {} {} {})", six(x.factor), six(y.factor), six(x.at(0.0)), six(y.at(0.0)))
}

/// Draws the legend between the labels of both axes. It is only in files: the page has labelled checkboxes instead.
fn legend(width: f64) -> Element {
    let start = width / 2.0 - 125.0;
    let keys = STACK.into_iter().filter(|outcome| *outcome != NOP).enumerate().flat_map(|(index, outcome)| {
        let left = start + index as f64 * 66.0;
        let colour = format!("var(--{})", OUTCOMES[outcome]);
        let key = Element::rectangle([left, 8.0], [8.0, 8.0], &colour);
        [key, text([left + 11.0, 16.0], OUTCOMES[outcome], Anchor::Start, SOFT)]
    });
    Element::new("g").all(keys).in_files_only()
}

/// Returns the maximum number of movements in a step, at least 1; the figure calls them handovers. Step 0 is omitted,
/// because the first connections of users would dwarf the movements of later steps.
fn most_handovers(run: &Run, group: usize) -> f64 {
    run.figures[group].steps.iter().skip(1).map(|step| step.0).max().unwrap_or(0).max(1) as f64
}

fn add_handovers(run: &Run, group: usize, canvas: &mut Canvas, x: Scale, most: f64) {
    let y = canvas.y_scale(0.0, most * 2.4);
    let (step, duration) = (run.about.step.0, run.about.duration.0);
    let mut path = String::new();
    for (place, (handovers, ..)) in run.figures[group].steps.iter().enumerate().skip(1) {
        let start = place as f64 * step;
        let end = (start + step).min(duration);
        let word = if path.is_empty() { 'M' } else { 'L' };
        path += &format!("{word}{:.1} {:.1}H{:.1}", x.at(start), y.at(*handovers as f64), x.at(end));
    }
    if !path.is_empty() {
        canvas.add(Element::line(path.clone(), "var(--card)", 4.0).with("opacity", 0.75));
        canvas.add(Element::line(path, INK, 1.4).with("stroke-linejoin", "round"));
    }
    for value in ticks(0.0, most, 2, Steps::Whole) {
        canvas.add(text([canvas.right + 7.0, y.at(value) + 3.5], &amount(value), Anchor::Start, SOFT));
    }
    canvas.add(text([canvas.width, canvas.top - 14.0], "handovers per step", Anchor::End, SOFT));
}

fn tip(run: &Run, group: usize, bar: &Bar) -> String {
    let step = step_of(run, bar);
    let mut lines = vec![format!("time {}, step {step}", amount(bar.at))];
    let counted = STACK.into_iter().filter(|outcome| bar.counts[*outcome] > 0);
    lines.extend(counted.map(|outcome| format!("{} {}", OUTCOMES[outcome], count(bar.counts[outcome]))));
    lines.push(format!("handovers in the step {}", handovers(run, group, step)));
    lines.join("\n")
}

fn step_of(run: &Run, bar: &Bar) -> usize {
    (bar.at / run.about.step.0).floor() as usize
}

fn handovers(run: &Run, group: usize, step: usize) -> u64 {
    run.figures[group].steps.get(step).map_or(0, |step| step.0)
}

pub(super) fn csv(run: &Run, by: By) -> Csv {
    let mut csv = Csv::new(["time", "group"].iter().chain(&OUTCOMES).chain(&["handovers_in_step"]));
    for (group, name) in run.groups.iter().enumerate() {
        for bar in bars_of(run, group, by) {
            let mut row = vec![rounded(bar.at).to_string(), name.clone()];
            row.extend(bar.counts.iter().map(u64::to_string));
            row.push(handovers(run, group, step_of(run, &bar)).to_string());
            csv.push(row);
        }
    }
    csv
}
