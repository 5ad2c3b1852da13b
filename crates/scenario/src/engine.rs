//! The engine that compiles the policies of scenarios.

use std::sync::OnceLock;

use mario_prolog::Engine;

/// The engine for the policies of all scenarios in this process. It is shared, because creating one compiles the Prolog
/// library, which takes longer than a small run.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}
