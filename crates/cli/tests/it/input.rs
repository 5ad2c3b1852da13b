//! Text files are read unchanged, or rejected by name.

use std::fs;
use std::path::{Path, PathBuf};

use mario_cli::{Failure, read_text};
use mario_diagnostics::Renderer;
use mario_frontend::Hint;

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).expect("the tests' own directory is writable");
    path
}

fn refusal(path: &Path) -> String {
    match read_text(path) {
        Err(Failure::Input(diagnostics)) => {
            let words = |hint: &Hint| match hint {
                Hint::Text(text) => text.clone(),
                other => panic!("{other:?} is not about a file"),
            };
            let worded: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.worded(words)).collect();
            Renderer::plain().render_all(&worded)
        }
        other => panic!("expected a fault of the input, got {other:?}"),
    }
}

#[test]
fn reads_text_unchanged() {
    let source = read_text(&file("text.pl", "a('é').\r\n".as_bytes())).expect("it is text");
    assert_eq!(&*source.text, "a('é').\r\n");
    assert!(source.name.ends_with("text.pl"));
    let empty = read_text(&file("empty.pl", b"")).expect("nothing is text too");
    assert_eq!(&*empty.text, "");
}

#[test]
fn points_at_the_first_byte_that_is_not_text() {
    let refusal = refusal(&file("latin.pl", b"a.\nb('\xe9').\nc.\n"));
    let expected =
        "latin.pl:2:4\n2 | b('\u{fffd}').\n  |    ^ byte 0xe9 is not valid UTF-8\nhint: save the file as UTF-8\n";
    assert!(refusal.ends_with(expected), "{refusal}");
}

#[test]
fn refuses_an_endless_file() {
    let endless = Path::new("/dev/zero");
    if endless.exists() {
        assert!(refusal(endless).contains("`/dev/zero` is larger than 64 MiB"));
    }
}

#[test]
fn names_a_file_that_cannot_be_read() {
    for path in [Path::new("."), Path::new("no/such/file.pl")] {
        let refusal = refusal(path);
        let title = format!("error: cannot read `{}`\ncause: ", path.display());
        assert!(refusal.starts_with(&title), "{refusal}");
        assert!(refusal.contains("\nhint: "), "{refusal}");
    }
}
