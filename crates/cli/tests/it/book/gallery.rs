//! The pictures of the gallery are those that its commands produce.
//!
//! `UPDATE_GALLERY=1` updates the gallery; review the pictures before committing them.

use std::fs;

use super::walk::walk;
use super::{place, read, root};

const PAGE: &str = "docs/book/gallery.md";
const PICTURES: &str = "docs/book/gallery";

/// The maximum size of all pictures together, so that the page loads quickly and the repository stays small.
const SIZE_BYTES_MAX: usize = 300_000;

#[test]
fn every_picture_is_the_output_of_the_commands_on_its_page() {
    let page = read(PAGE);
    let mut shown: Vec<&str> =
        page.split("](gallery/").skip(1).filter_map(|rest| rest.split_once(')')).map(|(name, _)| name).collect();
    shown.sort_unstable();
    let directory = place("gallery");
    assert!(walk(PAGE, &directory, super::shell) > 0);
    let mut size = 0;
    for name in &shown {
        let made = fs::read(directory.join("gallery").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let kept = root().join(PICTURES).join(name);
        if std::env::var_os("UPDATE_GALLERY").is_some() {
            fs::create_dir_all(root().join(PICTURES)).expect("the sources are writable");
            fs::write(&kept, &made).expect("the sources are writable");
        }
        let is_current = fs::read(&kept).is_ok_and(|kept| kept == made);
        assert!(is_current, "{PICTURES}/{name} is not what is drawn now: UPDATE_GALLERY=1 cargo test -p mario gallery");
        size += made.len();
    }
    assert!(size < SIZE_BYTES_MAX, "the pictures take {size} bytes: show fewer of them");
    let entries = fs::read_dir(root().join(PICTURES)).expect("the gallery is there");
    let mut kept: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    kept.sort();
    assert_eq!(kept, shown, "{PAGE} shows each picture once, and nothing else is there");
}
