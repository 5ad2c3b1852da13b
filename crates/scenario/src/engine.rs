//! The engine that all policies of a process are compiled with.

use std::sync::OnceLock;

use mario_prolog::Engine;

/// The engine of this process. Making one compiles the library of the language, which takes longer than a small run.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}
