//! A policy as text, with all that it loads.

use mario_prolog::Resolver;
use serde::{Deserialize, Serialize};

/// The text of a policy, complete: it can be stored, sent to another machine and compiled there.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct PolicyText {
    /// What people call it.
    pub name: String,
    /// Its files: the policy first, then what it loads, each a name as the text that loads it writes it, and a text.
    pub files: Vec<(String, String)>,
    /// For how many of its last evaluations an agent remembers what was inhibited.
    pub memory: u32,
}

impl PolicyText {
    /// The name and the text of the policy itself; `None` if there is no file.
    pub fn main(&self) -> Option<(&str, &str)> {
        self.files.first().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Returns a resolver that finds what the policy loads among the files that came with it, and nowhere else.
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
    fn loads_what_came_with_it_and_nothing_else() {
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
