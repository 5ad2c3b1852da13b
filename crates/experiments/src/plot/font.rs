//! The font of the figures: Arimo, whose characters are as wide as those of Helvetica and Arial. Texts are measured with
//! it, and a PDF contains the shapes of the characters that it uses.
//!
//! The file has the Latin characters of Arimo 1.23, without hinting. `assets/arimo.txt` states its origin and licence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static FILE: &[u8] = include_bytes!("../../assets/arimo.ttf");

/// Arimo.
pub(super) static FONT: LazyLock<Font> = LazyLock::new(|| Font::read(FILE));

/// The number of a glyph in the font.
pub(super) type Glyph = u16;

/// A TrueType font. Only the file in `assets` is read, so a file without the expected tables is a bug.
pub(super) struct Font {
    file: &'static [u8],
    tables: BTreeMap<[u8; 4], (usize, usize)>,
    glyphs: BTreeMap<char, Glyph>,
    glyph_count: u16,
    units_per_em: f64,
}

/// The tables that a font program in a PDF needs, sorted by name.
const EMBEDDED: [[u8; 4]; 6] = [*b"glyf", *b"head", *b"hhea", *b"hmtx", *b"loca", *b"maxp"];

impl Font {
    fn read(file: &'static [u8]) -> Font {
        let mut font =
            Font { file, tables: BTreeMap::new(), glyphs: BTreeMap::new(), glyph_count: 0, units_per_em: 1.0 };
        for place in 0..usize::from(u16_at(file, 4)) {
            let entry = 12 + 16 * place;
            let name = [file[entry], file[entry + 1], file[entry + 2], file[entry + 3]];
            font.tables.insert(name, (u32_at(file, entry + 8) as usize, u32_at(file, entry + 12) as usize));
        }
        font.units_per_em = f64::from(u16_at(font.table(*b"head"), 18));
        font.glyph_count = u16_at(font.table(*b"maxp"), 4);
        font.glyphs = characters(font.table(*b"cmap"));
        font
    }

    fn table(&self, name: [u8; 4]) -> &'static [u8] {
        let (start, length) = self.tables[&name];
        &self.file[start..start + length]
    }

    /// The glyph of a character. Spaces of other widths are drawn as a space, and unknown characters as a question mark.
    pub(super) fn glyph(&self, letter: char) -> Glyph {
        let shown = if letter.is_whitespace() { ' ' } else { letter };
        self.glyphs.get(&shown).or(self.glyphs.get(&'?')).copied().unwrap_or(0)
    }

    /// Whether the font has a character, or draws it as a space.
    pub(super) fn has(&self, letter: char) -> bool {
        letter.is_whitespace() || self.glyphs.contains_key(&letter)
    }

    /// The width of a glyph in thousandths of the size.
    pub(super) fn width(&self, glyph: Glyph) -> f64 {
        let wide = u16_at(self.table(*b"hhea"), 34) - 1;
        self.thousandths(f64::from(u16_at(self.table(*b"hmtx"), 4 * usize::from(glyph.min(wide)))))
    }

    /// The height above and the depth below the base line, in thousandths of the size.
    pub(super) fn ascent_and_descent(&self) -> [f64; 2] {
        [4, 6].map(|at| self.thousandths(f64::from(i16_at(self.table(*b"hhea"), at))))
    }

    /// The box around all glyphs, in thousandths of the size: left, bottom, right and top.
    pub(super) fn bounds(&self) -> [f64; 4] {
        [36, 38, 40, 42].map(|at| self.thousandths(f64::from(i16_at(self.table(*b"head"), at))))
    }

    fn thousandths(&self, units: f64) -> f64 {
        (units * 1_000.0 / self.units_per_em).round()
    }

    /// Returns a font file with the shapes of these glyphs only. Glyphs keep their numbers.
    pub(super) fn subset(&self, used: &BTreeSet<Glyph>) -> Vec<u8> {
        let used = self.with_components(used);
        let (mut shapes, mut places) = (Vec::new(), Vec::new());
        for glyph in 0..self.glyph_count {
            places.extend_from_slice(&(shapes.len() as u32).to_be_bytes());
            if used.contains(&glyph) {
                shapes.extend_from_slice(self.shape(glyph));
                shapes.resize(shapes.len().next_multiple_of(4), 0);
            }
        }
        places.extend_from_slice(&(shapes.len() as u32).to_be_bytes());
        let mut head = self.table(*b"head").to_vec();
        // The checksum of the whole file is set below, and places have four bytes.
        head[8..12].fill(0);
        head[50..52].copy_from_slice(&1_u16.to_be_bytes());
        let content = |name: [u8; 4]| match &name {
            b"glyf" => shapes.clone(),
            b"loca" => places.clone(),
            b"head" => head.clone(),
            _ => self.table(name).to_vec(),
        };
        write_font(&EMBEDDED.map(|name| (name, content(name))))
    }

    /// The shape of a glyph; empty for a space.
    fn shape(&self, glyph: Glyph) -> &'static [u8] {
        let (places, glyph) = (self.table(*b"loca"), usize::from(glyph));
        let is_long = u16_at(self.table(*b"head"), 50) == 1;
        let place = |nth: usize| {
            if is_long { u32_at(places, 4 * nth) as usize } else { 2 * usize::from(u16_at(places, 2 * nth)) }
        };
        &self.table(*b"glyf")[place(glyph)..place(glyph + 1)]
    }

    /// These glyphs, the one for missing characters, and the glyphs of which they are composed, such as a letter and its
    /// accent.
    fn with_components(&self, used: &BTreeSet<Glyph>) -> BTreeSet<Glyph> {
        let mut all = BTreeSet::new();
        let mut next: Vec<Glyph> = used.iter().copied().chain([0]).collect();
        while let Some(glyph) = next.pop() {
            if all.insert(glyph) {
                next.extend(components(self.shape(glyph)));
            }
        }
        all
    }
}

/// The characters and their glyphs in a table `cmap` that starts with a table of format 4.
fn characters(table: &[u8]) -> BTreeMap<char, Glyph> {
    let table = &table[u32_at(table, 8) as usize..];
    let segments = usize::from(u16_at(table, 6)) / 2;
    let mut glyphs = BTreeMap::new();
    for segment in 0..segments {
        let column = |nth: usize| 14 + 2 * segments * nth + 2 * segment;
        // The first column is followed by two bytes of padding.
        let [end, start, delta, offset_at] = [column(0), column(1) + 2, column(2) + 2, column(3) + 2];
        let offset = usize::from(u16_at(table, offset_at));
        for code in u16_at(table, start)..=u16_at(table, end) {
            let glyph = if offset == 0 {
                code.wrapping_add(u16_at(table, delta))
            } else {
                u16_at(table, offset_at + offset + 2 * usize::from(code - u16_at(table, start)))
            };
            if let Some(letter) = char::from_u32(u32::from(code)).filter(|_| glyph != 0 && code != u16::MAX) {
                glyphs.insert(letter, glyph);
            }
        }
    }
    glyphs
}

/// The glyphs of which a shape is composed.
fn components(shape: &[u8]) -> Vec<Glyph> {
    const WORDS: u16 = 1;
    const SCALE: u16 = 1 << 3;
    const MORE: u16 = 1 << 5;
    const TWO_SCALES: u16 = 1 << 6;
    const MATRIX: u16 = 1 << 7;
    let mut found = Vec::new();
    if shape.is_empty() || i16_at(shape, 0) >= 0 {
        return found;
    }
    let mut at = 10;
    loop {
        let flags = u16_at(shape, at);
        found.push(u16_at(shape, at + 2));
        at += if flags & WORDS == 0 { 6 } else { 8 };
        at += match flags {
            flags if flags & SCALE != 0 => 2,
            flags if flags & TWO_SCALES != 0 => 4,
            flags if flags & MATRIX != 0 => 8,
            _ => 0,
        };
        if flags & MORE == 0 {
            return found;
        }
    }
}

/// Writes a font file with these tables, which are sorted by name.
fn write_font(tables: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let power = count.ilog2();
    let range = 16 << power;
    let mut file = 0x0001_0000_u32.to_be_bytes().to_vec();
    for number in [count, range, power as u16, 16 * count - range] {
        file.extend_from_slice(&number.to_be_bytes());
    }
    let mut start = file.len() + 16 * tables.len();
    for (name, content) in tables {
        file.extend_from_slice(name);
        for number in [checksum(content), start as u32, content.len() as u32] {
            file.extend_from_slice(&number.to_be_bytes());
        }
        start += content.len().next_multiple_of(4);
    }
    let mut head = 0;
    for (name, content) in tables {
        if name == b"head" {
            head = file.len();
        }
        file.extend_from_slice(content);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    let of_all = 0xb1b0_afba_u32.wrapping_sub(checksum(&file));
    file[head + 8..head + 12].copy_from_slice(&of_all.to_be_bytes());
    file
}

/// The sum of the words of a table.
fn checksum(content: &[u8]) -> u32 {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_be_bytes(word)
    };
    content.chunks(4).map(word).fold(0, u32::wrapping_add)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn i16_at(bytes: &[u8], at: usize) -> i16 {
    i16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_as_wide_as_in_helvetica() {
        let widths = "Hello, W\u{2212}~".chars().map(|letter| FONT.width(FONT.glyph(letter)));
        assert_eq!(
            widths.collect::<Vec<f64>>(),
            [722.0, 556.0, 222.0, 222.0, 556.0, 278.0, 278.0, 944.0, 584.0, 584.0]
        );
        assert_eq!(FONT.glyph('\u{202f}'), FONT.glyph(' '));
        assert_eq!(FONT.glyph('漢'), FONT.glyph('?'));
    }

    #[test]
    fn a_subset_has_the_shapes_of_its_glyphs_and_their_components_only() {
        let used = BTreeSet::from(['a', 'é'].map(|letter| FONT.glyph(letter)));
        let file: &'static [u8] = FONT.subset(&used).leak();
        assert!(file.len() < FILE.len() / 4, "{} bytes", file.len());
        assert_eq!(checksum(file), 0xb1b0_afba);
        let mut subset = Font { tables: BTreeMap::new(), glyphs: BTreeMap::new(), ..Font::read(FILE) };
        subset.file = file;
        for place in 0..EMBEDDED.len() {
            let entry = 12 + 16 * place;
            let (start, length) = (u32_at(file, entry + 8) as usize, u32_at(file, entry + 12) as usize);
            subset.tables.insert(file[entry..entry + 4].try_into().expect("four bytes"), (start, length));
        }
        let kept = |letter: char| subset.shape(FONT.glyph(letter)).starts_with(FONT.shape(FONT.glyph(letter)));
        assert!(kept('a') && kept('é') && kept('e'), "é is composed of e and an accent");
        assert!(subset.shape(FONT.glyph('b')).is_empty());
    }
}
