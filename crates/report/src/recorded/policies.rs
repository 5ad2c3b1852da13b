//! The policies of a header.

use mario_prolog::Resolver;
use mario_trace::reader::TracedPolicy;

/// The files of a policy in a header. A file is found by its name, else by the last component of its path; the ending
/// `.pl` may be omitted.
struct Files(Vec<(String, String)>);

impl Resolver for Files {
    fn resolve(&mut self, _from: &str, wanted: &str) -> Result<(String, String), String> {
        let with_ending = format!("{wanted}.pl");
        let is_wanted = |name: &str| name == wanted || name == with_ending;
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let ends_so = |name: &str| last(name) == last(wanted) || last(name) == last(&with_ending);
        let named = self.0.iter().find(|(name, _)| is_wanted(name));
        let found = named.or_else(|| self.0.iter().find(|(name, _)| ends_so(name)));
        found.cloned().ok_or_else(|| "the trace does not have this file".to_owned())
    }
}

/// Returns a resolver that finds the files loaded by a policy in the header of a trace.
pub(crate) fn resolver(policy: &TracedPolicy) -> Box<dyn Resolver> {
    Box::new(Files(policy.files.clone()))
}
