use super::*;

#[test]
fn paths_select_their_routes() {
    assert_eq!(
        endpoint(&Method::GET, "/v1/instances/a-1/log").map(|(endpoint, names)| (endpoint.path, names)),
        Ok(("/v1/instances/{instance}/log", vec!["a-1"]))
    );
    assert_eq!(endpoint(&Method::POST, "/v1/instances").map(|(endpoint, _)| endpoint.role), Ok(Some(Role::Deploy)));
    let refused = |method, path| endpoint(&method, path).map(|(endpoint, _)| endpoint.path).err();
    assert_eq!(refused(Method::PATCH, "/v1/instances"), Some(StatusCode::METHOD_NOT_ALLOWED));
    assert_eq!(refused(Method::GET, "/v1/instances//log"), Some(StatusCode::NOT_FOUND));
    assert_eq!(refused(Method::GET, "/"), Some(StatusCode::NOT_FOUND));
}
