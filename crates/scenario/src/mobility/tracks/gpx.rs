//! Reads GPX: tracks of points with times.

use std::ops::Range;

use mario_domain::Id;

use super::super::reading::{self, TrajectoryError, TrajectoryProblem};
use super::super::timestamps;
use super::{Fix, TracksBuilder};
use crate::position::Position;
use crate::xml::{Element, Piece, Xml};

/// A point whose time may not have been read yet.
struct Point {
    position: Position,
    seconds: Option<f64>,
    span: Range<usize>,
}

pub(super) fn read(text: &str, user: Option<&Id>, builder: &mut TracksBuilder) -> Result<(), TrajectoryError> {
    let mut xml = Xml::new(text);
    let mut track_count = 0;
    let mut name = String::new();
    let mut fixes: Vec<Fix> = Vec::new();
    let mut point: Option<Point> = None;
    // The names of the open elements, and the text since the last tag.
    let mut path: Vec<String> = Vec::new();
    let mut words = String::new();
    while let Some((piece, span)) = xml.next()? {
        match piece {
            Piece::Open(element) => {
                if path.is_empty() && element.name != "gpx" {
                    return Err(TrajectoryError::new(span, TrajectoryProblem::Expected("`<gpx>`")));
                }
                match element.name.as_str() {
                    "trk" => track_count += 1,
                    "trkpt" => point = Some(Point { position: place(&element)?, seconds: None, span }),
                    _ => {}
                }
                path.push(element.name);
                words.clear();
            }
            Piece::Text(text) => words.push_str(&text),
            Piece::Close(closed) => {
                path.pop();
                let inside = path.last().map(String::as_str);
                match (closed.as_str(), inside) {
                    ("name", Some("trk")) => name = words.trim().to_owned(),
                    ("time", Some("trkpt")) => {
                        let seconds = timestamps::seconds(&words);
                        let expected = TrajectoryProblem::Expected("a time such as `2014-02-01T00:00:00Z`");
                        let Some(seconds) = seconds else { return Err(TrajectoryError::new(span, expected)) };
                        point.iter_mut().for_each(|point| point.seconds = Some(seconds));
                    }
                    ("trkpt", _) => fixes.extend(point.take().map(finish).transpose()?),
                    ("trk", _) => {
                        let id = user.cloned().or_else(|| reading::user_id(&name));
                        let id = id.unwrap_or_else(|| Id::number(track_count));
                        fixes.drain(..).for_each(|fix| builder.fix(id.clone(), fix));
                        name.clear();
                    }
                    _ => {}
                }
                words.clear();
            }
        }
    }
    Ok(())
}

fn place(element: &Element) -> Result<Position, TrajectoryError> {
    let degrees = |name| (element.attribute(name).unwrap_or_default(), element.span.clone());
    reading::place(degrees("lat"), degrees("lon"))
}

fn finish(point: Point) -> Result<Fix, TrajectoryError> {
    match point.seconds {
        Some(seconds) => Ok(Fix { seconds, position: point.position }),
        None => Err(TrajectoryError::new(point.span, TrajectoryProblem::Expected("a `<time>` in the point"))),
    }
}
