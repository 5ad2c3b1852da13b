//! The tables of `docs/wire.md`: schemas and bounds, as Markdown.

use std::fmt::Write;

use mario_colony::routing::{CERTIFICATE_BYTES_MAX, NAMES_MAX};
use mario_colony::{JournalRecord, StoredLedger};

use crate::bounds;
use crate::envelope::Envelope;
use crate::schema::{Page, Schema};

/// The tables of all messages, then those of records and ledgers.
pub fn schema_tables() -> String {
    let mut text = String::new();
    let mut page = Page::default();
    Envelope::describe(&mut page);
    let messages = page.tables.len();
    JournalRecord::describe(&mut page);
    StoredLedger::describe(&mut page);
    for (position, table) in page.tables.iter().enumerate() {
        if position == messages {
            text.push_str("## Records\n\n");
        }
        let sort = if table.is_choice { ": exactly one of these" } else { "" };
        let _ = write!(text, "### {}{sort}\n\n| field | name | content | |\n|---|---|---|---|\n", table.name);
        for row in &table.rows {
            let presence = if table.is_choice { "" } else { row.presence.as_str() };
            let _ = writeln!(text, "| {} | `{}` | {} | {presence} |", row.number, row.name, row.content);
        }
        text.push('\n');
    }
    text
}

/// A table of all bounds in [`bounds`], and of those on the names of an application and on their certificate.
pub fn bounds_table() -> String {
    let mut text = String::from("| what | at most |\n|---|---|\n");
    for (what, most) in [
        ("bytes of a frame, without its length", bounds::FRAME_BYTES_MAX),
        ("bytes of a name", bounds::NAME_BYTES_MAX),
        ("bytes of a reason for people; longer ones are truncated", bounds::REASON_BYTES_MAX),
        ("files of a policy", bounds::POLICY_FILES_MAX),
        ("bytes of one file of a policy", bounds::POLICY_FILE_BYTES_MAX),
        ("bytes of the signed description of an application", bounds::DOCUMENT_BYTES_MAX),
        ("facts about a node, or about an application", bounds::FACTS_MAX),
        ("inhibited operations, or accepted ones, that an agent remembers", bounds::MEMORY_MAX),
        ("evaluations whose client requests an agent remembers", bounds::EARLIER_MAX),
        ("facts about the client requests of one evaluation", bounds::REQUESTS_MAX),
        ("flavours of an application", bounds::FLAVOURS_MAX),
        ("open transfers in a hello", bounds::OPEN_TRANSFERS_MAX),
        ("routes in one update", bounds::ROUTES_MAX),
        ("entries of each list of a ledger", bounds::LEDGER_MAX),
        ("host names, or path prefixes, of an application", NAMES_MAX),
        ("bytes of the certificate that lists these names", CERTIFICATE_BYTES_MAX),
    ] {
        let _ = writeln!(text, "| {what} | {most} |");
    }
    text
}
