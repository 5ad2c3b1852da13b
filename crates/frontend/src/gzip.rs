//! Decompresses gzip streams that are read line by line.
//!
//! A line reader keeps a whole line in memory, and a few megabytes can decompress to a line of gigabytes. So a long
//! line is rejected if its compression ratio is higher than that of real text.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// The first bytes of every gzip file.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Lines up to this decompressed size are read regardless of their compression ratio.
const LINE_BYTES_FREE: u64 = 16 << 20;

/// The maximum compression ratio of a line that is longer than [`LINE_BYTES_FREE`]. Lines of traces, with ascending
/// ids, reach 30; gzip can reach 1032.
const LINE_RATIO_MAX: u64 = 64;

/// The size of the buffers before and after decompression.
const BUFFER_BYTES: usize = 1 << 16;

/// Whether these bytes start a gzip file.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Returns a reader of a decompressed gzip stream. It fails on a long line whose compression ratio is too high.
pub fn lines(compressed: impl BufRead + 'static) -> Box<dyn BufRead> {
    let decoder = MultiGzDecoder::new(Counted { input: compressed, bytes: 0 });
    let lines = Lines { decoder, line_bytes: 0, before_line: 0 };
    Box::new(BufReader::with_capacity(BUFFER_BYTES, lines))
}

/// Counts the bytes read from an input.
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

/// Decompresses, and fails on a line that is longer than [`LINE_BYTES_FREE`] and has a higher compression ratio than
/// [`LINE_RATIO_MAX`].
struct Lines<R> {
    decoder: MultiGzDecoder<Counted<R>>,
    /// The number of decompressed bytes of the current line so far.
    line_bytes: u64,
    /// The number of compressed bytes that were read when the last newline was decompressed.
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
    fn a_line_with_an_excessive_compression_ratio_is_rejected_early() {
        let bomb = compressed((0..256).map(|_| vec![b' '; 1 << 20]));
        assert!(bomb.len() < 300_000);
        let error = longest_line(bomb).expect_err("256 MiB in one line");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains("16 MiB"), "{error}");
    }

    #[test]
    fn many_equal_lines_are_read() {
        let mut line = vec![b' '; 1 << 20];
        line.push(b'\n');
        assert_eq!(longest_line(compressed((0..64).map(|_| line.clone()))).expect("short lines"), (1 << 20) + 1);
    }

    #[test]
    fn a_long_line_of_ascending_ids_is_read() {
        let parts =
            (0..600_000).map(|number| format!("{{\"id\":\"n{number}\",\"capacity\":8,\"tier\":3}},").into_bytes());
        assert!(longest_line(compressed(parts)).expect("a line as traces have them") > LINE_BYTES_FREE as usize);
    }
}
