//! The key of a cached decision: an agent's knowledge without names.

use mario_colony::rules::History;
use mario_domain::{AgentOperation, Capacity, Id, KeyPart};
use mario_scenario::{ApplicationIndex, Memory, NodeIndex};

use crate::population::agent::{Agent, Neighbour, RequestFact};
use crate::population::layers::proposal_cache::Basis;
use crate::population::proposal::Target;
use crate::population::simulated_node::SimulatedNode;
use crate::population::state::Population;

/// The maximum number of `requests/4` facts in a key. If more are known than this or one of the other maxima allows,
/// the decision is not shared.
const REQUESTS_MAX: usize = 12;
/// The maximum number of remembered inhibitions in a key.
const REMEMBERED_MAX: usize = 16;
/// The maximum number of neighbours in a key.
const NEIGHBOURS_MAX: usize = 16;
/// The maximum number of nodes in a key.
pub(super) const NODES_MAX: usize = 31;

/// The number of words for everything except client requests, memory, neighbours and history.
const HEAD: usize = 2;
/// The maximum number of earlier evaluations in a key.
const EARLIER_MAX: usize = 16;
/// The maximum total number of `earlier/5` facts in a key.
const EARLIER_REQUESTS_MAX: usize = 36;
/// The maximum number of `done/4` facts in a key.
const DONE_MAX: usize = 16;
const HISTORY_MAX: usize = 1 + EARLIER_MAX + 3 * EARLIER_REQUESTS_MAX + DONE_MAX;
const WORDS_MAX: usize = HEAD + REMEMBERED_MAX / 8 + NEIGHBOURS_MAX / 8 + 3 * REQUESTS_MAX + HISTORY_MAX;

/// The history of an agent.
type Past = History<RequestFact, Target>;

/// No decision is cached if the number of a node or of an instance may be this large in absolute value. Large integers
/// do not fit into a word of the policy engine, so a decision about them may take more of the budget than one about
/// other names.
const NUMBER_MAX: u64 = 1 << 56;

/// In a byte with an operation and a position, the number of bits of the position.
const PLACE_BITS: u32 = 5;

const _: () = assert!(AgentOperation::COUNT <= 8, "the code of an operation takes three bits");
const _: () = assert!(NODES_MAX <= 1 << PLACE_BITS, "a place takes five bits");

/// Marks a position whose rate and latency follow in separate words.
const LONG: u64 = 1 << 56;

/// The knowledge of an agent, packed into words.
///
/// A node is identified by its position among all nodes that occur, including `self` and the agent's own node, in the
/// order of their names. So if the words of two agents are equal, their knowledge is the same up to an order-preserving
/// renaming.
pub(super) struct Key {
    words: [u64; WORDS_MAX],
    length: usize,
    /// The number of remembered inhibitions.
    remembered: u8,
    nodes: Nodes,
}

/// What the key of an agent is made of.
struct Knowledge<'a> {
    population: &'a Population,
    agent: &'a Agent,
    application: ApplicationIndex,
    node: &'a SimulatedNode,
    /// Empty if the policy does not read them.
    neighbours: &'a [NodeIndex],
    history: Option<&'a Past>,
    basis: Basis,
}

/// The nodes that occur in an agent's knowledge.
struct Nodes {
    /// In the order of their names.
    sorted: [(u32, Neighbour); NODES_MAX],
    count: usize,
}

impl Nodes {
    /// Adds a node if it is missing; `None` if there are too many.
    fn add(&mut self, population: &Population, node: Neighbour) -> Option<()> {
        let rank = population.rank(node);
        // Most nodes come from client requests, which are usually sorted by name. So a node is usually the last one or
        // comes after it.
        let mut position = self.count;
        while position > 0 && self.sorted[position - 1].0 > rank {
            position -= 1;
        }
        if position > 0 && self.sorted[position - 1].0 == rank {
            return Some(());
        }
        if self.count == NODES_MAX {
            return None;
        }
        // Few nodes follow, so shifting them one by one is cheaper than a call of `memmove`.
        let mut end = self.count;
        while end > position {
            self.sorted[end] = self.sorted[end - 1];
            end -= 1;
        }
        self.sorted[position] = (rank, node);
        self.count += 1;
        Some(())
    }

    fn place(&self, node: Neighbour) -> Option<u8> {
        let position = self.sorted[..self.count].iter().position(|(_, known)| *known == node);
        position.map(|position| position as u8)
    }
}

impl Key {
    pub(super) fn new() -> Key {
        let nodes = Nodes { sorted: [(0, Neighbour::Own); NODES_MAX], count: 0 };
        Key { words: [0; WORDS_MAX], length: 0, remembered: 0, nodes }
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words[..self.length]
    }

    pub(super) fn hash(&self) -> u64 {
        hash(self.words())
    }

    /// The position of a target; `None` if it is not a node, or does not occur in the agent's knowledge.
    pub(super) fn place(&self, target: &Target) -> Option<u8> {
        match target {
            Target::Own => self.nodes.place(Neighbour::Own),
            Target::Node(node) => self.nodes.place(Neighbour::Node(*node)),
            Target::Unknown(_) | Target::Flavour(_) => None,
        }
    }

    /// The target at a position.
    pub(super) fn target(&self, place: u8) -> Target {
        match self.nodes.sorted[usize::from(place)].1 {
            Neighbour::Own => Target::Own,
            Neighbour::Node(node) => Target::Node(node),
        }
    }

    /// Writes the knowledge of an agent, as if its application were `application`. Includes its neighbours if
    /// `sees_neighbours`, and as much of its history as `basis` says. Returns `None` if the knowledge is too large for
    /// a key or contains a random number, if a remembered target is not a node, or if numbers of instances may be
    /// [`NUMBER_MAX`] or more.
    pub(super) fn write(
        &mut self,
        population: &Population,
        agent: &Agent,
        application: ApplicationIndex,
        sees_neighbours: bool,
        basis: Basis,
    ) -> Option<()> {
        let requests = agent.requests();
        let node = population.node(agent.node());
        let neighbours = if sees_neighbours { node.neighbours() } else { &[] };
        if agent.random().is_some() || requests.len() > REQUESTS_MAX || neighbours.len() > NEIGHBOURS_MAX {
            return None;
        }
        if population.numbers.next.unsigned_abs() >= NUMBER_MAX {
            // An instance number may be too large.
            return None;
        }
        let history = agent.history().filter(|_| basis != Basis::Present);
        self.find_nodes(population, agent, neighbours, history)?;
        self.length = HEAD;
        let knowledge = Knowledge { population, agent, application, node, neighbours, history, basis };
        for part in KeyPart::ALL {
            self.write_part(part, &knowledge)?;
        }
        Some(())
    }

    /// Writes what belongs to one part of the key: the facts of all predicates whose row names this part. A fact in a part
    /// of its own does not compile until it is written here.
    #[inline(always)]
    fn write_part(&mut self, part: KeyPart, knowledge: &Knowledge<'_>) -> Option<()> {
        let Knowledge { population, agent, application, node, neighbours, history, basis } = *knowledge;
        match part {
            KeyPart::Remembered => self.remembered = self.write_remembered(population.memory, agent)? as u8,
            KeyPart::Node => {
                self.words[1] = free(node);
                self.write_neighbours(neighbours);
            }
            KeyPart::Requests => self.write_requests(agent.requests())?,
            KeyPart::Past if basis == Basis::Present => {}
            KeyPart::Past => {
                let age = (basis == Basis::Age).then(|| agent.age());
                self.write_history(history, agent.evaluations() + 1, age)?;
            }
            // The history includes the age, facts that are the same for all tell nothing apart, and a policy that reads
            // excluded facts has no key.
            KeyPart::Age | KeyPart::Same | KeyPart::Excluded => {}
            KeyPart::Application => {
                let (policy, application) = (u16::try_from(agent.policy().0).ok()?, u16::try_from(application.0).ok()?);
                let own = [Neighbour::Own, Neighbour::Node(agent.node())].map(|own| self.nodes.place(own));
                // Each of these is below 32.
                let counts = [own[0]?, own[1]?, agent.requests().len() as u8, self.remembered, neighbours.len() as u8];
                let counts = counts.into_iter().fold(0, |word, count| word << 5 | u64::from(count));
                self.words[0] = counts << 32 | u64::from(policy) << 16 | u64::from(application);
            }
        }
        Some(())
    }

    /// Writes client requests. They are usually sorted by the names of their nodes, so the search for a node starts at
    /// the previous one.
    fn write_requests(&mut self, facts: &[RequestFact]) -> Option<()> {
        let mut last = 0;
        for fact in facts {
            let is_here = |(_, known): &(u32, Neighbour)| *known == fact.neighbour;
            let position = match self.nodes.sorted[last..self.nodes.count].iter().position(is_here) {
                Some(further) => last + further,
                None => usize::from(self.nodes.place(fact.neighbour)?),
            };
            last = position;
            let place = position as u64;
            match (short(fact.rate), short(fact.latency)) {
                (Some(rate), Some(latency)) => self.push(place << 48 | rate << 24 | latency),
                _ => {
                    self.push(place << 48 | LONG);
                    self.push(fact.rate.to_bits());
                    self.push(fact.latency.to_bits());
                }
            }
        }
        Some(())
    }

    /// Writes the history of an agent, as evaluation `now` sees it, and its age, if given; `None` if the history is too
    /// large.
    fn write_history(&mut self, history: Option<&Past>, now: u32, age: Option<u32>) -> Option<()> {
        let Some(history) = history else {
            self.push(age.map_or(0, |age| u64::from(age) << 1 | 1));
            return Some(());
        };
        let History { requests, done, .. } = history;
        let facts: usize = requests.iter().map(Vec::len).sum();
        if requests.len() > EARLIER_MAX || facts > EARLIER_REQUESTS_MAX || done.len() > DONE_MAX {
            return None;
        }
        // Each of the counts is below 32.
        let counts = (requests.len() as u64) << 5 | done.len() as u64;
        self.push(counts << 33 | age.map_or(0, |age| u64::from(age) << 1 | 1));
        for earlier in requests {
            self.push(earlier.len() as u64);
            self.write_requests(earlier)?;
        }
        for (ago, done) in history.done_before(now) {
            let place = u64::from(self.place(&done.target)?);
            self.push(u64::from(ago) << 16 | u64::from(done.operation.code()) << 8 | place);
        }
        Some(())
    }

    /// Collects the nodes that occur in the agent's knowledge; `None` if there are too many, or a target is not a node.
    fn find_nodes(
        &mut self,
        population: &Population,
        agent: &Agent,
        neighbours: &[NodeIndex],
        history: Option<&Past>,
    ) -> Option<()> {
        self.nodes.count = 0;
        // Client requests come first, because they are usually sorted by name.
        let mut last = None;
        for fact in agent.requests() {
            if last != Some(fact.neighbour) {
                self.nodes.add(population, fact.neighbour)?;
                last = Some(fact.neighbour);
            }
        }
        self.nodes.add(population, Neighbour::Node(agent.node()))?;
        self.nodes.add(population, Neighbour::Own)?;
        for remembered in agent.remembered() {
            self.add_target(population, &remembered.target)?;
        }
        if let Some(history) = history {
            for done in &history.done {
                self.add_target(population, &done.target)?;
            }
            for fact in history.requests.iter().flatten() {
                self.nodes.add(population, fact.neighbour)?;
            }
        }
        for node in neighbours {
            self.nodes.add(population, Neighbour::Node(*node))?;
        }
        Some(())
    }

    /// Adds the node of a target that the agent remembers, except `self`, which `find_nodes` adds; `None` if there are
    /// too many nodes, or if the target is not a node.
    fn add_target(&mut self, population: &Population, target: &Target) -> Option<()> {
        match target {
            Target::Own => Some(()),
            Target::Node(node) => self.nodes.add(population, Neighbour::Node(*node)),
            Target::Unknown(_) | Target::Flavour(_) => None,
        }
    }

    /// Writes the positions of neighbours, eight to a word.
    fn write_neighbours(&mut self, neighbours: &[NodeIndex]) {
        for eight in neighbours.chunks(8) {
            let place = |node: &NodeIndex| u64::from(self.nodes.place(Neighbour::Node(*node)).unwrap_or(u8::MAX));
            let word = eight.iter().fold(0, |word, node| word << 8 | place(node));
            self.push(word);
        }
    }

    fn push(&mut self, word: u64) {
        self.words[self.length] = word;
        self.length += 1;
    }

    /// Writes the memory of an agent. Returns the number of entries; `None` if there are too many. Agents see sliding
    /// memory sorted and without duplicates, so it is sorted and deduplicated here, too.
    fn write_remembered(&mut self, memory: Memory, agent: &Agent) -> Option<usize> {
        let mut codes = [0_u8; REMEMBERED_MAX];
        let mut count = 0;
        for remembered in agent.remembered() {
            let code = remembered.operation.code() << PLACE_BITS | self.place(&remembered.target)?;
            let position = match memory {
                Memory::Periodic { .. } => Err(count),
                Memory::Sliding => codes[..count].binary_search(&code),
            };
            if let Err(position) = position {
                if count == REMEMBERED_MAX {
                    return None;
                }
                codes.copy_within(position..count, position + 1);
                codes[position] = code;
                count += 1;
            }
        }
        for eight in codes[..count].chunks(8) {
            self.push(u64::from_le_bytes(std::array::from_fn(|byte| eight.get(byte).copied().unwrap_or(0))));
        }
        Some(count)
    }
}

/// The value as an integer, if it is a whole number from 0 to 2^24 - 1, as most rates and latencies are.
fn short(value: f64) -> Option<u64> {
    let whole = value as u32;
    (whole < 1 << 24 && f64::from(whole).to_bits() == value.to_bits()).then(|| u64::from(whole))
}

fn free(node: &SimulatedNode) -> u64 {
    match node.manager().free() {
        Capacity::Bounded(hardware) => hardware.as_units(),
        Capacity::Unbounded => u64::MAX,
    }
}

/// A multiplicative hash of the words.
pub(super) fn hash(words: &[u64]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = words.iter().fold(0_u64, |hash, word| (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR));
    (mixed ^ (mixed >> 29)).wrapping_mul(FACTOR).rotate_left(32)
}

/// Whether keys can omit the names of nodes: those that are numbers are below [`NUMBER_MAX`] in absolute value.
pub(super) fn are_plain(population: &Population) -> bool {
    population.nodes.iter().all(|node| is_plain(node.id().id()))
}

fn is_plain(id: &Id) -> bool {
    !matches!(id, Id::Number(number) if number.unsigned_abs() >= NUMBER_MAX)
}
