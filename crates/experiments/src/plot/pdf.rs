//! Writes a drawing as a PDF of one page, which contains the characters of its texts as a subset of the font.
//!
//! The file has no date and no random id, so that the same drawing produces the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write;

use mario_domain::Fnv1a;

use super::font::{FONT, Glyph};
use super::scene::{Anchor, Colour, Scene, Shape, text_width};

/// The distance of the control points of a Bézier curve from its ends, as a fraction of the radius, such that four
/// curves approximate a circle.
const KAPPA: f64 = 0.552_284_75;

/// The glyphs of the texts, each with a character that it shows.
type Used = BTreeMap<Glyph, char>;

pub(super) fn pdf(scene: &Scene) -> Vec<u8> {
    let (width, height) = (scene.width, scene.height);
    let mut used = Used::new();
    for shape in &scene.shapes {
        if let Shape::Text { text, .. } = shape {
            used.extend(text.chars().rev().map(|letter| (FONT.glyph(letter), letter)));
        }
    }
    let name = font_name(&used);
    let mut title = b"<< /Title ".to_vec();
    title.extend_from_slice(&string(&scene.title));
    title.extend_from_slice(b" /Producer (mario) >>");
    let objects: [Vec<u8>; 10] = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.2} {height:.2}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R \
             >> >> >>"
        )
        .into_bytes(),
        stream("", &content(scene)),
        format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 9 0 R >>"
        )
        .into_bytes(),
        descendant(&name, &used),
        descriptor(&name),
        embedded(&used),
        stream("", to_unicode(&used).as_bytes()),
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
        "trailer\n<< /Size {} /Root 1 0 R /Info {} 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1,
        objects.len()
    );
    file.extend_from_slice(table.as_bytes());
    file
}

/// The characters of the texts that the font does not have, so that the PDF shows question marks: in the order of
/// appearance, each with the first text that has it.
pub(super) fn missing(scene: &Scene) -> Vec<(char, String)> {
    let mut missing: Vec<(char, String)> = Vec::new();
    for shape in &scene.shapes {
        let Shape::Text { text, .. } = shape else { continue };
        for letter in text.chars().filter(|letter| !FONT.has(*letter)) {
            if !missing.iter().any(|(known, _)| *known == letter) {
                missing.push((letter, text.clone()));
            }
        }
    }
    missing
}

/// A stream with these entries in its dictionary besides its length.
fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let mut stream = format!("<< {entries}/Length {} >>\nstream\n", content.len()).into_bytes();
    stream.extend_from_slice(content);
    stream.extend_from_slice(b"\nendstream");
    stream
}

/// The name of the font. The name of a subset begins with six letters; here they depend on its glyphs.
fn font_name(used: &Used) -> String {
    let hash = used.keys().copied().collect::<Fnv1a>().finish();
    let letters = (0..6).map(|nth| char::from(b'A' + (hash >> (8 * nth + 8)) as u8 % 26));
    letters.chain("+Arimo".chars()).collect()
}

fn descendant(name: &str, used: &Used) -> Vec<u8> {
    let widths: Vec<String> = used.keys().map(|glyph| format!("{glyph} [{}]", FONT.width(*glyph))).collect();
    format!(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> \
         /FontDescriptor 7 0 R /CIDToGIDMap /Identity /DW {} /W [{}] >>",
        FONT.width(0),
        widths.join(" ")
    )
    .into_bytes()
}

fn descriptor(name: &str) -> Vec<u8> {
    /// The font is without serifs or slant, and has characters beyond those of ASCII.
    const FLAGS: u32 = 4;
    /// The height of a capital letter in Arimo, and the thickness of its stems, in thousandths of the size.
    const CAP_HEIGHT: u32 = 688;
    const STEM: u32 = 88;
    let [left, bottom, right, top] = FONT.bounds();
    let [ascent, descent] = FONT.ascent_and_descent();
    format!(
        "<< /Type /FontDescriptor /FontName /{name} /Flags {FLAGS} /FontBBox [{left} {bottom} {right} {top}] /ItalicAngle 0 \
         /Ascent {ascent} /Descent {descent} /CapHeight {CAP_HEIGHT} /StemV {STEM} /FontFile2 8 0 R >>"
    )
    .into_bytes()
}

fn embedded(used: &Used) -> Vec<u8> {
    let font = FONT.subset(&used.keys().copied().collect());
    stream(&format!("/Length1 {} ", font.len()), &font)
}

/// The characters of glyphs, with which a reader searches and copies text.
fn to_unicode(used: &Used) -> String {
    let mut map = "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) \
                   /Supplement 0 >> def\n/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> \
                   <FFFF>\nendcodespacerange\n"
        .to_owned();
    let pairs: Vec<(&Glyph, &char)> = used.iter().collect();
    // A block has at most 100 entries.
    for block in pairs.chunks(100) {
        let _ = writeln!(map, "{} beginbfchar", block.len());
        for (glyph, letter) in block {
            let mut units = [0; 2];
            let units: Vec<String> = letter.encode_utf16(&mut units).iter().map(|unit| format!("{unit:04X}")).collect();
            let _ = writeln!(map, "<{glyph:04X}> <{}>", units.join(""));
        }
        map.push_str("endbfchar\n");
    }
    map.push_str("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend");
    map
}

/// Returns the content stream of the page. In PDF, y grows upwards.
fn content(scene: &Scene) -> Vec<u8> {
    let mut content = "0 J 1 j\n".to_owned();
    let y = |y: f64| scene.height - y;
    for shape in &scene.shapes {
        let text = &mut content;
        match shape {
            Shape::Line { points, thickness, colour, dash } => {
                let dash: Vec<String> = dash.iter().map(f64::to_string).collect();
                let _ = write!(text, "{} RG {thickness:.2} w [{}] 0 d ", parts(*colour), dash.join(" "));
                for (place, point) in points.iter().enumerate() {
                    let _ = write!(text, "{:.2} {:.2} {} ", point[0], y(point[1]), if place == 0 { "m" } else { "l" });
                }
                text.push_str("S\n");
            }
            Shape::Polygon { corners, colour } => {
                let _ = write!(text, "{} rg ", parts(*colour));
                for (place, corner) in corners.iter().enumerate() {
                    let _ =
                        write!(text, "{:.2} {:.2} {} ", corner[0], y(corner[1]), if place == 0 { "m" } else { "l" });
                }
                text.push_str("h f\n");
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
                let glyphs = codes(words);
                let (x, y) = (at[0] - shift, y(at[1]));
                let _ = writeln!(text, "{} rg BT /F1 {size:.2} Tf {x:.2} {y:.2} Td <{glyphs}> Tj ET", parts(*colour));
            }
        }
    }
    content.into_bytes()
}

/// The glyphs of a text as hexadecimal digits.
fn codes(text: &str) -> String {
    text.chars().fold(String::new(), |mut codes, letter| {
        let _ = write!(codes, "{:04X}", FONT.glyph(letter));
        codes
    })
}

fn parts(colour: Colour) -> String {
    colour.map(|part| format!("{:.3}", f64::from(part) / 255.0)).join(" ")
}

/// Encodes the title as a PDF string. The minus sign, the en dash and the narrow no-break space become ASCII. Control
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
        scene.marker([50.0, 25.0], 3.0, 0);
        scene.text([100.0, 40.0], "a\\b", Anchor::End, INK);
        scene.dashed(&[[0.0, 1.0], [9.0, 1.0]], 1.0, INK, &[5.0, 2.5]);
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
        assert!(file[start..].starts_with(b"xref\n0 11\n"));
        let table = String::from_utf8_lossy(&file[start..]).into_owned();
        for (place, line) in table.lines().skip(3).take(10).enumerate() {
            assert_eq!(line.len(), 19, "{line:?}");
            let offset: usize = line[..10].parse().expect("a number");
            assert!(file[offset..].starts_with(format!("{} 0 obj\n", place + 1).as_bytes()), "{line}");
        }
        let stream = find(0, b"stream\n").expect("a stream") + 7;
        let end = find(stream, b"\nendstream").expect("its end");
        assert!(find(0, format!("/Length {} ", end - stream).as_bytes()).is_some());
        assert!(find(0, b"(a \\(b\\) \xb1 1)").is_some(), "the title is in Latin-1");
        assert_eq!(file, pdf(&scene()), "the same drawing gives the same bytes");
    }

    #[test]
    fn texts_are_aligned_and_y_grows_upwards() {
        let text = String::from_utf8_lossy(&content(&scene())).into_owned();
        let left = 100.0 - text_width("a\\b", TEXT_SIZE);
        let glyphs = codes("a\\b");
        assert!(text.contains(&format!("{left:.2} 10.00 Td <{glyphs}> Tj ET")), "{text}");
        assert!(text.contains("1.00 w [5 2.5] 0 d 0.00 49.00 m 9.00 49.00 l S"), "{text}");
        assert!(text.contains("0.00 50.00 m 100.00 0.00 l S"), "{text}");
        assert!(text.contains("0.000 0.447 0.698 rg 53.00 25.00 m "), "{text}");
    }

    #[test]
    fn the_font_is_embedded_as_a_subset_of_the_characters_in_use() {
        let file = pdf(&scene());
        let text = String::from_utf8_lossy(&file).into_owned();
        assert!(text.contains("/Subtype /Type0 /BaseFont /") && text.contains("+Arimo /Encoding /Identity-H"));
        assert!(text.contains("/FontFile2 8 0 R") && text.contains("3 beginbfchar"));
        assert!(!text.contains("Helvetica"));
        assert!(file.len() < 12_000, "{} bytes", file.len());
    }
}
