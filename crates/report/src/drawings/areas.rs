//! Stacked areas over time: instances by application and by tier, sleeping instances, and actions of owners.

use mario_page::drawing::{Chart, Ends, Part, Stack, TimeAxis, amount, application_colour, tier_colour};

use super::WIDTHS;
use crate::run::Run;
use crate::series::Samples;

/// Stacks the counts of each sample. `named` has the name and the colour of each part.
fn stack<T: AsRef<[u64]>>(
    run: &Run,
    label: &'static str,
    samples: &Samples<T>,
    named: impl IntoIterator<Item = (String, String)>,
) -> Stack {
    let part = |(index, (name, colour)): (usize, (String, String))| {
        let counts = samples.values.iter().map(|counts| counts.as_ref()[index]).collect();
        Part { name, colour, counts }
    };
    Stack {
        label,
        axis: TimeAxis::of_run(run.about.duration.0),
        times: samples.times.iter().map(|time| time.0).collect(),
        parts: named.into_iter().enumerate().map(part).collect(),
    }
}

pub(super) fn chart(stack: &Stack, ends: Ends) -> Chart {
    stack.chart_to(ends, &WIDTHS, "No cycle has happened.", |time| format!("from time {}", amount(time)))
}

fn applications(run: &Run) -> impl Iterator<Item = (String, String)> {
    let rows = run.applications.iter().enumerate().filter(|(_, application)| application.first_description.is_none());
    rows.map(|(index, application)| (application.id.clone(), application_colour(index)))
}

pub(super) fn by_application(run: &Run) -> Stack {
    stack(run, "instances", &run.instances, applications(run))
}

/// Returns `None` if no application can sleep, or if the trace has only counts.
pub(super) fn asleep(run: &Run) -> Option<Stack> {
    run.asleep.as_ref().map(|samples| stack(run, "sleeping instances", samples, applications(run)))
}

/// Returns `None` if no owner of a node evicted or shrank an instance.
pub(super) fn by_owners(run: &Run) -> Option<Stack> {
    let named = ["evicted", "shrunk"].map(|name| (name.to_owned(), format!("var(--{name})")));
    run.owners.as_ref().map(|samples| stack(run, "instances", samples, named))
}

/// The top tier is drawn at the bottom.
pub(super) fn by_tier(run: &Run) -> Stack {
    let tiers = run.tiers.values.first().map_or(0, Vec::len);
    let name = |tier: usize| run.tier_names.get(tier).cloned().unwrap_or_else(|| format!("tier {tier}"));
    stack(run, "instances", &run.tiers, (0..tiers).map(|tier| (name(tier), tier_colour(tier, tiers))))
}
