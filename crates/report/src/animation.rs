//! An animation of a run, as an SVG without scripts.
//!
//! Nodes are drawn in rows by tier. Each instance is a square in the colour of its application. It appears, moves
//! between nodes and disappears as in the trace. The animation of a whole run takes a fixed time and is repeated.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::BufRead;
use std::sync::Arc;

use mario_page::drawing::{APPLICATION_COLOURS, application_colour, escape, light_and_dark};
use mario_trace::reader::{Header, ReadError, TraceReader};
use mario_trace::{Change, InstanceRef, State};

/// A text near the start of every animation, by which an existing file is recognised as one.
pub const MARK: &str = "instances go from node to node";
/// The duration of the animation, in seconds.
const SECONDS: f64 = 24.0;
/// The fraction of the duration that a move takes.
const MOVE: f64 = 0.012;
/// The maximum number of instances in the whole run. A run with more is not animated: the file would be large and hard
/// to follow.
const INSTANCES_MAX: usize = 1_000;

const WIDTH: f64 = 760.0;
const ROW: f64 = 84.0;
const TOP: f64 = 44.0;
const SQUARE: f64 = 9.0;
/// The maximum number of nodes in a row: a node has room for at least one square. A tier with more has several rows.
const NODES_PER_ROW: usize = 34;
const GAP: f64 = 2.0;

/// Why a run cannot be animated.
#[derive(Debug)]
pub enum AnimationError {
    /// The trace cannot be read.
    Read(ReadError),
    /// The trace has no instances (it may have only counts), or too many to animate. Contains their number.
    Instances(usize),
}

/// Draws the animation of a trace.
pub fn animated_svg<R: BufRead>(mut reader: TraceReader<R>) -> Result<String, AnimationError> {
    let header = Arc::clone(reader.header());
    let (mut state, mut history) = (State::new(Arc::clone(&header)), PlacementHistory::default());
    let mut end = 0.0;
    while let Some(record) = reader.next_record().map_err(AnimationError::Read)? {
        end = record.time();
        state.apply(&record, &mut |state, change| history.apply(state, end, change));
    }
    match history.stays.len() {
        count if count == 0 || count > INSTANCES_MAX => Err(AnimationError::Instances(count)),
        _ => Ok(draw(&header, &history, end)),
    }
}

/// A time, and the node of an instance from then on; `None` if it has disappeared.
type Stay = (f64, Option<u32>);

/// The placement over time.
#[derive(Default)]
struct PlacementHistory {
    /// For each instance of the trace, its index in `stays`.
    indices: Vec<usize>,
    /// For each drawn instance, its application and its stays by time. A migrated instance stays the same, even if the
    /// migration gave it another id.
    stays: Vec<(u32, Vec<Stay>)>,
}

impl PlacementHistory {
    fn apply(&mut self, state: &State, time: f64, change: Change<'_>) {
        match change {
            Change::Appeared { instance, .. } => {
                let placed = state.instance(instance);
                self.indices.push(self.stays.len());
                self.stays.push((placed.application, vec![(time, placed.node)]));
            }
            Change::Moved { instance, to, became, .. } => {
                if became.is_some() {
                    self.indices.push(self.indices[instance.position()]);
                }
                self.stays_of(instance).push((time, Some(to)));
            }
            Change::Left { instance, .. } => self.stays_of(instance).push((time, None)),
            Change::Adapted { .. }
            | Change::Slept { .. }
            | Change::Woke { .. }
            | Change::Anchored { .. }
            | Change::EvictionAnnounced { .. }
            | Change::Updated { .. }
            | Change::PolicyChanged { .. }
            | Change::Nop { .. }
            | Change::Accepted { .. }
            | Change::Inhibited { .. }
            | Change::DeployInhibited { .. }
            | Change::WakeInhibited { .. }
            | Change::NodeDown { .. }
            | Change::NodeUp { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => {}
        }
    }

    fn stays_of(&mut self, instance: InstanceRef) -> &mut Vec<Stay> {
        &mut self.stays[self.indices[instance.position()]].1
    }
}

/// The positions of nodes.
struct Layout {
    /// The centre of each node.
    middles: Vec<(f64, f64)>,
    /// The width of each node.
    widths: Vec<f64>,
    height: f64,
}

impl Layout {
    fn new(header: &Header) -> Layout {
        let tiers: Vec<u32> = header.nodes.iter().map(|node| node.tier).collect();
        let of_header: BTreeSet<u32> = tiers.iter().copied().collect();
        let mut middles = vec![(0.0, 0.0); header.nodes.len()];
        let mut widths = vec![0.0; header.nodes.len()];
        let mut rows = 0;
        for tier in &of_header {
            let mut nodes: Vec<usize> = (0..header.nodes.len()).filter(|node| tiers[*node] == *tier).collect();
            // Nodes are ordered by the mean position of their neighbours in higher rows, so that few links cross.
            let above = |node: usize| above(header, &tiers, &middles, node);
            nodes.sort_by(|one, other| above(*one).total_cmp(&above(*other)));
            // Neighbouring nodes go into different rows, so that each row has nodes from left to right.
            let of_tier = nodes.len().div_ceil(NODES_PER_ROW);
            let room = WIDTH / nodes.len().div_ceil(of_tier) as f64;
            for (place, node) in nodes.into_iter().enumerate() {
                let (row, column) = (rows + place % of_tier, place / of_tier);
                middles[node] = (room * (column as f64 + 0.5), TOP + ROW * (row as f64 + 0.5));
                widths[node] = (room - 6.0).min(150.0);
            }
            rows += of_tier;
        }
        Layout { middles, widths, height: TOP + ROW * rows as f64 + 8.0 }
    }

    /// The upper left corner of the square in a slot of a node.
    fn slot(&self, node: usize, slot: usize) -> (f64, f64) {
        let columns = (((self.widths[node] - 2.0 * GAP) / (SQUARE + GAP)) as usize).max(1);
        let (x, y) = self.middles[node];
        let left = x - self.widths[node] / 2.0 + 1.5 * GAP;
        let (column, row) = (slot % columns, slot / columns);
        (left + column as f64 * (SQUARE + GAP), y - 14.0 + row as f64 * (SQUARE + GAP))
    }
}

/// The mean horizontal position of a node's neighbours in higher rows; 0 if there are none.
fn above(header: &Header, tiers: &[u32], middles: &[(f64, f64)], node: usize) -> f64 {
    let is_above = |other: &&u32| tiers[**other as usize] < tiers[node];
    let above: Vec<f64> =
        header.nodes[node].neighbours.iter().filter(is_above).map(|other| middles[*other as usize].0).collect();
    if above.is_empty() { 0.0 } else { above.iter().sum::<f64>() / above.len() as f64 }
}

fn draw(header: &Header, history: &PlacementHistory, end: f64) -> String {
    let layout = Layout::new(header);
    let height = layout.height;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"11\" role=\"img\">\n<title>A run of {}: {MARK}</title>\n\
         <style>{}</style>\n",
        escape(&header.scenario),
        style(),
    );
    for (node, described) in header.nodes.iter().enumerate() {
        for neighbour in described.neighbours.iter().map(|neighbour| *neighbour as usize).filter(|other| *other > node)
        {
            let ((x, y), (to_x, to_y)) = (layout.middles[node], layout.middles[neighbour]);
            let _ = writeln!(svg, "<line class=\"l\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{to_x:.1}\" y2=\"{to_y:.1}\"/>");
        }
    }
    for node in 0..header.nodes.len() {
        let ((x, y), width) = (layout.middles[node], layout.widths[node]);
        let (left, top) = (x - width / 2.0, y - 18.0);
        let _ = writeln!(
            svg,
            "<rect class=\"n\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"36\" rx=\"4\"/>"
        );
    }
    legend(&mut svg, header, end);
    squares(&mut svg, &layout, history, end);
    svg.push_str("</svg>\n");
    svg
}

/// The style sheet for light and dark mode. It contains colours instead of variables, because an SVG that a page embeds
/// as an image does not see the variables of the page.
fn style() -> String {
    let rules = |nth: usize| {
        let names = ["var(--page)", "var(--faint)", "var(--line)", "var(--ink)"];
        let [page, faint, line, ink] = names.map(|name| light_and_dark(name)[nth]);
        format!(".n{{fill:{page};stroke:{faint}}}.l{{stroke:{line}}}.p{{fill:{faint}}}text{{fill:{ink}}}")
    };
    format!(".l{{stroke-width:1.5}}{}@media(prefers-color-scheme:dark){{{}}}", rules(0), rules(1))
}

/// The colour of an application: that of light mode, in dark mode as well.
fn colour(application: usize) -> String {
    light_and_dark(&application_colour(application))[0].to_owned()
}

/// Draws the legend of the first [`APPLICATION_COLOURS`] applications, the duration of the run, and the progress bar.
fn legend(svg: &mut String, header: &Header, end: f64) {
    for (place, application) in header.applications.iter().take(APPLICATION_COLOURS).enumerate() {
        let x = 8.0 + 78.0 * place as f64;
        let (colour, name) = (colour(place), escape(&application.id.to_string()));
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"8\" width=\"{SQUARE}\" height=\"{SQUARE}\" rx=\"2\" fill=\"{colour}\"/><text x=\"{}\" y=\"17\">{name}</text>",
            x + 14.0
        );
    }
    let _ = writeln!(
        svg,
        "<rect x=\"8\" y=\"26\" height=\"3\" width=\"0\" class=\"p\"><animate attributeName=\"width\" from=\"0\" to=\"{}\" dur=\"{SECONDS}s\" \
         repeatCount=\"indefinite\"/></rect><text x=\"{}\" y=\"17\" text-anchor=\"end\">{:.0} s</text>",
        WIDTH - 16.0,
        WIDTH - 8.0,
        end / 1_000.0,
    );
}

/// Draws the instances, each with its animation.
fn squares(svg: &mut String, layout: &Layout, history: &PlacementHistory, end: f64) {
    let mut moments: Vec<(f64, usize, usize)> = Vec::new();
    for (instance, (_, stays)) in history.stays.iter().enumerate() {
        moments.extend(stays.iter().enumerate().map(|(stay, (time, _))| (*time, instance, stay)));
    }
    moments.sort_by(|one, other| one.0.total_cmp(&other.0).then((one.1, one.2).cmp(&(other.1, other.2))));
    let mut taken: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); layout.middles.len()];
    let mut frames: Vec<Vec<Frame>> = vec![Vec::new(); history.stays.len()];
    let mut slots: Vec<Option<(usize, usize)>> = vec![None; history.stays.len()];
    for (time, instance, stay) in moments {
        if let Some((node, slot)) = slots[instance].take() {
            taken[node].remove(&slot);
        }
        let at = (time / end.max(1.0)).clamp(0.0, 1.0);
        let last = frames[instance].last().map(|frame| frame.corner);
        let corner = history.stays[instance].1[stay].1.map(|node| {
            let node = node as usize;
            let slot = (0..=taken[node].len()).find(|slot| !taken[node].contains(slot)).unwrap_or(0);
            taken[node].insert(slot);
            slots[instance] = Some((node, slot));
            layout.slot(node, slot)
        });
        let place = corner.or(last).unwrap_or_default();
        frames[instance].push(Frame { at, corner: place, is_there: corner.is_some() });
    }
    for ((application, _), frames) in history.stays.iter().zip(frames) {
        let colour = colour(*application as usize);
        let _ = write!(svg, "<rect width=\"{SQUARE}\" height=\"{SQUARE}\" rx=\"2\" fill=\"{colour}\" opacity=\"0\">");
        animate(svg, &frames);
        svg.push_str("</rect>\n");
    }
}

/// The position of an instance from the time `at` on, which is a fraction of the run. If `is_there` is false, the
/// instance has disappeared, and `corner` is its last position.
#[derive(Clone, Copy)]
struct Frame {
    at: f64,
    corner: (f64, f64),
    is_there: bool,
}

/// Writes the animation of one instance: it fades in, stays at each position, moves to the next in a short time, and
/// fades out if it disappears.
fn animate(svg: &mut String, frames: &[Frame]) {
    let (mut times, mut corners, mut opacities) = (Vec::new(), Vec::new(), Vec::new());
    let mut put = |at: f64, corner: (f64, f64), is_there: bool| {
        let at = at.clamp(times.last().copied().unwrap_or(0.0), 1.0);
        times.push(at);
        corners.push(format!("{:.1} {:.1}", corner.0, corner.1));
        opacities.push(if is_there { "1" } else { "0" });
    };
    let mut before = Frame { at: 0.0, corner: frames[0].corner, is_there: false };
    put(0.0, before.corner, frames[0].at <= 0.0);
    for frame in frames {
        put(frame.at, before.corner, before.is_there || frame.at <= 0.0);
        put(frame.at + MOVE, frame.corner, frame.is_there);
        before = *frame;
    }
    put(1.0, before.corner, before.is_there);
    let times: Vec<String> = times.iter().map(|at| format!("{at:.4}")).collect();
    let (times, dur) = (times.join(";"), format!("dur=\"{SECONDS}s\" repeatCount=\"indefinite\""));
    let _ = write!(
        svg,
        "<animateTransform attributeName=\"transform\" type=\"translate\" {dur} keyTimes=\"{times}\" values=\"{}\"/>\
         <animate attributeName=\"opacity\" {dur} keyTimes=\"{times}\" values=\"{}\"/>",
        corners.join(";"),
        opacities.join(";"),
    );
}

impl std::fmt::Display for AnimationError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AnimationError::Read(error) => error.fmt(formatter),
            AnimationError::Instances(0) => formatter.write_str("the trace has no single instances"),
            AnimationError::Instances(count) => {
                write!(formatter, "it has {count} instances, and an animation shows at most {INSTANCES_MAX}")
            }
        }
    }
}

impl std::error::Error for AnimationError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_of_a_tier_with_many_has_room_for_a_square() {
        let node = |place: usize| {
            let tier = usize::from(place > 0);
            let neighbours = if place == 0 { (1..=132).collect() } else { vec![0] };
            format!("{{\"id\":\"n{place}\",\"capacity\":2,\"tier\":{tier},\"neighbours\":{neighbours:?}}}")
        };
        let nodes: Vec<String> = (0..=132).map(node).collect();
        let trace = format!(
            "{{\"mario_trace\":1,\"program\":\"by hand\",\"scenario\":\"wide\",\"seed\":1,\"duration\":300,\"step\":100,\
             \"evaluation_period\":10,\"detail\":\"operations\",\"observation\":\"arrivals\",\"routing\":\"nearest\",\
             \"arbitration\":\"managers\",\"memory\":\"sliding\",\"applications\":[{{\"id\":\"a\",\"hardware\":1,\"max_rate\":4,\
             \"max_latency\":1,\"kind\":\"LS\",\"policy\":0}}],\"nodes\":[{}],\"policies\":[{{\"name\":\"p\",\"memory\":0,\
             \"files\":[[\"p.pl\",\"operation(migrate, i, n1).\"]]}}],\"users\":[]}}\n[\"deployed\",0,1,0,0,0]\n",
            nodes.join(",")
        );
        let svg = animated_svg(TraceReader::new(trace.as_bytes()).expect("a header")).expect("an animation");
        let boxes: Vec<f64> = svg
            .split("<rect class=\"n\"")
            .skip(1)
            .map(|rect| rect.split(" width=\"").nth(1).and_then(|width| width.split('"').next()).expect("a width"))
            .map(|width| width.parse().expect("a number"))
            .collect();
        assert_eq!(boxes.len(), 133);
        assert!(boxes.iter().all(|width| *width > SQUARE + GAP), "{boxes:?}");
    }
}
