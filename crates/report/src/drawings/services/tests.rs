use serde_json::Value;

use super::*;

/// Calls between applications with these names.
fn measured(calls: &[(&str, &str)]) -> Measurements {
    let call = |(caller, application): &(&str, &str)| CallFigures {
        caller: (*caller).to_owned(),
        application: (*application).to_owned(),
        stage: 1,
        order: "sequence".to_owned(),
        requests: 2,
        sent: 1_200,
        served: 1_199,
        lost: 1,
        response_mean: Some(3.25),
    };
    let calls = calls.iter().map(call).collect();
    Measurements { applications: Vec::new(), inhibitions: Vec::new(), tiers: Vec::new(), calls, consumption: None }
}

fn chart(calls: &[(&str, &str)]) -> Chart {
    let measured = measured(calls);
    Graph::new(&measured, |_| INK.to_owned()).expect("there are calls").chart()
}

/// The attributes of all elements with a class.
fn of_class<'a>(element: &'a Value, class: &str, found: &mut Vec<&'a Value>) {
    let parts = element.as_array().expect("an element");
    if parts[1]["class"] == class {
        found.push(&parts[1]);
    }
    parts[2..].iter().filter(|part| part.is_array()).for_each(|part| of_class(part, class, found));
}

/// Samples points on a path of the commands M, C and H.
fn points(path: &str) -> Vec<[f64; 2]> {
    let mut points: Vec<[f64; 2]> = Vec::new();
    let starts = path.char_indices().filter(|(_, letter)| letter.is_ascii_uppercase()).map(|(start, _)| start);
    let starts: Vec<usize> = starts.chain([path.len()]).collect();
    for ends in starts.windows(2) {
        let (command, numbers) = path[ends[0]..ends[1]].split_at(1);
        let numbers: Vec<f64> = numbers.split(' ').map(|number| number.parse().expect("a number")).collect();
        let last = points.last().copied().unwrap_or_default();
        match (command, numbers.as_slice()) {
            ("M", [x, y]) => points.push([*x, *y]),
            ("H", [x]) => points.extend((1..=20).map(|nth| [last[0] + (x - last[0]) * f64::from(nth) / 20.0, last[1]])),
            ("C", [x1, y1, x2, y2, x, y]) => points.extend((1..=40).map(|nth| {
                let (t, u) = (f64::from(nth) / 40.0, 1.0 - f64::from(nth) / 40.0);
                let mix = |a, b, c, d| u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d;
                [mix(last[0], *x1, *x2, *x), mix(last[1], *y1, *y2, *y)]
            })),
            other => panic!("{other:?}"),
        }
    }
    points
}

/// Asserts the numbers of boxes and arrows, that boxes are apart and inside the drawing, and that no arrow crosses one.
fn assert_clear(chart: &Chart, boxes: usize, arrows: usize) {
    for layout in &chart.layouts {
        let drawing = serde_json::to_value(&layout.drawing).expect("JSON");
        let (mut frames, mut paths) = (Vec::new(), Vec::new());
        of_class(&drawing, "service", &mut frames);
        of_class(&drawing, "call", &mut paths);
        assert_eq!((frames.len(), paths.len()), (boxes, arrows));
        let side = |frame: &Value, name: &str| frame[name].as_f64().expect("a number");
        let sides: Vec<[f64; 4]> = frames
            .iter()
            .map(|frame| {
                let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| side(frame, name));
                [x, y, x + width, y + height]
            })
            .collect();
        for (nth, [left, top, right, bottom]) in sides.iter().enumerate() {
            assert!(*left >= 0.0 && *top >= 0.0 && *right <= layout.width && *bottom <= layout.height);
            for [other_left, other_top, other_right, other_bottom] in &sides[nth + 1..] {
                let is_apart = right < other_left || other_right < left || bottom < other_top || other_bottom < top;
                assert!(is_apart, "{sides:?}");
            }
        }
        for path in paths {
            let path = path["d"].as_str().expect("a path");
            for [x, y] in points(path) {
                let is_inside = |[left, top, right, bottom]: &[f64; 4]| {
                    x > left + 0.1 && x < right - 0.1 && y > *top && y < *bottom
                };
                assert!(!sides.iter().any(is_inside), "{path} runs through a box at {x} {y}: {sides:?}");
            }
        }
    }
}

#[test]
fn arrows_of_the_shop_pass_boxes() {
    let shop = [
        ("front", "auth"),
        ("front", "catalogue"),
        ("front", "recommend"),
        ("front", "cart"),
        ("catalogue", "store"),
        ("recommend", "catalogue"),
        ("cart", "store"),
    ];
    let chart = chart(&shop);
    assert_clear(&chart, 6, 7);
    assert_eq!(chart.layouts.iter().map(|layout| layout.scrolls).collect::<Vec<bool>>(), [false, false, false]);
    let wide = serde_json::to_string(&chart.layouts[1]).expect("JSON");
    assert!(wide.contains("2\u{202f}×\u{202f}3.2 ms"), "labels have units: {wide}");
    assert!(wide.contains("[\"desc\",{},\"front calls auth (2 requests), catalogue (2 requests)"), "{wide}");
    assert!(wide.contains("1\u{202f}200 sent, 1\u{202f}199 served, 1 lost"), "{wide}");
}

#[test]
fn a_long_chain_scrolls_instead_of_shrinking() {
    let names: Vec<String> = (0..30).map(|nth| format!("service-{nth:02}")).collect();
    let calls: Vec<(&str, &str)> = names.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let chart = chart(&calls);
    assert_clear(&chart, 30, 29);
    assert_eq!(chart.layouts.len(), 1, "it is as wide on every screen");
    assert!(chart.layouts[0].scrolls && chart.layouts[0].width > 3_000.0 && chart.layouts[0].height < 60.0);
}

#[test]
fn a_wide_fan_goes_down_the_page() {
    let names: Vec<String> = (0..40).map(|nth| format!("leaf{nth}")).collect();
    let out = names.iter().map(|name| ("root", name.as_str()));
    let into = names.iter().map(|name| (name.as_str(), "sink"));
    let chart = chart(&out.chain(into).collect::<Vec<_>>());
    assert_clear(&chart, 42, 80);
    assert!(chart.layouts[0].height > 40.0 * BOX);
}

#[test]
fn arrows_over_several_layers_have_room_of_their_own() {
    let names: Vec<String> = (0..12).map(|nth| format!("s{nth}")).collect();
    let pairs = (0..12).flat_map(|from| (from + 1..12).map(move |to| (from, to)));
    let some = pairs.filter(|(from, to)| (from * 7 + to * 5) % 3 != 0 || to - from == 1);
    let calls: Vec<(&str, &str)> = some.map(|(from, to)| (names[from].as_str(), names[to].as_str())).collect();
    assert_clear(&chart(&calls), 12, calls.len());
}

#[test]
fn a_graph_that_cannot_be_drawn_says_why() {
    let words = |chart: &Chart| serde_json::to_string(&chart.layouts[0].drawing).expect("JSON");
    assert!(words(&chart(&[("a", "b"), ("b", "a")])).contains("calls itself"));
    let names: Vec<String> = (0..=APPLICATIONS_MAX).map(|nth| format!("s{nth}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| ("root", name.as_str())).collect();
    assert!(words(&chart(&many)).contains("too many"));
    assert!(Graph::new(&measured(&[]), |_| String::new()).is_none());
}
