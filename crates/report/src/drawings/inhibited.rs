//! The number of inhibitions by node and rule.

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, INK, Layout, Room, SOFT, Scale, count, nothing, plural, shortened, text,
    width_of,
};

use super::WIDTHS;
use crate::run::{Inhibited, Run};

const NODES_SHOWN: usize = 10;
/// The width of an entry of the legend.
const KEY: f64 = 172.0;
/// The least width of the names, and the largest share of the drawing that they may take.
const LABEL_MIN: f64 = 104.0;
const LABEL_SHARE: f64 = 0.4;
const ROW: f64 = 21.0;

/// Returns the description of a rule, and its colour.
fn look(rule: &str) -> (&str, &'static str) {
    match rule {
        "capacity" => ("too little free hardware", "var(--inhibited)"),
        "neighbourhood" => ("no neighbour", "#4477aa"),
        "leaving" => ("about to leave", "#ccbb44"),
        "down" => ("down", "#aa3377"),
        "acceptance" => ("not accepted by its policy", "#66ccee"),
        "flavour" => ("no other flavour", "#228833"),
        "asleep" => ("asleep already", "#332288"),
        "awake" => ("awake already", "#88ccee"),
        "sleepless" => ("does not sleep", "#999933"),
        "anchor" => ("an anchor, which stays", "#882255"),
        "acceptance-failed" => ("its policy gave no answer", "#bbbbbb"),
        other => (other, "#bbbbbb"),
    }
}

/// A node, or several nodes combined, with the count for each rule.
struct Bar {
    name: String,
    is_node: bool,
    counts: Vec<u64>,
}

impl Bar {
    fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// One bar for each of the [`NODES_SHOWN`] nodes with the most inhibitions, and one for all other nodes that inhibited
/// a request.
fn bars(inhibited: &Inhibited) -> Vec<Bar> {
    let of_node = |(id, _, counts): &(String, Option<u32>, Vec<u64>)| Bar {
        name: id.clone(),
        is_node: true,
        counts: counts.clone(),
    };
    let mut bars: Vec<Bar> = inhibited.nodes.iter().take(NODES_SHOWN).map(of_node).collect();
    let rest = inhibited.nodes.get(NODES_SHOWN..).unwrap_or_default();
    let others = rest.len() + inhibited.other_nodes;
    if others > 0 {
        let mut counts = inhibited.others.clone();
        for (_, _, more) in rest {
            counts.iter_mut().zip(more).for_each(|(sum, count)| *sum += count);
        }
        bars.push(Bar { name: plural(others as u64, "other node"), is_node: false, counts });
    }
    bars
}

/// Returns the largest number of inhibitions of a bar over all runs: the end of the axis that they share.
pub(super) fn most(runs: &[Run]) -> u64 {
    runs.iter().flat_map(|run| bars(&run.inhibited)).map(|bar| bar.total()).max().unwrap_or(1)
}

pub(super) fn chart(run: &Run, most: u64) -> Chart {
    let bars = bars(&run.inhibited);
    if bars.is_empty() {
        return Chart::still(WIDTHS.iter().map(|width| nothing(*width, "Nothing was inhibited.")));
    }
    Chart::still(WIDTHS.iter().map(|width| layout(&run.inhibited.rules, &bars, most, *width)))
}

fn layout(rules: &[&'static str], bars: &[Bar], most: u64, width: f64) -> Layout {
    let per_row = ((width / KEY) as usize).max(1);
    let legend = 20.0 * rules.len().div_ceil(per_row) as f64 + 4.0;
    let height = legend + bars.len() as f64 * ROW + 6.0;
    let names: Vec<String> = bars.iter().map(|bar| bar.name.clone()).collect();
    let widest = names.iter().map(|name| width_of(name)).fold(0.0, f64::max);
    let label = (widest + 10.0).clamp(LABEL_MIN, (width * LABEL_SHARE).max(LABEL_MIN));
    let names = shortened(&names, ((label - 10.0) / width_of("n")) as usize);
    let mut canvas = Canvas::new(width, height, Room { left: label, right: 44.0, top: legend, bottom: 6.0 });
    for (index, rule) in rules.iter().enumerate() {
        let (words, colour) = look(rule);
        let place = [(index % per_row) as f64 * KEY, (index / per_row) as f64 * 20.0 + 7.0];
        canvas.key(place, colour, words, INK);
    }
    let x = Scale::new((0.0, most as f64), (canvas.left, canvas.right));
    for (index, (bar, name)) in bars.iter().zip(&names).enumerate() {
        let top = legend + index as f64 * ROW;
        let ink = if bar.is_node { INK } else { SOFT };
        canvas.add(text([label - 8.0, top + 14.0], name, Anchor::End, ink));
        let mut base = 0;
        for (rule, times) in rules.iter().zip(&bar.counts).filter(|(_, times)| **times > 0) {
            let (words, colour) = look(rule);
            let (left, right) = (x.at(base as f64), x.at((base + times) as f64));
            let part = Element::rectangle([left, top + 3.0], [(right - left).max(1.0), 15.0], colour).with("rx", 1.5);
            canvas.add(part.tip(format!("{}\n{words}: {}", bar.name, count(*times))));
            base += times;
        }
        canvas.add(text([x.at(base as f64) + 6.0, top + 14.0], &count(base), Anchor::Start, SOFT));
    }
    canvas.finish()
}

pub(super) fn csv(run: &Run) -> Csv {
    let Inhibited { rules, nodes, other_nodes, others } = &run.inhibited;
    let mut csv = Csv::new(["node", "tier"].iter().chain(rules));
    let texts = |counts: &[u64]| counts.iter().map(u64::to_string).collect::<Vec<String>>();
    for (id, tier, counts) in nodes {
        let tier = tier.map_or_else(String::new, |tier| tier.to_string());
        csv.push([id.clone(), tier].into_iter().chain(texts(counts)));
    }
    if *other_nodes > 0 {
        csv.push([format!("{other_nodes} other nodes"), String::new()].into_iter().chain(texts(others)));
    }
    csv
}
