//! The map: nodes, the tree between them, and the ways of users.

use super::super::run::Run;
use super::canvas::Canvas;
use super::{application_colour, tier_colour};

const SIZE: f64 = 400.0;
const MARGIN: f64 = 18.0;

/// The map of a run whose nodes have positions and are not too many to draw.
pub(super) fn map(run: &Run) -> Option<String> {
    let nodes = run.nodes.as_ref()?;
    let positions = nodes.positions.as_ref()?;
    let at = project(positions);
    let mut canvas = Canvas::new(SIZE, SIZE, 0.0);
    let is_access_point = |node: usize| nodes.is_access_point[node] == 1;
    let tree = nodes.parents.iter().enumerate().filter(|(_, parent)| **parent >= 0);
    let tree = tree.map(|(node, parent)| [node, *parent as usize]);
    let others = nodes.other_links.iter().map(|[one, other]| [*one as usize, *other as usize]);
    for [one, other] in tree.chain(others) {
        // Straight links between inner nodes would run through the access points between them.
        let by = if is_access_point(one) || is_access_point(other) { 0.0 } else { 0.16 };
        canvas.path(&bend(at[one], at[other], by), r##"fill="none" stroke="#c9d0d8" stroke-width="0.8""##);
    }
    for (user, track) in &run.tracks {
        let colour = run.users.get(*user as usize).map_or("#1c2128", |user| application_colour(user.1 as usize));
        let points: Vec<[f64; 2]> = track.iter().map(|node| beside(at[*node as usize], *user)).collect();
        for pair in points.windows(2) {
            let style = format!(r#"fill="none" stroke="{colour}" stroke-width="1.2" stroke-opacity="0.75""#);
            canvas.path(&bend(pair[0], pair[1], 0.12), &style);
        }
        if let Some(start) = points.first() {
            canvas.circle(*start, 1.9, &format!(r##"fill="#ffffff" stroke="{colour}" stroke-width="1.2""##));
        }
    }
    let deepest = nodes.tiers.iter().max().copied().unwrap_or(0) as usize;
    for (node, [x, y]) in at.iter().enumerate() {
        let tier = nodes.tiers[node] as usize;
        let side = if is_access_point(node) { 4.0 } else { 6.0 + 2.0 * (deepest - tier) as f64 };
        let colour = tier_colour(tier, deepest + 1);
        canvas.rectangle([x - side / 2.0, y - side / 2.0], [side, side], colour);
    }
    Some(canvas.finish(&format!("Map, {}, seed {}", run.about.scenario, run.about.seed)))
}

/// Longitudes and latitudes in the drawing, north up.
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

/// A place near an access point, another for each user: by the golden angle, so that few fall together.
fn beside([x, y]: [f64; 2], user: u32) -> [f64; 2] {
    let turn = f64::from(user) * 2.399_963;
    [x + 5.0 * turn.cos(), y + 5.0 * turn.sin()]
}

fn bend([x0, y0]: [f64; 2], [x1, y1]: [f64; 2], by: f64) -> String {
    let x = f64::midpoint(x0, x1) - (y1 - y0) * by;
    let y = f64::midpoint(y0, y1) + (x1 - x0) * by;
    format!("M{x0:.1} {y0:.1}Q{x:.1} {y:.1} {x1:.1} {y1:.1}")
}
