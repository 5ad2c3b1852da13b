//! The engine that compiles all policies of a process.

use std::sync::OnceLock;

use mario_prolog::Engine;

/// The engine of this process. It is shared, because creating one compiles the Prolog library, which takes longer than
/// a small run.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}
