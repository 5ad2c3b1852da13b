//! An XML pull parser that reports the place of each piece in the text.
//!
//! Only the five predefined entities and character references are supported. References to entities that a document
//! declares are rejected, so a document cannot cause exponential expansion.

use std::fmt;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// A piece of a document. Comments, processing instructions and declarations are skipped.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Piece {
    /// The start of an element.
    Open(Element),
    /// The end of an element with this name.
    Close(String),
    /// A part of the text between two tags. References and CDATA sections are separate parts.
    Text(String),
}

/// The start tag of an element. Names have no namespace prefixes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
    attributes: Vec<(String, String)>,
}

/// Why a text is not XML.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum XmlProblem {
    /// The text is not well-formed, with the message of the parser.
    IllFormed(String),
    /// The text ends before the element with this name does.
    Unclosed(String),
    /// A reference to an entity that is not predefined, or a malformed reference in an attribute value.
    UnknownEntity,
}

/// Why a text is not XML, and where.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct XmlError {
    pub(crate) span: Range<usize>,
    pub(crate) problem: XmlProblem,
}

/// A piece and its place.
type Placed = (Piece, Range<usize>);

/// The parser of one document.
pub(crate) struct Xml<'t> {
    reader: Reader<&'t [u8]>,
    length: usize,
    open: Vec<(String, Range<usize>)>,
    /// The name of a self-closing element whose end is the next piece.
    pending: Option<String>,
}

impl Element {
    /// The value of an attribute; `None` if it is missing.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl<'t> Xml<'t> {
    pub(crate) fn new(text: &'t str) -> Xml<'t> {
        Xml { reader: Reader::from_str(text), length: text.len(), open: Vec::new(), pending: None }
    }

    /// The number of open elements.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next piece and its place; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Placed>, XmlError> {
        if let Some(name) = self.pending.take() {
            self.open.pop();
            let here = self.position();
            return Ok(Some((Piece::Close(name), here..here)));
        }
        loop {
            let start = self.position();
            let event = self.reader.read_event();
            let span = start..self.position().max(start);
            let ill_formed = |error: &dyn fmt::Display| XmlError {
                span: span.clone(),
                problem: XmlProblem::IllFormed(error.to_string()),
            };
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = (self.reader.error_position() as usize).min(self.length);
                    let problem = XmlProblem::IllFormed(error.to_string());
                    return Err(XmlError { span: at.min(span.end)..span.end.max(at), problem });
                }
            };
            let piece = match event {
                Event::Start(tag) => {
                    let element = element(&tag, &span)?;
                    self.open.push((element.name.clone(), span.clone()));
                    Piece::Open(element)
                }
                Event::Empty(tag) => {
                    let element = element(&tag, &span)?;
                    self.open.push((element.name.clone(), span.clone()));
                    self.pending = Some(element.name.clone());
                    Piece::Open(element)
                }
                Event::End(tag) => {
                    self.open.pop();
                    Piece::Close(tag.local_name().as_ref().to_owned())
                }
                Event::Text(text) => Piece::Text(text.to_string()),
                Event::CData(text) => Piece::Text(text.to_string()),
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(character)) => Piece::Text(character.to_string()),
                    Ok(None) => match quick_xml::escape::resolve_xml_entity(&reference) {
                        Some(text) => Piece::Text(text.to_owned()),
                        None => return Err(XmlError { span, problem: XmlProblem::UnknownEntity }),
                    },
                    Err(error) => return Err(ill_formed(&error)),
                },
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => continue,
                Event::Eof => match self.open.pop() {
                    Some((name, span)) => {
                        return Err(XmlError { span, problem: XmlProblem::Unclosed(name) });
                    }
                    None => return Ok(None),
                },
            };
            return Ok(Some((piece, span)));
        }
    }

    fn position(&self) -> usize {
        (self.reader.buffer_position() as usize).min(self.length)
    }
}

fn element(tag: &BytesStart<'_>, span: &Range<usize>) -> Result<Element, XmlError> {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute
            .map_err(|error| XmlError { span: span.clone(), problem: XmlProblem::IllFormed(error.to_string()) })?;
        let value = unescape(&attribute.value)
            .map_err(|_| XmlError { span: span.clone(), problem: XmlProblem::UnknownEntity })?;
        attributes.push((attribute.key.local_name().as_ref().to_owned(), value.into_owned()));
    }
    Ok(Element { name: tag.local_name().as_ref().to_owned(), span: span.clone(), attributes })
}

impl fmt::Display for XmlProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            XmlProblem::IllFormed(message) => write!(formatter, "this is not well-formed XML: {message}"),
            XmlProblem::Unclosed(name) => write!(formatter, "the text ends before `<{name}>` is closed"),
            XmlProblem::UnknownEntity => formatter
                .write_str("only the entities `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and numbers are known"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Result<Vec<String>, String> {
        let mut xml = Xml::new(text);
        let mut pieces = Vec::new();
        while let Some((piece, span)) =
            xml.next().map_err(|error| format!("{} @ {}", error.problem, &text[error.span]))?
        {
            pieces.push(match piece {
                Piece::Open(element) => format!("<{} {:?} @ {}", element.name, element.attributes, &text[span]),
                Piece::Close(name) => format!(">{name}"),
                Piece::Text(text) => text,
            });
        }
        Ok(pieces)
    }

    #[test]
    fn pieces_have_their_places() {
        let text =
            "<?xml version=\"1.0\"?><!DOCTYPE a><x:a k=\"1 &lt; 2\"><!-- c --><b/>t&amp;&#65;<![CDATA[<]]></x:a>";
        let expected =
            ["<a [(\"k\", \"1 < 2\")] @ <x:a k=\"1 &lt; 2\">", "<b [] @ <b/>", ">b", "t", "&", "A", "<", ">a"];
        assert_eq!(pieces(text).expect("XML"), expected);
    }

    #[test]
    fn entities_of_a_document_are_never_expanded() {
        let bomb = "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\"><!ENTITY c \"&b;&b;\">]><l>&c;</l>";
        assert!(pieces(bomb).expect_err("an entity").contains("only the entities"));
        let attribute = "<!DOCTYPE l [<!ENTITY a \"ha\">]><l k=\"&a;\"/>";
        assert!(pieces(attribute).expect_err("an entity").contains("only the entities"));
    }

    #[test]
    fn an_unclosed_element_is_reported() {
        assert_eq!(pieces("<a><b>").expect_err("open"), "the text ends before `<b>` is closed @ <b>");
        assert!(pieces("<a></b>").expect_err("mismatched").contains("not well-formed"));
        assert!(pieces("<a k=>").expect_err("no value").contains("not well-formed"));
        assert!(pieces("<a").expect_err("cut").contains("not well-formed"));
    }
}
