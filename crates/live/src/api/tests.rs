use std::path::Path;

use mario_testing::check_stored;

use super::openapi_text;

#[test]
fn the_openapi_file_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    check_stored(&path, &openapi_text(), "UPDATE_DOCUMENTS");
}
