//! `CITATION.cff` names this version, its licence and its author, and refers to the paper.

use serde_json::Value;

use super::{read, yaml};

#[test]
fn the_citation_file_names_this_version() {
    let file = yaml::documents(&read("CITATION.cff")).expect("YAML").remove(0);
    assert_eq!(file["cff-version"].as_str(), Some("1.2.0"));
    assert_eq!(file["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    for key in ["message", "title"] {
        assert!(file[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    let licences = file["license"].as_array().expect("a list").iter().filter_map(Value::as_str);
    assert_eq!(licences.collect::<Vec<_>>().join(" OR "), env!("CARGO_PKG_LICENSE"));
    assert_eq!(file["authors"][0]["name"].as_str(), Some(env!("CARGO_PKG_AUTHORS")));
    let paper = &file["references"][0];
    assert!(paper["authors"].as_array().is_some_and(|authors| authors.len() == 4), "{paper:?}");
}
