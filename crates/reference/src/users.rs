//! Synthetic positions on the map for the users of the paper's experiment.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Node;

/// The area of the prototype's grid: latitude and longitude of its south-western and north-eastern corners.
const AREA: [[f64; 2]; 2] = [[41.878_037, 12.446_264_3], [41.919_234, 12.514_960_3]];

/// The number of cells of the grid in each direction.
const CELLS: f64 = 8.0;

/// A table of positions, `user,step,latitude,longitude`, of the recorded users. The positions are synthetic: each is
/// within the cell of the access point to which the user was attached.
///
/// # Panics
///
/// Panics if the recorded users cannot be read.
pub fn synthetic_positions() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/recorded-users.json");
    let text = fs::read_to_string(path).expect("the recorded users ship with mario");
    let users: Value = serde_json::from_str(&text).expect("JSON");
    let mut table = "user,step,latitude,longitude\n".to_owned();
    for step in users["steps"].as_array().expect("steps") {
        for (user, node) in step["node"].as_object().expect("the node of each user") {
            let node = Node::named(node.as_str().expect("a name")).expect("a node of the tree");
            let rows = table.lines().count() as f64;
            // The fractional parts of the multiples of an irrational number are spread evenly. The margin keeps
            // positions off the edges of the cell.
            let within = |factor: f64| 0.01 + 0.98 * (rows * factor).fract();
            let along = |axis: usize, cell: u8, within: f64| {
                let [low, high] = [AREA[0][axis], AREA[1][axis]];
                low + (f64::from(cell) + within) / CELLS * (high - low)
            };
            let latitude = along(0, node.x, within(std::f64::consts::SQRT_2));
            let longitude = along(1, node.y, within(std::f64::consts::E));
            let _ = writeln!(table, "{user},{},{latitude},{longitude}", step["step"]);
        }
    }
    table
}
