//! The resources of the server.

use hyper::body::Bytes;
use mario_page::server::{HTML, JSON, TEXT};

use super::Source;
use crate::{Report, page};

/// A resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Page,
    Data,
    Version,
}

/// An answer: its type and content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Answer {
    pub(super) kind: &'static str,
    pub(super) content: Bytes,
}

/// Makes the answers of the server, and remakes the report when its source changes.
pub(super) struct Site<S> {
    source: S,
    version: Option<String>,
    /// The last report that was made; empty before the first.
    report: Report,
    trouble: Option<String>,
    /// Cached answers made from `report`, shared by all clients.
    page: Option<Bytes>,
    data: Option<Bytes>,
}

impl Target {
    /// The resource at a path, if there is one.
    pub(super) fn of(path: &str) -> Option<Target> {
        match path {
            "/" => Some(Target::Page),
            "/data.json" => Some(Target::Data),
            "/version" => Some(Target::Version),
            _ => None,
        }
    }
}

impl<S: Source> Site<S> {
    pub(super) fn new(source: S) -> Site<S> {
        Site { source, version: None, report: Report::default(), trouble: None, page: None, data: None }
    }

    pub(super) fn answer(&mut self, target: Target) -> Answer {
        match target {
            Target::Page => {
                self.refresh();
                let content = match &self.trouble {
                    Some(trouble) if self.report.runs.is_empty() => page::waiting(trouble).into(),
                    _ => self.page.get_or_insert_with(|| self.report.live_html().into()).clone(),
                };
                Answer { kind: HTML, content }
            }
            Target::Data => {
                self.refresh();
                let content = self.data.get_or_insert_with(|| self.report.json().into()).clone();
                Answer { kind: JSON, content }
            }
            Target::Version => Answer { kind: TEXT, content: self.source.version().into() },
        }
    }

    /// Makes the report again if the version of its source changed. If that fails, keeps the last report, and retries
    /// at the next call.
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
                (self.page, self.data) = (None, None);
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

    fn text(site: &mut Site<Twice>, path: &str) -> String {
        let target = Target::of(path).expect("it names something");
        String::from_utf8(site.answer(target).content.to_vec()).expect("text")
    }

    #[test]
    fn a_failing_report_shows_its_error_and_refreshes() {
        let page = text(&mut Site::new(Twice(0)), "/");
        assert!(page.contains("it is &lt;empty&gt;") && page.contains("http-equiv=\"refresh\""), "{page}");
    }

    #[test]
    fn the_report_is_made_again_when_the_version_changes() {
        let mut site = Site::new(Twice(1));
        assert!(text(&mut site, "/data.json").contains("report 1") && text(&mut site, "/").contains("report 1"));
        site.source.0 = 2;
        assert_eq!(text(&mut site, "/version"), "2");
        assert!(text(&mut site, "/data.json").contains("report 2") && text(&mut site, "/").contains("report 2"));
    }

    #[test]
    fn clients_share_one_copy_of_an_answer() {
        let mut site = Site::new(Twice(1));
        for target in [Target::Page, Target::Data] {
            let (first, second) = (site.answer(target).content, site.answer(target).content);
            assert_eq!(first.as_ptr(), second.as_ptr(), "{target:?}");
        }
    }

    #[test]
    fn unknown_paths_have_no_resource() {
        for path in ["", "/../etc/passwd", "//", "/data.json/", "/Version"] {
            assert_eq!(Target::of(path), None, "{path}");
        }
    }
}
