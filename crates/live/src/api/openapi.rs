//! The description of the operators' interface in the format `OpenAPI`.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use super::TestbedData;
use super::endpoint::{Content, Endpoint, Parameter, RequestBody, Response};
use super::endpoints::{ANY, ENDPOINTS, NO_ROLE};

/// Where the schemas of types are in the document.
const SCHEMAS: &str = "/components/schemas";

#[derive(Serialize)]
struct Document {
    openapi: &'static str,
    info: Info,
    paths: Map<String, Value>,
    components: Components,
}

#[derive(Serialize)]
struct Info {
    title: &'static str,
    version: &'static str,
    description: &'static str,
}

#[derive(Serialize)]
struct Components {
    schemas: Map<String, Value>,
}

#[derive(Serialize)]
struct Operation {
    summary: &'static str,
    #[serde(rename = "x-role", skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<ShownParameter>,
    #[serde(rename = "requestBody", skip_serializing_if = "Option::is_none")]
    body: Option<ShownBody>,
    responses: BTreeMap<String, ShownResponse>,
}

#[derive(Serialize)]
struct ShownParameter {
    name: &'static str,
    #[serde(rename = "in")]
    place: &'static str,
    required: bool,
    description: &'static str,
    schema: Schema,
}

#[derive(Serialize)]
struct ShownBody {
    required: bool,
    content: BTreeMap<&'static str, Media>,
}

#[derive(Serialize)]
struct ShownResponse {
    description: &'static str,
    content: BTreeMap<&'static str, Media>,
}

#[derive(Serialize)]
struct Media {
    schema: Schema,
}

/// The content of `openapi.json`.
pub fn openapi_text() -> String {
    let mut generator = generator();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in &ENDPOINTS {
        let methods = paths.entry(endpoint.path).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(methods) = methods {
            let operation = serde_json::to_value(operation(endpoint, &mut generator)).expect("plain data");
            methods.insert(endpoint.method.as_str().to_lowercase(), operation);
        }
    }
    let document = Document {
        openapi: "3.1.0",
        info: Info {
            title: "mario: the operators' interface of a node",
            version: "1",
            description: "HTTPS with client certificates of the colony's authority. `x-role` names the role that the \
                          certificate must have. Without `x-role`, any certificate of the colony is accepted. Newer \
                          nodes may add fields, events and words: ignore those that you do not know.",
        },
        paths,
        components: Components { schemas: generator.take_definitions(true) },
    };
    let mut text = serde_json::to_string_pretty(&document).expect("plain data");
    text.push('\n');
    text
}

/// The schemas of all answers, request bodies and events, and of the data of a testbed, by name.
pub fn schemas() -> Map<String, Value> {
    let mut generator = generator();
    for endpoint in &ENDPOINTS {
        operation(endpoint, &mut generator);
    }
    generator.subschema_for::<TestbedData>();
    generator.take_definitions(true)
}

fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = SCHEMAS.into();
    settings.into_generator()
}

fn operation(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Operation {
    let responses = endpoint.responses.iter().chain(endpoint.role.map(|_| &NO_ROLE));
    let mut shown: BTreeMap<String, ShownResponse> = BTreeMap::new();
    for Response { status, description, content } in responses.chain(&ANY) {
        shown
            .entry(status.to_string())
            .or_insert_with(|| ShownResponse { description, content: media(*content, generator) });
    }
    let parameters = endpoint.parameters.iter().map(|parameter| {
        let Parameter { name, place, is_required, description, schema } = parameter;
        ShownParameter { name, place, required: *is_required, description, schema: schema(generator) }
    });
    Operation {
        summary: endpoint.summary,
        role: endpoint.role.map(|role| role.to_string()),
        parameters: parameters.collect(),
        body: endpoint.body.map(|body| body_of(body, generator)),
        responses: shown,
    }
}

fn media(content: Content, generator: &mut SchemaGenerator) -> BTreeMap<&'static str, Media> {
    BTreeMap::from([(content.media_type(), Media { schema: content.schema(generator) })])
}

fn body_of(body: RequestBody, generator: &mut SchemaGenerator) -> ShownBody {
    let (media_type, schema) = match body {
        RequestBody::Document => {
            ("application/octet-stream", schemars::json_schema!({ "type": "string", "format": "binary" }))
        }
        RequestBody::Json(schema) => ("application/json", schema(generator)),
    };
    ShownBody { required: true, content: BTreeMap::from([(media_type, Media { schema })]) }
}
