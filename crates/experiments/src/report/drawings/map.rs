//! The map: nodes, the links between them, and the paths of users.

use mario_page::drawing::{Canvas, Chart, Csv, Element, Layout, Room, application_colour, nothing, tier_colour};

use super::super::run::{Nodes, Run};

const SIZE: f64 = 560.0;
const MARGIN: f64 = 22.0;

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
    let at = project(positions);
    let mut canvas = Canvas::new(SIZE, SIZE, Room { left: 0.0, right: 0.0, top: 0.0, bottom: 0.0 });
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
        let way: String = points.windows(2).map(|pair| bend(pair[0], pair[1], 0.12)).collect();
        if !way.is_empty() {
            let way = Element::line(way, &colour, 1.7).with("stroke-opacity", 0.7).with("stroke-linecap", "round");
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
    canvas.finish()
}

/// Projects longitudes and latitudes to the drawing, with north up. Longitudes are scaled by the cosine of the middle
/// latitude.
fn project(positions: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let ends = |axis: usize| {
        let values = positions.iter().map(|position| position[axis]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((west, east), (south, north)) = (ends(0), ends(1));
    let shrink = f64::midpoint(south, north).to_radians().cos();
    let room = SIZE - 2.0 * MARGIN;
    let span = ((east - west) * shrink).max(north - south).max(1e-9);
    let scale = room / span;
    let shift = [(room - (east - west) * shrink * scale) / 2.0, (room - (north - south) * scale) / 2.0];
    let place = |[longitude, latitude]: &[f64; 2]| {
        [MARGIN + shift[0] + (longitude - west) * shrink * scale, MARGIN + shift[1] + (north - latitude) * scale]
    };
    positions.iter().map(place).collect()
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
