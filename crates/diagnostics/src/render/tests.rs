use std::error::Error;
use std::fmt;

use super::*;

#[track_caller]
fn check(diagnostic: &Diagnostic, expected: &str) {
    let rendered = Renderer::plain().render(diagnostic);
    assert!(rendered == expected, "expected\n{expected}\nrendered\n{rendered}");
}

#[track_caller]
fn span_of(text: &str, part: &str) -> Range<usize> {
    let start = text.find(part).expect("the part is in the text");
    start..start + part.len()
}

const POLICY: &str = "\
% Keep every instance close to its users.
operation(migrate, I, N) :-
    closer(I, N :- latency(I, N, L).
";

#[test]
fn points_at_a_policy() {
    let source = Source::new("policies/keep-close.pl", POLICY);
    check(
        &Diagnostic::error("cannot load policy `keep-close`")
            .at(&source, span_of(POLICY, ":- latency").start..span_of(POLICY, " latency").start, "expected `,` or `)`")
            .context(span_of(POLICY, "(I, N :-").start..span_of(POLICY, "I, N :-").start, "opened here")
            .hint("close the argument list before `:-`"),
        "\
error: cannot load policy `keep-close`
 --> policies/keep-close.pl:3:17
3 |     closer(I, N :- latency(I, N, L).
  |           -     ^^ expected `,` or `)`
  |           |
  |           opened here
hint: close the argument list before `:-`
",
    );
}

const SCENARIO: &str = "\
[infrastructure]
nodes = 85

[[application]]
name = \"search\"
replicas = \"three\"
";

#[test]
fn points_at_a_scenario() {
    let source = Source::new("scenarios/rome.toml", SCENARIO);
    check(
        &Diagnostic::warning("scenario `rome` will not run as written")
            .at(&source, span_of(SCENARIO, "\"three\""), "expected a number")
            .context(span_of(SCENARIO, "[[application]]"), "in this application"),
        "\
warning: scenario `rome` will not run as written
 --> scenarios/rome.toml:6:12
4 | [[application]]
  | --------------- in this application
5 | name = \"search\"
6 | replicas = \"three\"
  |            ^^^^^^^ expected a number
",
    );
}

#[test]
fn shows_a_title_alone() {
    check(&Diagnostic::error("nothing to do"), "error: nothing to do\n");
}

#[derive(Debug)]
struct Failure {
    attempted: &'static str,
    cause: Option<Box<Failure>>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.attempted)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

#[test]
fn shows_the_whole_chain_of_causes_before_the_hints() {
    let failure = Failure {
        attempted: "cannot run the scenario",
        cause: Some(Box::new(Failure {
            attempted: "cannot read `users.csv`",
            cause: Some(Box::new(Failure { attempted: "the device is gone", cause: None })),
        })),
    };
    check(
        &Diagnostic::from_error(&failure).hint("plug it in").hint("or copy the file"),
        "\
error: cannot run the scenario
cause: cannot read `users.csv`
cause: the device is gone
hint: plug it in
hint: or copy the file
",
    );
}

#[test]
fn separates_several_diagnostics_by_an_empty_line() {
    let source = Source::new("a.pl", "p(X :- q.\n");
    let diagnostics = [Diagnostic::error("first").at(&source, 4..6, "here"), Diagnostic::error("second")];
    assert_eq!(
        Renderer::plain().render_all(&diagnostics),
        "\
error: first
 --> a.pl:1:5
1 | p(X :- q.
  |     ^^ here

error: second
"
    );
    assert_eq!(Renderer::plain().render_all(&[]), "");
}

#[test]
fn points_below_the_right_columns_after_tabs_and_wide_characters() {
    let text = "\tname('日本', X Y).\n";
    check(
        &Diagnostic::error("cannot read clause").at(&Source::new("wide.pl", text), span_of(text, "Y"), "expected `,`"),
        "\
error: cannot read clause
 --> wide.pl:1:15
1 |     name('日本', X Y).
  |                    ^ expected `,`
",
    );
}

#[test]
fn points_after_the_last_character_at_the_end_of_a_file() {
    for text in ["p :- q", "p :- q\n", "p :- q\r\n"] {
        check(
            &Diagnostic::error("cannot read clause").at(
                &Source::new("end.pl", text),
                text.len()..text.len(),
                "expected `.`",
            ),
            "\
error: cannot read clause
 --> end.pl:1:7
1 | p :- q
  |       ^ expected `.`
",
        );
    }
}

#[test]
fn points_into_an_empty_file() {
    check(
        &Diagnostic::error("cannot load policy `empty`").at(
            &Source::new(
                "empty.pl",
                "\
error: cannot load policy `empty`
 --> empty.pl:1:1
1 |
  | ^ no clause
",
            ),
            0..0,
            "no clause",
        ),
        "\
error: cannot load policy `empty`
 --> empty.pl:1:1
1 | error: cannot load policy `empty`
  | ^ no clause
",
    );
}

#[test]
fn ignores_carriage_returns() {
    let text = "a.\r\nb :- c d.\r\ne.\r\n";
    check(
        &Diagnostic::error("cannot read clause").at(&Source::new("crlf.pl", text), span_of(text, "d"), "expected `,`"),
        "\
error: cannot read clause
 --> crlf.pl:2:8
2 | b :- c d.
  |        ^ expected `,`
",
    );
}

#[test]
fn joins_the_lines_of_a_span_over_several_lines() {
    let text = "a.\nb :- c,\n    d,\n    e.\nf.\n";
    check(
        &Diagnostic::error("clause proposes nothing").at(
            &Source::new("lines.pl", text),
            span_of(text, "b :- c,\n    d,\n    e."),
            "this clause",
        ),
        "\
error: clause proposes nothing
 --> lines.pl:2:1
2 | / b :- c,
3 | |     d,
4 | |     e.
  | |______^ this clause
",
    );
}

#[test]
fn cuts_a_very_long_line_around_the_fault() {
    let text = format!("p([{}oops{}]).\n", "a, ".repeat(100_000), ", a".repeat(100_000));
    let rendered = Renderer::plain().render(&Diagnostic::error("cannot read list").at(
        &Source::new("long.pl", text.as_str()),
        span_of(&text, "oops"),
        "not an item",
    ));
    assert!(rendered.contains("oops"), "{rendered}");
    assert!(rendered.contains("^^^^ not an item"), "{rendered}");
    assert!(rendered.lines().all(|line| line.len() < 200), "{rendered}");
}

#[test]
fn shows_no_control_character_of_the_input() {
    let evil = "\u{1b}[2Jgone\u{7}\0\u{202e}";
    let source = Source::new(evil, evil);
    let rendered = Renderer::plain().render(
        &Diagnostic::error(evil).at(&source, 0..evil.len(), evil).context(0..1, evil).hint(evil).caused_by(&fmt::Error),
    );
    assert!(!rendered.contains(|character: char| character.is_control() && character != '\n'), "{rendered:?}");
    assert!(!rendered.contains('\u{202e}'), "{rendered:?}");
    assert_eq!(rendered.matches("gone").count(), 6, "{rendered}");
}

#[test]
fn renders_any_span() {
    let texts =
        ["", "\n", "\r\n", "a", "é", "日本\n語\t\n", "a\r\nb\r\n", "\u{feff}x\n\n\n", "\n\n\n", "e\u{301}\u{200d}"];
    for text in texts {
        let source = Source::new("any.pl", text);
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                for other in [0, text.len() / 2, text.len(), usize::MAX] {
                    let diagnostic =
                        Diagnostic::error("title").at(&source, start..end, "label").context(other..other, "context");
                    for renderer in [Renderer::plain(), Renderer::coloured()] {
                        let rendered = renderer.render(&diagnostic);
                        assert!(rendered.contains("any.pl:"), "{text:?} {start}..{end}\n{rendered}");
                        assert!(rendered.contains("label"), "{text:?} {start}..{end}\n{rendered}");
                    }
                }
            }
        }
    }
}

#[test]
fn colour_adds_only_escape_sequences() {
    let source = Source::new("a.pl", POLICY);
    let diagnostic = Diagnostic::error("title").at(&source, 50..60, "label").hint("hint");
    let coloured = Renderer::coloured().render(&diagnostic);
    assert!(coloured.contains("\u{1b}["), "{coloured:?}");
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, sequence)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = sequence.split_once('m').expect("a colour sequence ends in m").1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, Renderer::plain().render(&diagnostic));
}

#[test]
fn names_the_place_in_a_line_that_is_too_long_to_draw() {
    let text = format!("first\n{}é!{}\n", "x".repeat(600_000), "y".repeat(600_000));
    let source = Source::new("long.json", text.as_str());
    check(
        &Diagnostic::error("cannot read it").at(&source, span_of(&text, "!"), "expected nothing"),
        "\
error: cannot read it
--> long.json:2:600002
cause: expected nothing (line 2)
",
    );
}

#[test]
fn names_the_place_of_context_too_far_away_to_draw() {
    let text = format!("opened\n{}closed\n", "between\n".repeat(200_000));
    let source = Source::new("far.toml", text.as_str());
    check(
        &Diagnostic::error("cannot read it")
            .at(&source, span_of(&text, "closed"), "here")
            .context(span_of(&text, "opened"), "the first"),
        "\
error: cannot read it
      --> far.toml:200002:1
200002 | closed
       | ^^^^^^ here
cause: the first (line 1)
",
    );
}

#[test]
fn finds_the_line_of_a_byte_offset() {
    let source = Source::new("x", "a\nb\n\nc");
    let lines: Vec<usize> = (0..=6).map(|byte| source.line_of(byte)).collect();
    assert_eq!(lines, [1, 1, 2, 2, 3, 4, 4]);
    assert_eq!(Source::new("x", "").line_of(7), 1);
}
