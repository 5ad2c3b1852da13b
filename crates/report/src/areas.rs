//! The replay by area, for runs that are too large to show single instances, and for traces of counts: the number of
//! instances by area and application over time.

use mario_domain::Capacity;
use mario_trace::reader::{Detail, Header};
use serde::Serialize;

use crate::series::Samples;

/// The number of rows and of columns of the map's grid.
const AREAS_PER_SIDE: usize = 12;
/// The maximum number of frames.
const FRAMES_MAX: usize = 64;

/// Counts instances by area while the records are read.
#[derive(Debug)]
pub(crate) struct AreaCounts {
    of_node: Vec<u16>,
    areas: Vec<Area>,
    application_count: usize,
    now: Vec<u32>,
    frames: Samples<Vec<(u16, u16, u32)>>,
}

/// A cell of the map's grid with at least one node; a tier instead if any node has no position, or if the trace has
/// only counts.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Area {
    /// Column and row on the map, from the south-west; for a tier, 0 and the tier.
    cell: [u16; 2],
    nodes: u32,
    /// The total capacity of its nodes, without unbounded ones.
    units: u64,
}

/// The areas and frames as stored in the page.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Areas {
    /// The kind of areas: `"map"` or `"tiers"`.
    by: &'static str,
    parts: Vec<Area>,
    /// For each frame, the number of instances by area and application, without zeros.
    #[cfg_attr(test, ts(type = "Samples<[area: number, application: number, instances: number][]>"))]
    frames: Samples<Vec<(u16, u16, u32)>>,
}

impl AreaCounts {
    pub(crate) fn new(header: &Header) -> AreaCounts {
        let cells = cells(header);
        let mut areas: Vec<Area> = Vec::new();
        let mut places = std::collections::BTreeMap::new();
        let mut of_node = Vec::with_capacity(cells.len());
        for (cell, node) in cells.into_iter().zip(&header.nodes) {
            let place = *places.entry(cell).or_insert_with(|| {
                areas.push(Area { cell, nodes: 0, units: 0 });
                areas.len() - 1
            });
            areas[place].nodes += 1;
            if let Capacity::Bounded(units) = node.capacity {
                areas[place].units += units.as_units();
            }
            of_node.push(place as u16);
        }
        let application_count = header.applications.len();
        let now = vec![0; areas.len() * application_count];
        AreaCounts { of_node, areas, application_count, now, frames: Samples::at_most(FRAMES_MAX) }
    }

    /// Adds `by` to the number of instances of an application in the area of a node.
    pub(crate) fn change(&mut self, node: u32, application: u32, by: i32) {
        let area = usize::from(self.of_node[node as usize]);
        let count = &mut self.now[area * self.application_count + application as usize];
        *count = count.saturating_add_signed(by);
    }

    /// Resets all counts.
    pub(crate) fn clear(&mut self) {
        self.now.fill(0);
    }

    /// Adds instances of an application in a tier. Areas must be tiers; an unknown tier is ignored.
    pub(crate) fn put(&mut self, tier: u32, application: u32, instances: u64) {
        let Some(area) = self.areas.iter().position(|area| u32::from(area.cell[1]) == tier) else { return };
        let count = &mut self.now[area * self.application_count + application as usize];
        *count = count.saturating_add(instances.min(u32::MAX.into()) as u32);
    }

    /// Adds the current counts as a frame, if one is due.
    pub(crate) fn frame(&mut self, time: f64) {
        let (now, applications) = (&self.now, self.application_count);
        self.frames.push(time, || {
            let filled = now.iter().enumerate().filter(|(_, count)| **count > 0);
            filled
                .map(|(place, count)| ((place / applications) as u16, (place % applications) as u16, *count))
                .collect()
        });
    }

    pub(crate) fn finish(self, header: &Header) -> Areas {
        let by = if is_by_map(header) { "map" } else { "tiers" };
        Areas { by, parts: self.areas, frames: self.frames }
    }
}

pub(crate) fn has_map(header: &Header) -> bool {
    !header.nodes.is_empty() && header.nodes.iter().all(|node| node.position.is_some())
}

/// Whether areas are cells of the map. A trace of counts has instances by tier only.
fn is_by_map(header: &Header) -> bool {
    has_map(header) && header.detail != Detail::Summary
}

/// The [`Area::cell`] of each node.
fn cells(header: &Header) -> Vec<[u16; 2]> {
    if !is_by_map(header) {
        return header.nodes.iter().map(|node| [0, node.tier.min(u16::MAX.into()) as u16]).collect();
    }
    let positions: Vec<[f64; 2]> = header.nodes.iter().filter_map(|node| node.position).collect();
    let range = |axis: usize| {
        let values = positions.iter().map(|position| position[axis]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (latitudes, longitudes) = (range(0), range(1));
    let cell = |value: f64, (low, high): (f64, f64)| {
        let part = (value - low) / (high - low).max(f64::MIN_POSITIVE);
        ((part * AREAS_PER_SIDE as f64) as usize).min(AREAS_PER_SIDE - 1) as u16
    };
    positions.iter().map(|[latitude, longitude]| [cell(*longitude, longitudes), cell(*latitude, latitudes)]).collect()
}
