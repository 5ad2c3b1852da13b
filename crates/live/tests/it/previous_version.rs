//! A daemon that continues from the data directory of a daemon of a previous version, whose copies still run.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command};

use mario_testing::{copy_previous_data, free_address};
use serde_json::Value;

use crate::colony::Colony;

/// A copy that the previous daemon left running, as a process that leads its own session.
fn copy(address: SocketAddr) -> Child {
    let arguments = [env!("CARGO_BIN_EXE_workload"), "sample", "--listen", &address.to_string()];
    Command::new("setsid").args(arguments).spawn().expect("`setsid` of util-linux")
}

/// The start of a process, in ticks after the boot of the system, as the kernel reports it.
fn started(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let after_the_name = stat.rsplit_once(')').expect("a name").1;
    after_the_name.split_whitespace().nth(19).expect("the field `starttime`").parse().expect("a number")
}

#[test]
fn an_older_data_directory_is_upgraded_in_place_and_its_copies_are_adopted() {
    let mut colony = Colony::new("upgrade", &["a", "b"], 6);
    let data = colony.directory.join("a/data");
    copy_previous_data(&data);
    let mut copies = Vec::new();
    for workload in ["0.0", "0.1", "0.2"] {
        let address = free_address();
        let child = copy(address);
        colony.wait("the copy listens", |_| TcpStream::connect(address).is_ok());
        let path = data.join("workloads").join(workload).join("start.json");
        let mut record: Value = serde_json::from_slice(&fs::read(&path).expect("stored")).expect("JSON");
        // Process ids and the boot of the system are those of this machine; all else is as the previous version wrote it.
        record["pid"] = child.id().into();
        record["started"] = started(child.id()).into();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a boot id");
        record["system_boot"] = boot.trim().into();
        record["port"] = address.port().into();
        fs::write(&path, record.to_string()).expect("written");
        copies.push((child, address));
    }
    colony.start(0, None);
    colony.wait("the owned instances are healthy", |colony| colony.healthy(0).len() == 2);
    let answer = colony.get(0, "/v1/instances");
    let instances = answer["instances"].as_array().expect("a list");
    assert_eq!(instances.len(), 3, "{answer}");
    for (instance, (_, address)) in instances.iter().zip(&copies) {
        assert_eq!(instance["copy"]["address"], address.to_string(), "adopted: {instance}");
    }
    assert_eq!((&instances[2]["state"], &instances[2]["target"]), (&"in-custody".into(), &"b".into()), "{answer}");
    assert_eq!(colony.client(0, "/shop").map(|(status, _)| status), Some(200));
    colony.kill(0);
    for (mut child, _) in copies {
        child.kill().expect("it runs");
        child.wait().expect("a child");
    }
}
