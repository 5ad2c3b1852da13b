//! Describes results of tests in words.

use super::{Figure, FigureTest, LEVEL, Role};
use crate::measures::{ExtraMeasure, Measure};
use crate::statistics::PairedTest;

/// How a smaller value is judged: as better, or as neither better nor worse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Less {
    Better,
    Neither,
}

impl Figure {
    fn less(&self) -> Less {
        // A usage above 1 is an overload and one far below 1 is waste, so a smaller usage is not always better.
        let is_neither =
            self.measure == Some(Measure::ServiceUsage) || self.extra.as_ref().is_some_and(|extra| !extra.is_cost);
        if is_neither { Less::Neither } else { Less::Better }
    }

    /// The name shown to users.
    pub fn title(&self) -> String {
        match (&self.extra, self.group.as_str()) {
            (Some(extra), _) => extra.title.clone(),
            (None, "all") => self.quantity().to_owned(),
            (None, group) => format!("{}, {group}", self.quantity()),
        }
    }

    /// Whether it counts client requests, of which there are fewer rather than less.
    fn counts_requests(&self) -> bool {
        self.quantity().ends_with("client requests")
    }

    /// The name of what is measured, without the group, application, tier or call that it is measured for.
    pub(super) fn quantity(&self) -> &str {
        match (&self.extra, self.measure) {
            (Some(extra), _) => &extra.quantity,
            (None, Some(measure)) => measure.title(),
            (None, None) => "lost client requests",
        }
    }

    /// The group, application, tier or call that the figure describes; empty for figures of a whole run.
    pub(super) fn part(&self) -> &str {
        match (&self.extra, self.measure) {
            (Some(extra), _) => &extra.of,
            (None, Some(_)) => &self.group,
            (None, None) => "",
        }
    }

    /// Whether the figure counts something in each run.
    fn is_count(&self) -> bool {
        let counted = [Measure::Replicate, Measure::Migrate, Measure::Undeploy, Measure::Inhibited];
        self.extra.is_none() && self.measure.is_none_or(|measure| counted.contains(&measure))
    }

    /// Formats a difference without its sign. A difference between counts has a fraction only if it needs one.
    fn amount(&self, value: f64) -> String {
        let shown = format!("{:.*}", self.decimals(value), value);
        match shown.strip_suffix(".0") {
            Some(whole) if self.is_count() => whole.to_owned(),
            _ => shown,
        }
    }

    /// Formats a difference with its sign.
    pub(super) fn signed(&self, value: f64) -> String {
        let sign = if value.is_sign_negative() { "" } else { "+" };
        format!("{sign}{}", self.amount(value))
    }

    /// The unit of the figure; empty if it has none.
    pub fn unit(&self) -> &'static str {
        match (&self.extra, self.measure) {
            (Some(extra), _) => extra.unit,
            (None, Some(Measure::Response)) => "ms",
            (None, _) => "",
        }
    }

    /// The name shown to users, with its unit if it has one.
    pub(super) fn title_with_unit(&self) -> String {
        let unit = self.unit();
        if unit.is_empty() { self.title() } else { format!("{}, {unit}", self.title()) }
    }

    /// The number of decimals to show for a value.
    pub(super) fn decimals(&self, value: f64) -> usize {
        let of_measure = || self.measure.map_or(1, |measure| measure.decimals().max(1));
        self.extra.as_ref().map_or_else(of_measure, |extra| extra.decimals_for(value))
    }

    /// Describes in words that a policy has a lower or higher value by `amount`.
    fn difference(&self, amount: &str, is_less: bool) -> String {
        let kind = if self.group == "all" { String::new() } else { format!("{} ", self.group) };
        let of = if self.group == "all" { String::new() } else { format!(" of {} instances", self.group) };
        let about = if self.group == "all" { String::new() } else { format!(" ({})", self.group) };
        let fewer = if is_less { "fewer" } else { "more" };
        let less = if is_less { "less" } else { "more" };
        if let Some(ExtraMeasure { title, unit, .. }) = &self.extra {
            let space = if unit.is_empty() { "" } else { " " };
            let lower = if is_less { "lower" } else { "higher" };
            return format!("has {amount}{space}{unit} {lower} {title}");
        }
        match self.measure {
            Some(Measure::Response) => {
                let faster = if is_less { "faster" } else { "slower" };
                format!("answers {kind}requests {amount} ms {faster}")
            }
            Some(Measure::ServiceUsage) => {
                format!("loads {kind}instances by {amount} {less} of what they handle")
            }
            Some(Measure::Replicate) => format!("makes {amount} {fewer} replications{of} per run"),
            Some(Measure::Migrate) => format!("makes {amount} {fewer} migrations{of} per run"),
            Some(Measure::Undeploy) => format!("undeploys {amount} {fewer} {kind}instances per run"),
            Some(Measure::Inhibited) => format!("has {amount} {fewer} inhibited operations{of} per run"),
            Some(Measure::InstancesMean) => format!("runs {amount} {fewer} {kind}instances"),
            Some(Measure::CyclesMean) => {
                let sooner = if is_less { "sooner" } else { "later" };
                format!("is steady {amount} cycles {sooner}{about}")
            }
            Some(other) => format!("has {amount} {less} {kind}{}", other.title()),
            None => format!("loses {amount} {fewer} client requests per run"),
        }
    }
}

/// The result of a test in words; `second` is the name of the second policy.
pub(super) fn verdict(found: &FigureTest, second: &str) -> String {
    let figure = &found.figure;
    let Some(test) = &found.test else {
        return format!("{}: not tested, less than two seeds have it", figure.title());
    };
    let (p, corrected) = match figure.role {
        Role::Primary => (found.p_corrected.unwrap_or(test.p), ""),
        Role::Exploratory => (test.p, " (exploratory, not corrected)"),
    };
    if test.differing == 0 {
        return format!("{} is equal in every seed", figure.title());
    }
    let shift = test.shift.mean;
    if p > LEVEL {
        let signed =
            |[low, high]: [f64; 2]| format!(", 95 % interval {} to {}", figure.signed(low), figure.signed(high));
        let interval = test.shift.interval.map_or_else(String::new, signed);
        let (title, shift, p) = (figure.title(), figure.signed(shift), probability(p));
        return format!("no difference found in {title} ({shift}{interval}), {p}{corrected}");
    }
    // The test compares ranks, so the sign is that of the rank effect.
    let is_less = test.effect.mean < 0.0;
    let interval = match test.shift.interval {
        Some([low, high]) => {
            let (from, to) = if is_less { (-high, -low) } else { (low, high) };
            format!(" (95 % interval {} to {})", figure.amount(from), figure.amount(to))
        }
        None => String::new(),
    };
    let words = figure.difference(&figure.amount(shift.abs()), is_less);
    format!("{second} {words}{interval}, {}{corrected}, {}", probability(p), effect(test))
}

pub(super) fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

fn effect(test: &PairedTest) -> String {
    let size = test.effect.mean.abs();
    if size >= 1.0 {
        return "in every seed that differs".to_owned();
    }
    let word = match size {
        size if size < 0.1 => "tiny",
        size if size < 0.3 => "small",
        size if size < 0.5 => "medium",
        _ => "large",
    };
    let interval = test.effect.interval.map_or_else(String::new, |[low, high]| format!(", {low:.2} to {high:.2}"));
    format!("{word} effect ({:.2}{interval})", test.effect.mean)
}

/// The result of the tests of the primary outcomes of a pair in words.
pub(super) fn overall(tests: &[FigureTest], first: &str, second: &str) -> String {
    let primary = || tests.iter().filter(|test| test.figure.role == Role::Primary);
    if primary().all(|test| test.test.is_none()) {
        return format!("nothing can be said about {second} against {first}: that takes two seeds that differ");
    }
    let titles = |wanted: &dyn Fn(&FigureTest, f64) -> bool| {
        let is_wanted =
            |test: &&FigureTest| test.is_real() && test.test.is_some_and(|paired| wanted(test, paired.effect.mean));
        listed(primary().filter(is_wanted).map(|test| &test.figure))
    };
    let is_lower = |test: &FigureTest, side: f64| test.figure.less() == Less::Better && side < 0.0;
    let fewer = titles(&|test, side| is_lower(test, side) && test.figure.counts_requests());
    let less = titles(&|test, side| is_lower(test, side) && !test.figure.counts_requests());
    let more = titles(&|test, side| test.figure.less() == Less::Better && side > 0.0);
    let other = titles(&|test, _| test.figure.less() == Less::Neither);
    let judgement = match (less.is_empty() && fewer.is_empty(), more.is_empty()) {
        (true, true) if other.is_empty() => {
            return format!("no difference between {second} and {first} was found in the primary outcomes");
        }
        (true, true) => format!("{second} is neither better nor worse than {first}"),
        (false, true) => format!("{second} is better than {first} in what differs"),
        (true, false) => format!("{second} is worse than {first} in what differs"),
        (false, false) => format!("{second} gains something over {first} and pays for it"),
    };
    let parts = [("less", less), ("fewer", fewer), ("more", more), ("another", other)];
    let parts: Vec<String> =
        parts.into_iter().filter(|(_, list)| !list.is_empty()).map(|(word, list)| format!("{word} {list}")).collect();
    format!("{judgement}: {}", parts.join("; "))
}

/// Lists figures by measure, each with its groups: `response time (WS, LS); migrate`.
pub(super) fn listed<'a>(figures: impl Iterator<Item = &'a Figure>) -> String {
    let mut list: Vec<(&str, Vec<&str>)> = Vec::new();
    for figure in figures {
        let title = figure.quantity();
        match list.iter_mut().find(|(known, _)| *known == title) {
            Some((_, parts)) => parts.push(figure.part()),
            None => list.push((title, vec![figure.part()])),
        }
    }
    let shown = |(title, parts): (&str, Vec<&str>)| match parts.as_slice() {
        ["" | "all"] => title.to_owned(),
        parts => format!("{title} ({})", parts.join(", ")),
    };
    list.into_iter().map(shown).collect::<Vec<_>>().join("; ")
}
