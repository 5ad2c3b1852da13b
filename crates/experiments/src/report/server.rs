//! Serves a report on this machine alone, and tells the page when there is news.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tiny_http::{Header, Method, Request, Response};

use super::{Report, page};

/// Where reports come from.
pub trait Source {
    /// Changes when there is news.
    fn version(&self) -> String;

    /// Makes the report, or says in words why it cannot.
    fn report(&mut self) -> Result<Report, String>;
}

/// A server for one report. It listens on 127.0.0.1 and answers whoever asks it by that name.
pub struct Server {
    http: tiny_http::Server,
    address: SocketAddr,
}

/// What the page asks for.
struct Site<S> {
    source: S,
    version: Option<String>,
    /// The last report that could be made.
    report: Report,
    trouble: Option<String>,
}

/// An answer: status, type, content.
type Answer = (u16, &'static str, String);

impl Server {
    /// Listens on a port; 0 lets the system choose one.
    pub fn bind(port: u16) -> io::Result<Server> {
        let http = tiny_http::Server::http((Ipv4Addr::LOCALHOST, port)).map_err(io::Error::other)?;
        let address = http.server_addr().to_ip().ok_or_else(|| io::Error::other("no address was given"))?;
        Ok(Server { http, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until listening fails.
    pub fn serve(&self, source: impl Source) -> io::Result<()> {
        let mut site = Site::new(source);
        loop {
            let request = self.http.recv()?;
            let (status, kind, content) = if is_for_this_machine(&request) {
                site.answer(request.method(), request.url())
            } else {
                (403, TEXT, "This server answers on 127.0.0.1 and localhost only.\n".to_owned())
            };
            let mut response = Response::from_string(content).with_status_code(status);
            for (name, value) in [("Content-Type", kind), ("Cache-Control", "no-store")] {
                let header = Header::from_bytes(name, value).expect("these are plain ASCII");
                response.add_header(header);
            }
            // Whoever asked may be gone; that is no reason to stop.
            let _ = request.respond(response);
        }
    }
}

const TEXT: &str = "text/plain; charset=utf-8";
const PAGE: &str = "text/html; charset=utf-8";
const DATA: &str = "application/json";

/// Whether the request names this machine. A page from elsewhere that was given this address by its own name server does
/// not, and may not read runs.
fn is_for_this_machine(request: &Request) -> bool {
    let host = request.headers().iter().find(|header| header.field.equiv("Host"));
    let host = host.map_or("", |header| header.value.as_str());
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "127.0.0.1" || name == "localhost"
}

impl<S: Source> Site<S> {
    fn new(source: S) -> Site<S> {
        Site { source, version: None, report: Report::default(), trouble: None }
    }

    fn answer(&mut self, method: &Method, path: &str) -> Answer {
        if *method != Method::Get {
            return (405, TEXT, "Only GET is answered.\n".to_owned());
        }
        match path.split('?').next().unwrap_or_default() {
            "/" => {
                self.refresh();
                match &self.trouble {
                    Some(trouble) if self.report.runs.is_empty() => (200, PAGE, page::waiting(trouble)),
                    _ => (200, PAGE, self.report.live_html()),
                }
            }
            "/data.json" => {
                self.refresh();
                (200, DATA, self.report.json())
            }
            "/version" => (200, TEXT, self.source.version()),
            _ => (404, TEXT, "There is nothing here.\n".to_owned()),
        }
    }

    /// Makes the report again if there is news. What cannot be read now may be half written: the last report stays.
    fn refresh(&mut self) {
        let version = self.source.version();
        if self.version.as_ref() == Some(&version) {
            return;
        }
        match self.source.report() {
            Ok(report) => {
                self.report = report;
                self.trouble = None;
                self.version = Some(version);
            }
            Err(trouble) => self.trouble = Some(trouble),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Twice(u32);

    impl Source for Twice {
        fn version(&self) -> String {
            self.0.to_string()
        }

        fn report(&mut self) -> Result<Report, String> {
            match self.0 {
                0 => Err("it is <empty>".to_owned()),
                count => Ok(Report { title: format!("report {count}"), ..Report::default() }),
            }
        }
    }

    #[test]
    fn a_report_that_cannot_be_made_yet_is_waited_for() {
        let mut site = Site::new(Twice(0));
        let (status, _, page) = site.answer(&Method::Get, "/");
        assert_eq!(status, 200);
        assert!(page.contains("it is &lt;empty&gt;") && page.contains("http-equiv=\"refresh\""), "{page}");
    }

    #[test]
    fn news_are_read_when_the_version_changes() {
        let mut site = Site::new(Twice(1));
        assert!(site.answer(&Method::Get, "/data.json").2.contains("report 1"));
        site.source.0 = 2;
        assert_eq!(site.answer(&Method::Get, "/version").2, "2");
        assert!(site.answer(&Method::Get, "/data.json").2.contains("report 2"));
    }

    #[test]
    fn only_reading_is_answered_and_only_what_is_there() {
        let mut site = Site::new(Twice(1));
        assert_eq!(site.answer(&Method::Post, "/").0, 405);
        assert_eq!(site.answer(&Method::Get, "/../etc/passwd").0, 404);
    }
}
