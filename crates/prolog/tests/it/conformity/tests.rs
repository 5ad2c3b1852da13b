//! Runs the cases in our engine, and tests the case reader and the judge with small cases and a mock engine.

mod ours {
    use crate::conformity::judge_all;
    use crate::engine::{BUDGET, Runner};

    #[test]
    fn our_engine_passes_every_case() {
        let mut runner = Runner::new(BUDGET);
        let report = judge_all(|program, goal, limit| runner.run(program, goal, limit));
        assert!(report.is_clean(), "{report}");
    }

    #[test]
    fn our_engine_passes_every_case_with_constant_garbage_collection() {
        mario_prolog::collect_eagerly();
        let mut runner = Runner::new(BUDGET);
        let report = judge_all(|program, goal, limit| runner.run(program, goal, limit));
        assert!(report.is_clean(), "{report}");
        let report = judge_all(|program, goal, limit| runner.run_compiled(program, goal, limit));
        assert!(report.is_clean(), "{report}");
    }

    #[test]
    fn our_engine_passes_every_case_as_compiled_code() {
        let mut runner = Runner::new(BUDGET);
        let report = judge_all(|program, goal, limit| runner.run_compiled(program, goal, limit));
        assert!(report.is_clean(), "{report}");
    }
}

mod reading {
    use crate::conformity::{Case, ExpectedEnd, all_cases, read_cases};

    fn only(text: &str) -> Case {
        let mut cases = read_cases("x.cases", text).expect("well formed");
        assert_eq!(cases.len(), 1);
        cases.remove(0)
    }

    fn rejected(text: &str) -> String {
        read_cases("x.cases", text).expect_err("malformed").to_string()
    }

    #[test]
    fn a_case_has_a_place_section_program_and_goal() {
        let case = only("% remark\n# 8.1 first\n| p(1).\n| p(2).\n\n?- p(X),\n   X > 1.\n=> X = 2\n% swi: differs\n");
        assert_eq!((case.file.as_str(), case.line, case.section.as_str()), ("x.cases", 6, "8.1 first"));
        assert_eq!(case.program, "p(1).\np(2).\n");
        assert_eq!(case.goal, "p(X),\n   X > 1.");
        assert_eq!((case.answers, case.end), (vec!["X = 2".to_owned()], ExpectedEnd::Exhausted));
    }

    #[test]
    fn a_new_section_drops_the_program_of_the_last() {
        let cases = read_cases("x.cases", "# a\n| p.\n?- p.\n=> true\n# b\n?- p.\n=> false\n").expect("well formed");
        assert_eq!(cases[0].program, "p.\n");
        assert_eq!(cases[1].program, "");
    }

    #[test]
    fn answers_are_separated_by_a_semicolon_between_blanks() {
        let case = only("# a\n?- p(X).\n=> X = (a;b) ; X = 2 ; ...\n");
        assert_eq!((case.answers, case.end), (vec!["X = (a;b)".to_owned(), "X = 2".to_owned()], ExpectedEnd::More));
        let case = only("# a\n?- p(X).\n=> X = 1\n=> X = 2 ; error type_error(a, b)\n");
        assert_eq!(case.answers.len(), 2);
        assert_eq!(case.end, ExpectedEnd::Error("type_error(a, b)".to_owned()));
    }

    #[test]
    fn failures_and_errors_end_the_answers() {
        assert_eq!(only("# a\n?- p.\n=> false\n").end, ExpectedEnd::Exhausted);
        assert_eq!(only("# a\n?- p.\n=> throws f(_)\n").end, ExpectedEnd::Throws("f(_)".to_owned()));
        assert!(rejected("# a\n?- p.\n=> false ; true\n").contains("x.cases:2: an answer after the end"));
    }

    #[test]
    fn output_is_quoted_and_may_take_several_lines() {
        let case = only("# a\n?- p.\n=> output \"a\\n\\t\"\n=> output \"\\\"\\\\\"\n=> true\n");
        assert_eq!(case.output, "a\n\t\"\\");
        assert!(rejected("# a\n?- p.\n=> output \"\\q\"\n=> true\n").contains("quoted text"));
    }

    #[test]
    fn stray_lines_and_incomplete_cases_are_malformed() {
        assert!(rejected("# a\nfoo.\n").contains("x.cases:2: a line that is neither"));
        assert!(rejected("# a\n?- p.\n").contains("without expected answers"));
        assert!(rejected("?- p.\n=> true\n").contains("before the first section"));
    }

    #[test]
    fn there_are_many_well_formed_case_files() {
        let cases = all_cases().unwrap_or_else(|malformed| panic!("{malformed}"));
        assert!(cases.len() >= 1000, "only {} cases", cases.len());
    }
}

mod judging {
    use crate::conformity::{Case, End, Failure, Outcome, Report, judge, judge_all, read_cases};

    /// A mock engine with recorded outcomes for a few goals.
    fn mock_engine(known: &[(&str, Outcome)]) -> impl FnMut(&str, &str, usize) -> Outcome {
        let known: Vec<(String, Outcome)> =
            known.iter().map(|(goal, outcome)| ((*goal).to_owned(), outcome.clone())).collect();
        move |_, goal, _| {
            let found = known.iter().find(|(known, _)| known == goal);
            found.map_or_else(
                || outcome(&[], &[], End::Stopped(format!("unknown goal {goal}"))),
                |(_, outcome)| outcome.clone(),
            )
        }
    }

    fn outcome(names: &[&str], answers: &[&str], end: End) -> Outcome {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Outcome { names: owned(names), answers: owned(answers), end, output: String::new() }
    }

    fn case(text: &str) -> Case {
        read_cases("x.cases", &format!("# section\n{text}\n")).expect("well formed").remove(0)
    }

    fn verdict(text: &str, known: &[(&str, Outcome)]) -> Result<(), &'static str> {
        judge(&case(text), &mut mock_engine(known)).map_err(|(reason, _)| reason)
    }

    #[test]
    fn an_answer_is_right_if_its_text_equals_the_expected_one() {
        let expected = ("[X, Y] = [X, Y], ( X = f(Y) ).", outcome(&["X", "Y"], &["[f(_0),_0]"], End::Limit));
        let right = ("p(X, Y).", outcome(&["X", "Y"], &["[f(_0),_0]"], End::Exhausted));
        let wrong = ("p(X, Y).", outcome(&["X", "Y"], &["[f(_0),_1]"], End::Exhausted));
        let text = "?- p(X, Y).\n=> X = f(Y)";
        assert_eq!(verdict(text, &[expected.clone(), right]), Ok(()));
        assert_eq!(verdict(text, &[expected, wrong]), Err("other answer"));
    }

    #[test]
    fn extra_and_missing_answers_are_wrong() {
        let two = ("p.", outcome(&[], &["[]", "[]"], End::Limit));
        let none = ("p.", outcome(&[], &[], End::Exhausted));
        assert_eq!(verdict("?- p.\n=> true", &[two]), Err("other number of answers"));
        assert_eq!(verdict("?- p.\n=> true", std::slice::from_ref(&none)), Err("other number of answers"));
        assert_eq!(verdict("?- p.\n=> false", &[none]), Ok(()));
    }

    #[test]
    fn an_expectation_about_an_unknown_variable_is_reported() {
        let actual = ("p(X).", outcome(&["X"], &["[1]"], End::Exhausted));
        let expected = ("[X] = [X], ( Z = 1 ).", outcome(&["X", "Z"], &["[_0,1]"], End::Limit));
        assert_eq!(verdict("?- p(X).\n=> Z = 1", &[actual, expected]), Err("the expected answer cannot be evaluated"));
    }

    #[test]
    fn an_error_is_right_if_the_expected_one_subsumes_it() {
        let raised = ("p.", outcome(&[], &[], End::Raised("error(type_error(a,b),_0)".to_owned())));
        let yes = (
            "subsumes_term((error(type_error(_, b), _)), (error(type_error(a,b),_0))).",
            outcome(&[], &["[]"], End::Limit),
        );
        let no = ("subsumes_term((f(_)), (error(type_error(a,b),_0))).", outcome(&[], &[], End::Exhausted));
        assert_eq!(verdict("?- p.\n=> error type_error(_, b)", &[raised.clone(), yes]), Ok(()));
        assert_eq!(verdict("?- p.\n=> throws f(_)", &[raised, no]), Err("other end"));
    }

    #[test]
    fn unexpected_output_counts() {
        let written = ("p.", Outcome { output: "x".to_owned(), ..outcome(&[], &[], End::Exhausted) });
        assert_eq!(verdict("?- p.\n=> false", std::slice::from_ref(&written)), Err("other output"));
        assert_eq!(verdict("?- p.\n=> output \"x\"\n=> false", &[written]), Ok(()));
    }

    #[test]
    fn an_engine_that_does_nothing_passes_no_case() {
        let report = judge_all(mock_engine(&[]));
        assert_eq!(report.failures.len(), report.cases);
        assert!(report.to_string().ends_with(&format!("conformity: 0 of {} cases", report.cases)));
    }

    #[test]
    fn the_report_names_each_failure_and_counts_the_rest() {
        let case = case("?- p(X).\n=> X = 1 ; ...");
        let (reason, got) = judge(&case, &mut mock_engine(&[])).expect_err("nothing is known");
        let report = Report { cases: 3, failures: vec![Failure { case, reason, got }] };
        assert!(!report.is_clean());
        assert_eq!(
            report.to_string(),
            "x.cases:2  section: other number of answers\n    ?- p(X).\n    expected X = 1 ; ...\n    \
             got      stopped: unknown goal p(X).\nconformity: 2 of 3 cases"
        );
    }
}
