//! Reads floating car data of SUMO: `<timestep time="0"><vehicle id="a" x="1" y="2"/></timestep>`. A `<person>` is read
//! like a `<vehicle>`.

use super::super::reading::{self, TrajectoryError, TrajectoryProblem};
use super::{Fix, SumoCoordinates, TracksBuilder};
use crate::position::Position;
use crate::xml::{Element, Piece, Xml};

pub(super) fn read(
    text: &str,
    coordinates: SumoCoordinates,
    builder: &mut TracksBuilder,
) -> Result<(), TrajectoryError> {
    let mut xml = Xml::new(text);
    let mut now: Option<f64> = None;
    while let Some((piece, span)) = xml.next()? {
        let Piece::Open(element) = piece else { continue };
        let expected = |what| TrajectoryError::new(span.clone(), TrajectoryProblem::Expected(what));
        match element.name.as_str() {
            name if xml.depth() == 1 && name != "fcd-export" => return Err(expected("`<fcd-export>`")),
            "timestep" => {
                let time = element.attribute("time").and_then(|time| time.trim().parse().ok());
                let time = time.filter(|time: &f64| time.is_finite());
                now = Some(time.ok_or_else(|| expected("a `time` in seconds"))?);
            }
            "vehicle" | "person" => {
                let seconds = now.ok_or_else(|| expected("a `<timestep>` around it"))?;
                let id = element.attribute("id").and_then(reading::user_id);
                let id = id.ok_or_else(|| expected("an `id`"))?;
                builder.fix(id, Fix { seconds, position: place(&element, coordinates)? });
            }
            _ => {}
        }
    }
    Ok(())
}

fn place(element: &Element, coordinates: SumoCoordinates) -> Result<Position, TrajectoryError> {
    let expected = |what| TrajectoryError::new(element.span.clone(), TrajectoryProblem::Expected(what));
    let number = |name| element.attribute(name).and_then(|text| text.trim().parse::<f64>().ok());
    let (Some(x), Some(y)) = (number("x"), number("y")) else {
        return Err(expected("an `x` and a `y`, both numbers"));
    };
    match coordinates {
        SumoCoordinates::Degrees => Position::checked(y, x).ok_or_else(|| {
            expected(
                "degrees: run SUMO with `--fcd-output.geo`, or say in `origin` which place metres are counted from",
            )
        }),
        SumoCoordinates::Metres(origin) => {
            origin.moved_m(y, x).ok_or_else(|| expected("metres that do not lead off the map"))
        }
    }
}
