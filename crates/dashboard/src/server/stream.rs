//! The event stream of one browser.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use crate::hub::Hub;

/// How many frames are buffered for a browser. Further ones wait in the hub's channel, in which the browser may lag.
const WAITING_MAX: usize = 8;

/// The heartbeat interval when nothing happens. The page considers the connection lost after 12 seconds without any
/// frame.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The stream of events to one browser.
pub(super) struct EventBody {
    frames: mpsc::Receiver<Bytes>,
    _place: OwnedSemaphorePermit,
}

impl EventBody {
    pub(super) fn new(hub: &Arc<Hub>, last: Option<u64>, place: OwnedSemaphorePermit) -> EventBody {
        let (sender, frames) = mpsc::channel(WAITING_MAX);
        let (first, mut news) = hub.subscribe(last);
        tokio::spawn(async move {
            for frame in first {
                if sender.send(frame).await.is_err() {
                    return;
                }
            }
            loop {
                let frame = match timeout(HEARTBEAT, news.recv()).await {
                    Err(_) => Bytes::from_static(b"event: alive\ndata: 1\n\n"),
                    Ok(Ok(frame)) => frame,
                    // A browser that lags too far must reconnect, and then resumes after the last event that it has
                    // seen.
                    Ok(Err(RecvError::Lagged(_) | RecvError::Closed)) => return,
                };
                if sender.send(frame).await.is_err() {
                    return;
                }
            }
        });
        EventBody { frames, _place: place }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.frames.poll_recv(context).map(|frame| frame.map(|bytes| Ok(Frame::data(bytes))))
    }
}
