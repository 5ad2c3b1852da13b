//! Names that have too little room.

/// The names with at most `length` characters: longer ones with an ellipsis for a part, such that all still differ if
/// they do, where `length` allows that. Names of nodes often differ at their end only, or in the middle.
pub fn shortened(names: &[String], length: usize) -> Vec<String> {
    let length = length.max(2);
    let differ = |names: &[String]| {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort();
        sorted.dedup();
        sorted.len()
    };
    let cut = |name: &String, start: usize| {
        let letters: Vec<char> = name.chars().collect();
        if letters.len() <= length {
            return name.clone();
        }
        let end = letters.len() - (length - 1 - start);
        letters[..start].iter().chain(['\u{2026}'].iter()).chain(&letters[end..]).collect()
    };
    // An equal part of the start and the end reads best; the others are for names that would be equal then.
    let middle = length / 2;
    let starts = std::iter::once(middle).chain((0..length).rev().filter(|start| *start != middle));
    let cuts = starts.map(|start| names.iter().map(|name| cut(name, start)).collect::<Vec<String>>());
    let wanted = differ(names);
    let mut best: Option<Vec<String>> = None;
    for candidate in cuts {
        if differ(&candidate) == wanted {
            return candidate;
        }
        if best.as_ref().is_none_or(|best| differ(&candidate) > differ(best)) {
            best = Some(candidate);
        }
    }
    best.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_names_fit_and_still_differ() {
        for (names, length, expected) in [
            (&["cloud", "edge"][..], 8, &["cloud", "edge"][..]),
            (
                &["trackside unit 00 km 0.00", "trackside unit 01 km 1.25"],
                11,
                &["track\u{2026} 0.00", "track\u{2026} 1.25"],
            ),
            (
                &["north street 1 upper deck", "north street 2 upper deck"],
                15,
                &["north street 1\u{2026}", "north street 2\u{2026}"],
            ),
            (&["caf\u{e9} de la gare du nord"], 9, &["caf\u{e9}\u{2026}nord"]),
        ] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(shortened(&names, length), expected);
        }
    }
}
