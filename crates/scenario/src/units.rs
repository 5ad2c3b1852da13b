//! Quantities that are written with a unit: `"100 Mbps"`, `"5 ms"`, `"2 GB"`.
//!
//! The schema names the quantity of a key in `x-quantity`. [`in_plain_numbers`] replaces the texts of such keys by
//! numbers in the unit of the key before the settings are read, so that the settings hold plain numbers only. Times in
//! milliseconds whose type is [`Time`](crate::settings::Time) or [`Period`](crate::settings::Period) read their units
//! themselves.

use std::sync::OnceLock;

use mario_settings::ranges::{of_kind, target};
use mario_settings::tree::{Node, Table, Value};
use mario_settings::{Mistake, did_you_mean, shown};
use serde_json::{Value as Json, json};

use crate::schema::schema;
use crate::settings::{AgentSettings, UNITS as TIMES};

/// The key of the schema that names the quantity of a number.
pub(crate) const QUANTITY: &str = "x-quantity";

/// A kind of quantity.
struct Quantity {
    /// The name in the schema.
    name: &'static str,
    /// The name for messages.
    what: &'static str,
    /// The unit of a number without a unit.
    plain: &'static str,
    /// The units, each with its size; see [`Base`].
    units: &'static [(&'static str, f64)],
    /// What the sizes of the units are relative to.
    base: Base,
    /// Whether the number is a whole one.
    is_whole: bool,
}

/// What the sizes of units are relative to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The unit of the key.
    Key,
    /// Bits, or bits per millisecond. The key counts size units, whose number of bits is `energy.size_bits`.
    Bits,
    /// Client requests per millisecond. The key counts those of an evaluation period, `agents.period`.
    PerMillisecond,
}

/// The settings that units depend on.
#[derive(Clone, Copy)]
struct Bases {
    size_bits: f64,
    evaluation_ms: f64,
}

const REQUEST_RATES: [(&str, f64); 4] =
    [("/s", 1e-3), ("/ms", 1.0), ("/min", 1.0 / 60_000.0), ("/h", 1.0 / 3_600_000.0)];

const RATES: [(&str, f64); 12] = [
    ("bps", 1e-3),
    ("kbps", 1.0),
    ("Mbps", 1e3),
    ("Gbps", 1e6),
    ("bit/s", 1e-3),
    ("kbit/s", 1.0),
    ("Mbit/s", 1e3),
    ("Gbit/s", 1e6),
    ("B/s", 8e-3),
    ("kB/s", 8.0),
    ("MB/s", 8e3),
    ("GB/s", 8e6),
];

const SIZES: [(&str, f64); 11] = [
    ("bit", 1.0),
    ("kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("B", 8.0),
    ("kB", 8e3),
    ("MB", 8e6),
    ("GB", 8e9),
    ("KiB", 8_192.0),
    ("MiB", 8_388_608.0),
    ("GiB", 8_589_934_592.0),
];

const IN_SECONDS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("min", 60.0), ("h", 3_600.0)];
const IN_HOURS: [(&str, f64); 3] = [("h", 1.0), ("min", 1.0 / 60.0), ("s", 1.0 / 3_600.0)];
const IN_METRES: [(&str, f64); 2] = [("m", 1.0), ("km", 1e3)];
const IN_METRES_PER_SECOND: [(&str, f64); 2] = [("m/s", 1.0), ("km/h", 1.0 / 3.6)];
const IN_WATTS: [(&str, f64); 3] = [("W", 1.0), ("mW", 1e-3), ("kW", 1e3)];
const IN_NANOJOULES_PER_BIT: [(&str, f64); 3] = [("nJ/bit", 1.0), ("pJ/bit", 1e-3), ("uJ/bit", 1e3)];
const IN_MBPS: [(&str, f64); 6] =
    [("Mbps", 1.0), ("Gbps", 1e3), ("Mbit/s", 1.0), ("Gbit/s", 1e3), ("MB/s", 8.0), ("GB/s", 8e3)];
const IN_MEGABYTES: [(&str, f64); 5] =
    [("MB", 1.0), ("GB", 1e3), ("TB", 1e6), ("MiB", 1.048_576), ("GiB", 1_073.741_824)];
const IN_GIGABYTES: [(&str, f64); 3] = [("GB", 1.0), ("TB", 1e3), ("MB", 1e-3)];

const fn quantity(
    name: &'static str,
    what: &'static str,
    plain: &'static str,
    units: &'static [(&'static str, f64)],
) -> Quantity {
    Quantity { name, what, plain, units, base: Base::Key, is_whole: false }
}

const QUANTITIES: [Quantity; 13] = [
    Quantity {
        base: Base::PerMillisecond,
        ..quantity(
            "request-rate",
            "a rate of client requests",
            "per evaluation period, `agents.period`",
            &REQUEST_RATES,
        )
    },
    Quantity {
        base: Base::Bits,
        ..quantity("bandwidth", "a bandwidth", "in size units of `energy.size_bits` bits, per millisecond", &RATES)
    },
    Quantity { base: Base::Bits, ..quantity("size", "a size", "in size units of `energy.size_bits` bits", &SIZES) },
    quantity("milliseconds", "a time", "in ms", &TIMES),
    quantity("seconds", "a time", "in s", &IN_SECONDS),
    quantity("hours", "a time of day", "in hours", &IN_HOURS),
    quantity("metres", "a distance", "in metres", &IN_METRES),
    quantity("metres-per-second", "a speed", "in metres per second", &IN_METRES_PER_SECOND),
    quantity("watts", "a power", "in watts", &IN_WATTS),
    quantity("nanojoules-per-bit", "an energy per bit", "in nJ/bit", &IN_NANOJOULES_PER_BIT),
    Quantity { is_whole: true, ..quantity("mbps", "a bandwidth", "in Mbps", &IN_MBPS) },
    Quantity { is_whole: true, ..quantity("megabytes", "an amount of memory", "in MB", &IN_MEGABYTES) },
    Quantity { is_whole: true, ..quantity("gigabytes", "an amount of storage", "in GB", &IN_GIGABYTES) },
];

/// Replaces the quantities of a scenario that are written with a unit by numbers. Returns an error for each unknown
/// unit; the text then stays.
pub(crate) fn in_plain_numbers(tree: &mut Table) -> Vec<Mistake> {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    let schema = SCHEMA.get_or_init(schema);
    let bases = Bases { size_bits: size_bits(tree), evaluation_ms: evaluation_ms(tree) };
    let mut converting = Converting { schema, bases, mistakes: Vec::new() };
    converting.table(tree, schema);
    converting.mistakes
}

/// The number of bits in a size unit.
fn size_bits(tree: &Table) -> f64 {
    const DEFAULT: f64 = 8.0;
    let bits = match tree.table("energy").and_then(|energy| energy.get("size_bits")).map(|node| &node.value) {
        Some(Value::Integer(bits)) => *bits as f64,
        Some(Value::Float(bits)) => *bits,
        _ => DEFAULT,
    };
    // An invalid number is reported by the check of ranges. With 0 bits, no size can be converted.
    if bits > 0.0 { bits } else { DEFAULT }
}

/// The evaluation period of agents, in milliseconds.
fn evaluation_ms(tree: &Table) -> f64 {
    let written = tree.table("agents").and_then(|agents| agents.get("period")).map(|node| &node.value);
    let period = match written {
        Some(Value::Integer(period)) => Some(*period as f64),
        Some(Value::Float(period)) => Some(*period),
        Some(Value::String(text)) => milliseconds(text),
        _ => None,
    };
    // An invalid period is reported when it is read.
    period.filter(|period| *period > 0.0).unwrap_or_else(|| AgentSettings::default().period.value())
}

fn milliseconds(text: &str) -> Option<f64> {
    let (number, unit) = number_and_unit(text)?;
    let (_, factor) = TIMES.iter().find(|(known, _)| *known == unit)?;
    Some(number.parse::<f64>().ok()? * factor)
}

/// The number that a text outside of a scenario file stands for, such as `100 Mbps` in a topology file: in the unit of
/// the quantity with this name. `None` if the text is not a number followed by a word.
pub(crate) fn plain_number(quantity: &str, text: &str, size_bits: f64) -> Option<Result<Value, Mistake>> {
    let quantity = QUANTITIES.iter().find(|known| known.name == quantity)?;
    let evaluation_ms = AgentSettings::default().period.value();
    quantity.read(text, Bases { size_bits, evaluation_ms })
}

struct Converting<'a> {
    schema: &'a Json,
    bases: Bases,
    mistakes: Vec<Mistake>,
}

impl Converting<'_> {
    fn table(&mut self, table: &mut Table, part: &Json) {
        let part = of_kind(table, part);
        for (key, node) in &mut table.entries {
            if let Some(below) = part["properties"].get(&*key).or(part.get("additionalProperties")) {
                self.node(node, below, None);
            }
        }
    }

    fn node(&mut self, node: &mut Node, part: &Json, above: Option<&'static Quantity>) {
        let quantity = quantity_of(part).or(above);
        let part = target(self.schema, part);
        let quantity = quantity_of(part).or(quantity);
        for alternative in part["anyOf"].as_array().into_iter().flatten() {
            self.node(node, alternative, quantity);
        }
        match &mut node.value {
            Value::Table(table) => self.table(table, part),
            Value::List(elements) => {
                for element in elements {
                    self.node(element, &part["items"], quantity);
                }
            }
            Value::String(text) => {
                let Some(quantity) = quantity else { return };
                match quantity.read(text, self.bases) {
                    None => {}
                    Some(Ok(value)) => node.value = value,
                    Some(Err(mistake)) => {
                        let mistake = mistake.at(Some(node.place.clone()));
                        if !self.mistakes.iter().any(|known| known.place == mistake.place) {
                            self.mistakes.push(mistake);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

impl Quantity {
    /// The number that a text with a unit stands for; `None` if the text is not a number followed by a word.
    fn read(&self, text: &str, bases: Bases) -> Option<Result<Value, Mistake>> {
        let (number, unit) = number_and_unit(text)?;
        let value = number.parse::<f64>().ok()?;
        let Some(factor) = self.factor(unit) else {
            return Some(Err(self.unknown(unit)));
        };
        let in_unit = match self.base {
            Base::Key => value * factor,
            Base::Bits => value * factor / bases.size_bits,
            Base::PerMillisecond => value * factor * bases.evaluation_ms,
        };
        // Decimal factors such as 0.001 are not exact, and 12.5 must not become 12.500000000000002.
        let value = format!("{in_unit:.12e}").parse().unwrap_or(in_unit);
        if self.is_whole && value.fract() != 0.0 {
            let message = format!("{} is a whole number {}, and {text:?} is {}", self.what, self.plain, shown(value));
            return Some(Err(Mistake::new(message).hint("round it")));
        }
        let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
        Some(Ok(if is_whole { Value::Integer(value as i64) } else { Value::Float(value) }))
    }

    fn factor(&self, unit: &str) -> Option<f64> {
        self.units.iter().find(|(known, _)| *known == unit).map(|(_, factor)| *factor)
    }

    fn unknown(&self, unit: &str) -> Mistake {
        let known = || self.units.iter().map(|(known, _)| *known);
        let mistake = Mistake::new(format!(
            "unknown unit of {}: `{unit}`",
            self.what.trim_start_matches("an ").trim_start_matches("a ")
        ));
        let meant = known().find(|known| known.eq_ignore_ascii_case(unit)).or_else(|| did_you_mean(unit, known()));
        let all = known().collect::<Vec<_>>().join(", ");
        let rest = format!("units: {all}; a number alone is {}", self.plain);
        mistake.hint(meant.map_or_else(|| rest.clone(), |meant| format!("did you mean `{meant}`? {rest}")))
    }
}

/// Splits a text such as `2 s` into its number, without `_`, and its unit; `None` if it does not start like a number or
/// has no unit.
pub(crate) fn number_and_unit(text: &str) -> Option<(String, &str)> {
    let trimmed = text.trim();
    let end = trimmed.find(|character: char| !matches!(character, '0'..='9' | '.' | '-' | '+' | '_'))?;
    let (number, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim());
    (!number.is_empty() && !unit.is_empty()).then_some((number, unit))
}

/// A text with a space between its number and its unit, if it is a number with a unit of any quantity: `10ms` and
/// `10 ms` are the same value. Other texts are returned as they are.
pub fn with_spaced_unit(text: &str) -> String {
    match number_and_unit(text) {
        Some((number, unit))
            if number.parse::<f64>().is_ok() && QUANTITIES.iter().any(|one| one.factor(unit).is_some()) =>
        {
            format!("{number} {unit}")
        }
        _ => text.to_owned(),
    }
}

/// The numbers that these texts stand for, and their unit: that of the first text, into which the others are converted.
/// The unit is `None` if no text has one. `None` if a text is no finite number, or if no quantity has all units.
pub fn in_one_unit<T: AsRef<str>>(texts: &[T]) -> Option<(Vec<f64>, Option<&str>)> {
    let finite = |number: &str| number.parse::<f64>().ok().filter(|number| number.is_finite());
    let plain: Option<Vec<f64>> = texts.iter().map(|text| finite(text.as_ref().trim())).collect();
    if let Some(plain) = plain {
        return Some((plain, None));
    }
    let parts: Vec<(String, &str)> = texts.iter().map(|text| number_and_unit(text.as_ref())).collect::<Option<_>>()?;
    let (_, first) = parts.first()?;
    let converted = |quantity: &Quantity| -> Option<Vec<f64>> {
        let own = quantity.factor(first)?;
        let number = |(number, unit): &(String, &str)| {
            let value = finite(number)? * quantity.factor(unit)? / own;
            // As in `read`: 0.5 s are 500 ms, and not 500.00000000000006.
            Some(format!("{value:.12e}").parse().unwrap_or(value))
        };
        parts.iter().map(number).collect()
    };
    Some((QUANTITIES.iter().find_map(converted)?, Some(first)))
}

fn quantity_of(part: &Json) -> Option<&'static Quantity> {
    let name = part.get(QUANTITY)?.as_str()?;
    QUANTITIES.iter().find(|quantity| quantity.name == name)
}

/// Allows a text with a unit wherever the schema names the quantity of a number.
pub(crate) fn allow_units(schema: &mut Json) {
    if let Some(quantity) = quantity_of(schema) {
        allow_unit(schema, quantity);
    }
    match schema {
        Json::Object(entries) => entries.values_mut().for_each(allow_units),
        Json::Array(elements) => elements.iter_mut().for_each(allow_units),
        _ => {}
    }
}

/// The keys of the schema of a number that apply to the number alone.
const OF_NUMBERS: [&str; 4] = ["type", "minimum", "maximum", "$comment"];

fn allow_unit(part: &mut Json, quantity: &Quantity) {
    if let Some(items) = part.get_mut("items") {
        allow_unit(items, quantity);
        return;
    }
    let Json::Object(entries) = part else { return };
    let mut number = serde_json::Map::new();
    for key in OF_NUMBERS {
        number.extend(entries.remove(key).map(|value| (key.to_owned(), value)));
    }
    if number.is_empty() {
        return;
    }
    let units: Vec<&str> = quantity.units.iter().map(|(unit, _)| *unit).collect();
    let pattern = format!(r"^[0-9]+(\.[0-9]+)? *({})$", units.join("|"));
    entries.insert("anyOf".to_owned(), json!([number, { "type": "string", "pattern": pattern }]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_of_the_schema_is_known_and_used() {
        fn names(part: &Json, found: &mut Vec<String>) {
            found.extend(part.get(QUANTITY).and_then(Json::as_str).map(str::to_owned));
            let below: Vec<&Json> = match part {
                Json::Object(entries) => entries.values().collect(),
                Json::Array(elements) => elements.iter().collect(),
                _ => Vec::new(),
            };
            below.into_iter().for_each(|below| names(below, found));
        }
        let mut found = Vec::new();
        names(&schema(), &mut found);
        found.sort();
        found.dedup();
        let mut known: Vec<&str> = QUANTITIES.iter().map(|quantity| quantity.name).collect();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
