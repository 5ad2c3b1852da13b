//! What an agent proposed to client requests that it saw before: whoever sees the same again proposes the same.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::population::agent::{Agent, RequestFact};
use crate::population::index::LinksVersion;
use crate::population::intent::{Intent, Said};
use crate::population::wish::Wish;

/// Client requests that an agent saw, and what it proposed to them.
///
/// Requests that take turns among instances come in a few patterns, again and again. Then an agent finds each time what it
/// proposed to the pattern before.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Sight {
    /// What was proposed, if all else that the agent knew is what it knows now.
    proposed: Option<Proposed>,
    rate: f64,
    requests: SmallVec<[RequestFact; 3]>,
    /// The first of its round that shows the same; itself, as a rule.
    alike: u8,
}

const _: () = assert!(size_of::<Sight>() == 128, "two lines of a cache, side by side");

/// What an agent proposed, which may be nothing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Proposed {
    intent: Intent,
    /// The version of the links with which its target was in reach.
    reached: Option<LinksVersion>,
}

impl Sight {
    pub(crate) fn requests(&self) -> &[RequestFact] {
        &self.requests
    }

    /// Whether these are its requests. Most others differ in their sum, which is nearer at hand than they are.
    fn shows(&self, facts: &[RequestFact]) -> bool {
        self.rate.to_bits() == sum(facts).to_bits() && *self.requests == *facts
    }

    /// Becomes what was never seen before.
    fn show(&mut self, number: u8, facts: &[RequestFact]) {
        self.proposed = None;
        self.rate = sum(facts);
        self.requests.clear();
        self.requests.extend_from_slice(facts);
        self.alike = number;
    }
}

/// How many requests these are; 0 for none, and not the -0 that sums of floats begin with.
fn sum(facts: &[RequestFact]) -> f64 {
    facts.iter().fold(0.0, |sum, fact| sum + fact.rate)
}

impl Agent {
    /// So many sights are remembered, unless their shell numbers them: with twice as many, one new sight in twenty would be known
    /// that is not, and all agents would wait for more memory.
    const SIGHTS_MAX: u8 = 2;

    /// Reads a little of what the agent has seen.
    pub(crate) fn glance(&self) -> u32 {
        self.sights.iter().fold(0, |sum, sight| sum ^ u32::from(sight.alike) ^ sight.requests.len() as u32)
    }

    /// The same, of what many requests take.
    pub(crate) fn glance_back(&self) -> u32 {
        let first = |sight: &Sight| sight.requests.first().map_or(0, |fact| fact.rate as u32);
        self.sights.iter().fold(0, |sum, sight| sum ^ first(sight))
    }

    /// The client requests that the agent sees from now on.
    pub(crate) fn sees(&mut self, facts: &[RequestFact]) {
        if self.sees_already(facts) {
            return;
        }
        let number = self.number_of(facts).unwrap_or_else(|| {
            // The one after the present one is the oldest.
            let number = if self.sights.len() < usize::from(Agent::SIGHTS_MAX) {
                self.sights.len() as u8
            } else {
                (self.current + 1) % Agent::SIGHTS_MAX
            };
            self.sight(number).show(number, facts);
            number
        });
        self.turn_to(number);
    }

    /// One of a round of sights that will come again and again. They are numbered from 0 on, and come in this order at
    /// first.
    pub(crate) fn sees_first(&mut self, number: u8, facts: &[RequestFact]) {
        let is_new = !self.sees_already(facts);
        let known = self.number_of(facts);
        let shown = match known {
            Some(alike) if alike < number => {
                self.sight(number).alike = alike;
                alike
            }
            Some(known) => {
                let sight = self.sights[usize::from(known)].clone();
                *self.sight(number) = Sight { alike: number, ..sight };
                number
            }
            None => {
                self.sight(number).show(number, facts);
                number
            }
        };
        let was_unchanged = self.is_unchanged;
        self.turn_to(shown);
        self.is_unchanged = was_unchanged && !is_new;
    }

    /// A sight of the last round comes again.
    pub(crate) fn sees_again(&mut self, number: u8) {
        if let Some(sight) = self.sights.get(usize::from(number))
            && sight.alike != self.current
        {
            self.turn_to(sight.alike);
        }
    }

    fn turn_to(&mut self, number: u8) {
        self.current = number;
        self.rate = self.sights[usize::from(number)].rate;
        self.is_unchanged = false;
    }

    /// The sight with this number, which may be a new one.
    fn sight(&mut self, number: u8) -> &mut Sight {
        let position = usize::from(number);
        if self.sights.len() <= position {
            let mut sights = std::mem::take(&mut self.sights).into_vec();
            sights.reserve_exact(position + 1 - sights.len());
            sights.resize_with(position + 1, Sight::default);
            self.sights = sights.into_boxed_slice();
        }
        &mut self.sights[position]
    }

    fn number_of(&self, facts: &[RequestFact]) -> Option<u8> {
        (0..).zip(&self.sights).find(|(_, sight)| sight.shows(facts)).map(|(number, _)| number)
    }

    fn sees_already(&self, facts: &[RequestFact]) -> bool {
        self.sights.get(usize::from(self.current)).map_or(facts.is_empty(), |sight| sight.shows(facts))
    }

    /// Whether the agent has seen before what it sees now, and knows what it proposed then.
    pub(crate) fn recalls(&self) -> bool {
        self.sights.get(usize::from(self.current)).is_some_and(|sight| sight.proposed.is_some())
    }

    /// The agent proposes what it proposed when it saw before what it sees now.
    pub(crate) fn recall(&mut self) {
        let sight = self.sights.get(usize::from(self.current));
        let proposed = sight.and_then(|sight| sight.proposed);
        self.intent = proposed.map_or(Intent::NOTHING, |proposed| proposed.intent);
        self.reached = proposed.and_then(|proposed| proposed.reached);
    }

    /// The agent proposes this to what it sees.
    pub(crate) fn proposes(&mut self, wish: Option<Wish>) {
        let intent = Intent::new(wish.as_ref());
        if let Some(sight) = self.sights.get_mut(usize::from(self.current)) {
            sight.proposed = intent.is_whole().then_some(Proposed { intent, reached: None });
        }
        if !intent.is_whole() {
            self.details().strange = wish.map(Box::new);
        }
        self.intent = intent;
        self.reached = None;
    }

    /// The target of what the agent proposes is in reach.
    pub(crate) fn reaches(&mut self, version: LinksVersion) {
        self.reached = Some(version);
        let sight = self.sights.get_mut(usize::from(self.current));
        if let Some(proposed) = sight.and_then(|sight| sight.proposed.as_mut()) {
            proposed.reached = Some(version);
        }
    }

    /// What the agent proposed to a sight of the last round, and with which links that was in reach; `None` when that is not
    /// known.
    pub(crate) fn proposed_to(&self, number: u8) -> Option<(Option<Wish>, Option<LinksVersion>)> {
        let proposed = self.shown(number)?.proposed?;
        match proposed.intent.said() {
            Said::Nothing => Some((None, None)),
            Said::Wish(wish) => Some((Some(wish), proposed.reached)),
            Said::Elsewhere => None,
        }
    }

    /// How many requests the agent sees, or saw in a sight of the last round.
    pub(crate) fn rate_in(&self, sight: Option<u8>) -> f64 {
        let Some(number) = sight else { return self.rate };
        self.shown(number).map_or(0.0, |sight| sight.rate)
    }

    fn shown(&self, number: u8) -> Option<&Sight> {
        let alike = self.sights.get(usize::from(number))?.alike;
        self.sights.get(usize::from(alike))
    }

    /// The agent saw a sight of the last round, and proposed what it proposed to it before, while nobody looked.
    pub(crate) fn saw(&mut self, number: u8) {
        let was_unchanged = self.is_unchanged;
        self.sees_again(number);
        if was_unchanged {
            self.recall();
            self.is_unchanged = true;
        }
    }

    /// Something else than client requests is new to the agent: nothing that it proposed tells what it would propose now.
    pub(crate) fn knows_better(&mut self) {
        self.is_unchanged = false;
        for sight in &mut self.sights {
            sight.proposed = None;
        }
    }

    /// Whether the sights refer to each other, and what was proposed to them can be.
    pub(crate) fn have_sights_that_can_be(&self, can_be: impl Fn(Intent) -> bool) -> bool {
        let count = self.sights.len();
        let is_seen = count == 0 && self.current == 0 || usize::from(self.current) < count;
        let is_sound = |sight: &Sight| {
            usize::from(sight.alike) < count && sight.proposed.is_none_or(|proposed| can_be(proposed.intent))
        };
        is_seen && self.sights.iter().all(is_sound)
    }

    pub(crate) fn forget_sights(&mut self) {
        self.sights = Box::default();
        self.current = 0;
        self.rate = 0.0;
    }
}
