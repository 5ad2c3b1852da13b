//! Shows runs: the report, which is one page about runs with a replay, the explanation of recorded decisions, and
//! animations. What is shown of a run is computed from its trace alone.
//!
//! Start at [`Report`]: it turns runs into a page. [`Run::read`] reads a run from a trace, and [`Server`] serves the page to
//! browsers on this machine. [`decision::explain_decision`] explains a decision in a stored run, and
//! [`animation::animated_svg`] draws a run as an animated image.
//!
//! | module | for |
//! |---|---|
//! | `fold`, `run`, `areas`, `series`, `columns`, `compact` | a trace becomes the data of the page |
//! | `replay`, `explanations`, `policies`, `recorded` | what is played, and why agents decided so |
//! | `drawings` | charts, drawn once for the page and for files |
//! | `page`, `server` | the page is assembled, and served |
//! | [`decision`] | the explanation of a decision in a stored run |
//! | [`animation`] | a run as an animated image |
//!
//! **Invariant:** the page is one file that contains the data of every run that it shows. Only the page of
//! [`Report::live_html`] makes network requests.
//!
//! **Invariant:** the size of the page is bounded, however long a trace is: long series are aggregated, and runs with
//! too many nodes, instances or events to show individually are shown by area.
//!
//! **Invariant:** this crate never writes to a terminal. Output for users is returned as text.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the network are its work")]

// Modules that read traces deny wildcard arms, so that none swallows a new operation, record or change in silence.

#[deny(clippy::wildcard_enum_match_arm)]
pub mod animation;
#[deny(clippy::wildcard_enum_match_arm)]
pub mod decision;
#[deny(clippy::wildcard_enum_match_arm)]
mod recorded;

mod areas;
mod codes;
mod columns;
mod compact;
mod drawings;
mod explanations;
mod figures;
#[deny(clippy::wildcard_enum_match_arm)]
mod fold;
mod measured;
mod page;
mod policies;
mod regret;
mod replay;
mod run;
mod scale;
mod series;
mod server;
#[cfg(test)]
mod types;

#[cfg(test)]
#[path = "../../page/tests/page/declarations.rs"]
mod declarations;

use std::io::BufRead;

use mario_experiments::published::PublishedValues;
use mario_experiments::reproduce::Claim;
use mario_experiments::table::Table;
use mario_trace::reader::ReadError;
use serde::Serialize;

use drawings::{Section, sections};
use replay::Explain;

pub use drawings::Drawing;
pub use explanations::{EXPLAINING_INFERENCES_DEFAULT, Explained};
pub use mario_page::server::ServerLimits;
pub use measured::measured_text;
pub use run::Run;
pub use scale::{Scale, ScaleError};
pub use server::{Server, Source};

/// The content of a report page.
#[derive(Debug, Default)]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// The runs, in the order in which they are shown.
    pub runs: Vec<Run>,
    /// Measurements of the time and memory of runs by number of nodes, with one entry for each file of them.
    pub scale: Vec<Scale>,
    /// Values to show beside those of the runs.
    pub published: Option<ReferenceValues>,
    /// Claims about these runs, and whether they are true.
    pub claims: Vec<Claim>,
    /// More tables about these runs, in the order in which they are shown.
    pub tables: Vec<Table>,
}

/// Values from another source, shown beside those of the runs.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReferenceValues {
    /// Their source, in a few words.
    pub source: String,
    /// For each run of the report, in the same order, its values from this source.
    pub values: Vec<PublishedValues>,
}

/// The data that the script of the page reads.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageData<'a> {
    title: &'a str,
    runs: &'a [Run],
    published: Option<&'a ReferenceValues>,
    claims: &'a [Claim],
    tables: &'a [Table],
    sections: Vec<Section>,
}

impl Run {
    /// Reads a run from its trace. A truncated trace yields an incomplete run.
    pub fn read(trace: impl BufRead) -> Result<Run, ReadError> {
        Run::read_within(trace, EXPLAINING_INFERENCES_DEFAULT, &mut |_, _| ())
    }

    /// As [`Run::read`], with at most about this many inferences for explaining decisions. What does not fit is left out,
    /// and marked: see [`Run::explained`]. `progress` is called with the number of decisions explained so far, and the
    /// number to explain, which is limited. Decisions of an agent from the same knowledge count once.
    pub fn read_within(
        trace: impl BufRead,
        inferences: u64,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Run, ReadError> {
        fold::read(trace, Explain::Within(inferences, progress))
    }

    /// How many decisions are explained; `None` if the run has no replay, or explanations were not wanted.
    pub fn explained(&self) -> Option<Explained> {
        self.replay.as_ref()?.explained()
    }

    /// As [`Run::read`], without explanations of decisions, which take the most time. For a run in progress that is
    /// read repeatedly.
    pub fn read_unexplained(trace: impl BufRead) -> Result<Run, ReadError> {
        fold::read(trace, Explain::No)
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.about.seed
    }

    /// The name of the policy if the trace has exactly one; otherwise `None`.
    pub fn policy(&self) -> Option<&str> {
        match self.policies.as_slice() {
            [one] => Some(&one.name),
            _ => None,
        }
    }

    /// Whether the trace is complete.
    pub fn is_complete(&self) -> bool {
        self.about.is_complete
    }
}

impl Report {
    /// A text near the start of every report, by which it is recognised.
    pub const MARK: &'static str = "<meta name=\"generator\" content=\"mario report\">";

    /// The default title of a page of these runs: the name of the scenario if all runs have the same, otherwise the
    /// number of runs; `Scale` without runs.
    pub fn default_title(&self) -> String {
        let mut scenarios: Vec<&str> = self.runs.iter().map(|run| run.about.scenario.as_str()).collect();
        scenarios.dedup();
        match scenarios.as_slice() {
            [] => "Scale".to_owned(),
            [one] => (*one).to_owned(),
            _ => format!("{} runs", self.runs.len()),
        }
    }

    /// Tables of the optional measures of the runs, and of the reasons that owners of nodes gave; none if the traces have
    /// neither.
    pub fn measured_tables(&self) -> Vec<Table> {
        measured::tables_of(&self.runs)
    }

    /// The page.
    pub fn html(&self) -> String {
        page::html(&self.title, &self.json(), false)
    }

    /// The page for a server; it polls the server for updates.
    pub fn live_html(&self) -> String {
        page::html(&self.title, &self.json(), true)
    }

    /// The figures as files for a paper.
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
