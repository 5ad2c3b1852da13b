//! Frames in a byte stream: the length as four big-endian bytes, then the envelope.

use std::error::Error;
use std::fmt;

use crate::bounds::FRAME_BYTES_MAX;
use crate::envelope::{Envelope, encode};
use crate::error::EncodeError;

const PREFIX_BYTES: usize = 4;

/// Appends an envelope with its length to `out`; on an error, `out` is unchanged.
pub fn encode_frame(envelope: &Envelope, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; PREFIX_BYTES]);
    if let Err(error) = encode(envelope, out) {
        out.truncate(start);
        return Err(error);
    }
    let length = (out.len() - start - PREFIX_BYTES) as u32;
    out[start..start + PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Splits a stream of bytes into frames.
///
/// ```
/// use mario_wire::Framer;
///
/// let mut framer = Framer::new(16);
/// framer.extend(&[0, 0, 0, 2, 7]);
/// assert_eq!(framer.next_frame(), Ok(None));
/// framer.extend(&[8, 0, 0, 1, 0]);
/// assert_eq!(framer.next_frame(), Ok(Some(&[7, 8][..])));
/// assert!(framer.next_frame().is_err(), "256 bytes are announced, and 16 are allowed");
/// ```
///
/// To bound its memory, call [`Framer::next_frame`] until it returns `None` before each [`Framer::extend`]. The buffer
/// then contains less than one frame when bytes are added.
#[derive(Debug)]
pub struct Framer {
    bytes: Vec<u8>,
    /// The position of the next frame in `bytes`.
    start: usize,
    frame_bytes_max: usize,
}

/// The length of a frame exceeds the maximum. The link must be closed, because the start of the next frame is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameTooLong {
    /// The announced length in bytes.
    pub bytes: usize,
    /// The maximum length in bytes.
    pub bytes_max: usize,
}

impl Framer {
    /// A framer for frames of at most `frame_bytes_max` bytes, or [`FRAME_BYTES_MAX`] if that is less.
    pub fn new(frame_bytes_max: usize) -> Framer {
        Framer { bytes: Vec::new(), start: 0, frame_bytes_max: frame_bytes_max.min(FRAME_BYTES_MAX) }
    }

    /// Adds bytes received from the link.
    pub fn extend(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Removes the next frame, and returns it without its length field; `None` if it has not arrived completely.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameTooLong> {
        let rest = &self.bytes[self.start..];
        let Some((prefix, rest)) = rest.split_first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
        let length = u32::from_be_bytes(*prefix) as usize;
        if length > self.frame_bytes_max {
            return Err(FrameTooLong { bytes: length, bytes_max: self.frame_bytes_max });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let start = self.start + PREFIX_BYTES;
        self.start = start + length;
        Ok(Some(&self.bytes[start..self.start]))
    }

    /// The number of buffered bytes that were not returned as frames.
    pub fn held(&self) -> usize {
        self.bytes.len() - self.start
    }
}

impl Default for Framer {
    fn default() -> Framer {
        Framer::new(FRAME_BYTES_MAX)
    }
}

impl fmt::Display for FrameTooLong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a frame of {} bytes was announced, and at most {} are allowed", self.bytes, self.bytes_max)
    }
}

impl Error for FrameTooLong {}
