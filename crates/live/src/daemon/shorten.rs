//! Compacts a journal that has grown long into a ledger.

use super::core::Core;
use super::events::Told;

impl Core {
    /// Compacts the journal if it has grown long, while nothing waits to be written. After a failure it is retried when
    /// the journal has grown further.
    pub(crate) fn shorten(&mut self) {
        if self.journal.grown() < self.shorten_at || self.push_effects().next().is_some() {
            return;
        }
        let after = self.config.journal.shorten_after;
        self.shorten_at = after;
        if let Err(fault) = self.journal.shorten(self.node.ledger()) {
            self.shorten_at = self.journal.grown() + after;
            self.events.tell(Told::Fault { message: format!("the journal is not shortened: {}", fault.line()) });
        }
    }
}
