//! Which nodes inhibited how much, and by which rule.

use super::super::run::Run;
use super::canvas::{Anchor, Canvas, Scale, number};

const NODES_SHOWN: usize = 12;

/// The colour of a rule.
fn colour(rule: &str) -> &'static str {
    match rule {
        "capacity" => "#EE6677",
        "neighbourhood" => "#4477AA",
        "leaving" => "#CCBB44",
        "down" => "#AA3377",
        "acceptance" => "#66CCEE",
        _ => "#BBBBBB",
    }
}

/// One bar for each of the nodes that inhibited most, and one for the rest.
pub(super) fn by_node(run: &Run) -> String {
    let title = format!("Inhibited, {}", run.label);
    let inhibited = &run.inhibited;
    let mut bars: Vec<(String, Vec<u64>)> =
        inhibited.nodes.iter().take(NODES_SHOWN).map(|(id, _, counts)| (id.clone(), counts.clone())).collect();
    let rest = inhibited.nodes.get(NODES_SHOWN..).unwrap_or_default();
    if rest.len() + inhibited.other_nodes > 0 {
        let mut counts = inhibited.others.clone();
        for (_, _, more) in rest {
            counts.iter_mut().zip(more).for_each(|(sum, count)| *sum += count);
        }
        bars.push((format!("{} more", rest.len() + inhibited.other_nodes), counts));
    }
    let mut canvas = Canvas::new(336.0, bars.len().max(3) as f64 * 15.0 + 26.0, 40.0);
    if bars.is_empty() {
        return canvas.nothing("Nothing was inhibited.", &title);
    }
    let most = bars.iter().map(|(_, counts)| counts.iter().sum::<u64>()).max().unwrap_or(1) as f64;
    let x = Scale::new((0.0, most), (84.0, canvas.right));
    for (place, rule) in inhibited.rules.iter().enumerate() {
        let left = 84.0 + place as f64 * 84.0;
        canvas.rectangle([left, 5.0], [7.0, 7.0], colour(rule));
        canvas.soft_text([left + 10.0, 12.0], rule, Anchor::Start);
    }
    for (place, (name, counts)) in bars.iter().enumerate() {
        let top = 20.0 + place as f64 * 15.0;
        canvas.text([78.0, top + 9.0], name, Anchor::End);
        let mut base = 0;
        for (rule, count) in inhibited.rules.iter().zip(counts) {
            let (left, right) = (x.at(base as f64), x.at((base + count) as f64));
            canvas.rectangle([left, top + 1.0], [right - left, 11.0], colour(rule));
            base += count;
        }
        canvas.soft_text([x.at(base as f64) + 4.0, top + 9.5], &number(base as f64), Anchor::Start);
    }
    canvas.finish(&title)
}
