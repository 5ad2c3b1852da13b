//! Metrics in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use mario_colony::Confirmation;
use mario_domain::Capacity;

use super::core::Core;
use crate::descriptors;

/// Renders the metrics of the core and of the links.
pub(super) fn text(core: &Core) -> String {
    let mut text = String::new();
    let ledger = core.node.ledger();
    let units = |capacity: Capacity| match capacity {
        Capacity::Bounded(hardware) => hardware.as_units() as f64,
        Capacity::Unbounded => f64::INFINITY,
    };
    let manager = core.node.manager();
    let gauges = [
        ("mario_instances", "Instances on this node.", ledger.owned().count() as f64),
        (
            "mario_custody",
            "Instances handed over whose targets have not answered yet.",
            ledger.custody().count() as f64,
        ),
        ("mario_grants", "New instances offered whose targets have not answered yet.", ledger.grants().count() as f64),
        ("mario_draining_copies", "Copies that are draining.", ledger.draining().count() as f64),
        (
            "mario_copies_down",
            "Copies that ended or did not start, until they are healthy.",
            core.node.copies_down() as f64,
        ),
        ("mario_hardware_free", "Free units of hardware.", units(manager.free())),
        ("mario_hardware_capacity", "Units of hardware of the node.", units(manager.capacity())),
        (
            "mario_reservations",
            "Reservations for instances that have not arrived yet.",
            manager.reservations().len() as f64,
        ),
        ("mario_links_up", "Links that are up.", core.up.len() as f64),
        (
            "mario_journal_fails",
            "1 while the journal cannot be written, else 0.",
            f64::from(u8::from(core.stalled.is_some())),
        ),
        (
            "mario_journal_unconfirmed",
            "1 after a restart until a neighbour has confirmed the journal, else 0.",
            f64::from(u8::from(core.node.confirmation() == Confirmation::Unconfirmed)),
        ),
        (
            "mario_journal_outdated",
            "1 if the journal is an old copy, so that nothing runs on this node any more, else 0.",
            f64::from(u8::from(core.node.confirmation() == Confirmation::Outdated)),
        ),
        (
            "mario_trace_fails",
            "1 while the node's part of the trace cannot be written, else 0.",
            f64::from(u8::from(core.recorder.fault().is_some())),
        ),
        (
            "mario_workloads_fail",
            "1 while workloads cannot be started here, e.g. because the disk is full, else 0.",
            f64::from(u8::from(core.copies.room().fault().is_some())),
        ),
        (
            "mario_id_taken",
            "1 while a neighbour is connected to another node with the id of this one, else 0.",
            f64::from(u8::from(core.links.id_fault().is_some())),
        ),
        ("mario_open_files", "Files that this process has open.", descriptors::count_open().unwrap_or(0) as f64),
        (
            "mario_open_files_max",
            "The limit of open files of this process.",
            descriptors::limit().map_or(f64::INFINITY, |limit| limit as f64),
        ),
        ("mario_uptime_seconds", "Seconds since the daemon started.", core.start.elapsed().as_secs_f64()),
    ];
    for (name, help, value) in gauges {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
    counters(core, &mut text);
    certificates(core, &mut text);
    links(core, &mut text);
    text
}

/// Appends the counters of the core.
fn counters(core: &Core, text: &mut String) {
    let counts = core.counts;
    let counters = [
        ("mario_inputs_total", "Inputs handled by the node.", counts.inputs),
        ("mario_journal_records_total", "Journal records written since the daemon started.", counts.records),
        ("mario_journal_writes_total", "Writes of the journal to disk.", counts.writes),
        ("mario_evaluations_total", "Evaluations of policies.", counts.evaluations),
        ("mario_evaluations_failed_total", "Evaluations without a valid answer.", counts.evaluations_failed),
        ("mario_accepted_total", "Requests that were accepted and enacted.", counts.accepted),
        ("mario_inhibited_total", "Requests that were inhibited, undeploys of anchors among them.", counts.inhibited),
        (
            "mario_anchors_kept_total",
            "Undeploys of anchors that were inhibited, as they are meant to be.",
            counts.anchors_kept,
        ),
        ("mario_arrived_total", "Instances that arrived from neighbours.", counts.arrived),
        ("mario_restarts_total", "Restarts of copies that ended or did not start.", counts.restarts),
        (
            "mario_probes_failed_total",
            "Health probes that this node could not make, e.g. for lack of file descriptors.",
            core.copies.counts().probes_failed.load(Ordering::Relaxed),
        ),
    ];
    for (name, help, value) in counters {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}");
    }
}

/// Appends the expiry of each certificate.
fn certificates(core: &Core, text: &mut String) {
    let name = "mario_certificate_expiry_seconds";
    let help = "Seconds until a certificate expires; negative if it has expired.";
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
    for (certificate, left_s) in core.certificates.seconds_left() {
        let _ = writeln!(text, "{name}{{certificate=\"{certificate}\"}} {left_s}");
    }
}

/// Appends the metrics of each link.
fn links(core: &Core, text: &mut String) {
    let links = core.links.status();
    let mut labelled = |name: &str, help: &str, kind: &str, values: Vec<(String, f64)>| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (neighbour, value) in values {
            let _ = writeln!(text, "{name}{{neighbour=\"{neighbour}\"}} {value}");
        }
    };
    let of = |value: fn(&crate::api::Link) -> f64| {
        links.iter().map(|link| (link.neighbour.to_string(), value(link))).collect::<Vec<_>>()
    };
    labelled("mario_link_up", "1 while the link is up, else 0.", "gauge", of(|link| f64::from(u8::from(link.is_up))));
    let rejected = |neighbour: &mario_domain::NodeId| f64::from(u8::from(core.node.rejects(neighbour)));
    labelled(
        "mario_link_rejected",
        "1 while the neighbour is rejected because its journal is an old copy or was declared lost, else 0.",
        "gauge",
        links.iter().map(|link| (link.neighbour.to_string(), rejected(&link.neighbour))).collect(),
    );
    labelled("mario_link_sent_total", "Frames sent.", "counter", of(|link| link.sent as f64));
    labelled("mario_link_received_total", "Frames received.", "counter", of(|link| link.received as f64));
    labelled(
        "mario_link_dropped_total",
        "Frames dropped because the link was down or its queue was full.",
        "counter",
        of(|link| link.dropped as f64),
    );
    let measured: Vec<(String, f64)> =
        links.iter().filter_map(|link| Some((link.neighbour.to_string(), link.round_trip_ms? / 1_000.0))).collect();
    labelled("mario_link_round_trip_seconds", "The smoothed round-trip time.", "gauge", measured);
}
