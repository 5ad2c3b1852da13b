//! The output of a program.
//!
//! Text is passed to the host in pieces; `with_output_to/2` diverts it into a buffer.

/// Receives the output of a program.
pub trait Sink: Send {
    /// Receives a piece of text written to standard output.
    fn write(&mut self, text: &str);
    /// Receives a piece of text written to standard error. By default, the text is dropped.
    fn write_error(&mut self, text: &str) {
        let _ = text;
    }
}

impl Sink for String {
    fn write(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// One level of diverted output.
#[derive(Default)]
struct Level {
    text: String,
    column: usize,
}

/// The output state of one machine.
#[derive(Default)]
pub(crate) struct Output {
    sink: Option<Box<dyn Sink>>,
    column: usize,
    diverted: Vec<Level>,
    /// The memory of `diverted` in bytes, kept up to date so that a check of the budget takes constant time.
    diverted_bytes: usize,
    written: usize,
}

impl Output {
    /// Directs output to `sink`; `None` drops it. Returns the previous sink.
    pub(crate) fn set_sink(&mut self, sink: Option<Box<dyn Sink>>) -> Option<Box<dyn Sink>> {
        std::mem::replace(&mut self.sink, sink)
    }

    /// Writes text to the sink or the innermost diversion; returns the number of bytes written in this query so far.
    pub(crate) fn write(&mut self, text: &str) -> usize {
        self.written += text.len();
        let column = match self.diverted.last_mut() {
            Some(level) => {
                let before = level.text.capacity();
                level.text.push_str(text);
                self.diverted_bytes += level.text.capacity() - before;
                &mut level.column
            }
            None => {
                if let Some(sink) = &mut self.sink {
                    sink.write(text);
                }
                &mut self.column
            }
        };
        *column = column_after(*column, text);
        self.written
    }

    /// The number of bytes written in this query so far.
    pub(crate) fn written(&self) -> usize {
        self.written
    }

    /// Writes to standard error, which is never diverted; returns the number of bytes written in this query so far.
    pub(crate) fn write_error(&mut self, text: &str) -> usize {
        self.written += text.len();
        if let Some(sink) = &mut self.sink {
            sink.write_error(text);
        }
        self.written
    }

    /// The zero-based column of the next character.
    pub(crate) fn column(&self) -> usize {
        self.diverted.last().map_or(self.column, |level| level.column)
    }

    /// Starts to collect output instead of sending it.
    pub(crate) fn divert(&mut self) {
        self.diverted.push(Level::default());
        self.diverted_bytes += size_of::<Level>();
    }

    /// Ends the innermost [`Output::divert`] and returns the collected text.
    pub(crate) fn end_diversion(&mut self) -> String {
        let Some(level) = self.diverted.pop() else { return String::new() };
        self.diverted_bytes -= level.text.capacity() + size_of::<Level>();
        level.text
    }

    /// The memory of the open diversions, in bytes.
    pub(crate) fn diverted_bytes(&self) -> usize {
        self.diverted_bytes
    }

    /// The number of open diversions.
    pub(crate) fn diversions(&self) -> usize {
        self.diverted.len()
    }

    /// Drops the diversions above `depth`, because an exception left them.
    pub(crate) fn drop_diversions(&mut self, depth: usize) {
        while self.diverted.len() > depth {
            self.end_diversion();
        }
    }

    /// Starts a new query.
    pub(crate) fn reset(&mut self) {
        self.diverted.clear();
        self.diverted_bytes = 0;
        self.column = 0;
        self.written = 0;
    }
}

/// The column after writing `text` from `column` on.
pub(crate) fn column_after(column: usize, text: &str) -> usize {
    let (mut column, rest) = match text.rfind('\n') {
        Some(position) => (0, &text[position + 1..]),
        None => (column, text),
    };
    for character in rest.chars() {
        column = match character {
            '\t' => (column | 7) + 1,
            '\u{8}' => column.saturating_sub(1),
            '\r' => 0,
            _ => column + 1,
        };
    }
    column
}
