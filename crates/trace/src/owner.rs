//! Records the actions of nodes' owners.

use std::borrow::Cow;
use std::io::Write;

use mario_domain::Time;

use crate::json::{natural, string};
use crate::record::{OwnerAct, OwnerActKind, Target};
use crate::reference::NodeRef;
use crate::writer::TraceWriter;

impl<W: Write> TraceWriter<W> {
    /// Records the actions of a node's owner at one time, in order. A summary trace has their counts by application.
    pub fn owner<'a>(&mut self, time: Time, node: NodeRef, acts: impl Iterator<Item = OwnerAct<'a>>) {
        if self.summing.is_some() {
            return self.count_owner(time, node, acts);
        }
        self.begin("owner", time);
        self.comma_node(Some(node));
        self.line.extend_from_slice(b",[");
        for (position, act) in acts.enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            match act.kind {
                OwnerActKind::Evicted => {
                    self.totals.instances = self.totals.instances.saturating_sub(1);
                    string(&mut self.line, "evicted");
                    self.comma_id(act.instance.id());
                }
                OwnerActKind::Shrunk(flavour) => {
                    string(&mut self.line, "shrunk");
                    self.comma_id(act.instance.id());
                    self.line.push(b',');
                    self.target(&Target::Flavour(Cow::Borrowed(flavour)));
                }
                OwnerActKind::Announced(evaluations) => {
                    string(&mut self.line, "leave");
                    self.comma_id(act.instance.id());
                    self.line.push(b',');
                    natural(&mut self.line, u64::from(evaluations));
                }
            }
            self.line.push(b',');
            string(&mut self.line, act.reason);
            self.line.push(b']');
        }
        self.line.extend_from_slice(b"]]");
        self.end_line();
    }
}
