//! How many users were satisfied, and how many could have been.

use super::super::run::Run;
use super::canvas::{Anchor, Canvas};

/// The actual and the best value, with the regret between them; `None` when it was not measured.
pub(super) fn satisfied(run: &Run) -> Option<String> {
    let regret = run.regret.as_ref()?;
    let title = format!("Satisfied users, {}", run.label);
    let mut canvas = Canvas::new(336.0, 190.0, 44.0);
    let samples = &regret.samples;
    let most = samples.values.iter().map(|moment| moment.1[0].max(moment.1[1])).max().unwrap_or(0).max(1) as f64;
    let end = run.about.duration.0;
    let (x, y) = (canvas.x_scale(0.0, end), canvas.y_scale(0.0, most));
    canvas.y_axis(y, most, "satisfied users");
    let line = |side: usize| {
        let mut path = String::new();
        for (place, moment) in samples.values.iter().enumerate() {
            let from = x.at(samples.times[place].0);
            let to = x.at(samples.times.get(place + 1).map_or(end, |next| next.0));
            let word = if place == 0 { 'M' } else { 'L' };
            path += &format!("{word}{from:.1} {:.1}H{to:.1}", y.at(moment.1[side] as f64));
        }
        path
    };
    let mut between = line(1);
    for (place, moment) in samples.values.iter().enumerate().rev() {
        let from = x.at(samples.times[place].0);
        let to = x.at(samples.times.get(place + 1).map_or(end, |next| next.0));
        between += &format!("L{to:.1} {:.1}H{from:.1}", y.at(moment.1[0] as f64));
    }
    canvas.path(&format!("{between}Z"), r##"fill="#EE6677" fill-opacity="0.22""##);
    canvas.path(&line(1), r##"fill="none" stroke="#57606a" stroke-width="1" stroke-dasharray="3 2""##);
    canvas.path(&line(0), r##"fill="none" stroke="#4477AA" stroke-width="1.4""##);
    if let Some(last) = samples.values.last() {
        let [actual, best] = last.1.map(|count| y.at(count as f64));
        // Labels that would touch are moved apart.
        let lower = actual.max(best + 11.0);
        canvas.text([canvas.right + 5.0, best + 3.0], "best", Anchor::Start);
        canvas.text([canvas.right + 5.0, lower + 3.0], "actual", Anchor::Start);
    }
    canvas.x_axis(x, end, "time, ms");
    let mean = regret.satisfied[1] - regret.satisfied[0];
    canvas.text([canvas.right, canvas.top - 12.0], &format!("mean regret {mean:.2}"), Anchor::End);
    Some(canvas.finish(&title))
}
