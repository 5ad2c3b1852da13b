//! What commands for live nodes must refuse.

use super::super::{Row, Thing};

pub(super) const ROWS: &[Row] = &[
    Row {
        command: "live",
        refuses: &[
            (&["extra"], "extra"),
            (&["--nodes", "7"], "7"),
            (&["--nodes", "5", "--scenario", "paper"], "--scenario"),
            (&["--scenario", "no-such-file.toml"], "no-such-file.toml"),
            (&["--scenario", "city"], "users are generated"),
            (&["--speed", "0"], "positive number"),
            (&["--speed", "fast"], "fast"),
            (&["--speed", "1e9"], "at most 4000"),
            (&["--for", "0s"], "0s"),
            (&["--for", "soon"], "soon"),
            (&["--policy", "latency-awre"], "latency-awre"),
            (&["--policy", "baseline:central-greedy"], "only agents manage"),
            (&["--set", "topology.size=x"], "topology.size"),
            (&["--seed", "-1"], "-1"),
            (&["--out", "/", "--nodes", "5"], "not empty"),
        ],
        path: Some(&["--scenario", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "ca init",
        refuses: &[
            (&[], "COLONY"),
            (&["two words"], "two words"),
            (&["harbour", "--days", "0"], "0"),
            (&["harbour", "more"], "more"),
        ],
        path: Some(&["harbour", "--out", "PATH"]),
        accepts: &[Thing::Missing, Thing::MissingWithBytes, Thing::Directory],
    },
    Row {
        command: "ca node",
        refuses: &[
            (&[], "NODE"),
            (&["edge 1"], "edge 1"),
            (&["edge-1", "--host", "a_b"], "a_b"),
            (&["edge-1", "--ca", "no-such-directory"], "no-such-directory"),
        ],
        path: Some(&["edge-1", "--ca", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "ca operator",
        refuses: &[(&[], "NAME"), (&["ada"], "--role"), (&["ada", "--role", "king"], "king")],
        path: Some(&["ada", "--role", "look", "--ca", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "ca application",
        refuses: &[
            (&[], "APPLICATION"),
            (&["shop", "--host", "not a host"], "not a host"),
            (&["shop", "--prefix", "shop/"], "shop/"),
        ],
        path: Some(&["shop", "--ca", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "app sign",
        refuses: &[(&[], "FILE"), (&["shop.toml"], "--key"), (&["shop.toml", "--key", "k.pem"], "--out")],
        path: Some(&["PATH", "--key", "k.pem", "--out", "shop.signed"]),
        accepts: &[],
    },
    Row {
        command: "app deploy",
        refuses: &[(&[], "FILE"), (&["shop.signed"], "--node"), (&["shop.signed", "--node", "127.0.0.1:1"], "--as")],
        path: Some(&["PATH", "--node", "127.0.0.1:1", "--as", "ada.pem"]),
        accepts: &[],
    },
    Row {
        command: "app undeploy",
        refuses: &[(&[], "INSTANCE"), (&["a b", "--node", "127.0.0.1:1", "--as", "ada.pem"], "a b")],
        path: Some(&["9f3c", "--node", "127.0.0.1:1", "--as", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "app pin",
        refuses: &[(&[], "INSTANCE"), (&["9f3c", "--node", "127.0.0.1:1", "--as", "x.pem", "--format", "xml"], "xml")],
        path: Some(&["9f3c", "--node", "127.0.0.1:1", "--as", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "app list",
        refuses: &[(&[], "--node"), (&["--node", "127.0.0.1:1"], "--as")],
        path: Some(&["--node", "127.0.0.1:1", "--as", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "app show",
        refuses: &[(&[], "INSTANCE")],
        path: Some(&["9f3c", "--node", "127.0.0.1:1", "--as", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "app logs",
        refuses: &[(&[], "INSTANCE")],
        path: Some(&["9f3c", "--node", "127.0.0.1:1", "--as", "PATH"]),
        accepts: &[],
    },
    Row { command: "node check", refuses: &[(&[], "FILE")], path: Some(&["PATH"]), accepts: &[] },
    Row { command: "node schema", refuses: &[(&["more"], "more")], path: None, accepts: &[] },
    Row {
        command: "node status",
        refuses: &[(&[], "--node")],
        path: Some(&["--node", "127.0.0.1:1", "--as", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "node drain",
        refuses: &[(&[], "--node")],
        path: Some(&["--node", "127.0.0.1:1", "--as", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "node lost",
        refuses: &[(&[], "JOURNAL"), (&["12", "--node", "127.0.0.1:1", "--as", "x.pem"], "12")],
        path: Some(&["4f0d6c31c2f5d1b00f4ee7a3a5c3ab11", "--node", "127.0.0.1:1", "--as", "PATH"]),
        accepts: &[],
    },
    Row {
        command: "trace join",
        refuses: &[
            (&[], "DIR"),
            (&["data-a"], "--out"),
            (&["no-such-directory", "--out", "x.jsonl"], "no-such-directory"),
            (&[".", "--out", "x.jsonl"], "has no parts of a trace"),
        ],
        path: Some(&["PATH", "--out", "x.jsonl"]),
        accepts: &[],
    },
];
