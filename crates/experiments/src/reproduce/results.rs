//! The results of a reproduction: differences from the published figures, claims by seed, and the files with both.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use mario_simulator::write_atomically;
use serde::Serialize;
use serde_json::{Value, json};

use super::{ExperimentResults, Reproduction, WorldFigures};
use crate::figures::TraceFigures;
use crate::measures::{Values, measured_values, values};
use crate::reproduce::claims::{Claim, claims};
use crate::statistics::Estimate;

/// The file of results that cannot be written, and why.
#[derive(Debug)]
pub struct WriteError(pub PathBuf, pub io::Error);

/// A figure of an experiment, beside its published values.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// `GROUP.FIGURE`.
    pub figure: String,
    /// Our value in the stored run; `None` if undefined.
    pub ours: Option<f64>,
    /// The mean over the seeds for which the figure is defined; `None` if there is only one seed, or if the figure is
    /// undefined for all seeds.
    pub seeds: Option<Estimate>,
    /// The value in the paper; `None` if it was not published.
    pub paper: Option<f64>,
    /// The value in the prototype's stored run; `None` if it is not known.
    pub run: Option<f64>,
}

/// A claim, and for how many seeds it is true.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JudgedClaim {
    /// The claim, checked in the stored runs.
    #[serde(flatten)]
    pub claim: Claim,
    /// The number of seeds for which it is true.
    pub holds_in: usize,
    /// The number of seeds for which it was checked.
    pub of: usize,
}

impl ExperimentResults {
    /// The figures of all seeds, those of the stored run first.
    pub fn runs(&self) -> impl Iterator<Item = &TraceFigures> {
        std::iter::once(&self.figures).chain(&self.others)
    }

    /// Returns all figures and measures of the stored run, each beside its mean over all seeds and its published
    /// values.
    pub fn differences(&self) -> Vec<Difference> {
        let all = |run: &TraceFigures| {
            let mut all = values(&run.figures);
            all.extend(measured_values(&run.measured));
            all
        };
        let runs: Vec<Values> = self.runs().map(all).collect();
        let published = self.experiment.published_values();
        let row = |(figure, ours): (&String, &Option<f64>)| {
            let of_all: Vec<f64> = runs.iter().filter_map(|run| run.get(figure).copied().flatten()).collect();
            Difference {
                figure: figure.clone(),
                ours: *ours,
                seeds: if runs.len() > 1 { Estimate::of(&of_all) } else { None },
                paper: published.and_then(|published| published.paper.get(figure).copied()),
                run: published.and_then(|published| published.run.get(figure).copied()),
            }
        };
        runs[0].iter().map(row).collect()
    }
}

impl Reproduction {
    /// Returns all claims, checked in the stored runs, with the number of seeds for which they are true.
    pub fn claims(&self) -> Vec<JudgedClaim> {
        let seeds = self.experiments.first().map_or(0, |one| one.runs().count());
        let of_seed = |seed: usize| {
            let runs: Vec<_> =
                self.experiments.iter().filter_map(|one| Some((&one.experiment, one.runs().nth(seed)?))).collect();
            claims(&runs)
        };
        let by_seed: Vec<Vec<Claim>> = (0..seeds).map(of_seed).collect();
        let holds_in = |text: &str| {
            by_seed.iter().filter(|claims| claims.iter().any(|claim| claim.claim == text && claim.holds)).count()
        };
        let first = by_seed.first().cloned().unwrap_or_default();
        first.into_iter().map(|claim| JudgedClaim { holds_in: holds_in(&claim.claim), of: seeds, claim }).collect()
    }

    /// Writes `results.json` and `figures.csv` into a directory.
    pub fn write(&self, directory: &Path) -> Result<(), WriteError> {
        let mut json = serde_json::to_string_pretty(&self.json()).expect("results are plain data");
        json.push('\n');
        for (name, text) in [("results.json", json), ("figures.csv", self.csv())] {
            let path = directory.join(name);
            write_atomically(&path, |file| file.write_all(text.as_bytes())).map_err(|error| WriteError(path, error))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let experiment = |one: &ExperimentResults| {
            json!({
                "name": one.experiment.name,
                "title": one.experiment.title,
                "policy": one.experiment.policy,
                "memory": one.experiment.memory,
                "seed": one.seed,
                "seeds": one.runs().count(),
                "findings_of_the_auditor": one.findings,
                "figures": one.figures.figures,
                "whereabouts": one.figures.placement,
                "measured": one.figures.measured,
                "agreement": one.agreement(),
                "differences": one.differences(),
            })
        };
        let world = |one: &WorldFigures| {
            let experiments: Vec<Value> = one
                .experiments
                .iter()
                .map(|(experiment, figures)| {
                    json!({
                        "name": experiment.name,
                        "policy": experiment.policy,
                        "memory": experiment.memory,
                        "figures": figures.figures,
                    })
                })
                .collect();
            json!({
                "name": one.world.name,
                "title": one.world.title,
                "preset": one.world.preset.as_str(),
                "set": one.world.overrides,
                "experiments": experiments,
                "claims": one.claims(),
            })
        };
        json!({
            "program": concat!("mario ", env!("CARGO_PKG_VERSION")),
            "preset": self.preset.as_str(),
            "notes": self.notes,
            "experiments": self.experiments.iter().map(experiment).collect::<Vec<_>>(),
            "claims": self.claims(),
            "worlds": self.worlds.iter().map(world).collect::<Vec<_>>(),
        })
    }

    fn csv(&self) -> String {
        let mut text = "experiment,figure,ours,mean,low,high,seeds,paper,run\n".to_owned();
        let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for one in &self.experiments {
            for row in one.differences() {
                let mean = row.seeds.map(|seeds| seeds.mean);
                let [low, high] = [0, 1].map(|end| row.seeds.and_then(|seeds| seeds.interval).map(|ends| ends[end]));
                let count = row.seeds.map_or(1, |seeds| seeds.count);
                let cells = [row.ours, mean, low, high].map(cell).join(",");
                let published = [row.paper, row.run].map(cell).join(",");
                let figure = crate::study::cell(&row.figure);
                let _ = writeln!(text, "{},{figure},{cells},{count},{published}", one.experiment.name);
            }
        }
        text
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot write `{}`", self.0.display())
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.1)
    }
}
