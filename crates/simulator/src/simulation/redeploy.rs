//! Redeploys applications that users need and that have no instance left.

use mario_scenario::{ApplicationIndex, Deploy};

use super::{Absence, Event, Simulation};
use crate::population::Deployment;

impl Simulation<'_> {
    /// Schedules the redeployment of each application for which `is_missed` is true, unless it is already scheduled. If
    /// the scenario has no redeploy delay, notes that the application is absent.
    pub(super) fn watch_over_applications(&mut self) {
        let now = self.queue.now();
        for position in 0..self.scenario.applications.len() {
            let application = ApplicationIndex::at(position);
            if self.is_redeploying[position] || !self.is_missed(application) {
                continue;
            }
            if let Some(delay) = self.scenario.redeploy_delay {
                self.is_redeploying[position] = true;
                self.queue.schedule(now + delay, Event::Redeploy(application));
            } else if !self.statistics.absences.iter().any(|absence| absence.application == application) {
                self.statistics.absences.push(Absence { application, since: now, lost: 0 });
            }
        }
    }

    /// Counts a lost request, if the application to which it was sent is absent.
    pub(super) fn count_loss(&mut self, application: ApplicationIndex) {
        let absence = self.statistics.absences.iter_mut().find(|absence| absence.application == application);
        if let Some(absence) = absence.filter(|_| self.placement.agents(application).is_empty()) {
            absence.lost += 1;
        }
    }

    /// Whether an application has no instance, no pending deployment and no first deploy still to come, although users
    /// who are present need it, directly or through calls.
    fn is_missed(&self, application: ApplicationIndex) -> bool {
        let is_asked_for = |deployment: &Deployment| deployment.application == application;
        self.placement.agents(application).is_empty()
            && !self.deployments.iter().any(is_asked_for)
            && !self.is_to_come(application)
            && self
                .users
                .iter()
                .any(|user| user.wanted.is_some() && self.scenario.leads_to(user.application, application))
    }

    /// Whether the scenario's first deploy of an application is still to come.
    fn is_to_come(&self, application: ApplicationIndex) -> bool {
        let (begun, to_come) = self.scenario.deploys.split_at(self.deploys_begun);
        let is_of_it = |deploy: &Deploy| deploy.application == application;
        to_come.iter().any(is_of_it) && !begun.iter().any(is_of_it)
    }

    /// Requests a new instance on the application's home node on behalf of an operator, if the application is still
    /// missed. The managers judge the request at their next activation.
    pub(super) fn redeploy(&mut self, application: ApplicationIndex) {
        self.is_redeploying[application.position()] = false;
        if !self.is_missed(application) {
            return;
        }
        let plan = &self.scenario.applications[application.position()];
        let deployment = Deployment { application, node: plan.home, policy: plan.policy };
        self.deployments.push(self.up_to_date(deployment));
    }
}
