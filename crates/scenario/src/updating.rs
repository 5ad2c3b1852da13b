//! The policy option for a scenario with a recorded past: the policy changes at the end of the past.

use std::path::PathBuf;
use std::sync::Arc;

use mario_settings::tree::{Node, Table, Value};
use mario_settings::{Mistake, Place, Text};

use crate::document::{BASELINE, Document};
use crate::policies::baseline_names;
use crate::settings::ManagementStrategy;

/// The key of the list of policy changes during a run.
const UPDATE: &str = "update";

impl Document {
    /// The end of the recorded past, as written; `None` if the scenario has no recorded past.
    pub(crate) fn recorded_until(&self) -> Option<Value> {
        let time = self.written("start.time")?;
        Some(time.value.clone())
    }

    /// Changes the policy of agents at `time`: `POLICY` or `baseline:NAME` for all of them, `APPLICATION=POLICY` for
    /// those of one application. Reports a baseline that is a management strategy or unknown.
    pub(crate) fn update_policy(&mut self, choice: &str, time: Value) {
        let text = Arc::new(Text { name: "--policy".to_owned(), text: choice.to_owned(), directory: PathBuf::new() });
        let place = |start| Place { text: Arc::clone(&text), span: start..choice.len() };
        let (application, policy, place) = match (choice.strip_prefix(BASELINE), choice.split_once('=')) {
            (Some(name), _) if ManagementStrategy::WORDS.iter().any(|(word, _)| *word == name) => {
                let message =
                    format!("`{name}` is not a policy of agents, and cannot take over in the middle of a run");
                let mistake = Mistake::new(message).at(Some(place(BASELINE.len())));
                let hint = "name a policy; `mario run` compares from the beginning with `baseline:` strategies";
                self.mistakes.push(mistake.hint(hint));
                return;
            }
            (Some(name), _) if !baseline_names().any(|known| known == name) => {
                let mistake = Mistake::new(format!("there is no baseline `{name}`")).at(Some(place(BASELINE.len())));
                self.mistakes.push(mistake.known(name, "known are", baseline_names()));
                return;
            }
            (Some(name), _) => (None, name, place(BASELINE.len())),
            (None, Some((application, policy))) => (Some(application), policy, place(application.len() + 1)),
            (None, None) => (None, choice, place(0)),
        };
        self.layer += 1;
        let mut entries = vec![("time", time)];
        entries.extend(application.map(|id| ("application", self.written_id(id))));
        entries.push(("policy", Value::String(policy.to_owned())));
        let entries = entries.into_iter().map(|(key, value)| (key.to_owned(), self.node(value, &place))).collect();
        let update = self.node(Value::Table(Table { entries }), &place);
        if let Some(Node { value: Value::List(updates), .. }) = self.tree.get_mut(UPDATE) {
            updates.push(update);
        } else {
            let updates = self.node(Value::List(vec![update]), &place);
            self.tree.remove(UPDATE);
            self.tree.entries.push((UPDATE.to_owned(), updates));
        }
    }

    /// The id of an application as a value: an integer if `id` is a number that an application has as its id, otherwise
    /// a string.
    fn written_id(&self, id: &str) -> Value {
        let Some(Node { value: Value::List(applications), .. }) = self.tree.get("application") else {
            return Value::String(id.to_owned());
        };
        let has_number = |node: &Node, number: i64| match &node.value {
            Value::Table(table) => table.get("id").is_some_and(|id| id.value == Value::Integer(number)),
            _ => false,
        };
        match id.parse::<i64>() {
            Ok(number) if applications.iter().any(|node| has_number(node, number)) => Value::Integer(number),
            _ => Value::String(id.to_owned()),
        }
    }
}
