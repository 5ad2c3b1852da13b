//! Writes a drawing as a PDF of one page. Texts are in Helvetica, which every PDF reader has, so no font is embedded.
//!
//! The file has no date and no random id, so that the same drawing produces the same bytes.

use std::fmt::Write;

use super::scene::{Anchor, Colour, Scene, Shape, text_width};

/// The distance of the control points of a Bézier curve from its ends, as a fraction of the radius, such that four
/// curves approximate a circle.
const KAPPA: f64 = 0.552_284_75;

pub(super) fn pdf(scene: &Scene) -> Vec<u8> {
    let content = content(scene);
    let (width, height) = (scene.width, scene.height);
    let mut stream = format!("<< /Length {} >>\nstream\n", content.len()).into_bytes();
    stream.extend_from_slice(&content);
    stream.extend_from_slice(b"\nendstream");
    let mut title = b"<< /Title ".to_vec();
    title.extend_from_slice(&string(&scene.title));
    title.extend_from_slice(b" /Producer (mario) >>");
    let objects: [Vec<u8>; 6] = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.2} {height:.2}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R \
             >> >> >>"
        )
        .into_bytes(),
        stream,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
        title,
    ];
    let mut file = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut offsets = Vec::new();
    for (place, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        file.extend_from_slice(format!("{} 0 obj\n", place + 1).as_bytes());
        file.extend_from_slice(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let start = file.len();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(table, "{offset:010} 00000 n ");
    }
    let _ = write!(
        table,
        "trailer\n<< /Size {} /Root 1 0 R /Info 6 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    file.extend_from_slice(table.as_bytes());
    file
}

/// Returns the content stream of the page. In PDF, y grows upwards.
fn content(scene: &Scene) -> Vec<u8> {
    let mut content = b"1 J 1 j\n".to_vec();
    let y = |y: f64| scene.height - y;
    for shape in &scene.shapes {
        let mut text = String::new();
        match shape {
            Shape::Line { points, thickness, colour } => {
                let _ = write!(text, "{} RG {thickness:.2} w ", parts(*colour));
                for (place, point) in points.iter().enumerate() {
                    let _ = write!(text, "{:.2} {:.2} {} ", point[0], y(point[1]), if place == 0 { "m" } else { "l" });
                }
                text.push_str("S\n");
            }
            Shape::Dot { centre: [cx, cy], radius, colour } => {
                let (cy, handle) = (y(*cy), radius * KAPPA);
                let _ = write!(text, "{} rg {:.2} {cy:.2} m ", parts(*colour), cx + radius);
                // Each pair of directions, from the centre to the start and to the end, is a quarter of the circle.
                for [[fx, fy], [tx, ty]] in [
                    [[1.0, 0.0], [0.0, 1.0]],
                    [[0.0, 1.0], [-1.0, 0.0]],
                    [[-1.0, 0.0], [0.0, -1.0]],
                    [[0.0, -1.0], [1.0, 0.0]],
                ] {
                    let _ = write!(
                        text,
                        "{:.2} {:.2} {:.2} {:.2} {:.2} {:.2} c ",
                        cx + fx * radius + tx * handle,
                        cy + fy * radius + ty * handle,
                        cx + tx * radius + fx * handle,
                        cy + ty * radius + fy * handle,
                        cx + tx * radius,
                        cy + ty * radius
                    );
                }
                text.push_str("f\n");
            }
            Shape::Text { at, text: words, anchor, size, colour } => {
                let shift = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => text_width(words, *size) / 2.0,
                    Anchor::End => text_width(words, *size),
                };
                let _ =
                    write!(text, "{} rg BT /F1 {size:.2} Tf {:.2} {:.2} Td ", parts(*colour), at[0] - shift, y(at[1]));
                content.extend_from_slice(text.as_bytes());
                content.extend_from_slice(&string(words));
                text = " Tj ET\n".to_owned();
            }
        }
        content.extend_from_slice(text.as_bytes());
    }
    content
}

fn parts(colour: Colour) -> String {
    colour.map(|part| format!("{:.3}", f64::from(part) / 255.0)).join(" ")
}

/// Encodes a text as a PDF string. The minus sign, the en dash and the narrow no-break space become ASCII. Control
/// characters, and other characters outside of Latin-1, become question marks.
fn string(text: &str) -> Vec<u8> {
    let mut bytes = vec![b'('];
    for letter in text.chars() {
        match letter {
            '(' | ')' | '\\' => bytes.extend_from_slice(&[b'\\', letter as u8]),
            ' '..='~' | '\u{a0}'..='\u{ff}' => bytes.push(letter as u32 as u8),
            '\u{2212}' | '\u{2013}' => bytes.push(b'-'),
            '\u{202f}' => bytes.push(b' '),
            _ => bytes.push(b'?'),
        }
    }
    bytes.push(b')');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::scene::{INK, TEXT_SIZE};

    fn scene() -> Scene {
        let mut scene = Scene::new("a (b) ± 1", 100.0, 50.0);
        scene.line(&[[0.0, 0.0], [100.0, 50.0]], 0.6, INK);
        scene.dot([50.0, 25.0], 3.0, [255, 0, 0]);
        scene.text([100.0, 40.0], "a\\b", Anchor::End, INK);
        scene
    }

    #[test]
    fn the_table_of_objects_has_correct_offsets() {
        let file = pdf(&scene());
        let find = |from: usize, what: &[u8]| {
            file[from..].windows(what.len()).position(|part| part == what).map(|at| at + from)
        };
        let start = find(0, b"startxref\n").expect("a start") + 10;
        let start: usize =
            String::from_utf8_lossy(&file[start..]).lines().next().expect("a line").parse().expect("a number");
        assert!(file[start..].starts_with(b"xref\n0 7\n"));
        let table = String::from_utf8_lossy(&file[start..]).into_owned();
        for (place, line) in table.lines().skip(3).take(6).enumerate() {
            assert_eq!(line.len(), 19, "{line:?}");
            let offset: usize = line[..10].parse().expect("a number");
            assert!(file[offset..].starts_with(format!("{} 0 obj\n", place + 1).as_bytes()), "{line}");
        }
        let stream = find(0, b"stream\n").expect("a stream") + 7;
        let end = find(stream, b"\nendstream").expect("its end");
        assert!(find(0, format!("/Length {} ", end - stream).as_bytes()).is_some());
        assert!(find(0, b"(a \\(b\\) \xb1 1)").is_some(), "the title is in the encoding of the font");
        assert_eq!(file, pdf(&scene()), "the same drawing gives the same bytes");
    }

    #[test]
    fn texts_are_aligned_and_y_grows_upwards() {
        let text = String::from_utf8_lossy(&content(&scene())).into_owned();
        let left = 100.0 - text_width("a\\b", TEXT_SIZE);
        assert!(text.contains(&format!("{left:.2} 10.00 Td (a\\\\b) Tj ET")), "{text}");
        assert!(text.contains("0.00 50.00 m 100.00 0.00 l S"), "{text}");
        assert!(text.contains("1.000 0.000 0.000 rg 53.00 25.00 m "), "{text}");
    }
}
