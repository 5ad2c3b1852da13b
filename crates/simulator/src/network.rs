//! Messages in transit, and the links that they occupy.

use std::collections::BTreeSet;

use mario_domain::{Duration, Time};
use mario_scenario::{Fidelity, Link, LinkIndex, Network, Occupancy, Topology};
use serde::{Deserialize, Serialize};

use crate::paths::{PathIndex, Paths};
use crate::population::AgentIndex;
use crate::simulation::Origin;

/// A client request, or a request of a call, in transit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) emitted: Time,
    pub(crate) origin: Origin,
    pub(crate) agent: AgentIndex,
    pub(crate) path: PathIndex,
    /// The number of links of its path that it has passed, including the one that it is on. Restarts at 0 if a sleeping
    /// instance forwards the message.
    pub(crate) hops: u32,
}

/// The index of a message in transit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MessageIndex(u32);

/// Messages in transit. Slots are reused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Messages {
    messages: Vec<Message>,
    free: Vec<MessageIndex>,
}

impl Messages {
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether each restored message is within its path, and each free slot is listed once.
    pub(crate) fn is_consistent(&self, paths: &Paths) -> bool {
        let is_free: BTreeSet<u32> = self.free.iter().map(|index| index.0).collect();
        let is_on_path = |message: &Message| message.hops as usize <= paths.links(message.path).len();
        is_free.len() == self.free.len()
            && (0..).zip(&self.messages).all(|(place, message)| is_free.contains(&place) || is_on_path(message))
    }

    /// The messages in transit.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Message> {
        let is_free: BTreeSet<u32> = self.free.iter().map(|index| index.0).collect();
        (0..).zip(&self.messages).filter(move |(place, _)| !is_free.contains(place)).map(|(_, message)| message)
    }

    pub(crate) fn add(&mut self, message: Message) -> MessageIndex {
        if let Some(index) = self.free.pop() {
            self.messages[index.0 as usize] = message;
            index
        } else {
            self.messages.push(message);
            MessageIndex(self.messages.len() as u32 - 1)
        }
    }

    #[inline]
    pub(crate) fn get(&mut self, index: MessageIndex) -> &mut Message {
        &mut self.messages[index.0 as usize]
    }

    pub(crate) fn remove(&mut self, index: MessageIndex) {
        self.free.push(index);
    }
}

/// The occupancy of each link, and the total number of hops. The two directions of a link are separate. Without links
/// if traffic is modelled as rates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Links {
    states: Vec<LinkState>,
    hops: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct LinkState {
    pace: Pace,
    busy_until: Time,
}

/// The time a message takes over a link, or at an instance, without queueing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Pace {
    /// The time until the message has arrived, or is served.
    pub(crate) takes: Duration,
    /// The time until the next message can start.
    pub(crate) occupied: Duration,
}

impl Pace {
    pub(crate) fn of_link(link: &Link, network: Network) -> Pace {
        let transmission =
            link.bandwidth.map_or(Duration::ZERO, |bandwidth| Duration::of(network.message_size / bandwidth));
        let takes = transmission + link.latency;
        let occupied = match network.occupancy {
            Occupancy::Latency => takes,
            Occupancy::Transmission => transmission,
        };
        Pace { takes, occupied }
    }
}

impl Links {
    pub(crate) fn new(topology: &Topology, network: Network) -> Links {
        // The rate model keeps its own state of links.
        let count = if network.fidelity == Fidelity::Messages { topology.link_count() } else { 0 };
        let states = (0..count).map(|position| {
            let pace = Pace::of_link(topology.link(LinkIndex(position as u32)), network);
            // A link that was never used is not busy at any time.
            LinkState { pace, busy_until: Time::at(f64::NEG_INFINITY) }
        });
        Links { states: states.collect(), hops: 0 }
    }

    /// Whether the restored links match a topology, and none is occupied forever.
    pub(crate) fn is_consistent(&self, topology: &Topology, network: Network) -> bool {
        let fresh = Links::new(topology, network);
        let is_same = |one: &LinkState, other: &LinkState| one.pace == other.pace && one.busy_until < Time::NEVER;
        self.states.len() == fresh.states.len()
            && self.states.iter().zip(&fresh.states).all(|(one, other)| is_same(one, other))
    }

    /// Sends a message over a link. Returns the time of its arrival at the other end.
    #[inline]
    pub(crate) fn send(&mut self, link: LinkIndex, now: Time) -> Time {
        self.hops += 1;
        let state = &mut self.states[link.0 as usize];
        let wait = if state.busy_until < now { Duration::ZERO } else { state.busy_until - now };
        state.busy_until = now + wait + state.pace.occupied;
        now + (state.pace.takes + wait)
    }

    /// How often messages were sent over links, in total.
    pub(crate) fn hops(&self) -> u64 {
        self.hops
    }
}
