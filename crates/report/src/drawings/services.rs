//! The service graph: which applications call which others.
//!
//! Applications are boxes in layers from left to right: a caller is left of everything that it calls. Calls are arrows
//! that bend in the gaps between layers. Where an arrow passes a layer, it has its own slot among the boxes, so that no
//! arrow crosses a box.

mod layers;

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, INK, Layout, Room, SOFT, application_colour, count, fixed, nothing, plural,
    rounded, text, width_of,
};

use super::WIDTHS_WIDE;
use crate::run::Run;
use layers::{Layers, Slot};
use mario_experiments::figures::{CallFigures, Measurements};

/// The maximum numbers of applications and of calls. A larger graph is not drawn; the table lists its calls.
const APPLICATIONS_MAX: usize = 120;
const CALLS_MAX: usize = 400;

/// The maximum length of a name in a box; longer ones are truncated.
const NAME_MAX: usize = 16;
/// The distance between slots of a layer.
const SPACE: f64 = 10.0;
/// The minimum height of a box, for its two lines of text.
const BOX: f64 = 36.0;
/// The height of the slot in which an arrow passes a layer.
const PASS: f64 = 6.0;
/// The vertical distance between the ends of two arrows at a box, and so between their labels.
const PORT: f64 = 14.0;
/// The width of the bend of an arrow in a gap between layers, beside its label. Narrow drawings have no labels, and
/// narrower bends.
const BEND: f64 = 34.0;
const BEND_NARROW: f64 = 18.0;
const LABEL: f64 = 66.0;
const MARGIN: f64 = 4.0;
/// The font size of small texts.
const SMALL: f64 = 10.0;

/// The service graph of a run, with at least one call.
pub(super) struct Graph<'a> {
    /// The applications that call or are called, in order of first occurrence.
    boxes: Vec<Application<'a>>,
    calls: &'a [CallFigures],
    /// The indices of the caller and of the called application of each call.
    ends: Vec<[usize; 2]>,
}

struct Application<'a> {
    name: &'a str,
    /// The 95th percentile of its response times, in milliseconds; `None` if no request was served.
    response_p95: Option<f64>,
    /// The colour that it has in other figures.
    colour: String,
}

impl<'a> Graph<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Graph<'a>> {
        let colour = |name: &str| {
            let index = run.applications.iter().position(|application| application.id == name);
            index.map_or_else(|| SOFT.to_owned(), application_colour)
        };
        Graph::new(run.measured.as_ref()?, colour)
    }

    fn new(measured: &'a Measurements, colour: impl Fn(&str) -> String) -> Option<Graph<'a>> {
        let calls = measured.calls.as_slice();
        let mut names: Vec<&str> = Vec::new();
        let mut index_of = |name: &'a str| {
            names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            })
        };
        let ends = calls.iter().map(|call| [index_of(&call.caller), index_of(&call.application)]).collect();
        let application = |name: &'a str| {
            let figures = measured.applications.iter().find(|figures| figures.application == name);
            let response_p95 = figures.and_then(|figures| figures.response_p95);
            Application { name, response_p95, colour: colour(name) }
        };
        let boxes = names.into_iter().map(application).collect();
        (!calls.is_empty()).then_some(Graph { boxes, calls, ends })
    }

    pub(super) fn chart(&self) -> Chart {
        let missing = |words: &str| Chart::still(WIDTHS_WIDE.iter().map(|width| nothing(*width, words)));
        if self.boxes.len() > APPLICATIONS_MAX || self.calls.len() > CALLS_MAX {
            return missing("There are too many applications or calls to draw. The table lists them.");
        }
        let Some(layers) = Layers::new(self.boxes.len(), &self.ends) else {
            return missing("An application calls itself, directly or through others.");
        };
        let mut layouts: Vec<Layout> = Vec::new();
        for width in WIDTHS_WIDE {
            let layout = self.layout(&layers, width);
            if layouts.last().is_none_or(|last| last.width < layout.width) {
                layouts.push(layout);
            }
        }
        Chart::still(layouts)
    }

    pub(super) fn csv(&self) -> Csv {
        let names =
            ["caller", "application", "stage", "order", "requests", "sent", "served", "lost", "response_mean_ms"];
        let mut csv = Csv::new(names);
        for call in self.calls {
            let CallFigures { caller, application, stage, order, requests, sent, served, lost, response_mean } = call;
            let mut row = vec![caller.clone(), application.clone(), stage.to_string(), order.clone()];
            row.extend([requests, sent, served, lost].map(u64::to_string));
            row.push(response_mean.map_or_else(String::new, |mean| mean.to_string()));
            csv.push(row);
        }
        csv
    }

    /// The calls in one sentence for each caller, for screen readers.
    fn description(&self) -> String {
        let mut sentences: Vec<(usize, String)> = Vec::new();
        for (call, [caller, called]) in self.calls.iter().zip(&self.ends) {
            let called = format!("{} ({})", self.boxes[*called].name, plural(call.requests, "request"));
            match sentences.iter_mut().find(|(of, _)| of == caller) {
                Some((_, sentence)) => *sentence += &format!(", {called}"),
                None => sentences.push((*caller, format!("{} calls {called}", self.boxes[*caller].name))),
            }
        }
        sentences.into_iter().map(|(_, sentence)| sentence + ". ").collect::<String>().trim_end().to_owned()
    }

    fn layout(&self, layers: &Layers, width: f64) -> Layout {
        let incoming = |place: usize| self.ends.iter().filter(|[_, called]| *called == place).count();
        let heights: Vec<f64> =
            (0..self.boxes.len()).map(|place| BOX.max(incoming(place) as f64 * PORT + 8.0)).collect();
        let height_of = |slot: &Slot| match slot {
            Slot::Box(place) => heights[*place],
            Slot::Pass(_) => PASS,
        };
        let middles = layers.middles(height_of, SPACE);
        let columns = Columns::new(self, layers, width);
        let bottom = middles.iter().zip(&layers.slots).flat_map(|(middles, slots)| {
            middles.iter().zip(slots).map(|(middle, slot)| middle + height_of(slot) / 2.0)
        });
        let height = bottom.fold(BOX, f64::max) + 2.0 * MARGIN;
        let room = Room { left: MARGIN, right: MARGIN, top: MARGIN, bottom: MARGIN };
        let mut canvas = Canvas::new(columns.width(), height, room);
        canvas.add(Element::new("desc").text(&self.description()));
        let places = Places { layers, columns: &columns, middles: &middles, heights: &heights };
        let ports = self.ports(&places);
        for (nth, call) in self.calls.iter().enumerate() {
            self.add_arrow(&mut canvas, &places, nth, call, ports[nth]);
        }
        for (place, application) in self.boxes.iter().enumerate() {
            add_box(&mut canvas, application, places.corner(place), [columns.breadth, heights[place]]);
        }
        let mut layout = canvas.finish();
        layout.scrolls = columns.width() > width;
        layout
    }

    /// The y coordinate at which each arrow ends. The arrows into a box are sorted by the y coordinate at which they
    /// enter the gap before it.
    fn ports(&self, places: &Places<'_>) -> Vec<f64> {
        let mut ports = vec![0.0; self.calls.len()];
        for called in 0..self.boxes.len() {
            let mut arriving: Vec<usize> = (0..self.ends.len()).filter(|nth| self.ends[*nth][1] == called).collect();
            arriving.sort_by(|one, other| {
                places.before(*one, self.ends[*one]).total_cmp(&places.before(*other, self.ends[*other]))
            });
            let first = places.middle(called) - (arriving.len() as f64 - 1.0) * PORT / 2.0;
            for (nth, arrow) in arriving.into_iter().enumerate() {
                ports[arrow] = first + nth as f64 * PORT;
            }
        }
        ports
    }

    fn add_arrow(&self, canvas: &mut Canvas, places: &Places<'_>, nth: usize, call: &CallFigures, port: f64) {
        let [caller, called] = self.ends[nth];
        let columns = places.columns;
        let [from, to] = [caller, called].map(|place| places.layers.layer_of[place]);
        let mut path = format!("M{} {}", rounded(columns.right(from)), rounded(places.middle(caller)));
        let mut height = places.middle(caller);
        for layer in from + 1..=to {
            let next = if layer == to { port } else { places.pass(layer, nth) };
            let start = columns.right(layer - 1);
            let end = columns.left(layer) - if layer == to { columns.label } else { 0.0 };
            let middle = rounded(f64::midpoint(start, end));
            let [height_now, height_next] = [height, next].map(rounded);
            path += &format!("C{middle} {height_now} {middle} {height_next} {} {height_next}", rounded(end));
            let stop = if layer == to { columns.left(layer) - 5.0 } else { columns.right(layer) };
            path += &format!("H{}", rounded(stop));
            height = next;
        }
        let tip = tip(call);
        let line = Element::line(path, SOFT, 1.2).with("class", "call").tip(tip.clone());
        canvas.add(if call.order == "parallel" { line.dashed("5 2") } else { line });
        let tip_of_arrow = columns.left(to);
        let head = format!("M{} {}l-7 -3.5v7Z", rounded(tip_of_arrow), rounded(port));
        canvas.add(Element::area(head, SOFT).tip(tip));
        if columns.label > 0.0 {
            let place = [tip_of_arrow - 9.0, port - 3.0];
            canvas.add(text(place, &label(call), Anchor::End, SOFT).with("font-size", SMALL));
        }
    }
}

/// The number of requests for each request of the caller, if more than one, and their mean response time.
fn label(call: &CallFigures) -> String {
    let time = call.response_mean.map_or_else(|| "n/a".to_owned(), |mean| format!("{} ms", fixed(Some(mean), 1)));
    if call.requests > 1 { format!("{}\u{202f}×\u{202f}{time}", call.requests) } else { time }
}

fn tip(call: &CallFigures) -> String {
    let CallFigures { caller, application, stage, order, requests, sent, served, lost, response_mean } = call;
    let how = if order == "parallel" { "in parallel" } else { "in sequence" };
    let mean = response_mean.map_or_else(|| "n/a".to_owned(), |mean| format!("{} ms", fixed(Some(mean), 3)));
    format!(
        "{caller} calls {application} in stage {stage}, {how}\n{} for each request that it serves\n{} sent, {} served, {} lost\nmean {mean}",
        plural(*requests, "request"),
        count(*sent),
        count(*served),
        count(*lost),
    )
}

/// The approximate width of a small text.
fn small_width_of(text: &str) -> f64 {
    width_of(text) * SMALL / 11.0
}

impl Application<'_> {
    fn short_name(&self) -> String {
        if self.name.chars().count() <= NAME_MAX {
            return self.name.to_owned();
        }
        self.name.chars().take(NAME_MAX - 1).chain(['\u{2026}']).collect()
    }

    fn time(&self) -> Option<String> {
        self.response_p95.map(|time| format!("{} ms", fixed(Some(time), 1)))
    }
}

fn add_box(canvas: &mut Canvas, application: &Application<'_>, [left, top]: [f64; 2], [width, height]: [f64; 2]) {
    let time = application.time();
    let tip = time.iter().fold(application.name.to_owned(), |tip, time| format!("{tip}\n95th percentile {time}"));
    let frame = Element::rectangle([left, top], [width, height], "var(--card)").with("class", "service");
    canvas.add(frame.with("rx", 4.0).with("stroke", "var(--faint)").with("stroke-width", 1.0).tip(tip));
    canvas.add(Element::rectangle([left, top + 4.0], [4.0, height - 8.0], &application.colour));
    let middle = top + height / 2.0;
    let line = if time.is_some() { middle - 2.0 } else { middle + 4.0 };
    let name = text([left + 9.0, line], &application.short_name(), Anchor::Start, INK);
    canvas.add(name.with("font-weight", 600.0).with("font-size", SMALL));
    if let Some(time) = time {
        canvas.add(text([left + 9.0, middle + 11.0], &time, Anchor::Start, SOFT).with("font-size", SMALL));
    }
}

/// The horizontal positions of layers.
struct Columns {
    count: usize,
    breadth: f64,
    gap: f64,
    /// The width of the part of each gap that is reserved for labels; 0 without labels.
    label: f64,
}

impl Columns {
    /// Chooses columns with labels if they fit the width, otherwise columns without labels. If neither set fits,
    /// chooses those with labels, which are wider than `width`.
    fn new(graph: &Graph<'_>, layers: &Layers, width: f64) -> Columns {
        let times = graph.boxes.iter().filter_map(Application::time).map(|time| small_width_of(&time));
        let names = graph.boxes.iter().map(|one| small_width_of(&one.short_name()));
        // Names are bold.
        let breadth = times.chain(names.map(|name| name * 1.15)).fold(0.0, f64::max) + 14.0;
        let count = layers.slots.len();
        let labelled = Columns { count, breadth: breadth + 6.0, gap: BEND + LABEL, label: LABEL };
        let plain = Columns { count, breadth, gap: BEND_NARROW, label: 0.0 };
        let mut columns = if labelled.width() <= width || plain.width() > width { labelled } else { plain };
        let spare = width - columns.width();
        if spare > 0.0 && count > 1 {
            columns.gap += (spare / (count - 1) as f64).min(columns.gap * 0.6);
        }
        columns
    }

    fn left(&self, layer: usize) -> f64 {
        MARGIN + layer as f64 * (self.breadth + self.gap)
    }

    fn right(&self, layer: usize) -> f64 {
        self.left(layer) + self.breadth
    }

    fn width(&self) -> f64 {
        self.right(self.count - 1) + MARGIN
    }
}

/// The positions of boxes and of the slots of passing arrows.
struct Places<'a> {
    layers: &'a Layers,
    columns: &'a Columns,
    middles: &'a [Vec<f64>],
    heights: &'a [f64],
}

impl Places<'_> {
    fn find(&self, layer: usize, slot: &Slot) -> f64 {
        let place = self.layers.slots[layer].iter().position(|other| other == slot);
        MARGIN + place.map_or(0.0, |place| self.middles[layer][place])
    }

    /// The y coordinate of the middle of a box.
    fn middle(&self, place: usize) -> f64 {
        self.find(self.layers.layer_of[place], &Slot::Box(place))
    }

    /// The y coordinate at which an arrow passes a layer.
    fn pass(&self, layer: usize, arrow: usize) -> f64 {
        self.find(layer, &Slot::Pass(arrow))
    }

    /// The y coordinate at which an arrow enters the gap before the called box: that of the caller, or that of the
    /// arrow's slot in the layer before.
    fn before(&self, arrow: usize, [caller, called]: [usize; 2]) -> f64 {
        let last = self.layers.layer_of[called] - 1;
        if last == self.layers.layer_of[caller] { self.middle(caller) } else { self.pass(last, arrow) }
    }

    fn corner(&self, place: usize) -> [f64; 2] {
        [self.columns.left(self.layers.layer_of[place]), self.middle(place) - self.heights[place] / 2.0]
    }
}

#[cfg(test)]
mod tests;
