//! Reads what gzip compressed, piece by piece.
//!
//! A reader of lines holds one line in memory, and a few kilobytes can be made to decompress to a line of
//! gigabytes. So a line may not be larger than texts compress to.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// The first bytes of everything that gzip wrote.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Lines up to this size are read however small they were compressed.
const LINE_BYTES_FREE: u64 = 16 << 20;

/// A longer line may be this many times as large as what it was compressed to. The lines of traces, with ids that count up, reach
/// 30; the format reaches 1032.
const LINE_RATIO_MAX: u64 = 64;

/// The size of the buffers before and after decompression.
const BUFFER_BYTES: usize = 1 << 16;

/// Whether this is the beginning of what gzip wrote.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Reads lines that gzip compressed.
pub fn lines(compressed: impl BufRead + 'static) -> Box<dyn BufRead> {
    let decoder = MultiGzDecoder::new(Counted { input: compressed, bytes: 0 });
    let lines = Lines { decoder, line_bytes: 0, before_line: 0 };
    Box::new(BufReader::with_capacity(BUFFER_BYTES, lines))
}

/// Counts what is taken from an input.
struct Counted<R> {
    input: R,
    bytes: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.bytes += count as u64;
        self.input.consume(count);
    }
}

/// Decompresses, and ends with an error in a line that is too large for what it was compressed to.
struct Lines<R> {
    decoder: MultiGzDecoder<Counted<R>>,
    /// How much of the present line was given.
    line_bytes: u64,
    /// How many compressed bytes were taken before it.
    before_line: u64,
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        let taken = self.decoder.get_ref().bytes;
        match buffer[..read].iter().rposition(|byte| *byte == b'\n') {
            Some(end) => (self.line_bytes, self.before_line) = ((read - end - 1) as u64, taken),
            None => self.line_bytes += read as u64,
        }
        let compressed = taken - self.before_line;
        if self.line_bytes > LINE_BYTES_FREE && self.line_bytes / LINE_RATIO_MAX > compressed {
            let message = format!(
                "a line has more than {} MiB, decompressed from {compressed} bytes: no text compresses so well",
                self.line_bytes >> 20
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(parts: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        parts.for_each(|part| encoder.write_all(&part).expect("writing to memory does not fail"));
        encoder.finish().expect("writing to memory does not fail")
    }

    fn longest_line(bytes: Vec<u8>) -> io::Result<usize> {
        let mut input = lines(io::Cursor::new(bytes));
        let (mut line, mut longest) = (Vec::new(), 0);
        while input.read_until(b'\n', &mut line)? > 0 {
            longest = longest.max(line.len());
            line.clear();
        }
        Ok(longest)
    }

    #[test]
    fn a_line_that_no_text_compresses_to_is_refused_early() {
        let bomb = compressed((0..256).map(|_| vec![b' '; 1 << 20]));
        assert!(bomb.len() < 300_000);
        let error = longest_line(bomb).expect_err("256 MiB in one line");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains("16 MiB"), "{error}");
    }

    #[test]
    fn many_lines_that_are_the_same_are_read() {
        let mut line = vec![b' '; 1 << 20];
        line.push(b'\n');
        assert_eq!(longest_line(compressed((0..64).map(|_| line.clone()))).expect("short lines"), (1 << 20) + 1);
    }

    #[test]
    fn a_long_line_of_things_that_are_counted_is_read() {
        let parts =
            (0..600_000).map(|number| format!("{{\"id\":\"n{number}\",\"capacity\":8,\"tier\":3}},").into_bytes());
        assert!(longest_line(compressed(parts)).expect("a line as traces have them") > LINE_BYTES_FREE as usize);
    }
}
