//! The content security policy of the server. It allows only the page's own script, its own styles, `data:` images, and
//! requests to this server.

use std::sync::LazyLock;

use hyper::header::HeaderValue;

use crate::page;

static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = [page::style(), page::waiting_style()].map(|text| source_of(&text)).join(" ");
    let policy = format!(
        "default-src 'none'; script-src {program}; style-src {style}; img-src data:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        program = source_of(&page::program())
    );
    HeaderValue::from_str(&policy).expect("it is ASCII")
});

/// The value of `Content-Security-Policy`. It lists the hashes of the page's inline script and styles, so that browsers
/// ignore injected ones.
pub(super) fn content_security_policy() -> HeaderValue {
    POLICY.clone()
}

/// The source expression of an inline script or style in the policy: its hash.
fn source_of(text: &str) -> String {
    format!("'sha256-{}'", base64(&hmac_sha256::Hash::hash(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inline_text_is_identified_by_its_hash() {
        // From the specification of base64, and the hash that browsers compute for this text.
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(source_of("alert('Hello, world.');"), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
    }

    #[test]
    fn the_content_security_policy_lists_the_inline_texts() {
        let page = page::html("title", "{}", true);
        assert!(page.contains(&format!("<script>{}</script>", page::program())));
        assert!(page.contains(&format!("<style>{}</style>", page::style())));
        assert!(page::waiting("trouble").contains(&format!("<style>{}</style>", page::waiting_style())));
        assert_eq!(page.matches("<style").count() + page.matches("<script>").count(), 2, "there is no other");
    }
}
