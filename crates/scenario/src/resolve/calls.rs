//! Resolves the calls between applications.

use mario_settings::At;

use super::Resolving;
use crate::ApplicationPlan;
use crate::calls::{Call, CallOrder, DEPTH_MAX, REQUESTS_MAX, callers_first, depths, requests_caused, stages};
use crate::index::ApplicationIndex;
use crate::settings::{CallOrderWord, ObservationStrategy, RoutingStrategy};

/// The maximum number of calls of an application.
const CALLS_MAX: usize = 64;

impl Resolving<'_> {
    /// Sets the stages in the plans of the applications in `[[application]]`; drawn applications make no calls. Reports
    /// errors.
    pub(super) fn calls(&mut self, plans: &mut [ApplicationPlan]) {
        let settings = self.settings;
        if settings.application.iter().all(|application| application.call.is_empty()) {
            return;
        }
        let reported = self.mistakes.len();
        self.check_strategies();
        for (position, application) in settings.application.iter().enumerate() {
            if application.call.len() > CALLS_MAX {
                let mistake =
                    self.mistake(format!("an application has at most {CALLS_MAX} calls"), &at(position, CALLS_MAX));
                self.mistakes.push(mistake.hint("write several requests to one application as one call"));
            }
            let mut calls = Vec::new();
            for (index, call) in application.call.iter().enumerate().take(CALLS_MAX) {
                let at = at(position, index);
                let Some(called) = self.application(plans, &call.application, &at) else { continue };
                if called.position() == position {
                    let mistake = self.mistake(format!("application `{}` calls itself", application.id), &at);
                    self.mistakes.push(mistake.hint("a call is to another application: name another, or omit it"));
                    continue;
                }
                let order = match call.order {
                    CallOrderWord::Sequence => CallOrder::Sequence,
                    CallOrderWord::Parallel => CallOrder::Parallel,
                };
                calls.push((order, Call { application: called, requests: call.requests }));
            }
            plans[position].stages = stages(calls);
        }
        if self.mistakes.len() == reported {
            self.check_graph(plans);
        }
    }

    /// Rejects calls with the prototype's routing or observation strategy, because its routing table has entries for
    /// users only.
    fn check_strategies(&mut self) {
        let is_nearest = self.settings.routing.strategy == RoutingStrategy::Nearest;
        let is_arrivals = self.settings.observation.strategy == ObservationStrategy::Arrivals;
        let all = [("routing", "nearest", is_nearest), ("observation", "arrivals", is_arrivals)];
        for (section, strategy, _) in all.into_iter().filter(|(_, _, is_it)| !is_it) {
            let message = format!("applications that call others need the {section} `{strategy}`");
            let mistake = self.mistake(message, &[section.into(), "strategy".into()]);
            self.mistakes.push(mistake.hint(format!("write `strategy = \"{strategy}\"` in `[{section}]`")));
        }
    }

    /// Reports a cycle, or else a chain of calls that is too long, or else a call graph that causes too many requests.
    fn check_graph(&mut self, plans: &[ApplicationPlan]) {
        let id = |index: ApplicationIndex| &plans[index.position()].application.id;
        let order = match callers_first(plans) {
            Ok(order) => order,
            Err(cycle) => {
                let names = cycle.iter().chain(cycle.first()).map(|index| format!("`{}`", id(*index)));
                let names: Vec<String> = names.collect();
                let place = match cycle[..] {
                    [first, next, ..] => self.place_of_call(first, next, plans),
                    _ => vec!["application".into()],
                };
                let message = format!("applications call each other in a circle: {}", names.join(" calls "));
                let mistake = self.mistake(message, &place);
                self.mistakes.push(mistake.hint("remove one of these calls: a request would never be answered"));
                return;
            }
        };
        let depths = depths(plans, &order);
        if let Some(deep) = order.iter().rev().find(|index| depths[index.position()] > DEPTH_MAX) {
            let message = format!(
                "from `{}` on, {} applications call each other in turn, and {DEPTH_MAX} is the most",
                id(*deep),
                depths[deep.position()]
            );
            let mistake = self.mistake(message, &[At::Key("application"), deep.position().into(), At::Key("call")]);
            self.mistakes.push(mistake.hint("remove a call of this chain"));
            return;
        }
        let caused = requests_caused(plans, &order);
        // Of several applications that cause too many requests, one is reported that calls none of the others.
        let Some(most) = order.iter().rev().find(|index| caused[index.position()] > REQUESTS_MAX) else { return };
        let message = format!(
            "one client request to `{}` leads to {} requests, and {REQUESTS_MAX} is the most",
            id(*most),
            caused[most.position()]
        );
        let mistake = self.mistake(message, &[At::Key("application"), most.position().into(), At::Key("call")]);
        self.mistakes.push(mistake.hint("write fewer `requests`, here or in what is called"));
    }

    /// The path of the first call from `caller` to `called`.
    fn place_of_call(
        &self,
        caller: ApplicationIndex,
        called: ApplicationIndex,
        plans: &[ApplicationPlan],
    ) -> Vec<At<'static>> {
        let calls = &self.settings.application[caller.position()].call;
        let is_it = |id: &mario_domain::ApplicationId| *id == plans[called.position()].application.id;
        let index = calls.iter().position(|call| is_it(&call.application)).unwrap_or(0);
        at(caller.position(), index).to_vec()
    }

    /// For each application, whether users use it directly: the value of its key `users`. By default, users use the
    /// applications that no other application calls.
    pub(super) fn used_by_users(&self, plans: &[ApplicationPlan]) -> Vec<bool> {
        let mut used = vec![true; plans.len()];
        for call in plans.iter().flat_map(ApplicationPlan::calls) {
            used[call.application.position()] = false;
        }
        for (used, application) in used.iter_mut().zip(&self.settings.application) {
            *used = application.users.unwrap_or(*used);
        }
        used
    }
}

/// The path of the key `application` of a call in the scenario.
fn at(application: usize, call: usize) -> [At<'static>; 5] {
    [At::Key("application"), application.into(), At::Key("call"), call.into(), At::Key("application")]
}
