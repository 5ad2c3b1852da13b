//! Checks recorded sums: of response times by step, of applications and users at the end of the run, and the totals.

use super::Audit;
use crate::finding::FindingKind;
use crate::reader::{Arbitration, Client, Clients, Detail, End, Header, Responses, Totals, Usage};

/// The relative tolerance between two sums or times, and the absolute one below 1: sums of the same response times in
/// different orders have different rounding errors.
const SUM_TOLERANCE: f64 = 1e-8;

/// The longest plausible response time, as a multiple of the duration of the run. Longer ones are reported.
const DELAY_MAX: f64 = 1e6;

/// The relative tolerance of bounds on sums of response times.
const BIN_TOLERANCE: f64 = 1e-6;

/// Sums over the records so far, to compare with recorded sums, and the progress of these checks.
pub(super) struct Sums {
    /// For each application, the number of its users.
    users: Vec<u64>,
    /// For each application, the sum of its records `responses`.
    responses: Vec<ResponseSums>,
    /// For each application, the sum of its users' records at the end.
    clients: Vec<ResponseSums>,
    /// For each application, the number of evaluations of its agents, and the sum of the rates that they saw in the
    /// default flavour.
    usage: Vec<(u64, f64)>,
    /// For each application, the sum of the rates that its agents saw in flavours other than the default, each divided
    /// by the maximum rate of the flavour.
    used_in_flavours: Vec<f64>,
    /// For each application, how often its agents were judged.
    judged: Vec<u64>,
    /// For each application, whether it ever had an instance.
    had_instance: Vec<bool>,
    /// The number of evaluations, according to the records `usage`.
    recorded_evaluations: u64,
    /// For each [`FinalRecord`], the index of the application or user whose record must come next.
    final_records: [usize; 2],
    /// The time and the application of the last record `responses`; `None` before the first.
    last_responses: Option<(f64, u32)>,
    is_silence_checked: bool,
}

/// The results of client requests: how many were served and lost, and the sum of the response times.
#[derive(Clone, Copy, Default)]
pub(super) struct ResponseSums {
    served: u64,
    lost: u64,
    sum: f64,
}

impl ResponseSums {
    pub(super) fn add(&mut self, served: u64, lost: u64, sum: f64) {
        self.served = self.served.saturating_add(served);
        self.lost = self.lost.saturating_add(lost);
        self.sum += sum;
    }
}

/// The kinds of records of which a trace has, at its end, one for each application or user. `Clients` stands for
/// `client` and `clients`.
#[derive(Clone, Copy)]
enum FinalRecord {
    Usage,
    Clients,
}

impl Sums {
    pub(super) fn new(header: &Header) -> Sums {
        let applications = header.applications.len();
        let mut users = vec![0; applications];
        header.users.iter().for_each(|user| users[user.application as usize] += 1);
        Sums {
            users,
            responses: vec![ResponseSums::default(); applications],
            clients: vec![ResponseSums::default(); applications],
            usage: vec![(0, 0.0); applications],
            used_in_flavours: vec![0.0; applications],
            judged: vec![0; applications],
            had_instance: vec![false; applications],
            recorded_evaluations: 0,
            final_records: [0; 2],
            last_responses: None,
            is_silence_checked: false,
        }
    }

    /// The total response time of an application's client requests, according to the records `responses`.
    pub(super) fn response_sum(&self, application: u32) -> f64 {
        self.responses[application as usize].sum
    }

    /// The sum of the rates that agents of an application saw in the default flavour.
    pub(super) fn rates_seen(&self, application: u32) -> f64 {
        self.usage[application as usize].1
    }

    /// The number of users of an application.
    pub(super) fn users_of(&self, application: u32) -> u64 {
        self.users[application as usize]
    }

    /// Adds an evaluation that saw client requests of this rate. `handles` is the rate that the instance can handle;
    /// `None` in the default flavour.
    pub(super) fn evaluated(&mut self, application: u32, rate: f64, handles: Option<f64>) {
        let (evaluations, requests) = &mut self.usage[application as usize];
        *evaluations += 1;
        match handles {
            None => *requests += rate,
            Some(handles) => self.used_in_flavours[application as usize] += rate / handles,
        }
    }

    /// Notes that the application has had an instance.
    pub(super) fn appeared(&mut self, application: u32) {
        self.had_instance[application as usize] = true;
    }

    /// Adds `count` judged agents of the application.
    pub(super) fn judged(&mut self, application: u32, count: u64) {
        let judged = &mut self.judged[application as usize];
        *judged = judged.saturating_add(count);
    }
}

impl Audit {
    pub(super) fn responses(&mut self, record: &Responses) {
        self.counts.served = self.counts.served.saturating_add(record.served);
        self.counts.lost = self.counts.lost.saturating_add(record.lost);
        self.sums.responses[record.application as usize].add(record.served, record.lost, record.sum);
        let who = self.application_text(record.application);
        let is_at_the_end = is_near(record.time, self.header.duration);
        if self.header.live.is_none() && !is_at_the_end && (record.time <= 0.0 || !self.is_step(record.time)) {
            let expected = format!("response times recorded at a multiple of {}, or at the end", self.header.step);
            self.find(FindingKind::Step, &who, expected, format!("at {}", record.time));
        }
        let last = self.sums.last_responses.replace((record.time, record.application));
        if last.is_some_and(|(time, last)| time.total_cmp(&record.time).is_eq() && last >= record.application) {
            let expected = "one record for each application at each time, in order";
            self.find(FindingKind::Totals, &who, expected, "another");
        }
        // Which instances live nodes had is replayed by the module `live`, and one may have answered before its records.
        let had_instance = self.header.live.is_some() || self.sums.had_instance[record.application as usize];
        if record.served > 0 && !had_instance {
            let expected = "no served requests of an application that never had an instance";
            self.find(FindingKind::Totals, &who, expected, record.served.to_string());
        }
        self.check_histogram(record, &who);
    }

    /// Checks that the number of response times equals the number of served requests, that bins are unique, in order
    /// and not empty, and that the sum is possible.
    fn check_histogram(&mut self, record: &Responses, who: &str) {
        let counted = record.histogram.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        if counted != record.served {
            let expected = format!("a histogram of {} response times", record.served);
            self.find(FindingKind::Totals, who, expected, format!("one of {counted}"));
        }
        let in_order = record.histogram.windows(2).all(|two| two[0].0 < two[1].0);
        if !in_order || record.histogram.iter().any(|(_, count)| *count == 0) {
            let expected = "bins in order, each once, and none empty";
            self.find(FindingKind::Totals, who, expected, "other bins");
        }
        self.check_sum(record, who);
    }

    /// Checks that the sum of the response times is possible for these bins.
    fn check_sum(&mut self, record: &Responses, who: &str) {
        let (mut least, mut most) = (0.0, 0.0);
        for (bin, count) in record.histogram.iter().filter(|(_, count)| *count > 0) {
            let Some(bin) = bin else { continue };
            let bounds = [*bin as f64, *bin as f64 + 1.0].map(|quarters| (quarters / 4.0).exp2());
            // If traffic is simulated as rates, the delay of an overloaded link may exceed the duration of the run.
            if bounds[0] > DELAY_MAX * self.header.duration {
                let expected = format!("response times of at most {DELAY_MAX} times the length of the run");
                self.find(FindingKind::Totals, who, expected, format!("{count} of {} and more", bounds[0]));
            }
            least += *count as f64 * bounds[0];
            most += *count as f64 * bounds[1];
        }
        // If traffic is simulated as rates, response times are estimates, and a record may correct earlier ones. A
        // negative correction is in the bin of 0, and that of a user with only lost requests is in no bin. In both
        // cases, the bins do not bound the sum.
        let are_rates_possible = self.header.observation == "arrivals" && self.header.routing == "nearest";
        let is_corrected = are_rates_possible && record.lost > 0;
        let is_less = are_rates_possible && record.histogram.iter().any(|(bin, _)| bin.is_none());
        let all = self.sums.responses[record.application as usize];
        if is_corrected {
            most += all.served as f64 * DELAY_MAX * self.header.duration;
        }
        if is_corrected || is_less {
            // The total of all records so far must not become negative.
            least = (record.sum - all.sum).min(0.0);
        }
        let slack = |bound: f64| BIN_TOLERANCE * (bound.abs() + record.served as f64);
        if record.sum > most + slack(most) {
            let expected = format!("a sum of at most {most}, as the histogram says");
            self.find(FindingKind::Totals, who, expected, record.sum.to_string());
        }
        if record.sum < least - slack(least) {
            let expected = format!("a sum of at least {least}, as the histogram says");
            self.find(FindingKind::Totals, who, expected, record.sum.to_string());
        }
    }

    /// The number of served client requests of an application, according to the records `responses`.
    pub(super) fn served_of(&self, application: u32) -> u64 {
        self.sums.responses[application as usize].served
    }

    pub(super) fn usage(&mut self, record: &Usage) {
        let who = self.application_text(record.application);
        self.require_all_evaluated_once(record.time);
        self.require_turn(FinalRecord::Usage, record.application, record.time, &who);
        let (evaluations, requests) = self.sums.usage[record.application as usize];
        let sum = requests / self.header.applications[record.application as usize].max_rate.value()
            + self.sums.used_in_flavours[record.application as usize];
        self.sums.recorded_evaluations = self.sums.recorded_evaluations.saturating_add(record.evaluations);
        // Evaluations can be added up only if they are recorded.
        if self.header.detail == Detail::Full {
            if (evaluations, sum) != (record.evaluations, record.sum) {
                let expected = format!("a usage of {sum} in {evaluations} evaluations");
                self.find(FindingKind::Totals, &who, expected, format!("{} in {}", record.sum, record.evaluations));
            }
            return;
        }
        let judged = self.sums.judged[record.application as usize];
        // A plan may also move an instance whose agent has not evaluated.
        if self.header.arbitration != Arbitration::Central && record.evaluations < judged {
            let expected = format!("at least {judged} evaluations, since that many were judged");
            self.find(FindingKind::Totals, &who, expected, record.evaluations.to_string());
        }
        if record.sum < 0.0 || (record.evaluations == 0 && record.sum > 0.0) {
            let expected = format!("a usage that {} evaluations can have", record.evaluations);
            self.find(FindingKind::Totals, &who, expected, record.sum.to_string());
        }
    }

    /// Reports agents whose last evaluations are missing; only the first call does. It must precede the check of usage,
    /// which a missing evaluation would fail, too.
    fn require_all_evaluated_once(&mut self, time: f64) {
        if !std::mem::replace(&mut self.sums.is_silence_checked, true) {
            self.require_all_evaluated(time);
        }
    }

    /// Checks that a record of this kind is the one of the next application or user, and is at the end of the run.
    fn require_turn(&mut self, kind: FinalRecord, place: u32, time: f64, who: &str) {
        let next = self.sums.final_records[kind as usize];
        if place as usize != next {
            let name = match kind {
                FinalRecord::Usage => "usage",
                FinalRecord::Clients if self.header.detail == Detail::Summary => "clients",
                FinalRecord::Clients => "client",
            };
            let expected = format!("the record `{name}` of index {next}: one for each, in order");
            self.find(FindingKind::Totals, who, expected, format!("that of index {place}"));
        }
        self.sums.final_records[kind as usize] = next.max((place as usize).saturating_add(1));
        if !is_near(time, self.header.duration) {
            let expected = format!("totals of the whole run, at {}", self.header.duration);
            self.find(FindingKind::Time, who, expected, format!("at {time}"));
        }
    }

    pub(super) fn client(&mut self, record: &Client) {
        let user = &self.header.users[record.user as usize];
        let (who, application) = (format!("user {}", user.id), user.application);
        self.require_turn(FinalRecord::Clients, record.user, record.time, &who);
        self.sums.clients[application as usize].add(record.served, record.lost, record.sum);
        let was_connected = self.world.were_connected[record.user as usize];
        if record.served > 0 && !was_connected {
            let expected = "no served requests of a user who was never connected";
            self.find(FindingKind::Totals, &who, expected, record.served.to_string());
        }
        if record.sum < 0.0 || (record.served == 0 && record.sum > 0.0) {
            let expected = format!("response times that {} requests can have", record.served);
            self.find(FindingKind::Totals, &who, expected, format!("{} in sum", record.sum));
        }
    }

    pub(super) fn clients(&mut self, record: &Clients) {
        let who = self.application_text(record.application);
        self.require_turn(FinalRecord::Clients, record.application, record.time, &who);
        let all = self.sums.responses[record.application as usize].sum - self.called.to(record.application).sum;
        self.sums.clients[record.application as usize].add(record.served, record.lost, all);
        let most = self.sums.users_of(record.application).min(record.served);
        if record.users > most || (record.users == 0) != (record.served == 0) {
            let expected = format!("1 to {most} users served, or none without requests");
            self.find(FindingKind::Totals, &who, expected, record.users.to_string());
            return;
        }
        // At most this many of the served requests are those of one user, because each counted user has at least one.
        let often = record.served.saturating_sub(record.users).saturating_add(1) as f64;
        let (least, most) = (all / often, all);
        let slack = BIN_TOLERANCE * most.max(1.0);
        if record.sum < least - slack || record.sum > most + slack {
            let expected = format!("mean response times that add up to {least} to {most}");
            self.find(FindingKind::Totals, &who, expected, record.sum.to_string());
        }
    }

    pub(super) fn end(&mut self, record: &End) {
        self.check_measured();
        self.has_ended = true;
        self.require_all_evaluated_once(record.time);
        let duration = self.header.duration;
        if !is_near(record.time, duration) {
            self.find(FindingKind::Time, "the end", format!("at {duration}"), format!("at {}", record.time));
        }
        self.require_final_records();
        self.require_same_sums();
        self.require_calls();
        self.require_totals(&record.totals);
        self.require_last_comparison();
    }

    /// Checks that each user of live nodes has a record `client`, and that they add up to the records `responses`.
    pub(super) fn require_clients(&mut self) {
        let (found, count) = (self.sums.final_records[FinalRecord::Clients as usize], self.header.users.len());
        if found < count {
            self.find(FindingKind::Totals, "the end", format!("{count} records `client`"), found.to_string());
        }
        self.require_same_sums();
    }

    fn require_final_records(&mut self) {
        let applications = self.header.applications.len();
        let (clients, of_what) = match self.header.detail {
            Detail::Summary => (applications, "clients"),
            Detail::Full | Detail::Operations => (self.header.users.len(), "client"),
        };
        for (kind, name, count) in
            [(FinalRecord::Usage, "usage", applications), (FinalRecord::Clients, of_what, clients)]
        {
            let found = self.sums.final_records[kind as usize];
            if found < count {
                let expected = format!("{count} records `{name}`");
                self.find(FindingKind::Totals, "the end", expected, found.to_string());
            }
        }
    }

    /// Checks that the results of an application's users and callers add up to the results in its records `responses`.
    fn require_same_sums(&mut self) {
        for application in 0..self.header.applications.len() {
            let (expected, mut found) = (self.sums.responses[application], self.sums.clients[application]);
            let called = self.called.to(application as u32);
            found.add(called.served, called.lost, called.sum);
            let who = self.application_text(application as u32);
            if (expected.served, expected.lost) != (found.served, found.lost) {
                let expected = format!("clients with {} requests served and {} lost", expected.served, expected.lost);
                self.find(FindingKind::Totals, &who, expected, format!("{} and {}", found.served, found.lost));
            }
            if !is_near(expected.sum, found.sum) {
                let expected = format!("clients whose response times add up to {}", expected.sum);
                self.find(FindingKind::Totals, &who, expected, found.sum.to_string());
            }
        }
    }

    fn require_totals(&mut self, found: &Totals) {
        let evaluations = match self.header.detail {
            Detail::Full => self.counts.evaluations,
            Detail::Operations | Detail::Summary => self.sums.recorded_evaluations,
        };
        let pairs = [
            ("evaluations", evaluations, found.evaluations),
            ("operations", self.counts.accepted(), found.operations),
            ("inhibited", self.counts.refused(), found.inhibited),
            ("handovers", self.counts.handovers, found.handovers),
            ("served", self.counts.served, found.served),
            ("lost", self.counts.lost, found.lost),
            ("instances", self.alive(), found.instances),
        ];
        for (name, expected, found) in pairs {
            if expected != found {
                self.find(FindingKind::Totals, name, expected.to_string(), found.to_string());
            }
        }
    }

    /// Whether a time is a multiple of the header's step, up to rounding errors; true if the step is invalid.
    pub(super) fn is_step(&self, time: f64) -> bool {
        let step = self.header.step;
        // An invalid step is reported with the header.
        step.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) || is_near((time / step).round() * step, time)
    }
}

/// Whether two sums or times are equal up to rounding errors.
pub(super) fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= SUM_TOLERANCE * one.abs().max(other.abs()).max(1.0)
}
