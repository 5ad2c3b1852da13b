//! Styles and scripts that pages share, so that they look and behave alike.
//!
//! The report and the dashboard concatenate [`STYLES`] and append their own styles; likewise [`SCRIPTS`].

/// The colours of all pages and drawings, for the light and the dark theme.
pub const PALETTE: &str = include_str!("../assets/palette.css");

/// The styles, the palette first.
pub const STYLES: &[&str] = &[
    PALETTE,
    include_str!("../assets/page.css"),
    include_str!("../assets/figures.css"),
    include_str!("../assets/details.css"),
    include_str!("../assets/operations.css"),
    include_str!("../assets/stage.css"),
    include_str!("../assets/explanation.css"),
];

/// The scripts. They only define functions and constants; a page calls the functions.
pub const SCRIPTS: &[&str] = &[
    include_str!("../assets/operations.js"),
    include_str!("../assets/elements.js"),
    include_str!("../assets/theme.js"),
    include_str!("../assets/numbers.js"),
    include_str!("../assets/colours.js"),
    include_str!("../assets/download.js"),
    include_str!("../assets/card.js"),
    include_str!("../assets/chart.js"),
    include_str!("../assets/explanation.js"),
];
