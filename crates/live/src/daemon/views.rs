//! What operators see of a node: its status, its instances, its routes and its journal.

use std::collections::{BTreeMap, BTreeSet};

use mario_colony::{Confirmation, JournalId, Owned, RequestFact};
use mario_domain::{InstanceId, NodeId};

use super::LastDecision;
use super::core::Core;
use super::events::workload_text;
use crate::api::{self, Word};
use crate::application::digest;

impl Core {
    pub(super) fn status(&mut self) -> api::Status {
        let here: BTreeSet<InstanceId> = self.node.instances().cloned().collect();
        self.memory.keep_only(&here);
        let ledger = self.node.ledger();
        let manager = self.node.manager();
        api::Status {
            node: self.config.node.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_ms: self.start.elapsed().as_millis() as u64,
            journal: journal_text(self.node.journal()),
            journal_fault: self.stalled.as_ref().map(|(fault, _)| fault.line()),
            confirmation: Word::Known(match self.node.confirmation() {
                Confirmation::Confirmed => api::Confirmation::Confirmed,
                Confirmation::Unconfirmed => api::Confirmation::Unconfirmed,
                Confirmation::Outdated => api::Confirmation::Outdated,
            }),
            outdated: self.outdated().map(|(cause, _)| cause),
            trace_fault: self.recorder.fault().map(str::to_owned),
            workload_fault: self.copies.room().fault(),
            id_fault: self.links.id_fault(),
            certificates: self.certificates.status(),
            is_draining: self.is_draining,
            evaluation_ms: Some(self.config.timing.evaluation_ms),
            acceptance_policy: self
                .config
                .policy
                .as_ref()
                .and_then(|path| path.file_name()?.to_str())
                .map(str::to_owned),
            capacity: Some(manager.capacity().into()),
            free: Some(manager.free().into()),
            unreserved: Some(manager.unreserved().into()),
            instances: here.len(),
            in_custody: ledger.custody().count(),
            offered: ledger.grants().count(),
            draining_copies: ledger.draining().count(),
            copies_down: self.node.copies_down(),
            is_quiet: self.node.is_quiet(),
            links_up: self.up.len(),
            neighbours: self.config.neighbours.len(),
        }
    }

    /// Whether the node can write its journal and start workloads, and no other node has its id.
    pub(super) fn health(&self) -> api::Health {
        let outdated = self.outdated().map(|(cause, _)| cause);
        let fault = outdated.or_else(|| self.stalled.as_ref().map(|(fault, _)| fault.line()));
        let fault = fault.or_else(|| self.copies.room().fault()).or_else(|| self.links.id_fault());
        api::Health { is_healthy: fault.is_none(), fault }
    }

    /// The last decision of an agent; `None` if it has not decided here.
    pub(super) fn last_decision(&self, instance: &InstanceId) -> Option<LastDecision> {
        let owned = self.node.ledger().owned().find(|owned| owned.instance == *instance);
        let is_anchor = owned.is_some_and(|owned| owned.is_anchor);
        self.memory.knowledge(instance).map(|knowledge| LastDecision { knowledge, is_anchor })
    }

    pub(super) fn instances(&self) -> api::Instances {
        let ledger = self.node.ledger();
        let owned = ledger.owned().map(|owned| api::Instance::Owned(Box::new(self.owned(owned))));
        let custody = ledger.custody().map(|custody| {
            api::Instance::InCustody(Box::new(api::InstanceInCustody {
                instance: custody.owned.instance.clone(),
                application: custody.owned.descriptor.application.id.clone(),
                state: api::CustodyState::InCustody,
                target: Some(custody.target.clone()),
                is_anchor: custody.owned.is_anchor,
                copy: self.copies.status(custody.owned.workload),
            }))
        });
        api::Instances { instances: owned.chain(custody).collect() }
    }

    /// An instance that this node owns.
    pub(super) fn instance(&self, instance: &InstanceId) -> Option<api::Instance> {
        let owned = self.node.ledger().owned().find(|owned| owned.instance == *instance)?;
        Some(api::Instance::Owned(Box::new(self.owned(owned))))
    }

    fn owned(&self, owned: &Owned) -> api::OwnedInstance {
        let instance = &owned.instance;
        let remembered = self.memory.of(instance);
        let application = &owned.descriptor.application;
        api::OwnedInstance {
            instance: instance.clone(),
            application: application.id.clone(),
            version: owned.descriptor.version,
            digest: Some(digest(&owned.descriptor.document)),
            previous_version: self.node.ledger().previous(instance).map(|previous| previous.version),
            flavour: application.flavour(owned.flavour).map(|flavour| flavour.id.clone()),
            state: api::OwnedState::Owned,
            is_asleep: owned.is_asleep(),
            epoch: u64::from(owned.epoch.0),
            is_pinned: owned.is_pinned,
            is_anchor: owned.is_anchor,
            is_transferring: self.node.is_frozen(instance),
            replications_left: owned.replications_left,
            hardware: Some(owned.needed().into()),
            max_rate: Some(application.max_rate),
            max_latency: Some(application.max_latency),
            evaluations: self.node.snapshot(instance).map(|snapshot| snapshot.evaluations),
            copy: self.copies.status(owned.workload),
            restart: self.restart(owned.workload),
            held_back: self.held_back(owned),
            facts: api::AgentFacts {
                requests: remembered.map(|remembered| remembered.requests.iter().map(request).collect()),
                neighbours: self.up.keys().cloned().collect(),
                free: Some(self.node.manager().free().into()),
            },
            decisions: remembered.map(|remembered| remembered.decisions.iter().cloned().collect()),
        }
    }

    pub(super) fn routes(&self) -> api::Routes {
        let routes = self.board.routes().load();
        let copies = routes.copies.iter().map(|(application, copies)| {
            let copies = copies.iter().map(|copy| api::CopyRoute {
                instance: copy.instance.clone(),
                workload: workload_text(copy.workload),
                address: Some(copy.address),
            });
            (application.clone(), copies.collect())
        });
        let hops = routes.next_hops.iter().map(|(application, hops)| {
            let hops = hops
                .iter()
                .map(|hop| api::Hop { neighbour: hop.neighbour.clone(), latency_quanta: hop.latency_quanta });
            (application.clone(), hops.collect())
        });
        api::Routes {
            copies: copies.collect(),
            next_hops: hops.collect(),
            hosts: routes.hosts.clone(),
            prefixes: routes.prefixes.clone(),
            names_claimed_twice: self.names.conflicts().iter().cloned().collect(),
        }
    }

    pub(super) fn journal_status(&self) -> api::JournalStatus {
        let ledger = self.node.ledger();
        let peer = |node: &NodeId, journal: JournalId, sequence: Option<u64>, state: api::PeerState| api::Peer {
            node: node.clone(),
            journal: journal_text(journal),
            sequence,
            state: Word::Known(state),
        };
        let peers = ledger.peers().map(|(node, known)| {
            let is_rejected = known.is_rejected() || self.node.rejects(node);
            let state = match ledger.is_lost(known.journal) {
                true => api::PeerState::Lost,
                false if is_rejected => api::PeerState::Rejected,
                false => api::PeerState::Known,
            };
            peer(node, known.journal, (!known.is_rejected()).then_some(known.sequence), state)
        });
        let former = ledger.former().map(|(node, journal, is_lost)| {
            peer(node, journal, None, if is_lost { api::PeerState::Lost } else { api::PeerState::Replaced })
        });
        let custody = ledger.custody().map(|custody| api::CustodyStatus {
            instance: custody.owned.instance.clone(),
            target: custody.target.clone(),
            transfer: format!("{:?}", custody.transfer),
        });
        let grants = ledger.grants().map(|grant| api::GrantStatus {
            instance: grant.instance.clone(),
            parent: grant.parent.clone(),
            target: grant.target.clone(),
        });
        api::JournalStatus {
            journal: journal_text(self.node.journal()),
            records: self.journal.count(),
            records_since_ledger: self.journal.grown(),
            sequence: ledger.sequence(),
            fault: self.stalled.as_ref().map(|(fault, _)| fault.line()),
            custody: custody.collect(),
            grants: grants.collect(),
            peers: peers.chain(former).collect(),
        }
    }

    /// The applications of the instances on this node, with their policies and facts, and the facts about the node.
    pub(super) fn applications(&self) -> api::Applications {
        let owned = self.node.ledger().owned();
        let hosted: BTreeMap<_, _> = owned.map(|owned| (&owned.descriptor.application.id, &owned.descriptor)).collect();
        let applications = hosted.into_values().map(|descriptor| api::Hosted {
            application: (&descriptor.application).into(),
            facts: descriptor.facts.iter().map(api::Fact::from).collect(),
            policy: (&descriptor.policy).into(),
        });
        api::Applications {
            applications: applications.collect(),
            facts: self.config.facts.iter().map(api::Fact::from).collect(),
        }
    }
}

fn request(request: &RequestFact) -> api::RequestRate {
    api::RequestRate { neighbour: request.neighbour.to_string(), rate: request.rate, latency: request.latency }
}

/// The id of a journal: 32 hexadecimal digits.
fn journal_text(journal: JournalId) -> String {
    format!("{:032x}", journal.0)
}
