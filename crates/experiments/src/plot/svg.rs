//! A drawing as SVG.

use std::fmt::Write;

use super::scene::{Anchor, Colour, Scene, Shape};

pub(super) fn svg(scene: &Scene) -> String {
    let Scene { title, width, height, shapes } = scene;
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" \
         height=\"{height}pt\" viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, Arimo, \
         'Liberation Sans', 'Nimbus Sans', sans-serif\">\n<title>{}</title>\n",
        escape(title)
    );
    for shape in shapes {
        let _ = match shape {
            Shape::Line { points, thickness, colour, dash } => {
                let (points, colour) = (places(points), hex(*colour));
                let dash: Vec<String> = dash.iter().map(f64::to_string).collect();
                let dash = match dash.as_slice() {
                    [] => String::new(),
                    _ => format!(" stroke-dasharray=\"{}\"", dash.join(" ")),
                };
                writeln!(
                    text,
                    "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{thickness}\"{dash}/>"
                )
            }
            Shape::Polygon { corners, colour } => {
                writeln!(text, "<polygon points=\"{}\" fill=\"{}\"/>", places(corners), hex(*colour))
            }
            Shape::Dot { centre: [x, y], radius, colour } => {
                writeln!(text, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" fill=\"{}\"/>", hex(*colour))
            }
            Shape::Text { at: [x, y], text: words, anchor, size, colour } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let (words, colour) = (escape(words), hex(*colour));
                writeln!(
                    text,
                    "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{colour}\">{words}</text>"
                )
            }
        };
    }
    text.push_str("</svg>\n");
    text
}

fn places(points: &[[f64; 2]]) -> String {
    points.iter().map(|[x, y]| format!("{x:.2},{y:.2}")).collect::<Vec<String>>().join(" ")
}

fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Escapes a text for XML. Control characters are dropped: XML does not allow most of them.
fn escape(text: &str) -> String {
    let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
