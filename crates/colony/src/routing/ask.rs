//! Requests for newer sequences: the search for a lost route, and the answers to neighbours' requests.

use mario_domain::{ApplicationId, NodeId};

use super::applications::{Next, Search, is_plausible, through};
use super::message::{RoutingMessage, SequenceRequest};
use super::{Cause, Router, RouterEffect, Step};

/// How many nodes may forward a request for a sequence. Requests mostly follow next hops, which are loop-free; this
/// bounds the others.
const REQUEST_HOPS_MAX: u8 = 255;

impl Step<'_> {
    /// Called when the route to an application is lost. Starts a search if a neighbour claims to have a route, or if an
    /// instance moved to a neighbour. The announced label is then held for a while. It is withdrawn at once if there is
    /// no search, or if a neighbour's withdrawal is the cause and no instance moved.
    pub(super) fn lost(&mut self, application: &ApplicationId, cause: Cause) {
        let (now, timing) = (self.now, self.router.config.timing);
        let Some(entry) = self.router.applications.get_mut(application) else { return };
        let moved_until = entry.moved.as_ref().map(|(_, until)| *until);
        let has_hope = !entry.heard.is_empty() || moved_until.is_some();
        if has_hope {
            let at = if cause == Cause::Retracted { now + timing.ask_after } else { now };
            entry.search = Some(Search { at, after: timing.ask_after });
        }
        if moved_until.is_some() {
            entry.held_until = moved_until;
        } else if has_hope && cause == Cause::Other {
            entry.held_until = Some(now + timing.hold_for);
        } else {
            self.retract_all(application);
        }
        self.entry_timeout(application);
    }

    fn retract_all(&mut self, application: &ApplicationId) {
        let Some(entry) = self.router.applications.get_mut(application) else { return };
        entry.held_until = None;
        let announced: Vec<NodeId> = entry.announced.keys().cloned().collect();
        for neighbour in announced {
            self.retract(&neighbour, application);
        }
    }

    /// Handles the timeouts of an application that are due: drops the application, or ends the forwarding to a moved
    /// instance, continues a search and withdraws a held label.
    pub(super) fn entry_timeout(&mut self, application: &ApplicationId) {
        let (now, timing) = (self.now, self.router.config.timing);
        let Router { applications, timed, named, .. } = &mut *self.router;
        let Some(entry) = applications.get_mut(application) else { return };
        if entry.forget_at.is_some_and(|at| at <= now) {
            if entry.names.is_some() {
                *named -= 1;
                self.effects.push(RouterEffect::Changed(application.clone()));
            }
            applications.remove(application);
            timed.remove(application);
            return;
        }
        let has_moved_on = entry.moved.as_ref().is_some_and(|(_, until)| *until <= now);
        if has_moved_on {
            entry.moved = None;
        }
        if let Some(search) = entry.search.filter(|search| search.at <= now) {
            let after = (search.after * 2.0).min(timing.ask_after_max);
            // Without a neighbour to ask, the search ends: a neighbour that gets a route announces it at once.
            let is_possible = !entry.heard.is_empty() || entry.moved.is_some();
            entry.search = is_possible.then_some(Search { at: now + search.after, after });
            let wanted = entry.needed_sequence();
            let moved = entry.moved.as_ref().map(|(target, _)| target.clone());
            let mut asked: Vec<NodeId> = entry.heard.keys().cloned().collect();
            asked.extend(moved.filter(|target| !asked.contains(target)));
            for neighbour in asked {
                self.send_request(&neighbour, application, wanted, REQUEST_HOPS_MAX);
            }
        }
        let entry = self.router.applications.get(application);
        if entry.is_some_and(|entry| entry.held_until.is_some_and(|until| until <= now)) {
            self.retract_all(application);
        }
        if has_moved_on {
            self.publish(application);
        }
        self.time(application);
    }

    /// Asks a neighbour for a sequence, unless it was recently asked for this one or a newer one.
    pub(super) fn ask(&mut self, neighbour: &NodeId, application: &ApplicationId, sequence: u64) {
        self.pass_on(neighbour, application, sequence, REQUEST_HOPS_MAX);
    }

    fn pass_on(&mut self, neighbour: &NodeId, application: &ApplicationId, sequence: u64, hops_left: u8) {
        let (now, again) = (self.now, self.router.config.timing.hold_for);
        let Some(entry) = self.router.applications.get_mut(application) else { return };
        let asked = entry.asked.get(neighbour).copied();
        let was_asked = asked.is_some_and(|(asked, at)| asked >= sequence && at + again > now);
        if !was_asked {
            entry.asked.insert(neighbour.clone(), (sequence, now));
            self.send_request(neighbour, application, sequence, hops_left);
        }
    }

    fn send_request(&mut self, to: &NodeId, application: &ApplicationId, sequence: u64, hops_left: u8) {
        if self.router.neighbours.contains_key(to) {
            let request = SequenceRequest { application: application.clone(), sequence, hops_left };
            self.effects.push(RouterEffect::Send { to: to.clone(), message: RoutingMessage::Request(request) });
        }
    }

    /// Handles a neighbour's request for a newer sequence. A node whose own instance gets the requests increases its
    /// sequence as requested, and announces it; a node whose label is new enough announces that. Other nodes ask their
    /// next hop, or another neighbour if the next hop is the one that asks, and announce the newer sequence once they
    /// have it. A node without a route ignores the request, and a sequence that is not plausible is rejected.
    pub(super) fn requested(&mut self, from: &NodeId, request: &SequenceRequest) {
        let SequenceRequest { application, sequence, hops_left } = request;
        let Router { applications, neighbours, refused, .. } = &mut *self.router;
        let Some(entry) = applications.get_mut(application) else { return };
        if !is_plausible(*sequence, entry.newest_sequence()) {
            *refused += 1;
            return;
        }
        if entry.next == Next::Here {
            entry.sequence = entry.sequence.max(*sequence);
        }
        let Some(label) = entry.label(neighbours) else { return };
        if label.sequence >= *sequence && !entry.next.is_by(from) {
            return self.announce(from, application, label);
        }
        let next = match &entry.next {
            Next::By(next) if next != from => Some(next.clone()),
            // The route leads through the neighbour that asks, but another neighbour may have a path that does not.
            _ => {
                let others = entry.heard.iter().filter(|(neighbour, _)| *neighbour != from);
                let ways = others
                    .filter_map(|(neighbour, heard)| Some((through(*heard, neighbour, neighbours)?.metric, neighbour)));
                ways.min().map(|(_, neighbour)| neighbour.clone())
            }
        };
        entry.waiting.insert(from.clone(), *sequence);
        if let (Some(next), Some(hops_left)) = (next, hops_left.checked_sub(1)) {
            self.pass_on(&next, application, *sequence, hops_left);
        }
    }
}
