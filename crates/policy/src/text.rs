//! The text of a policy with all files that it loads.

use mario_prolog::Resolver;
use serde::{Deserialize, Serialize};

/// The complete text of a policy. It can be stored, or sent to another machine and compiled there.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct PolicyText {
    /// The display name.
    pub name: String,
    /// Names and texts of the files: the policy first, then the files that it loads, under the names by which they are
    /// loaded; the extension `.pl` may be omitted when loading.
    pub files: Vec<(String, String)>,
    /// The number of evaluations for which an agent remembers inhibitions.
    pub memory: u32,
}

impl PolicyText {
    /// The name and the text of the policy itself; `None` if there is no file.
    pub fn main(&self) -> Option<(&str, &str)> {
        self.files.first().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// For how many evaluations an agent remembers inhibitions: the setting `set`, or else what the policy declares.
    /// With neither, one evaluation if the policy's own file contains `inhibited(` or `refused(`, otherwise none.
    pub fn memory_or_default(&self, set: Option<u32>, declared: Option<u32>) -> u32 {
        let reads_inhibitions = |(_, text): (&str, &str)| text.contains("inhibited(") || text.contains("refused(");
        set.or(declared).unwrap_or_else(|| u32::from(self.main().is_some_and(reads_inhibitions)))
    }

    /// Returns a resolver for the files that the policy loads. It finds no other files, and not the policy itself.
    pub fn resolver(&self) -> Box<dyn Resolver> {
        Box::new(Files(self.files.clone()))
    }
}

struct Files(Vec<(String, String)>);

impl Resolver for Files {
    fn resolve(&mut self, _from: &str, wanted: &str) -> Result<(String, String), String> {
        let is_wanted = |name: &str| name == wanted || name.strip_suffix(".pl") == Some(wanted);
        let found = self.0.iter().skip(1).find(|(name, _)| is_wanted(name));
        found.cloned().ok_or_else(|| "it did not come with the policy".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_only_its_own_files() {
        let file = |name: &str| (name.to_owned(), format!("% {name}\n"));
        let files = vec![file("main.pl"), file("library.pl")];
        let text = PolicyText { name: "main".to_owned(), files, memory: 0 };
        let mut resolver = text.resolver();
        assert_eq!(resolver.resolve("main.pl", "library"), Ok(file("library.pl")));
        assert_eq!(resolver.resolve("main.pl", "library.pl"), Ok(file("library.pl")));
        assert!(resolver.resolve("main.pl", "main.pl").is_err() && resolver.resolve("main.pl", "/etc/passwd").is_err());
        assert_eq!(text.main(), Some(("main.pl", "% main.pl\n")));
    }
}
