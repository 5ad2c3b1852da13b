//! What describes a request that operators may send.

use http::Method;
use schemars::{Schema, SchemaGenerator, json_schema};

use super::{ErrorAnswer, Event, Health};
use crate::identity::Role;

/// A request that operators may send.
#[derive(Debug)]
pub struct Endpoint {
    /// What it does.
    pub action: Action,
    /// Its method.
    pub method: Method,
    /// Its path, with names in braces.
    pub path: &'static str,
    /// The required role; `None` if every certificate of the colony suffices.
    pub role: Option<Role>,
    pub(super) summary: &'static str,
    pub(super) parameters: &'static [Parameter],
    pub(super) body: Option<RequestBody>,
    pub(super) responses: &'static [Response],
}

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the summaries of the endpoints describe them")]
pub enum Action {
    Health,
    Metrics,
    Status,
    Instances,
    Deploy,
    Instance,
    Undeploy,
    Log,
    Explain,
    Update,
    Rollback,
    Pin,
    Unpin,
    Anchor,
    EndAnchor,
    Applications,
    Shadow,
    SetShadow,
    EndShadow,
    Links,
    Routes,
    Journal,
    Events,
    Drain,
    Lost,
}

/// A parameter in the path, the query or a header.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// `path`, `query` or `header`.
    pub(super) place: &'static str,
    pub(super) is_required: bool,
    pub(super) description: &'static str,
    pub(super) schema: SchemaOf,
}

/// The body of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum RequestBody {
    /// A signed description of an application.
    Document,
    Json(SchemaOf),
}

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) description: &'static str,
    pub(super) content: Content,
}

/// The content of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    Json(SchemaOf),
    Text,
    /// Server-sent events.
    Events,
}

pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

pub(super) const fn json(schema: SchemaOf) -> Response {
    Response { status: 200, description: "Success.", content: Content::Json(schema) }
}

pub(super) const fn error(status: u16, description: &'static str) -> Response {
    Response { status, description, content: Content::Json(SchemaGenerator::subschema_for::<ErrorAnswer>) }
}

pub(super) const fn path(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, place: "path", is_required: true, description, schema: text }
}

pub(super) fn text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string" })
}

pub(super) fn number(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 0 })
}

pub(super) fn health_or_error(generator: &mut SchemaGenerator) -> Schema {
    let (health, error) = (generator.subschema_for::<Health>(), generator.subschema_for::<ErrorAnswer>());
    json_schema!({ "anyOf": [health, error] })
}

impl Content {
    /// The media type.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Content::Json(_) => "application/json",
            Content::Text => "text/plain",
            Content::Events => "text/event-stream",
        }
    }

    pub(super) fn schema(self, generator: &mut SchemaGenerator) -> Schema {
        match self {
            Content::Json(schema) => schema(generator),
            Content::Text => text(generator),
            Content::Events => generator.subschema_for::<Event>(),
        }
    }
}
