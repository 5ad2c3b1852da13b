//! The table of keys in `docs/applications.md` is generated from the schema of an application's description.

use std::fs;
use std::path::Path;

use mario_live::application::{read, schema_text};
use mario_testing::{check_stored, replaced_part};
use serde_json::Value;

/// The definition that a part of the schema refers to, directly, as an item or as an alternative to null; `None` if it
/// refers to none with keys of its own.
fn table<'a>(schema: &'a Value, part: &'a Value) -> Option<&'a Value> {
    let alternatives = part["anyOf"].as_array().into_iter().flatten();
    let mut parts = alternatives.chain(part.get("items")).chain([part]);
    let found = parts.find_map(|part| schema.pointer(part["$ref"].as_str()?.trim_start_matches('#')));
    found.filter(|found| found["properties"].is_object())
}

fn add_rows(schema: &Value, part: &Value, prefix: &str, rows: &mut String) {
    let required: Vec<&str> = part["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, value) in part["properties"].as_object().expect("a table has keys") {
        let meaning = value["description"].as_str().expect("every key is described").replace('\n', " ");
        let default = match &value["default"] {
            _ if required.contains(&key.as_str()) => "required".to_owned(),
            Value::Null => String::new(),
            Value::Array(list) if list.is_empty() => String::new(),
            Value::Object(table) if table.is_empty() => String::new(),
            default => format!("`{default}`"),
        };
        let is_list = value["type"] == "array";
        let inner = table(schema, value);
        let name = match inner {
            Some(_) if is_list => format!("[[{key}]]"),
            Some(_) => format!("[{key}]"),
            None => format!("{prefix}{key}"),
        };
        *rows += &format!("| `{name}` | {default} | {meaning} |\n");
        if let Some(inner) = inner {
            add_rows(schema, inner, &format!("{key}."), rows);
        }
    }
}

#[test]
fn the_table_of_keys_is_current() {
    let schema: Value = serde_json::from_str(&schema_text()).expect("JSON");
    let mut rows = "\n| key | default | meaning |\n|---|---|---|\n".to_owned();
    add_rows(&schema, &schema, "", &mut rows);
    rows.push('\n');
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/applications.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let [begin, end] = ["begin", "end"].map(|word| format!("<!-- {word}: application keys -->\n"));
    check_stored(&path, &replaced_part(&page, &begin, &end, &rows), "UPDATE_DOCUMENTS");
}

#[test]
fn the_example_on_the_page_is_the_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("examples/hello/hello.toml")).expect("the example is there");
    read("hello.toml", &text).expect("a valid description");
    let keys = text.split_once('\n').expect("a comment comes first").1;
    let page = fs::read_to_string(root.join("docs/applications.md")).expect("the page is there");
    assert!(page.contains(&format!("```toml\n{keys}```")), "the page shows {keys}");
}

#[test]
fn errors_that_would_show_only_on_a_node_are_found_at_their_positions() {
    let description = |run: &str| {
        format!("id = \"shop\"\nhardware = 1\nmax_rate = 1\nmax_latency = 1\npolicy = \"p.pl\"\n[run]\n{run}\n")
    };
    let cases = [
        ("driver = \"process\"\ncommand = [\"shop.py\"]", "\"shop.py\"", "absolute path", "/usr/bin/shop.py"),
        ("driver = \"process\"", "[run]", "needs a command", "absolute path"),
        ("driver = \"sample\"\ncommand = [\"/bin/true\"]", "[\"/bin/true\"]", "takes no command", ""),
        ("driver = \"docker\"", "\"docker\"", "no driver `docker`", "`process`"),
        ("driver = \"sample\"\nmemory_bytes_max = 9", "9", "1 MiB", ""),
        ("driver = \"sample\"\nsettings = { work-ms = \"1\" }", "\"1\"", "no setting `work-ms`", ""),
        (
            "driver = \"sample\"\nhealth = \"/\"",
            "health",
            "unknown key `health` in `run`",
            "did you mean `health_path`?",
        ),
        ("driver = \"sample\"\nstart_timeout_ms = 0", "", "`start_timeout_ms` is 0", "from 1"),
    ];
    for (run, place, message, hint) in cases {
        let text = description(run);
        let error = read("shop.toml", &text).expect_err(run);
        let mistake = &error.mistakes[0];
        let span = mistake.place.clone().expect("a place").span;
        assert!(text[span.clone()].starts_with(place), "{run}: {:?}", &text[span]);
        assert!(mistake.message.contains(message), "{run}: {}", mistake.message);
        assert!(mistake.hint.as_deref().unwrap_or_default().contains(hint), "{run}: {:?}", mistake.hint);
    }
}

#[test]
fn all_errors_of_a_description_are_reported_at_once() {
    let text = "idd = \"shop\"\nhardware = \"one\"\nmax_rate = 1\nmax_latency = 1\npolicy = \"p.pl\"\n[facts]\n\
                tier = [1]\n[run]\ndriver = 7\n";
    let error = read("shop.toml", text).expect_err("four mistakes");
    let lines: Vec<String> = error.mistakes.iter().map(ToString::to_string).collect();
    let expected = [
        "shop.toml:1:1: unknown key `idd` (did you mean `id`?)",
        "shop.toml:1:1: `id` is missing (add `id = …`)",
        "shop.toml:2:12: expected a whole number that is not negative, found the text \"one\" (write a number such as 8)",
        "shop.toml:7:8: the value of a fact is a name or a number (write one name or one number: a fact has one value)",
        "shop.toml:9:10: expected a text, found the number 7 (put it in quotes)",
    ];
    assert_eq!(lines, expected);
}
