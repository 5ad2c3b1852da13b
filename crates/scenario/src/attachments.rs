//! Reads the access points of users, step by step, from JSON:
//!
//! ```json
//! {"users": {"ann": {"app": 4, "step": 0}},
//!  "steps": [{"step": 0, "node": {"ann": "n3lt0ln0"}}]}
//! ```
//!
//! Users are numbered in the order of the file. `app` and the user's `step` of arrival are optional. A step names the
//! new access points of users; `null` disconnects a user, and users who are not named keep their access points. Steps
//! are in ascending order. A step without a number follows the previous one, or is 0 if it is the first. Other keys are
//! ignored.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use mario_domain::{ApplicationId, Id, NodeId};
use mario_settings::{Mistake, Place, Text};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::index::{NodeIndex, UserIndex};
use crate::mobility::{Attachments, MobileUser};
use crate::topology::Topology;

/// The highest valid step number. Without a limit, a mistyped number could exhaust memory.
const STEPS_MAX: u64 = 1_000_000;

/// The maximum number of reported errors; further errors are only counted.
const MISTAKES_MAX: usize = 20;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    users: InOrder<&'a RawValue>,
    #[serde(borrow)]
    steps: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct User<'a> {
    #[serde(borrow)]
    app: Option<&'a RawValue>,
    step: Option<u64>,
}

#[derive(Deserialize)]
struct Step<'a> {
    step: Option<u64>,
    #[serde(borrow)]
    node: InOrder<&'a RawValue>,
}

/// The entries of a JSON object in the order of the file, including duplicate keys.
struct InOrder<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<InOrder<T>, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = InOrder<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(InOrder(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// Parses attachments. Returns at most [`MISTAKES_MAX`] errors, and one with the number of the others. `application`
/// maps an id in the file to an application; `None` if it is unknown.
pub(crate) fn read(
    text: &Arc<Text>,
    topology: &Topology,
    application: &dyn Fn(&Id) -> Option<ApplicationId>,
) -> Result<Attachments, Vec<Mistake>> {
    let mut reading = Reading { text, mistakes: Vec::new(), left_out: 0, users: BTreeMap::new(), arrivals: Vec::new() };
    let attachments = reading.file(topology, application);
    match attachments {
        Some(attachments) if reading.mistakes.is_empty() => Ok(attachments),
        _ => Err(reading.all_mistakes()),
    }
}

struct Reading<'a> {
    text: &'a Arc<Text>,
    mistakes: Vec<Mistake>,
    /// The number of errors beyond [`MISTAKES_MAX`], which are not reported.
    left_out: usize,
    users: BTreeMap<String, UserIndex>,
    /// For each user, the stated step of arrival, if any, and the place of the user in the text.
    arrivals: Vec<(Option<u64>, Range<usize>)>,
}

impl<'a> Reading<'a> {
    fn file(&mut self, topology: &Topology, application: &dyn Fn(&Id) -> Option<ApplicationId>) -> Option<Attachments> {
        let text = self.text;
        let file: File<'a> = self.parse(&text.text, 0, "the file")?;
        let mut attachments = Attachments::default();
        for (name, raw) in file.users.0 {
            let path = format!("users.{name}");
            let span = self.span(raw);
            let Some(user) = self.parse::<User<'a>>(raw.get(), span.start, &path) else { continue };
            let Ok(id) = Id::name(&name) else {
                self.mistake(span, "a user has a name of no characters", "name the user");
                continue;
            };
            let place = UserIndex::at(attachments.users.len());
            if self.users.insert(name.clone(), place).is_some() {
                self.mistake(span.clone(), &format!("there are two users `{name}`"), "name each user once");
                continue;
            }
            self.arrivals.push((user.step, span));
            let application = user.app.and_then(|raw| self.application(raw, &path, application));
            attachments.users.push(MobileUser { id, application });
        }
        let mut now: Vec<Option<NodeIndex>> = vec![None; attachments.users.len()];
        let mut first: Vec<Option<u64>> = vec![None; attachments.users.len()];
        let mut next = 0;
        for (position, raw) in file.steps.iter().enumerate() {
            let path = format!("steps[{position}]");
            let span = self.span(raw);
            let Some(step) = self.parse::<Step<'a>>(raw.get(), span.start, &path) else { continue };
            let number = step.step.unwrap_or(next);
            if number < next || number > STEPS_MAX {
                let message = format!("`{path}.step` is {number}, and should be {next} or a little more");
                self.mistake(span, &message, "list steps in their order");
                continue;
            }
            next = number + 1;
            attachments.steps.resize_with(number as usize + 1, Vec::new);
            let mut changes = self.step(&step, &path, topology);
            changes.sort_by_key(|(user, _)| *user);
            for (user, node) in changes {
                let user_place = user.position();
                if node.is_some() {
                    first[user_place].get_or_insert(number);
                }
                if now[user_place] != node {
                    now[user_place] = node;
                    attachments.steps[number as usize].push((user, node));
                }
            }
        }
        self.check_arrivals(&attachments, &first);
        Some(attachments)
    }

    fn step(&mut self, step: &Step<'a>, path: &str, topology: &Topology) -> Vec<(UserIndex, Option<NodeIndex>)> {
        let mut changes = Vec::with_capacity(step.node.0.len());
        for (name, raw) in &step.node.0 {
            let span = self.span(raw);
            let Some(user) = self.users.get(name).copied() else {
                if !self.has_room() {
                    continue;
                }
                let mistake = Mistake::new(format!("`{path}.node.{name}`: there is no user `{name}` in `users`"));
                let known: Vec<&str> = self.users.keys().map(String::as_str).collect();
                let mistake = mistake.at(Some(self.place(span))).known(name, "known are the users", known);
                self.mistakes.push(mistake);
                continue;
            };
            let Ok(node) = serde_json::from_str::<Option<NodeId>>(raw.get()) else {
                let message = format!("`{path}.node.{name}` is the name of a node, not {}", short(raw.get()));
                self.mistake(span, &message, "write the name of an access point, or null");
                continue;
            };
            let found = node.as_ref().map(|node| topology.find(node));
            match (node, found) {
                (Some(_), Some(None)) if !self.has_room() => {}
                (Some(node), Some(None)) => {
                    let mistake = Mistake::new(format!("`{path}.node.{name}`: there is no node `{node}`"));
                    let known: Vec<String> =
                        topology.access_points().map(|node| topology.node(node).id.to_string()).collect();
                    let known = known.iter().map(String::as_str);
                    let mistake = mistake.at(Some(self.place(span))).known(&node.to_string(), "access points", known);
                    let hint = mistake.hint.clone().unwrap_or_default();
                    self.mistakes.push(mistake.hint(format!("the topology must be that of the attachments; {hint}")));
                }
                (Some(node), Some(Some(index))) if !topology.node(index).is_access_point => {
                    let message = format!("`{path}.node.{name}`: node `{node}` is not an access point");
                    self.mistake(
                        span,
                        &message,
                        "the topology must be that of the attachments, and users are connected to its access points",
                    );
                }
                (_, found) => changes.push((user, found.flatten())),
            }
        }
        changes
    }

    fn application(
        &mut self,
        raw: &RawValue,
        path: &str,
        application: &dyn Fn(&Id) -> Option<ApplicationId>,
    ) -> Option<ApplicationId> {
        let span = self.span(raw);
        let Ok(id) = serde_json::from_str::<Id>(raw.get()) else {
            let message = format!("`{path}.app` is the id of an application, not {}", short(raw.get()));
            self.mistake(span, &message, "write a name or a number");
            return None;
        };
        let found = application(&id);
        if found.is_none() {
            let message = format!("`{path}.app`: there is no application `{id}`");
            self.mistake(span, &message, "name an application of the scenario");
        }
        found
    }

    /// Reports each user whose stated step of arrival is not the step in which the user is first connected. Users
    /// without a stated step, and users who are never connected, are skipped.
    fn check_arrivals(&mut self, attachments: &Attachments, first: &[Option<u64>]) {
        for (user, (stated, span)) in self.arrivals.clone().into_iter().enumerate() {
            let id = &attachments.users[user].id;
            match (stated, first[user]) {
                (Some(stated), Some(first)) if stated != first => {
                    let message =
                        format!("user `{id}` arrives in step {stated}, but is first connected in step {first}");
                    self.mistake(span, &message, "make both the same, or omit the user's `step`");
                }
                _ => {}
            }
        }
    }

    fn parse<T: Deserialize<'a>>(&mut self, text: &'a str, offset: usize, path: &str) -> Option<T> {
        match serde_json::from_str(text) {
            Ok(value) => Some(value),
            Err(error) => {
                let whole = &self.text.text;
                let start = whole.floor_char_boundary(offset + offset_of(text, error.line(), error.column()));
                let end = whole.ceil_char_boundary((start + 1).min(whole.len()));
                let words = error.to_string();
                let words = words.split(" at line ").next().unwrap_or_default();
                self.mistake(start..end, &format!("{path}: {words}"), "attachments are JSON with `users` and `steps`");
                None
            }
        }
    }

    fn span(&self, raw: &RawValue) -> Range<usize> {
        // `raw` is a part of the text, so the difference of the two pointers is its offset in the text.
        let start = (raw.get().as_ptr() as usize).saturating_sub(self.text.text.as_ptr() as usize);
        start..start + raw.get().len()
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place { text: Arc::clone(self.text), span }
    }

    fn mistake(&mut self, span: Range<usize>, message: &str, hint: &str) {
        if self.has_room() {
            let mistake = Mistake::new(message).at(Some(self.place(span))).hint(hint);
            self.mistakes.push(mistake);
        }
    }

    /// Whether one more error may be reported. If not, counts the error in `left_out`. Call this before composing a
    /// message: the search for the intended word is slow, and a file may have very many errors.
    fn has_room(&mut self) -> bool {
        let has_room = self.mistakes.len() < MISTAKES_MAX;
        self.left_out += usize::from(!has_room);
        has_room
    }

    /// The reported errors. If any were left out, the last error states their number.
    fn all_mistakes(mut self) -> Vec<Mistake> {
        if self.left_out > 0 {
            let message = format!("the attachments have {} more mistakes", self.left_out);
            let end = self.place(self.text.text.len()..self.text.text.len());
            self.mistakes.push(Mistake::new(message).at(Some(end)).hint("fix the reported ones first"));
        }
        self.mistakes
    }
}

/// A piece of JSON for an error message, shortened to its start if it is long.
fn short(json: &str) -> String {
    const LENGTH_MAX: usize = 40;
    if json.chars().count() <= LENGTH_MAX {
        json.to_owned()
    } else {
        json.chars().take(LENGTH_MAX).chain(['…']).collect()
    }
}

/// The byte offset of a line and column, both counted from 1. Columns count bytes, as in errors of `serde_json`.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}
