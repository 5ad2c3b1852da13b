use std::collections::BTreeSet;

use super::*;

#[test]
fn the_openapi_file_lists_exactly_the_routes() {
    let text = include_str!("../../openapi.json");
    let described: Value = serde_json::from_str(text).expect("JSON");
    let paths = described["paths"].as_object().expect("paths");
    let described: BTreeSet<(String, String, Option<String>)> = paths
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().expect("methods").iter().map(move |(method, operation)| {
                assert!(operation["summary"].is_string() && operation["responses"].is_object(), "{method} {path}");
                (method.to_uppercase(), path.clone(), operation["x-role"].as_str().map(str::to_owned))
            })
        })
        .collect();
    let known: BTreeSet<(String, String, Option<String>)> = ROUTES
        .iter()
        .map(|(method, path, role)| (method.to_string(), (*path).to_owned(), role.map(|role| role.to_string())))
        .collect();
    assert_eq!(described, known);
}

#[test]
fn paths_select_their_routes() {
    assert_eq!(
        route(&Method::GET, "/v1/instances/a-1/log").map(|(index, names)| (ROUTES[index].1, names)),
        Ok(("/v1/instances/{instance}/log", vec!["a-1"]))
    );
    assert_eq!(route(&Method::POST, "/v1/instances").map(|(index, _)| ROUTES[index].2), Ok(Some(Role::Deploy)));
    assert_eq!(route(&Method::PATCH, "/v1/instances"), Err(StatusCode::METHOD_NOT_ALLOWED));
    assert_eq!(route(&Method::GET, "/v1/instances//log"), Err(StatusCode::NOT_FOUND));
    assert_eq!(route(&Method::GET, "/"), Err(StatusCode::NOT_FOUND));
}
