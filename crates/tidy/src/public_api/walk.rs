//! Traverses the items that a crate exports, and writes a line for each.

use std::collections::BTreeSet;

use serde_json::Value;

use super::signature::{Writer, list, only_entry, text};

/// The version of rustdoc's JSON that the pinned toolchain writes.
pub const FORMAT: u64 = 57;

/// Returns a line for each public item of a crate, from the JSON that rustdoc writes about it.
pub fn listing(crate_json: &Value) -> Result<BTreeSet<String>, String> {
    let format = crate_json["format_version"].as_u64();
    if format != Some(FORMAT) {
        return Err(format!(
            "this rustdoc writes JSON of format {format:?}, and crates/tidy/src/public_api reads {FORMAT}; see what changed in rustdoc-json-types"
        ));
    }
    let mut walk =
        Walk { index: &crate_json["index"], writer: Writer { paths: &crate_json["paths"] }, lines: BTreeSet::new() };
    let root = walk.item(&crate_json["root"]).ok_or("it has no root")?;
    let name = text(&root["name"]);
    walk.module(root, &name);
    Ok(walk.lines)
}

struct Walk<'a> {
    index: &'a Value,
    writer: Writer<'a>,
    lines: BTreeSet<String>,
}

impl<'a> Walk<'a> {
    /// The item with an id; `None` if rustdoc's JSON omits it, because it is private, hidden or of another crate.
    fn item(&self, id: &Value) -> Option<&'a Value> {
        self.index.get(id.to_string())
    }

    fn module(&mut self, module: &'a Value, path: &str) {
        let items: Vec<&Value> = list(&module["inner"]["module"]["items"]).filter_map(|id| self.item(id)).collect();
        for item in items {
            self.export(item, path, &text(&item["name"]));
        }
    }

    /// Writes an item that a module exports under this name.
    fn export(&mut self, item: &'a Value, module: &str, name: &str) {
        let Some((kind, inner)) = only_entry(&item["inner"]) else { return };
        let path = format!("{module}::{name}");
        let generics = self.writer.parameters(&inner["generics"]);
        let conditions = self.writer.conditions(&inner["generics"]);
        match kind {
            "use" => match self.item(&inner["id"]) {
                Some(target) => self.export(target, module, &text(&inner["name"])),
                None => self.line(format!("use {module}::{} = {}", text(&inner["name"]), text(&inner["source"]))),
            },
            "module" => {
                self.line(format!("mod {path}"));
                self.module(item, &path);
            }
            "struct" => {
                let private = if has_private_fields(inner) { " { private }" } else { "" };
                self.line(format!("struct {path}{generics}{conditions}{private}"));
                self.fields(&inner["kind"], &path);
                self.implementations(inner, &path);
            }
            "enum" => {
                let open = if is_non_exhaustive(item) { " { non_exhaustive }" } else { "" };
                self.line(format!("enum {path}{generics}{conditions}{open}"));
                let variants: Vec<&Value> = list(&inner["variants"]).filter_map(|id| self.item(id)).collect();
                for variant in variants {
                    self.variant(variant, &path);
                }
                self.implementations(inner, &path);
            }
            "trait" => {
                let bounds = self.writer.bounds(&inner["bounds"]);
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                self.line(format!("trait {path}{generics}{bounds}{conditions}"));
                let items: Vec<&Value> = list(&inner["items"]).filter_map(|id| self.item(id)).collect();
                items.into_iter().for_each(|item| self.member(item, &path, Of::Trait));
            }
            "function" => self.member(item, module, Of::Type),
            "type_alias" => {
                let aliased = self.writer.type_of(&inner["type"]);
                self.line(format!("type {path}{generics} = {aliased}"));
            }
            "constant" => self.line(format!("const {path}: {}", self.writer.type_of(&inner["type"]))),
            "static" => self.line(format!("static {path}: {}", self.writer.type_of(&inner["type"]))),
            _ => self.line(format!("{kind} {path}")),
        }
    }

    fn fields(&mut self, kind: &'a Value, path: &str) {
        let fields = match only_entry(kind) {
            Some(("plain" | "struct", inner)) => &inner["fields"],
            Some(("tuple", inner)) => inner,
            _ => return,
        };
        let fields: Vec<&Value> = list(fields).filter_map(|id| self.item(id)).collect();
        for field in fields {
            let written = self.writer.type_of(&field["inner"]["struct_field"]);
            self.line(format!("field {path}::{}: {written}", text(&field["name"])));
        }
    }

    fn variant(&mut self, variant: &'a Value, path: &str) {
        let (path, kind) = (format!("{path}::{}", text(&variant["name"])), &variant["inner"]["variant"]["kind"]);
        match only_entry(kind) {
            Some(("tuple", fields)) => {
                let types: Vec<String> = list(fields)
                    .map(|id| {
                        let field = self.item(id).map(|field| &field["inner"]["struct_field"]);
                        field.map_or_else(|| "_".to_owned(), |field| self.writer.type_of(field))
                    })
                    .collect();
                self.line(format!("variant {path}({})", types.join(", ")));
            }
            _ => {
                self.line(format!("variant {path}"));
                self.fields(kind, &path);
            }
        }
    }

    /// Writes the inherent items of a type, and its trait implementations except blanket ones, negative ones, and that
    /// of `StructuralPartialEq`. Of automatic implementations, only those of `Send` and `Sync` are written.
    fn implementations(&mut self, inner: &'a Value, path: &str) {
        let blocks: Vec<&Value> =
            list(&inner["impls"]).filter_map(|id| self.item(id)).map(|item| &item["inner"]["impl"]).collect();
        for block in blocks {
            let name = text(&block["trait"]["path"]);
            let is_automatic = block["is_synthetic"] == true && !matches!(name.as_str(), "Send" | "Sync");
            let is_no_promise = name == "StructuralPartialEq" || block["is_negative"] == true;
            if !block["blanket_impl"].is_null() || is_automatic || is_no_promise {
                continue;
            }
            if block["trait"].is_null() {
                let items: Vec<&Value> = list(&block["items"]).filter_map(|id| self.item(id)).collect();
                items.into_iter().for_each(|item| self.member(item, path, Of::Type));
            } else {
                let generics = self.writer.parameters(&block["generics"]);
                let conditions = self.writer.conditions(&block["generics"]);
                let (of, target) = (self.writer.path(&block["trait"]), self.writer.type_of(&block["for"]));
                self.line(format!("impl{generics} {of} for {target}{conditions}"));
            }
        }
    }

    /// Writes a function, an associated constant or an associated type.
    fn member(&mut self, item: &'a Value, path: &str, of: Of) {
        let Some((kind, inner)) = only_entry(&item["inner"]) else { return };
        let path = format!("{path}::{}", text(&item["name"]));
        let required = |is_given: bool| if matches!(of, Of::Trait) && !is_given { "required " } else { "" };
        match kind {
            "function" => {
                let (before, after) = (required(inner["has_body"] == true), self.writer.function(inner));
                self.line(format!("{before}{}fn {path}{after}", Writer::qualifiers(inner)));
            }
            "assoc_const" => {
                let before = required(!inner["value"].is_null());
                self.line(format!("{before}const {path}: {}", self.writer.type_of(&inner["type"])));
            }
            "assoc_type" => {
                let before = required(!inner["type"].is_null());
                self.line(format!("{before}type {path}: {}", self.writer.bounds(&inner["bounds"])));
            }
            _ => {}
        }
    }

    fn line(&mut self, line: String) {
        self.lines.insert(line);
    }
}

/// The owner of a member.
#[derive(Clone, Copy)]
enum Of {
    /// A trait, whose members users implement.
    Trait,
    /// A type or a module.
    Type,
}

fn has_private_fields(inner: &Value) -> bool {
    match only_entry(&inner["kind"]) {
        Some(("plain", fields)) => fields["has_stripped_fields"] == true,
        Some(("tuple", fields)) => list(fields).any(Value::is_null),
        _ => false,
    }
}

fn is_non_exhaustive(item: &Value) -> bool {
    list(&item["attrs"]).any(|attribute| attribute.to_string().contains("non_exhaustive"))
}
