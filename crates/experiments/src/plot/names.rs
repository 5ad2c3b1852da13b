//! Texts of a plot that fit: names without their common beginning, long texts on several lines, and keys with units.

use serde_json::Value;

use super::scene::{TEXT_SIZE, room_for};

/// Returns the names; if one is wider than `width`, without their common beginning, which an ellipsis replaces. What
/// differs between names is never left out, so the result may still be wider.
pub(super) fn shortened(names: &[String], width: f64) -> Vec<String> {
    let fits = |names: &[String]| names.iter().all(|name| room_for(name, TEXT_SIZE) <= width);
    let beginning = common_beginning(names);
    // A shorter beginning is hardly longer than the ellipsis.
    if fits(names) || names[0][..beginning].chars().count() < 4 {
        return names.to_vec();
    }
    names.iter().map(|name| format!("\u{2026}{}", &name[beginning..])).collect()
}

/// The length of the common beginning of all names up to the start of a word; 0 for a single name. No name is only the
/// beginning.
fn common_beginning(names: &[String]) -> usize {
    let [first, others @ ..] = names else { return 0 };
    let is_common = |end: &usize| {
        let beginning = &first[..*end];
        others.iter().all(|other| other.starts_with(beginning) && other.len() > *end)
    };
    let ends = first.char_indices().filter(|(_, letter)| !letter.is_alphanumeric());
    let mut ends: Vec<usize> = ends.map(|(place, letter)| place + letter.len_utf8()).collect();
    ends.retain(|end| *end < first.len() && is_common(end));
    if others.is_empty() { 0 } else { ends.last().copied().unwrap_or(0) }
}

/// Joins parts with `joint` into lines of at most `width`. A part that is wider has its own line.
pub(super) fn wrapped(parts: &[String], joint: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if room_for(&format!("{line}{joint}{part}"), TEXT_SIZE) <= width => {
                line.push_str(joint);
                line.push_str(part);
            }
            Some(line) => {
                line.push_str(joint.trim_end());
                lines.push(part.clone());
            }
            None => lines.push(part.clone()),
        }
    }
    lines
}

/// Breaks a text into lines of at most `width`, between words.
pub(super) fn in_lines(text: &str, width: f64) -> Vec<String> {
    wrapped(&text.split(' ').map(str::to_owned).collect::<Vec<String>>(), " ", width)
}

/// The settings of a variant, such as `period = 20 ms`. Keys are without the names of their tables if that leaves
/// different ones.
pub(super) fn settings(variant: &[String]) -> Vec<String> {
    let pairs: Vec<(&str, &str)> =
        variant.iter().map(|setting| setting.split_once('=').unwrap_or((setting, ""))).collect();
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let is_unique =
        pairs.iter().all(|(key, _)| pairs.iter().filter(|(other, _)| last(other) == last(key)).count() == 1);
    let shown = |(key, value): &(&str, &str)| {
        let unit = if value.trim().parse::<f64>().is_ok() { unit_of(key) } else { "" };
        let name = if is_unique { last(key) } else { (*key).to_owned() };
        let space = if unit.is_empty() { "" } else { " " };
        format!("{name} = {}{space}{unit}", value.trim().trim_matches('"'))
    };
    pairs.iter().map(shown).collect()
}

/// The unit of the numbers of a key of scenarios; empty if they have none, or if the key is not known.
pub(super) fn unit_of(key: &str) -> &'static str {
    let schema = mario_scenario::schema();
    let parts: Vec<&str> = key.split('.').collect();
    if is_time(&schema, &schema, &parts) { "ms" } else { "" }
}

/// Whether the property of a schema with this path may be a time, which is in milliseconds without a unit.
fn is_time(root: &Value, schema: &Value, path: &[&str]) -> bool {
    let referred = schema["$ref"].as_str().and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    let lists = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|name| schema[name].as_array());
    if referred.into_iter().chain(lists.flatten()).any(|other| is_time(root, other, path)) {
        return true;
    }
    match path {
        [] => schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("(ms|s|")),
        [first, rest @ ..] => is_time(root, &schema["properties"][*first], rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn only_the_common_beginning_of_names_is_left_out_and_only_of_long_ones() {
        let names = owned(&["workload-and-latency-aware", "workload-and-latency-aware-with-memory"]);
        assert_eq!(shortened(&names, 500.0), names);
        assert_eq!(shortened(&names, 90.0), ["\u{2026}aware", "\u{2026}aware-with-memory"]);
        let paths = owned(&["policies/of/mine/a.pl", "policies/of/mine/b.pl"]);
        assert_eq!(shortened(&paths, 60.0), ["\u{2026}a.pl", "\u{2026}b.pl"]);
        for distinct in [owned(&["one-name-that-is-long", "another-that-is-long"]), owned(&["a-single-long-name"])] {
            assert_eq!(shortened(&distinct, 20.0), distinct);
        }
    }

    #[test]
    fn texts_are_broken_only_between_words() {
        assert_eq!(in_lines("response time, ms", 60.0), ["response", "time, ms"]);
        assert_eq!(wrapped(&owned(&["a = 1", "b = 2"]), ", ", 200.0), ["a = 1, b = 2"]);
        assert_eq!(wrapped(&owned(&["a = 1", "b = 2"]), ", ", 30.0), ["a = 1,", "b = 2"]);
    }

    #[test]
    fn settings_have_the_units_of_their_keys() {
        let shown = |variant: &[&str]| settings(&owned(variant)).join("; ");
        assert_eq!(shown(&["topology.kind=tiled-tree", "workload.period=20"]), "kind = tiled-tree; period = 20 ms");
        assert_eq!(
            shown(&["workload.kind=poisson", "topology.kind=file"]),
            "workload.kind = poisson; topology.kind = file"
        );
        assert_eq!(shown(&["workload.period=2 s", "topology.size=4"]), "period = 2 s; size = 4");
        assert_eq!([unit_of("agents.period"), unit_of("mobility.users"), unit_of("no.such")], ["ms", "", ""]);
    }
}
