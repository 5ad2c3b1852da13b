//! A small workspace that breaks no rule, which tests change.

use std::fs;
use std::path::{Path, PathBuf};

use mario_tidy::{Workspace, check};

const CLEAN: [(&str, &str); 11] = [
    (
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n\n[workspace.lints.rust]\nunsafe_code = \"deny\"\n",
    ),
    (
        "ARCHITECTURE.md",
        "\
# Architecture

All crates are in `crates/`.

- [`crates/shell`](crates/shell/src/main.rs): talks.
- [`crates/core`](crates/core/src/lib.rs): thinks.
- [`crates/tidy`](crates/tidy/src/lib.rs): checks.

```text dependencies
shell -> core
core
tidy
* (tests) -> tidy
```

```text deterministic
core
```
",
    ),
    (
        "clippy.toml",
        "\
disallowed-types = [{ path = \"std::collections::HashMap\" }, { path = \"std::collections::HashSet\" }]
disallowed-methods = [
    { path = \"std::time::Instant::now\" },
    { path = \"std::time::SystemTime::now\" },
    { path = \"std::env::var\" },
    { path = \"std::fs::read\" },
]
",
    ),
    (
        "crates/shell/Cargo.toml",
        "[package]\nname = \"the-shell\"\n\n[lints]\nworkspace = true\n\n[dependencies]\nthe-core = { path = \"../core\" }\n",
    ),
    ("crates/shell/src/main.rs", "//! Talks.\n\nfn main() {}\n"),
    (
        "crates/core/Cargo.toml",
        "[package]\nname = \"the-core\"\n\n[dev-dependencies]\nthe-tidy = { path = \"../tidy\" }\n\n[lints]\nworkspace = true\n",
    ),
    ("crates/core/src/lib.rs", "//! Thinks.\n"),
    ("crates/tidy/Cargo.toml", "[package]\nname = \"the-tidy\"\n\n[lints]\nworkspace = true\n"),
    ("crates/tidy/src/lib.rs", "//! Checks.\n"),
    (
        "Cargo.lock",
        "\
version = 4

[[package]]
name = \"outside\"
version = \"1.4.2\"
source = \"registry+https://github.com/rust-lang/crates.io-index\"

[[package]]
name = \"the-core\"
version = \"0.0.0\"
",
    ),
    (
        "crates/tidy/data/advisories.toml",
        "\
looked_up = 2026-01-31
newest_advisory = 2026-01-30
packages = [\"outside\"]

[[advisory]]
id = \"RUSTSEC-2020-0001\"
package = \"outside\"
date = 2020-02-29
kind = \"vulnerability\"
patched = [\">= 1.4.2\"]
",
    ),
];

/// A workspace on disk, clean until a test changes it.
pub struct Fixture {
    root: PathBuf,
}

impl Fixture {
    /// A clean workspace in a directory of this name.
    pub fn clean(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tidy").join(name);
        if root.exists() {
            fs::remove_dir_all(&root).expect("the test's own directory is writable");
        }
        let mut fixture = Self { root };
        for (path, text) in CLEAN {
            fixture = fixture.with(path, text);
        }
        fixture
    }

    /// Adds or replaces this file.
    pub fn with(self, path: &str, text: &str) -> Self {
        let path = self.root.join(path);
        let directory = path.parent().expect("a file is in a directory");
        fs::create_dir_all(directory).expect("the test's own directory is writable");
        fs::write(&path, text).expect("the test's own directory is writable");
        self
    }

    /// Removes this file.
    pub fn without(self, path: &str) -> Self {
        fs::remove_file(self.root.join(path)).expect("the file is there");
        self
    }

    /// Replaces every `from` with `to` in this file, which must contain `from`.
    pub fn replacing(self, path: &str, from: &str, to: &str) -> Self {
        let text = fs::read_to_string(self.root.join(path)).expect("the file is there");
        assert!(text.contains(from), "{path} does not contain {from:?}");
        self.with(path, &text.replace(from, to))
    }

    /// Reads the workspace.
    pub fn workspace(&self) -> Workspace {
        Workspace::read(&self.root).expect("the fixture is a workspace")
    }

    /// All findings, one line each.
    pub fn findings(&self) -> Vec<String> {
        check(&self.workspace()).iter().map(ToString::to_string).collect()
    }
}
