//! Resolves the models of energy, money and carbon.

use std::sync::Arc;

use mario_domain::{Intensity, Models};
use mario_settings::{At, Mistake, Place, Text};

use super::Resolving;
use crate::mobility::{Table, TrajectoryError};
use crate::settings::{Amount, RegionSettings};

const CARBON: At<'static> = At::Key("carbon");

impl Resolving<'_> {
    /// The models of the scenario; `None` if none is configured. Reports errors.
    pub(super) fn models(&mut self) -> Option<Models> {
        let settings = self.settings;
        let (energy, price, carbon) = (&settings.energy, &settings.price, &settings.carbon);
        if energy.is_empty() && price.is_empty() && carbon.is_empty() {
            return None;
        }
        if energy.is_empty() && !carbon.is_empty() {
            let mistake =
                self.mistake("carbon is computed from energy, and the power of the nodes is not given", &[CARBON]);
            self.mistakes.push(mistake.hint("add `[energy]` with `idle_watts` and `unit_watts`"));
        }
        let amounts = |list: &[Amount]| list.iter().map(|amount| amount.value()).collect();
        Some(Models {
            idle_watts: amounts(&energy.idle_watts),
            unit_watts: amounts(&energy.unit_watts),
            joules_per_bit: energy.link_nanojoules_per_bit.value() * 1e-9,
            message_bits: settings.network.message_size.value() * energy.size_bits.value(),
            unit_hour_price: amounts(&price.unit_hour),
            gigabyte_price: price.gigabyte.value(),
            carbon: if carbon.is_empty() { Vec::new() } else { self.intensities() },
        })
    }

    fn intensities(&mut self) -> Vec<Intensity> {
        let carbon = &self.settings.carbon;
        let general = carbon.grams_per_kwh.map_or(0.0, Amount::value);
        let mut all = vec![Intensity { region: None, grams_per_kwh: vec![(0.0, general)] }];
        for (place, region) in carbon.region.iter().enumerate() {
            let at = [CARBON, "region".into(), place.into()];
            if all.iter().any(|known| known.region.as_ref() == Some(&region.name)) {
                let mistake = self.mistake(format!("region `{}` is listed twice", region.name), &at);
                self.mistakes.push(mistake.hint("remove one of them"));
            }
            if let Some(grams_per_kwh) = self.intensity(region, &at) {
                all.push(Intensity { region: Some(region.name.clone()), grams_per_kwh });
            }
        }
        all
    }

    fn intensity(&mut self, region: &RegionSettings, at: &[At<'_>]) -> Option<Vec<(f64, f64)>> {
        let file_at: Vec<At<'_>> = at.iter().copied().chain([At::Key("file")]).collect();
        match (region.grams_per_kwh, &region.file) {
            (Some(constant), None) => Some(vec![(0.0, constant.value())]),
            (None, Some(file)) => {
                let text = self.file_text(file, &file_at)?;
                match read_intensities(&text) {
                    Ok(read) => Some(read),
                    Err(error) => {
                        let place = Place { text, span: error.span.clone() };
                        self.mistakes.push(Mistake::new(error.to_string()).at(Some(place)).hint("mend the table"));
                        None
                    }
                }
            }
            _ => {
                let mistake = self.mistake(format!("region `{}` needs one carbon intensity", region.name), at);
                self.mistakes.push(mistake.hint("write either `grams_per_kwh = …` or `file = …`"));
                None
            }
        }
    }
}

/// Parses a table of carbon intensities: times in milliseconds, strictly ascending, each with the grams per
/// kilowatt-hour from then on.
fn read_intensities(text: &Arc<Text>) -> Result<Vec<(f64, f64)>, TrajectoryError> {
    let mut table = Table::new(&text.text)?;
    let (time, grams) = (table.column(&["time"])?, table.column(&["grams_per_kwh", "gco2/kwh", "carbon_intensity"])?);
    let mut read: Vec<(f64, f64)> = Vec::new();
    while let Some(row) = table.next()? {
        let number = |column: usize, expected: &'static str| {
            let number = row.number(column).filter(|number| (0.0..=1e12).contains(number));
            number.ok_or_else(|| row.expected(column, expected))
        };
        let from = number(time, "a time in milliseconds from 0 to 1e12")?;
        if read.last().is_some_and(|(last, _)| *last >= from) {
            return Err(row.expected(time, "a time that is later than the one before"));
        }
        read.push((from, number(grams, "grams for each kilowatt-hour from 0 to 1e12")?));
    }
    if read.is_empty() { Err(table.empty()) } else { Ok(read) }
}
