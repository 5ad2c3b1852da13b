//! What a test means, in words.

use super::{Figure, FigureTest, Pair};
use crate::measures::Measure;

/// What less of a figure is: cheaper or faster, or neither good nor bad.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Less {
    Better,
    Neither,
}

impl Figure {
    fn less(&self) -> Less {
        // A usage above 1 is too much and one far below is waste, so that less is not better by itself.
        if self.measure == Some(Measure::ServiceUsage) { Less::Neither } else { Less::Better }
    }

    /// What a person calls it.
    pub fn title(&self) -> String {
        let title = self.measure.map_or("lost client requests", Measure::title);
        if self.group == "all" { title.to_owned() } else { format!("{title}, {}", self.group) }
    }

    /// How many decimals of a mean are worth showing.
    pub(super) fn decimals(&self) -> usize {
        self.measure.map_or(1, |measure| measure.decimals().max(1))
    }

    /// That somebody has less or more of it, in words.
    fn difference(&self, amount: &str, is_less: bool) -> String {
        let kind = if self.group == "all" { String::new() } else { format!("{} ", self.group) };
        let of_kind = if self.group == "all" { String::new() } else { format!(" {}", self.group) };
        let fewer = if is_less { "fewer" } else { "more" };
        let less = if is_less { "less" } else { "more" };
        match self.measure {
            Some(Measure::Response) => {
                let faster = if is_less { "faster" } else { "slower" };
                format!("answers {kind}requests {amount} ms {faster}")
            }
            Some(Measure::ServiceUsage) => {
                format!("loads {kind}instances by {amount} {less} of what they handle")
            }
            Some(Measure::Replicate) => format!("replicates{of_kind} {amount} times {less}"),
            Some(Measure::Migrate) => format!("migrates{of_kind} {amount} times {less}"),
            Some(Measure::Undeploy) => format!("undeploys{of_kind} {amount} times {less}"),
            Some(Measure::Inhibited) => format!("is inhibited{of_kind} {amount} times {less}"),
            Some(Measure::InstancesMean) => format!("runs {amount} {fewer} {kind}instances"),
            Some(Measure::CyclesMean) => {
                let sooner = if is_less { "sooner" } else { "later" };
                format!("is steady{of_kind} {amount} cycles {sooner}")
            }
            Some(other) => format!("has {amount} {less} {kind}{}", other.title()),
            None => format!("loses {amount} {fewer} client requests"),
        }
    }
}

/// What a test says about the second policy.
pub(super) fn verdict(found: &FigureTest, second: &str) -> String {
    let figure = &found.figure;
    let (Some(test), Some(p)) = (&found.test, found.p_corrected) else {
        return format!("{}: not tested, less than two seeds have it", figure.title());
    };
    let decimals = figure.decimals();
    let Some([low, high]) = test.difference.interval else { return String::new() };
    let mean = test.difference.mean;
    if !found.is_real() {
        return format!(
            "no difference found in {} ({mean:+.decimals$}, 95 % interval {low:+.decimals$} to {high:+.decimals$}), {}",
            figure.title(),
            probability(p)
        );
    }
    let is_less = mean < 0.0;
    let (from, to) = if is_less { (-high, -low) } else { (low, high) };
    let words = figure.difference(&format!("{:.decimals$}", mean.abs()), is_less);
    format!(
        "{second} {words} (95 % interval {from:.decimals$} to {to:.decimals$}), {}{}",
        probability(p),
        effect(found)
    )
}

pub(super) fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

fn effect(found: &FigureTest) -> String {
    let Some(effect) = found.test.and_then(|test| test.effect) else { return ", in every seed alike".to_owned() };
    let word = match effect.mean.abs() {
        size if size < 0.2 => "tiny",
        size if size < 0.5 => "small",
        size if size < 0.8 => "medium",
        _ => "large",
    };
    format!(", effect {:.1} ({word})", effect.mean)
}

/// What all tests of a pair say together.
pub(super) fn overall(pair: &Pair) -> String {
    let Pair { first, second, tests, .. } = pair;
    if tests.iter().all(|test| test.test.is_none()) {
        return format!("nothing can be said about {second} against {first}: that takes two seeds that differ");
    }
    let titles = |wanted: &dyn Fn(&FigureTest, f64) -> bool| -> Vec<String> {
        let is_wanted =
            |test: &&FigureTest| test.is_real() && test.test.is_some_and(|paired| wanted(test, paired.difference.mean));
        tests.iter().filter(is_wanted).map(|test| test.figure.title()).collect()
    };
    let better = titles(&|test, mean| test.figure.less() == Less::Better && mean < 0.0);
    let worse = titles(&|test, mean| test.figure.less() == Less::Better && mean > 0.0);
    let other = titles(&|test, _| test.figure.less() == Less::Neither);
    let mut parts = Vec::new();
    if !better.is_empty() {
        parts.push(format!("it has less of {}", better.join("; ")));
    }
    if !worse.is_empty() {
        parts.push(format!("it has more of {}", worse.join("; ")));
    }
    if !other.is_empty() {
        parts.push(format!("it differs in {}", other.join("; ")));
    }
    let judgement = match (better.is_empty(), worse.is_empty()) {
        (true, true) if other.is_empty() => return format!("no difference between {second} and {first} was found"),
        (true, true) => format!("{second} is neither better nor worse than {first}"),
        (false, true) => format!("{second} is better than {first} in what differs"),
        (true, false) => format!("{second} is worse than {first} in what differs"),
        (false, false) => format!("{second} gains something over {first} and pays for it"),
    };
    format!("{judgement}: {}", parts.join("; and "))
}
