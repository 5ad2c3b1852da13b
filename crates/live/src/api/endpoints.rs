//! The table of requests that operators may send, with their answers.

use http::Method;
use schemars::{SchemaGenerator, json_schema};

use super::endpoint::{
    Action, Content, Endpoint, Parameter, RequestBody, Response, error, health_or_error, json, number, path, text,
};
use super::{
    Anchored, Applications, Deployed, DrainRequest, Drained, Explanation, Health, Instance, Instances, JournalStatus,
    Links, Lost, Pinned, Routes, Shadow, Status, Undeployed, Updated,
};
use crate::identity::Role;
use crate::operators::{DEPLOY_FORCE, DEPLOY_KEY, OLDER_VERSION};

const INSTANCE: Parameter = path("instance", "The id of an instance.");
const APPLICATION: Parameter = path("application", "The id of an application.");
const JOURNAL: Parameter = path("journal", "32 hexadecimal digits.");

const NO_INSTANCE: Response = error(404, "The instance is not on this node.");
const NO_SHADOW: Response = error(404, "The application has no shadow on this node.");
const WRONG_INSTANCE: Response = error(400, "The id of the instance is invalid.");
const WRONG_APPLICATION: Response = error(400, "The id of the application is invalid.");
const SLOW_BODY: Response = error(408, "The body did not arrive in time.");
const LARGE_DESCRIPTION: Response = error(413, "The description is too large.");
const OLD_COPY: Response = error(409, "The journal of the node is an old copy.");
const UNSIGNED: Response =
    error(422, "The description is not signed, or claims names that its certificate does not list.");
const NO_JOURNAL: Response = error(503, "The journal cannot be written, and nothing was changed; or the node stops.");
const NO_VERDICT: Response = error(500, "The node gave no verdict.");

/// All requests.
pub const ENDPOINTS: [Endpoint; 25] = [
    Endpoint {
        action: Action::Health,
        method: Method::GET,
        path: "/healthz",
        role: None,
        summary: "Health check: whether the node can write its journal and start workloads.",
        parameters: &[],
        body: None,
        responses: &[
            json(SchemaGenerator::subschema_for::<Health>),
            Response {
                status: 503,
                description: "The journal cannot be written or is an old copy, or workloads cannot be started; or the node stops.",
                content: Content::Json(health_or_error),
            },
        ],
    },
    Endpoint {
        action: Action::Metrics,
        method: Method::GET,
        path: "/metrics",
        role: None,
        summary: "Metrics in the text format of Prometheus.",
        parameters: &[],
        body: None,
        responses: &[TEXT],
    },
    Endpoint {
        action: Action::Status,
        method: Method::GET,
        path: "/v1/status",
        role: Some(Role::Look),
        summary: "The status of the node: hardware, counts, links, journal.",
        parameters: &[],
        body: None,
        responses: &[json(SchemaGenerator::subschema_for::<Status>)],
    },
    Endpoint {
        action: Action::Instances,
        method: Method::GET,
        path: "/v1/instances",
        role: Some(Role::Look),
        summary: "The instances on the node, with facts, decisions and verdicts.",
        parameters: &[],
        body: None,
        responses: &[json(SchemaGenerator::subschema_for::<Instances>)],
    },
    Endpoint {
        action: Action::Deploy,
        method: Method::POST,
        path: "/v1/instances",
        role: Some(Role::Deploy),
        summary: "Deploys an application that its owner signed.",
        parameters: &[
            Parameter {
                name: DEPLOY_KEY,
                place: "header",
                is_required: true,
                description: "Up to 32 hexadecimal digits; repeating a deploy with the same key has no further effect.",
                schema: text,
            },
            Parameter {
                name: DEPLOY_FORCE,
                place: "header",
                is_required: false,
                description: "`older-version`: deploy even if an instance on the node runs a newer version of the application.",
                schema: |_| json_schema!({ "type": "string", "enum": [OLDER_VERSION] }),
            },
        ],
        body: Some(RequestBody::Document),
        responses: &[
            json(SchemaGenerator::subschema_for::<Deployed>),
            error(400, "The key is missing, or a header is invalid."),
            SLOW_BODY,
            error(
                409,
                "The node's manager inhibited the deploy, an instance runs a newer version, another application has the names or the key, or the journal of the node is an old copy.",
            ),
            LARGE_DESCRIPTION,
            UNSIGNED,
            NO_VERDICT,
            NO_JOURNAL,
            error(507, "The disk has no room for workloads."),
        ],
    },
    Endpoint {
        action: Action::Instance,
        method: Method::GET,
        path: "/v1/instances/{instance}",
        role: Some(Role::Look),
        summary: "One instance, with facts, decisions and verdicts.",
        parameters: &[INSTANCE],
        body: None,
        responses: &[json(SchemaGenerator::subschema_for::<Instance>), WRONG_INSTANCE, NO_INSTANCE],
    },
    Endpoint {
        action: Action::Undeploy,
        method: Method::DELETE,
        path: "/v1/instances/{instance}",
        role: Some(Role::Deploy),
        summary: "Undeploys an instance.",
        parameters: &[INSTANCE],
        body: None,
        responses: &[
            json(SchemaGenerator::subschema_for::<Undeployed>),
            WRONG_INSTANCE,
            NO_INSTANCE,
            OLD_COPY,
            NO_JOURNAL,
        ],
    },
    Endpoint {
        action: Action::Log,
        method: Method::GET,
        path: "/v1/instances/{instance}/log",
        role: Some(Role::Look),
        summary: "The last lines of the log of an instance's copy.",
        parameters: &[INSTANCE],
        body: None,
        responses: &[
            TEXT,
            WRONG_INSTANCE,
            error(404, "The instance is not on this node, or has no log."),
            error(500, "The log cannot be read."),
        ],
    },
    Endpoint {
        action: Action::Explain,
        method: Method::GET,
        path: "/v1/instances/{instance}/explanation",
        role: Some(Role::Look),
        summary: "Explains the last decision of an instance's agent, and which changes of facts would change it: `parts` as lines of text, `explanation` as data.",
        parameters: &[INSTANCE],
        body: None,
        responses: &[
            json(SchemaGenerator::subschema_for::<Explanation>),
            WRONG_INSTANCE,
            error(404, "The instance is not on this node, or has not decided anything here."),
            error(422, "Its policy cannot be explained."),
            error(500, "The decision cannot be explained."),
            error(503, "Other decisions are being explained, or the node stops."),
        ],
    },
    Endpoint {
        action: Action::Update,
        method: Method::PUT,
        path: "/v1/instances/{instance}/application",
        role: Some(Role::Deploy),
        summary: "Replaces the description of an instance by another signed description of its application with a higher version. The agent keeps its memory. The copy is restarted only if the way it is run has changed. If the instance has this description already, nothing changes, and `is_changed` is false.",
        parameters: &[INSTANCE],
        body: Some(RequestBody::Document),
        responses: &[
            json(SchemaGenerator::subschema_for::<Updated>),
            WRONG_INSTANCE,
            NO_INSTANCE,
            SLOW_BODY,
            error(
                409,
                "The instance has a newer version, or another description with the same version, the node's manager inhibited the update, another application has the names, or the journal of the node is an old copy.",
            ),
            LARGE_DESCRIPTION,
            UNSIGNED,
            NO_VERDICT,
            NO_JOURNAL,
        ],
    },
    Endpoint {
        action: Action::Rollback,
        method: Method::DELETE,
        path: "/v1/instances/{instance}/application",
        role: Some(Role::Deploy),
        summary: "Restores the description that an instance had before its last update. A rollback cannot be rolled back.",
        parameters: &[
            INSTANCE,
            Parameter {
                name: "from",
                place: "query",
                is_required: false,
                description: "The version that is undone: if the instance runs another one, nothing changes.",
                schema: number,
            },
        ],
        body: None,
        responses: &[
            json(SchemaGenerator::subschema_for::<Updated>),
            error(400, "The id of the instance or the query is invalid."),
            NO_INSTANCE,
            error(
                409,
                "The instance runs another version or has no previous description, the node's manager inhibited the rollback, or the journal of the node is an old copy.",
            ),
            NO_VERDICT,
            NO_JOURNAL,
        ],
    },
    Endpoint {
        action: Action::Pin,
        method: Method::PUT,
        path: "/v1/instances/{instance}/pin",
        role: Some(Role::Deploy),
        summary: "Pins an instance: its agent can neither migrate nor undeploy it.",
        parameters: &[INSTANCE],
        body: None,
        responses: PINNED,
    },
    Endpoint {
        action: Action::Unpin,
        method: Method::DELETE,
        path: "/v1/instances/{instance}/pin",
        role: Some(Role::Deploy),
        summary: "Unpins an instance: its agent can migrate and undeploy it again.",
        parameters: &[INSTANCE],
        body: None,
        responses: PINNED,
    },
    Endpoint {
        action: Action::Anchor,
        method: Method::PUT,
        path: "/v1/instances/{instance}/anchor",
        role: Some(Role::Deploy),
        summary: "Makes an instance an anchor: its agent cannot undeploy it.",
        parameters: &[INSTANCE],
        body: None,
        responses: ANCHORED,
    },
    Endpoint {
        action: Action::EndAnchor,
        method: Method::DELETE,
        path: "/v1/instances/{instance}/anchor",
        role: Some(Role::Deploy),
        summary: "Lets the agent of an anchor undeploy it.",
        parameters: &[INSTANCE],
        body: None,
        responses: ANCHORED,
    },
    Endpoint {
        action: Action::Applications,
        method: Method::GET,
        path: "/v1/applications",
        role: Some(Role::Look),
        summary: "The applications of the instances on the node, with their policies, and the facts about the node.",
        parameters: &[],
        body: None,
        responses: &[json(SchemaGenerator::subschema_for::<Applications>)],
    },
    Endpoint {
        action: Action::Shadow,
        method: Method::GET,
        path: "/v1/applications/{application}/shadow",
        role: Some(Role::Look),
        summary: "How a shadow policy differs from the policy in use: the number of evaluations, how often the two differ, what each proposed then, and the last decisions in which they differed.",
        parameters: &[APPLICATION],
        body: None,
        responses: &[SHADOW, WRONG_APPLICATION, NO_SHADOW],
    },
    Endpoint {
        action: Action::SetShadow,
        method: Method::PUT,
        path: "/v1/applications/{application}/shadow",
        role: Some(Role::Deploy),
        summary: "Starts a shadow for every instance of the application on this node: the policy of a signed description is evaluated with the same facts as the policy in use, and its proposals are never carried out.",
        parameters: &[APPLICATION],
        body: Some(RequestBody::Document),
        responses: &[
            SHADOW,
            WRONG_APPLICATION,
            SLOW_BODY,
            error(409, "Another application has the names."),
            LARGE_DESCRIPTION,
            error(422, "The description is not signed, is of another application, or its policy cannot be loaded."),
        ],
    },
    Endpoint {
        action: Action::EndShadow,
        method: Method::DELETE,
        path: "/v1/applications/{application}/shadow",
        role: Some(Role::Deploy),
        summary: "Ends a shadow, and returns its result.",
        parameters: &[APPLICATION],
        body: None,
        responses: &[
            SHADOW,
            WRONG_APPLICATION,
            NO_SHADOW,
            error(503, "The file of the shadow cannot be removed, or the node stops."),
        ],
    },
    Endpoint {
        action: Action::Links,
        method: Method::GET,
        path: "/v1/links",
        role: Some(Role::Look),
        summary: "The links to neighbours.",
        parameters: &[],
        body: None,
        responses: &[json(SchemaGenerator::subschema_for::<Links>)],
    },
    Endpoint {
        action: Action::Routes,
        method: Method::GET,
        path: "/v1/routes",
        role: Some(Role::Look),
        summary: "The routes of client requests.",
        parameters: &[],
        body: None,
        responses: &[json(SchemaGenerator::subschema_for::<Routes>)],
    },
    Endpoint {
        action: Action::Journal,
        method: Method::GET,
        path: "/v1/journal",
        role: Some(Role::Look),
        summary: "The journal, and the transfers that are open in it.",
        parameters: &[],
        body: None,
        responses: &[json(SchemaGenerator::subschema_for::<JournalStatus>)],
    },
    Endpoint {
        action: Action::Events,
        method: Method::GET,
        path: "/v1/events",
        role: Some(Role::Look),
        summary: "Server-sent events: first the retained ones, then new ones as they happen.",
        parameters: &[Parameter {
            name: "since",
            place: "query",
            is_required: false,
            description: "Only events after this number.",
            schema: number,
        }],
        body: None,
        responses: &[Response {
            status: 200,
            description: "A stream. The schema is that of the data of each server-sent event.",
            content: Content::Events,
        }],
    },
    Endpoint {
        action: Action::Drain,
        method: Method::PUT,
        path: "/v1/drain",
        role: Some(Role::Drain),
        summary: "Starts draining (accepts no new instances, and hands every instance to a neighbour), or accepts new instances again.",
        parameters: &[],
        body: Some(RequestBody::Json(SchemaGenerator::subschema_for::<DrainRequest>)),
        responses: &[
            json(SchemaGenerator::subschema_for::<Drained>),
            error(400, "The body is invalid."),
            SLOW_BODY,
            OLD_COPY,
            error(413, "The body is too large."),
            NO_JOURNAL,
        ],
    },
    Endpoint {
        action: Action::Lost,
        method: Method::POST,
        path: "/v1/lost/{journal}",
        role: Some(Role::Drain),
        summary: "Declares that the node with this journal will never come back.",
        parameters: &[JOURNAL],
        body: None,
        responses: &[
            json(SchemaGenerator::subschema_for::<Lost>),
            error(400, "The id of the journal is invalid."),
            error(404, "No neighbour has this journal."),
            OLD_COPY,
            NO_JOURNAL,
        ],
    },
];

const TEXT: Response = Response { status: 200, description: "Success.", content: Content::Text };

const SHADOW: Response = json(SchemaGenerator::subschema_for::<Shadow>);

const PINNED: &[Response] =
    &[json(SchemaGenerator::subschema_for::<Pinned>), WRONG_INSTANCE, NO_INSTANCE, OLD_COPY, NO_JOURNAL];

const ANCHORED: &[Response] = &[
    json(SchemaGenerator::subschema_for::<Anchored>),
    WRONG_INSTANCE,
    NO_INSTANCE,
    error(409, "The instance is being handed over to a neighbour, or the journal of the node is an old copy."),
    NO_JOURNAL,
];

/// The answers that every request may get, unless it describes them itself.
pub(super) const ANY: [Response; 2] = [error(503, "The node stops."), error(504, "The node did not answer in time.")];

/// The answer to an operator without the required role.
pub(super) const NO_ROLE: Response = error(403, "The certificate does not have the role.");
