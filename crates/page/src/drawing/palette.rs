//! The palette of the page, read from its style sheet, so that a colour is written down once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::assets::PALETTE;

/// The number of colours for applications. They are from the palette of Okabe and Ito, cool colours first.
pub const APPLICATION_COLOURS: usize = 6;
/// The number of shades for tiers.
const SHADES: usize = 7;

static COLOURS: LazyLock<BTreeMap<&str, [&str; 2]>> = LazyLock::new(|| colours(PALETTE));

/// The custom properties of a style sheet, with their values in light and in dark.
fn colours(style: &str) -> BTreeMap<&str, [&str; 2]> {
    let declarations = style.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(": "));
    let in_both = |(name, value)| {
        let both = str::strip_prefix(value, "light-dark(").and_then(|both| both.strip_suffix(')')?.split_once(", "));
        (name, both.map_or([value; 2], |(light, dark)| [light, dark]))
    };
    declarations.map(in_both).filter(|(name, _)| name.starts_with("--")).collect()
}

/// A colour of the palette such as `var(--ink)`, in light and in dark. Other values are returned unchanged.
pub fn light_and_dark(value: &str) -> [&str; 2] {
    let name = value.strip_prefix("var(").and_then(|rest| rest.strip_suffix(')'));
    name.and_then(|name| COLOURS.get(name)).copied().unwrap_or([value; 2])
}

/// The colour of the application at an index. Colours repeat after [`APPLICATION_COLOURS`] applications.
pub fn application_colour(index: usize) -> String {
    format!("var(--application-{})", index % APPLICATION_COLOURS)
}

/// The colour of a tier of `count` tiers; 0 is the top.
pub fn tier_colour(tier: usize, count: usize) -> String {
    let part = tier as f64 / count.saturating_sub(1).max(1) as f64;
    let shade = (part * (SHADES - 1) as f64).round() as usize;
    format!("var(--tier-{})", shade.min(SHADES - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_of_drawings_is_in_the_style_sheet() {
        let applications = (0..APPLICATION_COLOURS).map(application_colour);
        let tiers = (0..SHADES).map(|tier| tier_colour(tier, SHADES));
        let others = ["ink", "soft", "faint", "line", "grid", "card", "nop"].map(|name| format!("var(--{name})"));
        for colour in applications.chain(tiers).chain(others) {
            for value in light_and_dark(&colour) {
                assert!(value.starts_with('#') && value.len() == 7, "{colour} is {value}");
            }
        }
    }

    #[test]
    fn a_property_has_one_colour_or_two() {
        let style = ":root {\n  --ink: light-dark(#111111, #eeeeee);\n  --both: #222222;\n}";
        let found = [("--both", ["#222222"; 2]), ("--ink", ["#111111", "#eeeeee"])];
        assert_eq!(colours(style), BTreeMap::from(found));
        assert_eq!(light_and_dark("#4477aa"), ["#4477aa"; 2]);
    }
}
