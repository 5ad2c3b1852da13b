//! Signals: which of them end the daemon, and which do not.

use tokio::task::JoinSet;

use super::events::Events;
use crate::api::NodeEvent;
use crate::error::LiveError;

/// Returns a future that completes on SIGTERM or Ctrl-C.
pub fn stop_signal() -> std::io::Result<impl Future<Output = ()> + Send> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Catches the signals with which other daemons read their configuration again or open their logs again, because they
/// would end this one. Returns a set with a task that publishes an event for each.
#[cfg(unix)]
pub(super) fn ignored(events: &Events) -> Result<JoinSet<()>, LiveError> {
    use tokio::signal::unix::SignalKind;
    let signal = |kind| {
        tokio::signal::unix::signal(kind).map_err(|error| LiveError::new("cannot listen for signals").caused_by(error))
    };
    let mut hangup = signal(SignalKind::hangup())?;
    let (mut first, mut second) = (signal(SignalKind::user_defined1())?, signal(SignalKind::user_defined2())?);
    let (events, mut tasks) = (events.clone(), JoinSet::new());
    tasks.spawn(async move {
        loop {
            let signal = tokio::select! {
                _ = hangup.recv() => "SIGHUP",
                _ = first.recv() => "SIGUSR1",
                _ = second.recv() => "SIGUSR2",
            };
            let message = "nothing is reloaded: restart the daemon to read node.toml again; its workloads keep running";
            let (signal, message) = (signal.to_owned(), message.to_owned());
            events.publish(NodeEvent::SignalIgnored { signal, message });
        }
    });
    Ok(tasks)
}

#[cfg(not(unix))]
pub(super) fn ignored(_: &Events) -> Result<JoinSet<()>, LiveError> {
    Ok(JoinSet::new())
}
