//! Every dependency may be linked into a program under MIT OR Apache-2.0.

use crate::{Finding, Package};

/// Licences that require no more than a notice.
pub const ACCEPTED: [&str; 10] =
    ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "Unicode-3.0", "Zlib"];

/// Applies the rule.
pub fn check(packages: &[Package]) -> Vec<Finding> {
    packages
        .iter()
        .filter_map(|package| {
            let message = match &package.licence {
                None => "declares no licence".to_owned(),
                Some(licence) if is_accepted(licence) => return None,
                Some(licence) => format!("is under `{licence}`, which is not accepted here"),
            };
            Some(Finding::new(format!("{} {}", package.name, package.version), message))
        })
        .collect()
}

/// Whether an SPDX expression can be satisfied with accepted licences only. An expression that cannot be parsed is not
/// accepted.
pub fn is_accepted(expression: &str) -> bool {
    // Old manifests write `MIT/Apache-2.0` for OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words };
    reader.any() == Some(true) && reader.words.is_empty()
}

/// A recursive descent parser of SPDX expressions; AND binds tighter than OR. Its methods return whether an expression
/// is accepted, or `None` if it is malformed.
struct Reader<'a> {
    words: &'a [&'a str],
}

impl Reader<'_> {
    fn any(&mut self) -> Option<bool> {
        let mut accepted = self.all()?;
        while self.take("OR") {
            accepted |= self.all()?;
        }
        Some(accepted)
    }

    fn all(&mut self) -> Option<bool> {
        let mut accepted = self.one()?;
        while self.take("AND") {
            accepted &= self.one()?;
        }
        Some(accepted)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let accepted = self.any()?;
            return self.take(")").then_some(accepted);
        }
        let (licence, rest) = self.words.split_first()?;
        self.words = rest;
        if self.take("WITH") {
            // An exception only removes obligations, so it can be ignored.
            self.words = self.words.split_first()?.1;
        }
        Some(ACCEPTED.contains(licence))
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_an_expression_that_leaves_an_accepted_choice() {
        for accepted in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
            "GPL-2.0 AND MIT OR Zlib",
        ] {
            assert!(is_accepted(accepted), "{accepted}");
        }
    }

    #[test]
    fn refuses_an_expression_that_does_not_or_that_is_broken() {
        for refused in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "MIT AND (GPL-3.0 OR AGPL-3.0)",
            "",
            "MIT OR",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "MIT WITH",
            "mit",
        ] {
            assert!(!is_accepted(refused), "{refused}");
        }
    }
}
