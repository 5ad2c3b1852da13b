//! Records the actions of nodes' owners.

use std::io::Write;

use mario_domain::Time;

use crate::record::{Element, OwnerAct, OwnerActKind};
use crate::reference::{ApplicationRef, NodeRef};
use crate::writer::TraceWriter;

impl<W: Write> TraceWriter<W> {
    /// Records the actions of a node's owner at one time, in order, each with the application of its instance. A
    /// summary trace has their counts by application.
    pub fn owner(&mut self, time: Time, node: NodeRef, acts: impl Iterator<Item = (ApplicationRef, OwnerAct)>) {
        if self.summing.is_some() {
            return self.count_owner(time, node, acts);
        }
        self.begin("owner", time);
        self.comma_node(Some(node));
        self.line.extend_from_slice(b",[");
        for (position, (_, act)) in acts.enumerate() {
            if position > 0 {
                self.line.push(b',');
            }
            act.write(&mut self.line);
            match act.kind {
                OwnerActKind::Evicted => self.totals.instances = self.totals.instances.saturating_sub(1),
                OwnerActKind::Shrunk(_) | OwnerActKind::Announced(_) => {}
            }
        }
        self.line.extend_from_slice(b"]]");
        self.end_line();
    }
}
