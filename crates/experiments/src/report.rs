//! The report: one page that shows what happened in a few runs, made from their traces alone.
//!
//! Start at [`Report`]: it turns runs into a page. [`Run::read`] reads a run from a trace.
//!
//! **Invariant:** the page is one file, asks no network for anything, and holds the data of every run that it shows.
//! **Invariant:** its size is bounded by what a person can look at, not by the length of the trace: long series are joined,
//! and what has too many instances to be shown one by one is shown by area.

mod areas;
mod codes;
mod compact;
mod drawings;
mod explanations;
mod figures;
mod fold;
mod measured;
mod page;
mod placement;
mod policies;
pub(crate) mod regret;
mod replay;
mod run;
mod scale;
mod series;
mod server;
#[cfg(test)]
mod types;

use std::io::BufRead;

use mario_audit::INFERENCES;
use mario_audit::reader::ReadError;
use mario_prolog::Allowance;
use serde::Serialize;

use crate::published::PublishedValues;
use crate::reproduce::Claim;

use drawings::{Section, sections};
use replay::Explain;

pub(crate) use placement::{Reach, resolve};

pub use drawings::Drawing;
pub use measured::{measured_tables, measured_text};
pub use run::Run;
pub use scale::{Scale, ScaleError};
pub use server::{Limits, Server, Source};

/// Runs to be shown together.
#[derive(Debug, Default)]
pub struct Report {
    /// What the page is called.
    pub title: String,
    /// The runs, in the order in which they are shown.
    pub runs: Vec<Run>,
    /// What runs of growing worlds cost.
    pub scale: Vec<Scale>,
    /// Values to show beside those of the runs.
    pub published: Option<Beside>,
    /// What was claimed about these runs, and whether it holds.
    pub claims: Vec<Claim>,
    /// More tables about these runs, in the order in which they are shown.
    pub tables: Vec<Table>,
}

/// A table of texts with a section of its own.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Table {
    /// The name of the section in addresses.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What is in it.
    pub lead: String,
    /// The heads of the columns; the first column names the rows.
    pub head: Vec<String>,
    /// The rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
    /// What is to be said about it.
    pub notes: Vec<String>,
}

/// Values from elsewhere, to be shown beside those of the runs.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Beside {
    /// Where they are from, in a few words.
    pub source: String,
    /// For each run in order, what is known of it.
    pub values: Vec<PublishedValues>,
}

/// What the page's script reads.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageData<'a> {
    title: &'a str,
    runs: &'a [Run],
    published: Option<&'a Beside>,
    claims: &'a [Claim],
    tables: &'a [Table],
    sections: Vec<Section>,
}

impl Run {
    /// Reads a run from its trace. A truncated trace yields a run that says so.
    pub fn read(trace: impl BufRead) -> Result<Run, ReadError> {
        Run::read_within(trace, &Allowance::new(INFERENCES), &mut |_, _| ())
    }

    /// The same for an untrusted trace: its policies explain decisions within the allowance; when it is exhausted,
    /// explanations are missing. `progress` is called with the number of explained decisions, and the total.
    pub fn read_within(
        trace: impl BufRead,
        allowance: &Allowance,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Run, ReadError> {
        fold::read(trace, Explain::Within(allowance, progress))
    }

    /// The same without explanations of decisions, which take longest: for a growing run that is read repeatedly.
    pub fn read_unexplained(trace: impl BufRead) -> Result<Run, ReadError> {
        fold::read(trace, Explain::No)
    }

    /// What was measured of single applications, nodes and tiers, as tables; none unless the scenario asked for it.
    pub fn tables(&self, id: &str) -> Vec<Table> {
        self.measured.as_ref().map(|measured| measured_tables(measured, id, &self.label)).unwrap_or_default()
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.about.seed
    }

    /// The policy of all applications; `None` when they have several.
    pub fn policy(&self) -> Option<&str> {
        match self.policies.as_slice() {
            [one] => Some(&one.name),
            _ => None,
        }
    }

    /// Whether the trace has its end.
    pub fn is_complete(&self) -> bool {
        self.about.is_complete
    }
}

impl Report {
    /// What stands near the beginning of every report and of no other file.
    pub const MARK: &'static str = "<meta name=\"generator\" content=\"mario report\">";

    /// The default title of a page of these runs.
    pub fn default_title(&self) -> String {
        let mut scenarios: Vec<&str> = self.runs.iter().map(|run| run.about.scenario.as_str()).collect();
        scenarios.dedup();
        match scenarios.as_slice() {
            [] => "Scale".to_owned(),
            [one] => (*one).to_owned(),
            _ => format!("{} runs", self.runs.len()),
        }
    }

    /// The page.
    pub fn html(&self) -> String {
        page::html(&self.title, &self.json(), false)
    }

    /// The page for a program that serves it and has news from time to time.
    pub fn live_html(&self) -> String {
        page::html(&self.title, &self.json(), true)
    }

    /// Every figure as a file for a paper.
    pub fn drawings(&self) -> Vec<Drawing> {
        drawings::drawings(self)
    }

    /// The data of the page.
    pub fn json(&self) -> String {
        let Report { title, runs, published, claims, tables, scale: _ } = self;
        let page = PageData { title, runs, published: published.as_ref(), claims, tables, sections: sections(self) };
        serde_json::to_string(&page).expect("plain data is always JSON")
    }
}
