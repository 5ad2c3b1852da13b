//! What there is over time, stacked: instances by application and by tier.

use super::super::compact::Compact;
use super::super::run::Run;

use super::canvas::{Anchor, Canvas};
use super::{application_colour, tier_colour};

/// More applications than this cannot be labelled: the smallest become one.
const PARTS_MAX: usize = 12;
const OTHERS: &str = "#c4c9cf";

pub(super) fn by_application(run: &Run) -> String {
    let sums: Vec<u64> = (0..run.applications.len())
        .map(|place| run.instances.values.iter().map(|counts| counts[place]).sum())
        .collect();
    let mut kept: Vec<usize> = (0..sums.len()).collect();
    if kept.len() > PARTS_MAX {
        kept.sort_by_key(|place| std::cmp::Reverse(sums[*place]));
        kept.truncate(PARTS_MAX - 1);
        kept.sort_unstable();
    }
    let rest = sums.len() - kept.len();
    let mut names: Vec<String> = kept.iter().map(|place| run.applications[*place].id.clone()).collect();
    let mut colours: Vec<&str> = kept.iter().map(|place| application_colour(*place)).collect();
    if rest > 0 {
        names.push(format!("{rest} others"));
        colours.push(OTHERS);
    }
    let few = |counts: &Vec<u64>| {
        let mut few: Vec<u64> = kept.iter().map(|place| counts[*place]).collect();
        if rest > 0 {
            few.push(counts.iter().sum::<u64>() - few.iter().sum::<u64>());
        }
        few
    };
    let values: Vec<Vec<u64>> = run.instances.values.iter().map(few).collect();
    let title = format!("Instances by application, {}", run.label);
    stacked(run, &run.instances.times, &values, &names, &colours, &title)
}

pub(super) fn by_tier(run: &Run) -> String {
    let count = run.tiers.values.first().map_or(0, Vec::len);
    let colours: Vec<&str> = (0..count).map(|tier| tier_colour(tier, count)).collect();
    let title = format!("Instances by tier, {}", run.label);
    stacked(run, &run.tiers.times, &run.tiers.values, &run.tier_names, &colours, &title)
}

fn stacked(
    run: &Run,
    times: &[Compact],
    values: &[Vec<u64>],
    names: &[String],
    colours: &[&str],
    title: &str,
) -> String {
    let mut canvas = Canvas::new(336.0, 190.0, 78.0);
    let Some(last) = values.last() else { return canvas.nothing("No cycle has happened.", title) };
    let most = values.iter().map(|counts| counts.iter().sum::<u64>()).max().unwrap_or(0).max(1) as f64;
    let end = run.about.duration.0;
    let (x, y) = (canvas.x_scale(0.0, end), canvas.y_scale(0.0, most));
    canvas.y_axis(y, most, "instances");
    let until = |place: usize| match times.get(place + 1) {
        Some(next) => next.0,
        None => (times[place].0 + run.about.evaluation_period.0).min(end),
    };
    let mut middles = Vec::new();
    for (part, colour) in colours.iter().enumerate() {
        let below = |counts: &Vec<u64>| counts[..part].iter().sum::<u64>() as f64;
        let (mut upper, mut lower) = (String::new(), String::new());
        for (place, counts) in values.iter().enumerate() {
            let (from, to) = (x.at(times[place].0), x.at(until(place)));
            let word = if place == 0 { 'M' } else { 'L' };
            upper += &format!("{word}{from:.1} {:.1}H{to:.1}", y.at(below(counts) + counts[part] as f64));
            lower = format!("L{to:.1} {:.1}H{from:.1}{lower}", y.at(below(counts)));
        }
        canvas.path(&format!("{upper}{lower}Z"), &format!(r#"fill="{colour}""#));
        middles.push(y.at(below(last) + last[part] as f64 / 2.0));
    }
    // From the lowest part up, each label at least a line above the one before.
    let mut floor = canvas.bottom;
    for (place, middle) in middles.iter().enumerate() {
        let height = middle.min(floor);
        floor = height - 11.0;
        canvas.rectangle([canvas.right + 7.0, height - 3.5], [7.0, 7.0], colours[place]);
        canvas.text([canvas.right + 18.0, height + 3.0], &names[place], Anchor::Start);
    }
    canvas.x_axis(x, end, "time, ms");
    canvas.finish(title)
}
