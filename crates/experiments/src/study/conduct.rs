//! What the user should know about how the policies of a contender fared in its runs.

use std::collections::BTreeMap;

use mario_domain::Time;
use mario_scenario::{Management, Scenario};
use mario_simulator::RunStatistics;

/// How the policies of a contender fared in its runs.
#[derive(Clone, Default)]
pub(super) struct Conduct {
    runs: u64,
    evaluated: u64,
    failed: u64,
    acceptances: u64,
    failed_acceptances: u64,
    /// The runs in which agents evaluated policies that may propose operations, and none proposed any.
    silent: u64,
    /// By application.
    absences: BTreeMap<String, Absences>,
}

/// The runs in which an application was without an instance while its users sent requests.
#[derive(Clone)]
struct Absences {
    runs: u64,
    first: Time,
    lost: u64,
}

impl Conduct {
    /// That of one run.
    pub(super) fn of(statistics: &RunStatistics, scenario: &Scenario) -> Conduct {
        let is_asked = scenario.management == Management::Agents && !scenario.is_silent_by_purpose();
        let absences = statistics.absences.iter().filter(|absence| absence.lost > 0).map(|absence| {
            let application = &scenario.applications[absence.application.position()].application;
            (application.id.to_string(), Absences { runs: 1, first: absence.since, lost: absence.lost })
        });
        Conduct {
            runs: 1,
            evaluated: statistics.evaluated,
            failed: statistics.failed,
            acceptances: statistics.acceptances.asked,
            failed_acceptances: statistics.acceptances.failed,
            silent: u64::from(is_asked && statistics.is_without_proposals()),
            absences: absences.collect(),
        }
    }

    pub(super) fn add(&mut self, other: Conduct) {
        self.runs += other.runs;
        self.evaluated += other.evaluated;
        self.failed += other.failed;
        self.acceptances += other.acceptances;
        self.failed_acceptances += other.failed_acceptances;
        self.silent += other.silent;
        for (application, absences) in other.absences {
            let known = self.absences.entry(application).or_insert(Absences { runs: 0, lost: 0, ..absences });
            known.runs += absences.runs;
            known.lost += absences.lost;
            known.first = if absences.first < known.first { absences.first } else { known.first };
        }
    }

    /// Warnings about failed evaluations of agents' policies and of acceptance policies, about policies that proposed
    /// nothing in all runs, and about applications that were lost.
    pub(super) fn warnings(self, contender: &str) -> Vec<String> {
        let told = |failed: u64, asked: u64, who: &str| {
            (failed > 0).then(|| {
                format!(
                    "with `{contender}`, {who} gave no answer {failed} of {asked} times: these results are not those of a working \
                     policy; `mario run` with this policy shows the reason"
                )
            })
        };
        let agents = told(self.failed, self.evaluated, "the policy of an agent");
        let owners = told(self.failed_acceptances, self.acceptances, "the acceptance policy of a node");
        let silent = (self.runs > 0 && self.silent == self.runs).then(|| {
            let runs = if self.runs == 1 { "the run".to_owned() } else { format!("all {} runs", self.runs) };
            format!(
                "with `{contender}`, no agent proposed an operation in {runs}; `mario run` with this policy shows why"
            )
        });
        let absent = self.absences.iter().map(|(application, Absences { runs, first, lost })| {
            format!(
                "with `{contender}`, application `{application}` had no instance left in {runs} of {} runs, first at time {first}, and \
                 {lost} requests to it were lost; `anchor = true` in its [[application]] keeps an instance, and `delay` in \
                 [redeploy] has it deployed again",
                self.runs
            )
        });
        agents.into_iter().chain(owners).chain(silent).chain(absent).collect()
    }
}
