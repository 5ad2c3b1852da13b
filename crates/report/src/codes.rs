//! The table by which the script of the page decodes kinds of explanation lines. It is generated from the list that
//! defines the codes.

use crate::explanations;

/// The table as JavaScript.
pub(crate) fn script() -> String {
    let roles: Vec<String> = explanations::LINE_ROLES.iter().map(|role| format!("\"{}\"", role.as_str())).collect();
    format!("const LINE_ROLES = [{}];\n", roles.join(", "))
}

/// The type of the table, for the type checker of the script.
#[cfg(test)]
pub(crate) const DECLARATIONS: &str = "declare const LINE_ROLES: string[];\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_codes() {
        let script = script();
        assert!(script.contains(r#"LINE_ROLES = ["proposed", "missed", "code", "met", "failed", "fact","#), "{script}");
    }
}
