//! The palette of the page, read from its style sheet, so that each colour is defined once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The number of colours for applications, from the palette of Okabe and Ito, cool colours first.
const APPLICATIONS: usize = 6;
/// The number of shades for tiers.
const SHADES: usize = 7;

static LIGHT: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| light(include_str!("../../../assets/palette.css")));

/// Returns the custom properties of a style sheet, with their values in the light scheme.
fn light(style: &str) -> BTreeMap<&str, &str> {
    let declarations = style.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(": "));
    let in_light = |(name, value)| {
        let both = str::strip_prefix(value, "light-dark(").and_then(|both| both.split_once(','));
        (name, both.map_or(value, |(light, _)| light))
    };
    declarations.map(in_light).filter(|(name, _)| name.starts_with("--")).collect()
}

/// Replaces a custom property in the value of an attribute by its light colour.
pub(super) fn in_light(value: &str) -> String {
    let name = value.strip_prefix("var(").and_then(|rest| rest.strip_suffix(')'));
    name.and_then(|name| LIGHT.get(name)).copied().unwrap_or(value).to_owned()
}

/// The colour of the application at an index.
pub(super) fn application_colour(index: usize) -> String {
    format!("var(--application-{})", index % APPLICATIONS)
}

/// The colour of a tier, from the top.
pub(super) fn tier_colour(tier: usize, count: usize) -> String {
    let part = tier as f64 / count.saturating_sub(1).max(1) as f64;
    let shade = (part * (SHADES - 1) as f64).round() as usize;
    format!("var(--tier-{})", shade.min(SHADES - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_of_drawings_is_in_the_style_sheet() {
        let applications = (0..APPLICATIONS).map(application_colour);
        let tiers = (0..SHADES).map(|tier| tier_colour(tier, SHADES));
        let outcomes = super::super::super::series::OUTCOMES.iter().map(|outcome| format!("var(--{outcome})"));
        let others = ["ink", "soft", "faint", "line", "grid", "card"].map(|name| format!("var(--{name})"));
        for colour in applications.chain(tiers).chain(outcomes).chain(others) {
            let light = in_light(&colour);
            assert!(light.starts_with('#') && light.len() == 7, "{colour} is {light}");
        }
    }

    #[test]
    fn a_property_with_two_colours_is_light_in_files() {
        let style = ":root {\n  --ink: light-dark(#111111, #eeeeee);\n  --both: #222222;\n}";
        assert_eq!(light(style), BTreeMap::from([("--ink", "#111111"), ("--both", "#222222")]));
        assert_eq!(in_light("#4477aa"), "#4477aa");
    }
}
