//! The map: nodes, the links between them, and the paths of users.

use std::collections::BTreeSet;

use mario_page::drawing::{
    APPLICATION_COLOURS, Anchor, Canvas, Chart, Csv, Element, INK, Layout, Room, application_colour, nothing, text,
    tier_colour, width_of,
};

use crate::run::{Nodes, Run};

const SIZE: f64 = 560.0;
/// The space around the nodes; more if a path between outer nodes bends beyond it.
const MARGIN: f64 = 22.0;
/// How far paths of users bend, as a fraction of their length.
const BEND: f64 = 0.12;
/// The dashes of paths, by application. They differ also where colours repeat.
const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "4 2"];
/// The number of applications in the legend; the others are counted.
const LEGEND_MAX: usize = 12;
/// The height of a line of the legend.
const LEGEND_ROW: f64 = 18.0;

pub(super) fn chart(run: &Run) -> Chart {
    let missing = || nothing(SIZE, "The nodes of this run have no positions, or are too many to draw.");
    let layout = run.nodes.as_ref().and_then(|nodes| Some(layout(run, nodes, nodes.positions.as_ref()?)));
    Chart::still([layout.unwrap_or_else(missing)])
}

/// Whether the nodes are few enough to draw, and all have positions.
pub(super) fn is_known(run: &Run) -> bool {
    run.nodes.as_ref().is_some_and(|nodes| nodes.positions.is_some())
}

fn layout(run: &Run, nodes: &Nodes, positions: &[[f64; 2]]) -> Layout {
    let near = project(positions, MARGIN);
    let at = project(positions, MARGIN + beyond(run, &near));
    let legend = legend(run, nodes);
    let height = SIZE + LEGEND_ROW * legend.len() as f64;
    let mut canvas = Canvas::new(SIZE, height, Room { left: 0.0, right: 0.0, top: 0.0, bottom: 0.0 });
    let is_access_point = |node: usize| nodes.is_access_point[node] == 1;
    let mut link = |one: usize, other: usize, width: f64| {
        // Straight links between inner nodes would run through the access points between them.
        let by = if is_access_point(one) || is_access_point(other) { 0.0 } else { 0.16 };
        canvas.add(Element::line(bend(at[one], at[other], by), "var(--line)", width));
    };
    for (node, parent) in nodes.parents.iter().enumerate().filter(|(_, parent)| **parent >= 0) {
        let width = match nodes.tiers[node] {
            1 => 2.4,
            2 => 1.6,
            _ => 1.0,
        };
        link(node, *parent as usize, width);
    }
    for [one, other] in &nodes.other_links {
        link(*one as usize, *other as usize, 1.0);
    }
    for (user, track) in &run.tracks {
        let Some((id, application)) = run.users.get(*user as usize) else { continue };
        let colour = application_colour(*application as usize);
        let points: Vec<[f64; 2]> = track.iter().map(|node| beside(at[*node as usize], *user)).collect();
        let way: String = points.windows(2).map(|pair| bend(pair[0], pair[1], BEND)).collect();
        if !way.is_empty() {
            let way = path(way, *application as usize).with("stroke-opacity", 0.7);
            canvas.add(way.tip(format!("user {id}, {}", run.applications[*application as usize].id)));
        }
        if let Some(start) = points.first() {
            let start = Element::circle(*start, 2.6, "var(--card)").with("stroke", colour).with("stroke-width", 1.7);
            canvas.add(start);
        }
    }
    let deepest = nodes.tiers.iter().max().copied().unwrap_or(0) as usize;
    for (node, [x, y]) in at.iter().enumerate() {
        let tier = nodes.tiers[node] as usize;
        let side = if is_access_point(node) { 6.0 } else { 8.0 + 3.0 * (deepest - tier) as f64 };
        let place = Element::rectangle([x - side / 2.0, y - side / 2.0], [side, side], &tier_colour(tier, deepest + 1));
        let place = place.with("rx", 2.0).with("stroke", "var(--card)").with("stroke-width", 1.0);
        let name = run.tier_names.get(tier).cloned().unwrap_or_else(|| format!("tier {tier}"));
        canvas.add(place.tip(format!("{}, {name}", nodes.ids[node])));
    }
    for (nth, row) in legend.into_iter().enumerate() {
        let mut x = MARGIN;
        for Key { width, sign, name } in row {
            let y = SIZE + LEGEND_ROW * (nth as f64 + 0.5);
            canvas.add(match sign {
                Sign::Application(application) => path(format!("M{x} {y}h22"), application),
                Sign::Tier(tier, count) => {
                    Element::rectangle([x + 12.0, y - 5.0], [10.0, 10.0], &tier_colour(tier, count)).with("rx", 2.0)
                }
                Sign::None => Element::new("g"),
            });
            canvas.add(text([x + 27.0, y + 4.0], &name, Anchor::Start, INK));
            x += width;
        }
    }
    canvas.finish()
}

/// The path of a user of an application.
fn path(way: String, application: usize) -> Element {
    let path = Element::line(way, &application_colour(application), 1.7);
    match DASHES[(application + application / APPLICATION_COLOURS) % DASHES.len()] {
        "" => path.with("stroke-linecap", "round"),
        dashes => path.dashed(dashes),
    }
}

/// An entry of the legend.
struct Key {
    width: f64,
    sign: Sign,
    name: String,
}

/// What an entry of the legend explains.
enum Sign {
    Application(usize),
    /// The index of a tier, and the number of tiers.
    Tier(usize, usize),
    None,
}

/// The lines of the legend: the applications of the users that are drawn, and the tiers of nodes.
fn legend(run: &Run, nodes: &Nodes) -> Vec<Vec<Key>> {
    let drawn = run.tracks.iter().filter_map(|(user, _)| Some(run.users.get(*user as usize)?.1 as usize));
    let applications: BTreeSet<usize> = drawn.collect();
    let key = |sign: Sign, name: String| Key { width: 27.0 + width_of(&name) + 14.0, sign, name };
    let application = |place: &usize| key(Sign::Application(*place), run.applications[*place].id.clone());
    let mut keys: Vec<Key> = applications.iter().take(LEGEND_MAX).map(application).collect();
    if applications.len() > LEGEND_MAX {
        keys.push(key(Sign::None, format!("and {} more applications", applications.len() - LEGEND_MAX)));
    }
    let tiers: BTreeSet<usize> = nodes.tiers.iter().map(|tier| *tier as usize).collect();
    let count = tiers.last().map_or(1, |deepest| deepest + 1);
    let name = |tier: &usize| run.tier_names.get(*tier).cloned().unwrap_or_else(|| format!("tier {tier}"));
    let tiers: Vec<Key> = tiers.iter().map(|tier| key(Sign::Tier(*tier, count), name(tier))).collect();
    let mut rows = in_rows(keys);
    rows.extend(in_rows(tiers));
    rows
}

/// Divides entries into lines that fit.
fn in_rows(keys: Vec<Key>) -> Vec<Vec<Key>> {
    let mut rows: Vec<Vec<Key>> = Vec::new();
    let mut free = 0.0;
    for key in keys {
        if key.width > free || rows.is_empty() {
            free = SIZE - 2.0 * MARGIN;
            rows.push(Vec::new());
        }
        free -= key.width;
        if let Some(row) = rows.last_mut() {
            row.push(key);
        }
    }
    rows
}

/// Projects longitudes and latitudes to the drawing, with north up. Longitudes are scaled by the cosine of the middle
/// latitude.
fn project(positions: &[[f64; 2]], margin: f64) -> Vec<[f64; 2]> {
    let ends = |axis: usize| {
        let values = positions.iter().map(|position| position[axis]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((west, east), (south, north)) = (ends(0), ends(1));
    let shrink = f64::midpoint(south, north).to_radians().cos();
    let room = SIZE - 2.0 * margin;
    let span = ((east - west) * shrink).max(north - south).max(1e-9);
    let scale = room / span;
    let shift = [(room - (east - west) * shrink * scale) / 2.0, (room - (north - south) * scale) / 2.0];
    let place = |[longitude, latitude]: &[f64; 2]| {
        [margin + shift[0] + (longitude - west) * shrink * scale, margin + shift[1] + (north - latitude) * scale]
    };
    positions.iter().map(place).collect()
}

/// How far paths of users reach beyond the drawing, if nodes are at these positions; 0 if they do not.
fn beyond(run: &Run, at: &[[f64; 2]]) -> f64 {
    let mut most: f64 = 0.0;
    for (user, track) in &run.tracks {
        for pair in track.windows(2) {
            let [[x0, y0], [x1, y1]] = [pair[0], pair[1]].map(|node| beside(at[node as usize], *user));
            // The middle of a curve is half as far from its chord as its control point.
            let middle =
                [f64::midpoint(x0, x1) - (y1 - y0) * BEND / 2.0, f64::midpoint(y0, y1) + (x1 - x0) * BEND / 2.0];
            most = middle.into_iter().fold(most, |most, place| most.max(-place).max(place - SIZE));
        }
    }
    if most > 0.0 { most + 2.0 } else { 0.0 }
}

/// Returns a position near an access point. Successive users are a golden angle apart, so that few coincide.
fn beside([x, y]: [f64; 2], user: u32) -> [f64; 2] {
    let turn = f64::from(user) * 2.399_963;
    [x + 7.0 * turn.cos(), y + 7.0 * turn.sin()]
}

fn bend([x0, y0]: [f64; 2], [x1, y1]: [f64; 2], by: f64) -> String {
    let x = f64::midpoint(x0, x1) - (y1 - y0) * by;
    let y = f64::midpoint(y0, y1) + (x1 - x0) * by;
    format!("M{x0:.1} {y0:.1}Q{x:.1} {y:.1} {x1:.1} {y1:.1}")
}

pub(super) fn csv(run: &Run) -> Csv {
    let mut csv = Csv::new(["user", "application", "visit", "access_point", "longitude", "latitude"]);
    for (user, track) in &run.tracks {
        let Some((id, application)) = run.users.get(*user as usize) else { continue };
        for (visit, node) in track.iter().enumerate() {
            let nodes = run.nodes.as_ref();
            let name = nodes.map_or_else(|| node.to_string(), |nodes| nodes.ids[*node as usize].clone());
            let position = nodes.and_then(|nodes| Some(nodes.positions.as_ref()?[*node as usize]));
            let [longitude, latitude] =
                position.map_or_else(Default::default, |place| place.map(|part| part.to_string()));
            let application = run.applications[*application as usize].id.clone();
            csv.push([id.clone(), application, visit.to_string(), name, longitude, latitude]);
        }
    }
    csv
}
