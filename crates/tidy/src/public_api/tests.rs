use serde_json::json;

use super::*;

const LIST: &str = "\
# mario-shop 0.3.1, released
enum shop::Choice<'a>
enum shop::Fruit
enum shop::Open { non_exhaustive }
field shop::Basket::size: u32
fn shop::Basket::new(u32) -> Basket
fn shop::open()
impl core::clone::Clone for Basket
required fn shop::Price::euros(&self) -> u32
struct shop::Basket
struct shop::Till { private }
trait shop::Price
variant shop::Fruit::Apple
variant shop::Fruit::Mixed
";

/// The changes when lines are added and removed.
fn changes(added: &[&str], removed: &[&str]) -> Changes {
    let baseline = Baseline::read(LIST).expect("a list");
    let mut lines = baseline.lines.clone();
    for line in removed {
        assert!(lines.remove(*line), "{line}");
    }
    lines.extend(added.iter().map(|line| (*line).to_owned()));
    baseline.changes(&lines)
}

#[test]
fn removals_and_changes_are_breaking() {
    assert_eq!(changes(&[], &[]), Changes::default());
    let found = changes(&[], &["fn shop::open()", "impl core::clone::Clone for Basket"]);
    assert_eq!(found.breaking, ["removed: impl core::clone::Clone for Basket", "removed: fn shop::open()"]);
    let found = changes(&["fn shop::open(u32)"], &["fn shop::open()"]);
    assert_eq!(found.breaking, ["changed: fn shop::open()\n     now: fn shop::open(u32)"]);
    let found = changes(&["async fn shop::open()"], &["fn shop::open()"]);
    assert_eq!(found.breaking.len(), 1, "{found:?}");
    assert!(found.additions.is_empty(), "{found:?}");
}

#[test]
fn additions_are_breaking_only_where_users_must_follow() {
    let harmless = [
        "fn shop::close()",
        "impl core::fmt::Debug for Basket",
        "variant shop::Open::Late",
        "variant shop::New::One",
        "field shop::Till::name: String",
        "fn shop::Price::cents(&self) -> u32",
    ];
    for line in harmless {
        let found = changes(&[line], &[]);
        assert_eq!((found.additions.len(), found.breaking.len()), (1, 0), "{line}: {found:?}");
    }
    let demanding = [
        "variant shop::Fruit::Pear(u32)",
        "variant shop::Choice::Other(&'a str)",
        "field shop::Fruit::Mixed::count: u32",
        "field shop::Basket::name: String",
        "required fn shop::Price::cents(&self) -> u32",
    ];
    for line in demanding {
        let found = changes(&[line], &[]);
        assert_eq!((found.additions.len(), found.breaking.len()), (0, 1), "{line}: {found:?}");
    }
}

#[test]
fn a_released_interface_breaks_only_in_a_higher_version() {
    let may_break = |list: &str, version: &str| {
        Baseline::read(list).expect("a list").may_break_in(&version.parse().expect("a version"))
    };
    for (version, expected) in [("0.3.1", false), ("0.3.9", false), ("0.4.0", true), ("1.0.0", true)] {
        assert_eq!(may_break("# a 0.3.1, released\n", version), expected, "{version}");
    }
    for (version, expected) in [("1.2.0", false), ("1.9.0", false), ("2.0.0", true)] {
        assert_eq!(may_break("# a 1.2.0, released\n", version), expected, "{version}");
    }
    assert!(may_break("# a 0.3.1, unreleased\n", "0.3.1"));
}

#[test]
fn a_list_round_trips() {
    let baseline = Baseline::read(LIST).expect("a list");
    assert_eq!(Baseline::text("mario-shop", &baseline.version, true, &baseline.lines), LIST);
    for head in ["", "mario-shop 0.1.0, released", "# mario-shop 0.1, released", "# mario-shop 0.1.0, soon"] {
        assert!(Baseline::read(head).is_err(), "{head}");
    }
}

#[test]
fn another_format_of_rustdoc_is_an_error() {
    let error = listing(&json!({ "format_version": 1 })).expect_err("another format");
    assert!(error.contains("format Some(1)"), "{error}");
}
