//! Types, generics and functions of rustdoc's JSON, written as in Rust.
//!
//! A type from outside the workspace is written with its full path, so that `io::Error` and `fmt::Error` differ no
//! matter how they were imported; only the types in [`PRELUDE`] have no path. Types of the workspace are written
//! without their modules, because moving one to another private module does not affect users: a type of the crate
//! itself as its name, and one of another crate of the workspace as `mario_CRATE::Name`.

use serde_json::Value;

/// Well-known types of the standard library, which are written without a path.
const PRELUDE: [&str; 8] = ["Option", "Result", "Vec", "String", "Box", "Arc", "Range", "Path"];

/// Writes parts of the interface of one crate.
pub(super) struct Writer<'a> {
    /// The table of paths in rustdoc's JSON.
    pub(super) paths: &'a Value,
}

impl Writer<'_> {
    pub(super) fn type_of(&self, value: &Value) -> String {
        let Some((kind, inner)) = only_entry(value) else {
            return value
                .as_str()
                .map_or_else(|| "()".to_owned(), |word| if word == "infer" { "_" } else { word }.to_owned());
        };
        match kind {
            "resolved_path" => self.path(inner),
            "dyn_trait" => {
                let traits = list(&inner["traits"]).map(|each| self.path(&each["trait"]));
                let lifetime = inner["lifetime"].as_str().map(str::to_owned);
                format!("dyn {}", joined(traits.chain(lifetime), " + "))
            }
            "function_pointer" => format!("fn{}", self.inputs_and_output(&inner["sig"])),
            "tuple" => {
                let types = joined(list(inner).map(|each| self.type_of(each)), ", ");
                format!("({types})")
            }
            "slice" => format!("[{}]", self.type_of(inner)),
            "array" => format!("[{}; {}]", self.type_of(&inner["type"]), text(&inner["len"])),
            "impl_trait" => format!("impl {}", self.bounds(inner)),
            "raw_pointer" => {
                let keyword = if inner["is_mutable"] == true { "mut" } else { "const" };
                format!("*{keyword} {}", self.type_of(&inner["type"]))
            }
            "borrowed_ref" => {
                let lifetime = inner["lifetime"].as_str().map(|name| format!("{name} ")).unwrap_or_default();
                let keyword = if inner["is_mutable"] == true { "mut " } else { "" };
                format!("&{lifetime}{keyword}{}", self.type_of(&inner["type"]))
            }
            "qualified_path" => {
                let (own, name) = (self.type_of(&inner["self_type"]), text(&inner["name"]));
                let name = format!("{name}{}", self.arguments(&inner["args"]));
                match inner["trait"]["path"].as_str() {
                    Some(path) if !path.is_empty() => format!("<{own} as {}>::{name}", self.path(&inner["trait"])),
                    _ => format!("{own}::{name}"),
                }
            }
            // `generic` and `primitive` are names.
            _ => text(inner),
        }
    }

    /// A path to a type or a trait, with its arguments.
    pub(super) fn path(&self, value: &Value) -> String {
        let written = text(&value["path"]);
        let last = written.rsplit("::").next().unwrap_or_default().to_owned();
        let known = &self.paths[value["id"].to_string()];
        let is_foreign = known["crate_id"].as_u64().is_some_and(|id| id != 0);
        let segments: Vec<String> = list(&known["path"]).map(text).collect();
        let name = match segments.first() {
            Some(_) if !is_foreign || PRELUDE.contains(&last.as_str()) => last,
            // Crates of the workspace export from their root, and their modules may change.
            Some(own) if own.starts_with("mario_") => format!("{own}::{last}"),
            Some(_) => segments.join("::"),
            None => last,
        };
        format!("{name}{}", self.arguments(&value["args"]))
    }

    /// The arguments of a path, in brackets; empty if there are none.
    fn arguments(&self, value: &Value) -> String {
        match only_entry(value) {
            Some(("angle_bracketed", inner)) => {
                let arguments = list(&inner["args"]).map(|each| match only_entry(each) {
                    Some(("type", inner)) => self.type_of(inner),
                    Some(("const", inner)) => text(&inner["expr"]),
                    Some((_, inner)) => text(inner),
                    None => "_".to_owned(),
                });
                let constraints = list(&inner["constraints"]).map(|each| {
                    let name = text(&each["name"]);
                    match only_entry(&each["binding"]) {
                        Some(("equality", inner)) => format!("{name} = {}", self.term(inner)),
                        Some((_, bounds)) => format!("{name}: {}", self.bounds(bounds)),
                        None => name,
                    }
                });
                let all = joined(arguments.chain(constraints), ", ");
                if all.is_empty() { String::new() } else { format!("<{all}>") }
            }
            Some(("parenthesized", inner)) => {
                let inputs = joined(list(&inner["inputs"]).map(|each| self.type_of(each)), ", ");
                format!("({inputs}){}", self.output(&inner["output"]))
            }
            _ => String::new(),
        }
    }

    fn term(&self, value: &Value) -> String {
        match only_entry(value) {
            Some(("type", inner)) => self.type_of(inner),
            Some((_, inner)) => text(&inner["expr"]),
            None => String::new(),
        }
    }

    fn output(&self, value: &Value) -> String {
        if value.is_null() { String::new() } else { format!(" -> {}", self.type_of(value)) }
    }

    fn inputs_and_output(&self, signature: &Value) -> String {
        // The names of arguments are not part of the interface, except `self`.
        let inputs = list(&signature["inputs"]).map(|each| {
            let (name, kind) = (text(&each[0]), self.type_of(&each[1]));
            if name == "self" { kind.replace("Self", "self") } else { kind }
        });
        format!("({}){}", joined(inputs, ", "), self.output(&signature["output"]))
    }

    /// The part of a signature after the name of the function.
    pub(super) fn function(&self, inner: &Value) -> String {
        let generics = &inner["generics"];
        format!("{}{}{}", self.parameters(generics), self.inputs_and_output(&inner["sig"]), self.conditions(generics))
    }

    /// The keywords before `fn`, each with a space after it.
    pub(super) fn qualifiers(inner: &Value) -> String {
        let header = &inner["header"];
        let words = [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")];
        words.into_iter().filter(|(key, _)| header[*key] == true).map(|(_, word)| word).collect()
    }

    /// Generic parameters, in brackets.
    pub(super) fn parameters(&self, generics: &Value) -> String {
        let parameters = list(&generics["params"]).filter_map(|parameter| {
            let name = text(&parameter["name"]);
            match only_entry(&parameter["kind"])? {
                // Parameters that stand for `impl Trait` in an argument are written there.
                ("type", inner) if inner["is_synthetic"] == true => None,
                ("type", inner) => {
                    let bounds = self.bounds(&inner["bounds"]);
                    let default = if inner["default"].is_null() {
                        String::new()
                    } else {
                        format!(" = {}", self.type_of(&inner["default"]))
                    };
                    Some(if bounds.is_empty() {
                        format!("{name}{default}")
                    } else {
                        format!("{name}: {bounds}{default}")
                    })
                }
                ("const", inner) => Some(format!("const {name}: {}", self.type_of(&inner["type"]))),
                _ => Some(name),
            }
        });
        let all = joined(parameters, ", ");
        if all.is_empty() { all } else { format!("<{all}>") }
    }

    /// The `where` clause.
    pub(super) fn conditions(&self, generics: &Value) -> String {
        let conditions = list(&generics["where_predicates"]).filter_map(|each| match only_entry(each)? {
            ("bound_predicate", inner) => {
                Some(format!("{}: {}", self.type_of(&inner["type"]), self.bounds(&inner["bounds"])))
            }
            ("lifetime_predicate", inner) => {
                let outlives = joined(list(&inner["outlives"]).map(text), " + ");
                Some(format!("{}: {outlives}", text(&inner["lifetime"])))
            }
            (_, inner) => Some(format!("{} = {}", self.type_of(&inner["lhs"]), self.term(&inner["rhs"]))),
        });
        let all = joined(conditions, ", ");
        if all.is_empty() { all } else { format!(" where {all}") }
    }

    /// Bounds of a type.
    pub(super) fn bounds(&self, value: &Value) -> String {
        let bounds = list(value).filter_map(|each| match only_entry(each)? {
            ("trait_bound", inner) => {
                let mark = if inner["modifier"] == "maybe" { "?" } else { "" };
                Some(format!("{mark}{}", self.path(&inner["trait"])))
            }
            ("outlives", lifetime) => Some(text(lifetime)),
            _ => None,
        });
        joined(bounds, " + ")
    }
}

/// The only key of an object, and its value, which is how rustdoc's JSON represents a variant with data; `None` for
/// other values.
pub(super) fn only_entry(value: &Value) -> Option<(&str, &Value)> {
    let object = value.as_object()?;
    let (key, inner) = object.iter().next()?;
    (object.len() == 1).then_some((key.as_str(), inner))
}

/// The elements of a list; none if the value is not a list.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The content of a string; empty if the value is not a string.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn joined(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}
