//! Tests that functions of floats return the same values on every processor.

use mario_prolog::{Budget, Engine, Machine, Outcome, Sink};
use std::env;
use std::process::Command;
use std::sync::{Arc, Mutex};

const PROGRAM: &str = "
values :- between(1, 13000, I), X is (I - 6500) * 0.0131072 + I / 7, values(X), fail.
values.
values(X) :-
    Unit is X / 2000, Positive is abs(X) + 0.001,
    forall(member(E, [sin(X), cos(X), tan(X), asin(Unit), acos(Unit), atan(X), atan2(X, Positive), sinh(Unit), cosh(Unit),
                      tanh(Unit), asinh(X), acosh(Positive + 1), atanh(Unit), exp(Unit), log(Positive), log2(Positive),
                      Positive ** Unit, Positive ** 1.7, exp(X / 3), X * Unit]),
           ( Y is E, write(Y), nl )).
";

/// A sink that hashes the output and counts its lines.
#[derive(Clone, Default)]
struct Digest(Arc<Mutex<(u64, usize)>>);

impl Sink for Digest {
    fn write(&mut self, text: &str) {
        let mut state = self.0.lock().expect("one thread writes");
        for byte in text.bytes() {
            state.0 = (state.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            state.1 += usize::from(byte == b'\n');
        }
    }
}

fn digest() -> (u64, usize) {
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.load("values", PROGRAM);
    let program = loader.finish().map_err(|error| error.to_string()).expect("the program loads").program;
    let digest = Digest::default();
    let mut machine = Machine::new(&engine);
    machine.set_sink(Some(Box::new(digest.clone())));
    let mut query = machine.query(&program, "values", &(), &Budget::UNLIMITED).expect("it is a goal");
    assert_eq!(query.next_answer(), Outcome::Answer);
    drop(query);
    let state = digest.0.lock().expect("one thread writes");
    *state
}

/// The C library selects its functions for the processor when a process starts, so this test runs itself again in a
/// process in which newer instruction sets are hidden from the C library. It also compares the values with a stored
/// digest. With `GLIBC_TUNABLES` set, as in the second process, it only prints the digest of its values.
#[test]
fn floats_do_not_depend_on_the_processor() {
    const VARIABLE: &str = "GLIBC_TUNABLES";
    let (mixed, count) = digest();
    assert_eq!(count, 260_000);
    println!("digest {mixed:016x}");
    if env::var(VARIABLE).is_ok() {
        return;
    }
    let itself = env::current_exe().expect("a test is a program");
    let hidden =
        "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-FMA4_Usable,-AVX,-SSE4_2,-SSE4_1";
    let output = Command::new(itself)
        .args(["--exact", "floats::floats_do_not_depend_on_the_processor", "--nocapture"])
        .env(VARIABLE, hidden)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(&format!("digest {mixed:016x}")), "{said}");
    assert_eq!(mixed, DIGEST, "the values are those of other machines");
}

/// The expected digest of the output.
const DIGEST: u64 = 0x3350_c6de_99cf_8c00;
