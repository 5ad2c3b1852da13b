//! The files of the program, and their errors and warnings.

use std::path::{Path, PathBuf};

use mario_diagnostics::Source;
use mario_frontend::Diagnostic;
use mario_prolog::{Budget, Directories, Engine, Loaded, Problem, Resolver};

use super::output::ProgramOutput;
use crate::input::directory;
use crate::problems::diagnostics;
use crate::{Console, Failure, read_text};

/// The files of a program. They can be reloaded.
pub(super) struct Sources {
    engine: Engine,
    files: Vec<PathBuf>,
    /// The program may read only files below these directories.
    roots: Vec<PathBuf>,
    budget: Budget,
    output: ProgramOutput,
}

impl Sources {
    pub(super) fn new(engine: &Engine, files: &[PathBuf], budget: Budget, output: ProgramOutput) -> Self {
        let mut roots: Vec<PathBuf> = files.iter().map(|file| directory(file)).collect();
        if roots.is_empty() {
            roots.push(PathBuf::from("."));
        }
        Self { engine: engine.clone(), files: files.to_vec(), roots, budget, output }
    }

    /// Loads all files, and shows their warnings.
    pub(super) fn load(&self, console: &Console) -> Result<Loaded, Failure> {
        let texts = self.read()?;
        let mut loader = self.engine.loader();
        loader
            .resolver(Directories::new(&self.roots))
            .sink(self.output.clone())
            .interrupt(self.output.interrupt().clone())
            .budget(self.budget);
        for source in &texts {
            loader.load(&source.name, &source.text);
        }
        match loader.finish() {
            Ok(loaded) => {
                self.output.end_line()?;
                console.show(&diagnostics(&loaded.warnings));
                Ok(loaded)
            }
            Err(error) => {
                self.output.end_line()?;
                let problems: Vec<Problem> = error.warnings.into_iter().chain(error.errors).collect();
                Err(Failure::Input(diagnostics(&problems)))
            }
        }
    }

    /// Adds the files that a goal such as `[file].` names. If one cannot be found or may not be read, adds none and
    /// returns an error.
    pub(super) fn add(&mut self, wanted: &[String]) -> Result<(), Failure> {
        let mut found = Vec::new();
        for name in wanted {
            found.push(self.find(name)?);
        }
        for file in found {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
        Ok(())
    }

    /// Drops the files from index `count` on.
    pub(super) fn truncate(&mut self, count: usize) {
        self.files.truncate(count);
    }

    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// Finds the file `name` in the current directory, or beside a file that is already loaded.
    fn find(&self, name: &str) -> Result<PathBuf, Failure> {
        let mut resolver = Directories::new(&self.roots);
        let here = Path::new("");
        let mut first_reason = None;
        for from in std::iter::once(here).chain(self.files.iter().map(PathBuf::as_path)) {
            match resolver.resolve(&from.to_string_lossy(), name) {
                Ok((found, _)) => return Ok(PathBuf::from(found)),
                Err(reason) => {
                    first_reason.get_or_insert(reason);
                }
            }
        }
        let mut diagnostic = Diagnostic::error(format!("cannot load `{name}`"));
        diagnostic.causes.extend(first_reason);
        let roots: Vec<String> = self.roots.iter().map(|root| format!("`{}`", root.display())).collect();
        Err(Failure::input(diagnostic.hint(format!("files below {} can be loaded", roots.join(", ")))))
    }

    /// Reads all files, or reports each that cannot be read.
    fn read(&self) -> Result<Vec<Source>, Failure> {
        let mut texts = Vec::new();
        let mut diagnostics = Vec::new();
        let mut is_environment = false;
        for file in &self.files {
            match read_text(file) {
                Ok(source) => texts.push(source),
                Err(failure) => {
                    is_environment |= matches!(failure, Failure::Environment(_));
                    diagnostics.extend_from_slice(failure.diagnostics());
                }
            }
        }
        match (diagnostics.is_empty(), is_environment) {
            (true, _) => Ok(texts),
            (false, true) => Err(Failure::Environment(diagnostics)),
            (false, false) => Err(Failure::Input(diagnostics)),
        }
    }
}
