//! The binary `mario`: configures how the process uses memory, and calls the library, which does everything else.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]

use std::process::ExitCode;

/// Large runs allocate and drop many small objects. This allocator makes a run of 250,000 users 10 % faster; the
/// paper's scenario is as fast as with the default allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The allocator's option for the delay in milliseconds before free memory returns to the system. The bindings do not
/// name it, so a test checks the number.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Keeps freed memory in the process, because a run soon needs it again, and the process ends when its work is done.
/// The system would have to clear returned memory before its next use, and would split large pages. Returning memory
/// would make a run of a million users 5 to 7 % slower, and a further run in the same process 10 % slower, for 3 % less
/// memory.
///
/// `MIMALLOC_PURGE_DELAY` in the environment takes precedence.
fn keep_memory() {
    const NEVER: std::ffi::c_long = -1;
    #[expect(
        unsafe_code,
        reason = "a call into C: the option is a number that the allocator checks, no other thread runs yet"
    )]
    // SAFETY: there is one thread, and the call stores a number.
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, NEVER);
    }
}

/// Reduces the memory of a long-lived process by disabling huge pages: a daemon would touch 25 of them for a few
/// kilobytes each (36 MB instead of 9 MB in a development build). The allocator keeps its default of returning freed
/// memory to the system.
fn stay_small() {
    // If this fails, the process only uses more memory.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
}

fn main() -> ExitCode {
    if mario_cli::is_long_lived(std::env::args_os()) {
        stay_small();
    } else {
        keep_memory();
    }
    mario_cli::main(std::env::args_os())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const VARIABLE: &str = "MIMALLOC_PURGE_DELAY";

    fn delay_once_started() -> std::ffi::c_long {
        keep_memory();
        #[expect(unsafe_code, reason = "a call into C that reads a number")]
        // SAFETY: the allocator checks the number of the option.
        unsafe {
            libmimalloc_sys::mi_option_get(PURGE_DELAY)
        }
    }

    /// The allocator reads its variables at process start, so this test starts itself with one set.
    #[test]
    fn memory_is_kept_unless_the_environment_says_otherwise() {
        if let Ok(wanted) = std::env::var(VARIABLE) {
            assert_eq!(delay_once_started().to_string(), wanted);
            return;
        }
        assert_eq!(delay_once_started(), -1);
        let itself = std::env::current_exe().expect("a test is a program");
        let test = "tests::memory_is_kept_unless_the_environment_says_otherwise";
        let output = Command::new(itself).args(["--exact", test]).env(VARIABLE, "77").output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
