//! Reports the results of client requests in the rate model.

use mario_scenario::UserIndex;

use super::calls::CallContext;
use super::cohort::Cohort;
use super::load::PathDelay;
use super::{Flow, FlowCell, FlowWorld};
use crate::recorder::Recorder;
use crate::routing::Route;

impl Flow {
    /// Reports the results of all requests so far to the recorder, including calls. Returns the number of these
    /// requests and the number of links that they passed.
    pub(crate) fn report(&self, world: &FlowWorld<'_>, recorder: &mut impl Recorder) -> (u64, u64) {
        let delay = |route: &Route| self.delay(world.link_path(*route), CallContext::of(world));
        let of_cell = |cell: &FlowCell| {
            (!cell.members.is_empty()).then(|| PathDelay::mean(cell.routes.iter().map(delay))).flatten()
        };
        let delays: Vec<Option<PathDelay>> = self.cells.iter().map(of_cell).collect();
        let (mut emitted, mut hops) = (0, self.accounts.hops());
        for (user, plan) in (0..).map(UserIndex).zip(&world.scenario.users) {
            let cell = self.cell_of_user[user.position()];
            let delay = cell.and_then(|cell| delays[cell.position()].as_ref());
            let cohort = cell.map_or_else(Cohort::default, |cell| self.cells[cell.position()].cohort);
            let unserved = self.unserved(user, world);
            let (sent, emitted_by_user, more_hops) = self.accounts.sent(user, &cohort, delay, unserved, world.now);
            recorder.sent(user, plan.application, &sent);
            emitted += emitted_by_user;
            hops += more_hops;
        }
        let (calls, call_hops) = self.report_calls(CallContext::of(world), recorder);
        (emitted + calls, (hops + call_hops).floor() as u64)
    }
}
