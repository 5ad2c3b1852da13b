//! An explanation for a terminal.

use std::io::{self, Write};

use mario_diagnostics::printable_line;
use mario_policy::{ExplainedDecision, Line, LineRole};

pub(super) fn write(stdout: &mut dyn Write, explained: &ExplainedDecision, coloured: bool) -> io::Result<()> {
    for (index, lines) in explained.parts().iter().enumerate() {
        if index > 0 {
            writeln!(stdout)?;
        }
        for line in lines {
            write_line(stdout, line, coloured)?;
        }
    }
    Ok(())
}

fn write_line(stdout: &mut dyn Write, line: &Line, coloured: bool) -> io::Result<()> {
    let style = match line.role {
        _ if !coloured => "",
        LineRole::Proposed => "\x1b[1;32m",
        LineRole::Missed => "\x1b[1;33m",
        LineRole::Failed => "\x1b[31m",
        LineRole::Fact => "\x1b[36m",
        LineRole::Change => "\x1b[1m",
        LineRole::Code | LineRole::Remark => "\x1b[2m",
        LineRole::Met => "",
    };
    let reset = if style.is_empty() { "" } else { "\x1b[0m" };
    let mark = match line.role {
        LineRole::Code => "| ",
        LineRole::Change => "=> ",
        _ => "",
    };
    write!(stdout, "{:1$}", "", line.depth * 2)?;
    if !line.before.is_empty() {
        write!(stdout, "{} ", printable_line(&line.before))?;
    }
    write!(stdout, "{style}{mark}{}{reset}", printable_line(&line.text))?;
    if !line.after.is_empty() {
        write!(stdout, ", {}", printable_line(&line.after))?;
    }
    match &line.place {
        Some(place) => writeln!(stdout, "  {}", printable_line(place)),
        None => writeln!(stdout),
    }
}
