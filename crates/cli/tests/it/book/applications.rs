//! Follows `docs/applications.md`, where a node runs the example program, and the guide for two nodes in `docs/live.md`.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use super::page::blocks;
use super::{place, read, shell};

/// Kills the node, and the copy that it may have left, when the test ends.
struct Processes(std::path::PathBuf);

impl Drop for Processes {
    fn drop(&mut self) {
        // The daemon is the only process of the test that was started with this directory as its own.
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let is_here = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.0));
            let id = entry.file_name().to_string_lossy().into_owned();
            if is_here && id.parse::<u32>().is_ok() {
                let _ = std::process::Command::new("kill").args(["-9", &id]).status();
            }
        }
    }
}

/// The page with free ports in place of those that it names, which may be in use on this machine.
fn with_free_ports<const N: usize>(text: &str, ports: [&str; N]) -> String {
    let listeners = ports.map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let mut text = text.to_owned();
    for (port, listener) in ports.iter().zip(&listeners) {
        assert!(text.contains(port), "the page names port {port}");
        let free = listener.local_addr().expect("an address").port().to_string();
        text = text.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{free}"));
    }
    text
}

/// Writes the files of a page and runs its `sh` blocks. Returns what they print.
fn follow(page: &str, directory: &Path) -> String {
    let mut printed = String::new();
    for block in blocks(page) {
        if let Some(name) = block.value("file") {
            fs::write(directory.join(name), &block.text).expect("written");
        }
        if block.is("sh") && block.is_run() {
            // A command that waits for ever must not hang the test.
            let limited = "exec timeout 120 sh -euc \"$SCRIPT\"";
            let output = shell(limited, directory).env("SCRIPT", &block.text).output().expect("there is a shell");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "line {}: this fails:\n{}\n{said}", block.line, block.text);
            printed += &String::from_utf8_lossy(&output.stdout);
        }
    }
    printed
}

#[test]
fn the_page_on_applications_can_be_followed() {
    let directory = place("applications").canonicalize().expect("it exists");
    let _processes = Processes(directory.clone());
    let page = with_free_ports(&read("docs/applications.md"), ["7470", "8087", "7471"]);
    let printed = follow(&page, &directory);
    assert!(printed.contains("hello from node a\n"), "{printed}");
    assert!(printed.contains("healthy"), "{printed}");
    assert!(printed.contains("GET /hello"), "its log: {printed}");
}

#[test]
fn the_guide_for_two_nodes_can_be_followed_and_its_application_survives_an_idle_minute() {
    let directory = place("two-nodes").canonicalize().expect("it exists");
    let _processes = Processes(directory.clone());
    let page = read("docs/live.md");
    let guide = page.split("\n## ").find(|section| section.starts_with("Two nodes by hand")).expect("the guide");
    let ports = ["7440", "8080", "7441", "7450", "8090", "7451"];
    // A window without requests takes 5 s; after the second one, the policy has proposed to undeploy.
    assert!(guide.contains("sleep 60"), "the guide waits for a minute");
    let guide = with_free_ports(guide, ports).replace("sleep 60", "sleep 15");
    // On a busy machine, a request may take longer than the guide tolerates, and the instance would move.
    let guide = guide.replace("max_latency = 20", "max_latency = 5000");
    let printed = follow(&guide, &directory);
    assert!(printed.contains("healthy"), "{printed}");
    assert!(printed.contains("is an anchor, which does not undeploy itself"), "`mario app show` says why: {printed}");
    let left = printed.rsplit("INSTANCE").next().expect("the last list");
    assert!(!left.contains("owned"), "it is removed: {printed}");
}
