//! Judges proposals and enacts the accepted ones.

use serde_json::{Value, json};

use super::{HARDWARE, Instance, MEMORY, Rules, World};

/// With the default rules, the accepted operations, which are enacted after all requests are judged. Stays empty with
/// the rules of the prototype, which enact each operation at once.
type Later = Vec<Box<dyn FnOnce(&mut World)>>;

impl World {
    pub(super) fn cycle(&mut self, time: u64) {
        let mut outcomes = Vec::new();
        let mut promised = vec![0; self.nodes.len()];
        let mut later: Later = Vec::new();
        let mut turn: Vec<u64> = self.instances.iter().map(|instance| instance.id).collect();
        if self.rules == Rules::Prototype {
            turn.reverse();
        }
        for id in turn {
            let Some(pending) = self.get(id).pending.take() else { continue };
            if pending == "nop" {
                outcomes.push(json!([id, "nop"]));
                continue;
            }
            self.judge(id, &pending, time, &mut promised, &mut outcomes, &mut later);
        }
        if self.random.one_in(4) {
            self.deploy(time, &mut promised, &mut outcomes, &mut later);
        }
        for enact in later {
            enact(self);
        }
        if !outcomes.is_empty() {
            self.records.push(json!(["cycle", time, outcomes]));
        }
    }

    fn get(&mut self, id: u64) -> &mut Instance {
        self.instances.iter_mut().find(|instance| instance.id == id).expect("it is there")
    }

    fn judge(
        &mut self,
        id: u64,
        pending: &Value,
        time: u64,
        promised: &mut [u64],
        outcomes: &mut Vec<Value>,
        later: &mut Later,
    ) {
        let Instance { node: own, application, evaluations, .. } = self.get(id).clone();
        let (operation, target) = (pending[0].as_str().expect("a word").to_owned(), pending[1].clone());
        if operation == "undeploy" {
            self.count("operations", 1);
            outcomes.push(json!([id, "undeploy", "accepted"]));
            let go = move |world: &mut World| world.instances.retain(|instance| instance.id != id);
            self.enact(Box::new(go), later);
            return;
        }
        let to = match &target {
            Value::String(_) => Some(own),
            Value::Number(place) => Some(place.as_u64().expect("a place") as usize),
            _ => None,
        };
        let is_resolved = self.rules == Rules::Prototype && target == "self";
        let target = if is_resolved { json!(own) } else { target };
        if let Some(reason) = self.against(&operation, own, to, application, promised) {
            self.count("inhibited", 1);
            outcomes.push(json!([id, operation, target, "inhibited", reason]));
            if self.rules == Rules::Prototype || MEMORY[application] > 0 {
                self.get(id).remembered.push((evaluations, json!([operation, target])));
            }
            return;
        }
        let to = to.expect("no node is inhibited");
        self.count("operations", 1);
        let is_default = self.rules == Rules::Default;
        if is_default {
            promised[to] += HARDWARE[application];
        }
        if operation == "migrate" && is_default {
            outcomes.push(json!([id, "migrate", target, "accepted"]));
            later.push(Box::new(move |world| world.get(id).node = to));
            return;
        }
        // The id is assigned when the proposal is judged. With the default rules, the new instance appears only when
        // all proposals are judged.
        let new = self.create(application, to, time);
        outcomes.push(json!([id, operation, target, "accepted", new]));
        if is_default {
            let replica = self.instances.pop().expect("just created");
            later.push(Box::new(move |world| world.instances.push(replica)));
        } else if operation == "migrate" {
            self.instances.retain(|instance| instance.id != id);
        }
    }

    fn enact(&mut self, enactment: Box<dyn FnOnce(&mut World)>, later: &mut Later) {
        match self.rules {
            Rules::Default => later.push(enactment),
            Rules::Prototype => enactment(self),
        }
    }

    /// The reason to inhibit a request, in the notation of a trace; `None` to accept it.
    fn against(
        &self,
        operation: &str,
        own: usize,
        to: Option<usize>,
        application: usize,
        promised: &[u64],
    ) -> Option<Value> {
        let name = |node: usize| format!("n{node}");
        let Some(to) = to else {
            return Some(json!({"node": name(own), "rule": "neighbourhood", "target": "nowhere"}));
        };
        let is_near = if to == own { operation == "replicate" } else { self.reaches(own, to) };
        if self.rules == Rules::Default && !is_near {
            return Some(json!({"node": name(own), "rule": "neighbourhood", "target": name(to)}));
        }
        self.no_room(to, application, promised).or_else(|| {
            let is_refused = self.rules == Rules::Default && to == 1 && operation == "replicate" && application == 1;
            is_refused.then(|| json!({"node": "n1", "rule": "acceptance", "reason": "no copies of b"}))
        })
    }

    fn no_room(&self, to: usize, application: usize, promised: &[u64]) -> Option<Value> {
        let name = format!("n{to}");
        if !self.nodes[to].is_up {
            return Some(json!({"node": name, "rule": "down"}));
        }
        if self.nodes[to].is_leaving {
            return Some(json!({"node": name, "rule": "leaving"}));
        }
        let free = self.free(to, promised[to]).filter(|free| *free < HARDWARE[application])?;
        Some(json!({"node": name, "rule": "capacity", "needed": HARDWARE[application], "free": free}))
    }

    fn deploy(&mut self, time: u64, promised: &mut [u64], outcomes: &mut Vec<Value>, later: &mut Later) {
        let (application, node) = (self.random.below(2), self.random.below(self.nodes.len()));
        if let Some(reason) = self.no_room(node, application, promised) {
            self.count("inhibited", 1);
            outcomes.push(json!([null, "deploy", node, "inhibited", reason, application]));
            return;
        }
        self.count("operations", 1);
        promised[node] += HARDWARE[application];
        let new = self.create(application, node, time);
        outcomes.push(json!([null, "deploy", node, "accepted", new, application, application]));
        let instance = self.instances.pop().expect("just created");
        later.push(Box::new(move |world| world.instances.push(instance)));
    }
}
