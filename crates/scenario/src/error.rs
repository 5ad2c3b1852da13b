//! Why a scenario is invalid.

use std::error::Error;
use std::fmt;

use mario_settings::Mistake;

/// Why a scenario is invalid: the errors that were found, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The name of the scenario.
    pub name: String,
    /// The errors.
    pub mistakes: Vec<Mistake>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot use scenario `{}`", self.name)
    }
}

impl Error for ScenarioError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.mistakes.first().map(|mistake| mistake as &dyn Error)
    }
}
