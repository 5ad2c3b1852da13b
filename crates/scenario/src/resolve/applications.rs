//! Resolves applications, their policies, and deployments. Also finds nodes and applications by their ids.

use std::collections::BTreeMap;

use mario_domain::{
    Application, ApplicationId, Capacity, Flavour, Hardware, HardwareKind, Id, NodeId, Quantity, Sleep,
};
use mario_settings::{At, Place};

use super::Resolving;
use crate::index::{ApplicationIndex, NodeIndex, PolicyIndex};
use crate::policies::{self, NEVER_MOVE, Role};
use crate::settings::{ApplicationSettings, ManagementStrategy, Time};
use crate::topology::Topology;
use crate::{ApplicationPlan, Deploy, PolicyText};

/// The agent policies in use. `by_key` maps the name or path of a policy and its configured memory to its index, or to
/// `None` if the policy has errors. A path that may name an embedded file has the prefix `carried:`.
#[derive(Default)]
pub(super) struct Policies {
    pub(super) texts: Vec<PolicyText>,
    pub(super) by_key: BTreeMap<(String, Option<u32>), Option<PolicyIndex>>,
}

impl Resolving<'_> {
    pub(super) fn applications(&mut self, topology: &Topology) -> (Vec<ApplicationPlan>, Policies) {
        let mut policies = Policies::default();
        let mut plans = Vec::new();
        if self.settings.application.is_empty() && self.settings.applications.are_none() {
            let mistake = self.mistake("there is no application", &[]);
            let remedy = "add `[[application]]` or `[applications]` with a `count`, or build upon `preset = \"paper\"`";
            self.mistakes.push(mistake.hint(remedy));
        }
        for (position, application) in self.settings.application.iter().enumerate() {
            let at = |key| [At::Key("application"), position.into(), At::Key(key)];
            self.check_hardware(topology, &application.id, application.hardware, &at("hardware"));
            let flavours = self.flavours(topology, application, position);
            let sleep = self.sleep(application, &flavours, position);
            let home = match &application.home {
                Some(home) => self.node(topology, home, &at("home")),
                None => cloud(topology),
            };
            let memory = application.memory.or(self.settings.memory.cycles);
            let policy = self.policy(&mut policies, &application.policy, memory, &at("policy"));
            let facts = self.facts(application.id.id(), &application.facts, "application", position);
            let service_time = application.service_time.unwrap_or(self.settings.network.service_time);
            plans.push(ApplicationPlan {
                application: Application {
                    id: application.id.clone(),
                    owner: application.owner.clone(),
                    hardware: application.hardware,
                    max_rate: application.max_rate,
                    max_latency: application.max_latency,
                    flavours,
                    sleep,
                },
                kind: application.kind.clone(),
                // A missing policy or home was already reported, and resolving fails.
                policy: policy.unwrap_or(PolicyIndex(0)),
                service_time: service_time.span(),
                facts,
                home: home.unwrap_or(NodeIndex(0)),
                is_anchor: application.anchor,
                stages: Vec::new(),
            });
        }
        self.draw_applications(topology, &mut plans, &mut policies);
        self.calls(&mut plans);
        (plans, policies)
    }

    /// The flavours of an application. Omitted keys have the values of the application. Reports errors.
    fn flavours(&mut self, topology: &Topology, application: &ApplicationSettings, position: usize) -> Vec<Flavour> {
        let listed = &application.flavour;
        if listed.len() > Application::FLAVOURS_MAX {
            let most = Application::FLAVOURS_MAX;
            let at = [At::Key("application"), position.into(), At::Key("flavour"), most.into()];
            let mistake = self.mistake(format!("an application has at most {most} flavours"), &at);
            self.mistakes.push(mistake.hint("every agent of it sees all of them: omit some"));
        }
        let own = (application.hardware, application.max_rate, application.max_latency);
        let mut flavours: Vec<Flavour> = Vec::new();
        for (index, written) in listed.iter().enumerate() {
            let at = |key| [At::Key("application"), position.into(), At::Key("flavour"), index.into(), At::Key(key)];
            let flavour = Flavour {
                id: written.id.clone(),
                hardware: written.hardware.unwrap_or(own.0),
                max_rate: written.max_rate.unwrap_or(own.1),
                max_latency: written.max_latency.unwrap_or(own.2),
                quality: written.quality,
            };
            if flavours.iter().any(|known| known.id == flavour.id) {
                let message = format!("application `{}` has the flavour `{}` twice", application.id, flavour.id);
                let mistake = self.mistake(message, &at("id"));
                self.mistakes.push(mistake.hint("give each flavour a name of its own"));
            }
            let others = [
                ("hardware", flavour.hardware != own.0),
                ("max_rate", flavour.max_rate != own.1),
                ("max_latency", flavour.max_latency != own.2),
            ];
            for (key, _) in others.into_iter().filter(|(_, is_other)| *is_other && index == 0) {
                let message =
                    format!("the first flavour is the default, and has the `{key}` of the application itself");
                let mistake = self.mistake(message, &at(key));
                self.mistakes.push(mistake.hint(format!("omit `{key}` here, or write it into the application")));
            }
            if index > 0 {
                self.check_hardware(topology, &application.id, flavour.hardware, &at("hardware"));
            }
            flavours.push(flavour);
        }
        flavours
    }

    /// The sleep settings of an application; `None` if its instances cannot sleep. Reports errors.
    fn sleep(&mut self, application: &ApplicationSettings, flavours: &[Flavour], position: usize) -> Option<Sleep> {
        let written = application.sleep.as_ref()?;
        let needed = std::iter::once(application.hardware).chain(flavours.iter().map(|flavour| flavour.hardware));
        let too_little = needed.into_iter().find(|needed| !written.keeps.fits(Capacity::Bounded(*needed)));
        if let Some(needed) = too_little {
            let at = [At::Key("application"), position.into(), At::Key("sleep"), At::Key("keeps")];
            let keeps = written.keeps;
            let message = format!("a sleeping instance of `{}` would keep {keeps}, more than it needs", application.id);
            let mistake = self.mistake(message, &at);
            self.mistakes.push(mistake.hint(format!("awake it needs {needed}: write that much or less")));
        }
        let start = written.start.value();
        let is_whole = start.fract() == 0.0 && start <= f64::from(u32::MAX);
        // A time in a scenario is finite, so `fraction` does not fail.
        let start = if is_whole { Quantity::whole(start as u32) } else { Quantity::fraction(start).ok()? };
        Some(Sleep { keeps: written.keeps, start })
    }

    pub(super) fn check_hardware(
        &mut self,
        topology: &Topology,
        id: &ApplicationId,
        hardware: Hardware,
        at: &[At<'_>],
    ) {
        if topology.nodes().any(|(_, node)| hardware.fits(node.capacity)) {
            return;
        }
        let bounded = topology.nodes().filter_map(|(_, node)| match node.capacity {
            Capacity::Bounded(hardware) => Some(hardware),
            Capacity::Unbounded => None,
        });
        let bounded: Vec<Hardware> = bounded.collect();
        let most = |kind: HardwareKind| bounded.iter().map(|hardware| hardware.of(kind)).max().unwrap_or(0);
        let message = if hardware.has_further() {
            format!("application `{id}` needs {hardware} and fits on no node")
        } else {
            let units = hardware.as_units();
            format!("application `{id}` needs {units} units of hardware and fits on no node")
        };
        // The first kind of which no node has enough. Without such a kind, each kind suffices on some node, but no node
        // has enough of all kinds.
        let lacking = HardwareKind::ALL.into_iter().find(|kind| hardware.of(*kind) > most(*kind));
        let hint = match lacking {
            Some(HardwareKind::Units) => format!("the largest node has {}", most(HardwareKind::Units)),
            Some(kind) => format!("the most {kind} that a node has is {}", most(kind)),
            None => "no node has enough of every kind".to_owned(),
        };
        let mistake = self.mistake(message, at);
        self.mistakes.push(mistake.hint(hint));
    }

    /// The deployments of operators with their places in the text, in chronological order. An application that no
    /// `[[deploy]]` names is deployed on its home at time 0.
    pub(super) fn deploys(
        &mut self,
        topology: &Topology,
        applications: &[ApplicationPlan],
        policies: &mut Policies,
    ) -> Vec<(Deploy, Place)> {
        let is_named = |id: &ApplicationId| self.settings.deploy.iter().any(|deploy| deploy.application == *id);
        let listed = self.settings.application.len();
        let home = |position: usize| {
            if position < listed {
                self.document.place(&["application".into(), position.into(), "home".into()])
            } else {
                self.document.place(&["applications".into()])
            }
        };
        let mut deploys: Vec<(Deploy, Place)> = applications
            .iter()
            .enumerate()
            .filter(|(_, plan)| !is_named(&plan.application.id))
            .map(|(position, plan)| {
                let application = ApplicationIndex::at(position);
                (
                    Deploy { time: mario_domain::Time::ZERO, application, node: plan.home, policy: plan.policy },
                    home(position),
                )
            })
            .collect();
        for (position, deploy) in self.settings.deploy.iter().enumerate() {
            let at = |key| [At::Key("deploy"), position.into(), At::Key(key)];
            let application = self.application(applications, &deploy.application, &at("application"));
            let node = deploy.node.as_ref().map(|node| self.node(topology, node, &at("node")));
            self.check_in_time(deploy.time, &at("time"));
            let Some(application) = application else { continue };
            let plan = &applications[application.position()];
            let policy = match &deploy.policy {
                Some(policy) => {
                    let listed = self.settings.application.get(application.position());
                    let memory = listed.and_then(|listed| listed.memory).or(self.settings.memory.cycles);
                    self.policy(policies, policy, memory, &at("policy"))
                }
                None => Some(plan.policy),
            };
            let node = node.unwrap_or(Some(plan.home));
            if let (Some(node), Some(policy)) = (node, policy) {
                let hardware = plan.application.hardware;
                if !hardware.fits(topology.node(node).capacity) {
                    let id = &topology.node(node).id;
                    let message = format!("application `{}` does not fit on node `{id}`", deploy.application);
                    let capacity = topology.node(node).capacity;
                    let mistake = self.mistake(message, &at("node"));
                    self.mistakes
                        .push(mistake.hint(format!("it needs {hardware} units of hardware, the node has {capacity}")));
                }
                let place = self.document.place(&at("node"));
                deploys.push((Deploy { time: deploy.time.moment(), application, node, policy }, place));
            }
        }
        deploys.sort_by_key(|(deploy, _)| deploy.time);
        deploys
    }

    pub(super) fn check_in_time(&mut self, time: Time, at: &[At<'_>]) {
        let duration = self.settings.duration.value();
        if time.value() >= duration {
            let mistake = self.mistake(format!("this never happens: the run ends at {duration}"), at);
            self.mistakes.push(mistake.hint("write an earlier time, or a longer `duration`"));
        }
    }

    /// The node with this id. Reports an error if there is none.
    pub(super) fn node(&mut self, topology: &Topology, id: &NodeId, at: &[At<'_>]) -> Option<NodeIndex> {
        let found = topology.find(id);
        if found.is_none() {
            let known = topology.nodes().map(|(_, node)| &node.id);
            let mistake = self.unknown("node", id.id(), at, known);
            self.mistakes.push(mistake);
        }
        found
    }

    /// The application with this id. Reports an error if there is none.
    pub(super) fn application(
        &mut self,
        applications: &[ApplicationPlan],
        id: &ApplicationId,
        at: &[At<'_>],
    ) -> Option<ApplicationIndex> {
        let found = find_application(applications, id.id());
        if found.is_none() {
            let mistake =
                self.unknown("application", id.id(), at, applications.iter().map(|plan| &plan.application.id));
            self.mistakes.push(mistake);
        }
        found
    }

    pub(super) fn policy(
        &mut self,
        policies: &mut Policies,
        written: &str,
        memory: Option<u32>,
        at: &[At<'_>],
    ) -> Option<PolicyIndex> {
        // Under the other management strategies, agents must propose nothing.
        let written = match self.settings.management.strategy {
            ManagementStrategy::Agents => written,
            _ => NEVER_MOVE,
        };
        let name = if policies::is_path(written) {
            let origin = if self.may_be_carried(&self.document.place(at)) { "carried:" } else { "" };
            format!("{origin}{}", self.document.path(at, written).display())
        } else {
            written.to_owned()
        };
        let key = (name, memory);
        if let Some(known) = policies.by_key.get(&key) {
            return *known;
        }
        let index = self.policy_text(Role::Agent, written, at).map(|mut text| {
            let declared = if memory.is_some() { None } else { policies::remembers(&text).inhibited };
            text.memory = text.memory_or_default(memory, declared);
            policies.texts.push(text);
            PolicyIndex::at(policies.texts.len() - 1)
        });
        policies.by_key.insert(key, index);
        index
    }

    /// The text of a shipped policy or of a policy file; `None` after an error, which is reported.
    pub(super) fn policy_text(&mut self, role: Role, written: &str, at: &[At<'_>]) -> Option<PolicyText> {
        let place = self.document.place(at);
        if !policies::is_path(written) {
            let shipped = policies::shipped(role, written);
            if shipped.is_none() {
                self.mistakes.push(policies::unknown(role, written, place));
            }
            return shipped;
        }
        let path = self.document.path(at, written);
        match policies::load(role, &path, &place, &mut self.files_of(&place)) {
            Ok(mut text) => {
                self.name_policy(&mut text, written, &place);
                Some(text)
            }
            Err(mistakes) => {
                self.mistakes.extend(mistakes);
                None
            }
        }
    }
}

/// The application with this id; `None` if there is none.
pub(super) fn find_application(applications: &[ApplicationPlan], id: &Id) -> Option<ApplicationIndex> {
    applications.iter().position(|plan| plan.application.id.id() == id).map(ApplicationIndex::at)
}

/// The default home of applications: the first node with the lowest tier number.
pub(super) fn cloud(topology: &Topology) -> Option<NodeIndex> {
    topology.nodes().min_by_key(|(_, node)| node.tier).map(|(index, _)| index)
}
