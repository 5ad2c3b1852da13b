//! Checks `messages.csv`: the form and order of its rows, and for each user the number of client requests and the sum
//! of their response times, which the trace records.

use std::io::{self, BufRead, Read};

use mario_audit::FindingKind;
use mario_trace::reader::{Client, Header};
use rustc_hash::FxHashMap;

use super::{FINDINGS_MAX, RunFilesCheck};

const NAME: &str = "messages.csv";
const COLUMNS: &str = "user,instance,emitted,arrived,started,ended";
const ROW_BYTES_MAX: u64 = 1 << 20;

/// The relative tolerance between sums of the same response times, which may be added in different orders.
const TOLERANCE: f64 = 1e-8;

pub(super) fn check(
    mut rows: Box<dyn BufRead>,
    header: &Header,
    clients: &[Client],
    checked: &mut RunFilesCheck,
) -> io::Result<()> {
    let users: FxHashMap<String, usize> =
        header.users.iter().enumerate().map(|(place, user)| (user.id.to_string(), place)).collect();
    let mut seen = vec![(0_u64, 0.0_f64); header.users.len()];
    let (mut line, mut started) = (0_u64, f64::NEG_INFINITY);
    let before = checked.findings.len();
    loop {
        let mut bytes = Vec::new();
        rows.by_ref().take(ROW_BYTES_MAX).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            break;
        }
        line += 1;
        let text = String::from_utf8_lossy(&bytes);
        let row = text.trim_end_matches('\n');
        let mut fault = |expected: &str| {
            if checked.findings.len() < before + FINDINGS_MAX {
                let (expected, found) = (expected.to_owned(), row.to_owned());
                checked.find(FindingKind::Table, NAME, line, "the row".to_owned(), expected, found);
            }
        };
        if line == 1 {
            if row != COLUMNS {
                fault(COLUMNS);
            }
            continue;
        }
        let cells = cells(row);
        let times: Vec<f64> = cells.iter().skip(2).filter_map(|cell| cell.parse().ok()).collect();
        let (Some(user), 6, [emitted, .., ended]) =
            (cells.first().and_then(|user| users.get(user)), cells.len(), times.as_slice())
        else {
            fault("a user of the trace, an instance and four times");
            continue;
        };
        if times.len() != 4 || times.windows(2).any(|two| two[0] > two[1]) || times[2] < started {
            fault("times that do not decrease, also from row to row where service starts");
        }
        started = times.get(2).copied().unwrap_or(started);
        seen[*user].0 += 1;
        seen[*user].1 += ended - emitted;
    }
    for client in clients {
        let (served, sum) = seen[client.user as usize];
        let is_near = (sum - client.sum).abs() <= TOLERANCE * sum.abs().max(client.sum.abs()).max(1.0);
        if (served != client.served || !is_near) && checked.findings.len() < before + FINDINGS_MAX {
            let who = format!("user {}", header.users[client.user as usize].id);
            let expected = format!("{} requests served in {} together", client.served, client.sum);
            checked.find(FindingKind::Table, NAME, line, who, expected, format!("{served} in {sum}"));
        }
    }
    checked.checked.push(NAME.to_owned());
    checked.unchecked.push(format!("single times and instances in {NAME}: the trace records only sums per user"));
    Ok(())
}

/// Splits a CSV row into its cells, and removes their quotes.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = cells.len() - 1;
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cells[last].push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells[last].push(letter),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    #[test]
    fn cells_may_be_in_quotes() {
        assert_eq!(super::cells("1,\"a, \"\"b\"\"\",,2.5"), ["1", "a, \"b\"", "", "2.5"]);
    }
}
