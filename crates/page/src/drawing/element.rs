//! The elements of a drawing: a tree that is written as SVG into files, and as JSON into the page, whose script builds
//! the same elements.
//!
//! Colours are custom properties of the page's palette, such as `var(--grid)`. A browser resolves them to light or
//! dark; files have the light colours written out.

use std::fmt::Write;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::compact::Compact;
use super::palette::light_and_dark;

/// An element with its attributes and its content.
#[derive(Clone, PartialEq, Debug)]
pub struct Element {
    tag: &'static str,
    attributes: Vec<(&'static str, Attribute)>,
    content: Vec<Content>,
    audience: Audience,
}

/// Where an element is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Audience {
    All,
    /// In files only, such as a legend that the page replaces by controls.
    Files,
    /// In the page only.
    Page,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum Attribute {
    /// A number, written with at most two digits after the point.
    Number(f64),
    /// A text.
    Text(String),
}

/// The content of an element.
#[derive(Clone, PartialEq, Debug)]
enum Content {
    Element(Element),
    Text(String),
    /// A part that several layouts of a figure share, by its index.
    Part(usize),
}

impl From<f64> for Attribute {
    fn from(number: f64) -> Attribute {
        Attribute::Number(number)
    }
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Attribute {
        Attribute::Text(text.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Attribute {
        Attribute::Text(text)
    }
}

/// The attribute with the tooltip of an element. In files, it becomes the element's title.
const TIP: &str = "data-tip";

impl Element {
    /// An element without attributes and content.
    pub fn new(tag: &'static str) -> Element {
        Element { tag, attributes: Vec::new(), content: Vec::new(), audience: Audience::All }
    }

    /// A group with a class.
    pub fn group(class: &str) -> Element {
        Element::new("g").with("class", class)
    }

    /// A rectangle, given its upper left corner and its size. A negative width or height becomes 0.
    pub fn rectangle([x, y]: [f64; 2], [width, height]: [f64; 2], fill: &str) -> Element {
        let rectangle = Element::new("rect").with("x", x).with("y", y);
        rectangle.with("width", width.max(0.0)).with("height", height.max(0.0)).with("fill", fill)
    }

    /// A circle, given its centre and its radius.
    pub fn circle([x, y]: [f64; 2], radius: f64, fill: &str) -> Element {
        Element::new("circle").with("cx", x).with("cy", y).with("r", radius).with("fill", fill)
    }

    /// A filled area without an outline.
    pub fn area(path: String, fill: &str) -> Element {
        Element::new("path").with("d", path).with("fill", fill)
    }

    /// A line without a fill.
    pub fn line(path: String, stroke: &str, width: f64) -> Element {
        let line = Element::new("path").with("d", path).with("fill", "none");
        line.with("stroke", stroke).with("stroke-width", width)
    }

    /// Adds an attribute.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Attribute>) -> Element {
        self.attributes.push((name, value.into()));
        self
    }

    /// Dashes the line of the element.
    #[must_use]
    pub fn dashed(self, dashes: &str) -> Element {
        self.with("stroke-dasharray", dashes)
    }

    /// Adds a tooltip, one line for each line of the text.
    #[must_use]
    pub fn tip(self, text: impl Into<String>) -> Element {
        self.with(TIP, text.into())
    }

    /// Adds an element to the content.
    #[must_use]
    pub fn and(mut self, element: Element) -> Element {
        self.content.push(Content::Element(element));
        self
    }

    /// Adds elements to the content.
    #[must_use]
    pub fn all(mut self, elements: impl IntoIterator<Item = Element>) -> Element {
        self.content.extend(elements.into_iter().map(Content::Element));
        self
    }

    /// Adds a text to the content.
    #[must_use]
    pub fn text(mut self, text: &str) -> Element {
        self.content.push(Content::Text(text.to_owned()));
        self
    }

    /// Adds a part of the chart, by its index in [`Chart::parts`](super::Chart::parts).
    #[must_use]
    pub fn part(mut self, index: usize) -> Element {
        self.content.push(Content::Part(index));
        self
    }

    /// Leaves the element out of the page.
    #[must_use]
    pub fn in_files_only(mut self) -> Element {
        self.audience = Audience::Files;
        self
    }

    /// Leaves the element out of files.
    #[must_use]
    pub fn in_page_only(mut self) -> Element {
        self.audience = Audience::Page;
        self
    }

    /// Leaves the element out of files, and out of the page until its script shows it.
    #[must_use]
    pub fn hidden(self) -> Element {
        self.with("display", "none")
    }

    fn is_hidden(&self) -> bool {
        self.audience == Audience::Page || self.attributes.iter().any(|(name, _)| *name == "display")
    }

    /// Appends the element as SVG, or nothing if it is not for files. `parts` are those of its figure.
    pub fn write_svg(&self, parts: &[Element], svg: &mut String) {
        if self.is_hidden() {
            return;
        }
        svg.push('<');
        svg.push_str(self.tag);
        let mut tip = None;
        for (name, value) in &self.attributes {
            match value {
                Attribute::Text(text) if *name == TIP => tip = Some(text),
                // Other `data-` attributes are for the script of the page.
                _ if name.starts_with("data-") => {}
                Attribute::Number(number) => {
                    let _ = write!(svg, " {name}=\"{}\"", rounded(*number));
                }
                Attribute::Text(text) => {
                    let _ = write!(svg, " {name}=\"{}\"", escape(light_and_dark(text)[0]));
                }
            }
        }
        if self.content.is_empty() && tip.is_none() {
            svg.push_str("/>\n");
            return;
        }
        svg.push('>');
        if let Some(tip) = tip {
            let _ = write!(svg, "<title>{}</title>", escape(tip));
        }
        for content in &self.content {
            match content {
                Content::Element(element) => element.write_svg(parts, svg),
                Content::Text(text) => svg.push_str(&escape(text)),
                Content::Part(index) => parts[*index].write_svg(parts, svg),
            }
        }
        let _ = writeln!(svg, "</{}>", self.tag);
    }
}

/// `[tag, attributes, ...content]`, where content is an element, a text, or the index of a part. Elements for files
/// only are left out of the content.
impl Serialize for Element {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(self.tag)?;
        list.serialize_element(&Attributes(&self.attributes))?;
        for content in &self.content {
            match content {
                Content::Element(element) if element.audience == Audience::Files => {}
                Content::Element(element) => list.serialize_element(element)?,
                Content::Text(text) => list.serialize_element(text)?,
                Content::Part(index) => list.serialize_element(index)?,
            }
        }
        list.end()
    }
}

struct Attributes<'a>(&'a [(&'static str, Attribute)]);

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.0 {
            match value {
                Attribute::Number(number) => map.serialize_entry(name, &Compact(rounded(*number)))?,
                Attribute::Text(text) => map.serialize_entry(name, text)?,
            }
        }
        map.end()
    }
}

/// Rounds to hundredths of a pixel. Never returns minus zero.
pub fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0 + 0.0
}

/// Escapes a text for XML and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(element: &Element) -> String {
        let mut text = String::new();
        element.write_svg(&[Element::new("part")], &mut text);
        text
    }

    #[test]
    fn files_have_light_colours_titles_and_escaped_text() {
        let text = Element::new("text").with("x", 1.004).with("fill", "var(--ink)").tip("<tip>").text("a<b>&\"");
        assert_eq!(
            svg(&text),
            "<text x=\"1\" fill=\"#1c2128\"><title>&lt;tip&gt;</title>a&lt;b&gt;&amp;&quot;</text>\n"
        );
    }

    #[test]
    fn the_page_has_a_list_for_each_element() {
        let tree = Element::group("bars").with("data-all", "scale(2)").part(0).and(Element::circle(
            [1.0, 2.5],
            3.0,
            "var(--ink)",
        ));
        let json = serde_json::to_string(&tree).expect("JSON");
        assert_eq!(
            json,
            r#"["g",{"class":"bars","data-all":"scale(2)"},0,["circle",{"cx":1,"cy":2.5,"r":3,"fill":"var(--ink)"}]]"#
        );
        assert!(svg(&tree).starts_with("<g class=\"bars\"><part/>\n<circle "), "{}", svg(&tree));
    }

    #[test]
    fn elements_for_files_only_and_for_the_page_only_are_separated() {
        let tree = Element::new("g").and(Element::new("a").hidden()).and(Element::new("b").in_files_only());
        assert_eq!(svg(&tree), "<g><b/>\n</g>\n");
        assert_eq!(serde_json::to_string(&tree).expect("JSON"), r#"["g",{},["a",{"display":"none"}]]"#);
    }
}
