//! Resource limits of workloads: enforced by control groups if the system permits it, or else by limits per process
//! where these exist.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Resource limits of a workload; `None` means unlimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CgroupLimits {
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Processes and threads at once.
    pub processes_max: Option<u64>,
    /// Thousandths of one processor.
    pub cpu_milli: Option<u64>,
    /// Open files of each process.
    pub open_files_max: Option<u64>,
}

/// A limit and its enforcement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Enforcement {
    /// The limit.
    pub limit: String,
    /// What enforces it.
    pub by: Enforcer,
}

/// What enforces a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Enforcer {
    /// A control group of version 2.
    CgroupV2,
    /// A control group of version 1.
    CgroupV1,
    /// A limit per process. For memory, it bounds the address space.
    Rlimit,
    /// The limit is not enforced: there is no control group for it, and no equivalent limit per process.
    Nothing,
}

/// The control groups of a node. They are the parents of the groups of its workloads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cgroups {
    /// For each controller, the node's group; `None` if the system does not permit one.
    memory: Option<Base>,
    pids: Option<Base>,
    cpu: Option<Base>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Base {
    path: PathBuf,
    version: Version,
    controller: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    V1,
    V2,
}

/// The groups of one workload.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Groups {
    /// The files into which a process writes its id to join.
    pub(super) members: Vec<PathBuf>,
    pub(super) enforcement: Vec<Enforcement>,
    /// The memory limit that the process must set for itself, if no control group enforces one.
    pub(super) rlimit_memory_bytes: Option<u64>,
    pub(super) rlimit_open_files_max: Option<u64>,
}

const CPU_PERIOD_US: u64 = 100_000;

/// How long the system may take to take killed processes out of their group.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);

/// Held while groups are created or removed, so that the group of a node is not removed while one is created in it.
static CHANGING: Mutex<()> = Mutex::new(());

impl Cgroups {
    /// Uses no control groups: memory and open files are limited per process, processor time and processes not at all.
    pub fn none() -> Cgroups {
        Cgroups::default()
    }

    /// Sets up control groups below the usual mount points, as far as the system permits. They are named after the
    /// node's journal.
    pub fn detect(journal: &str) -> Cgroups {
        Cgroups::detect_below(Path::new("/sys/fs/cgroup"), journal)
    }

    /// As [`Cgroups::detect`], with the mount points in another directory.
    pub fn detect_below(root: &Path, journal: &str) -> Cgroups {
        let name = group_name(journal);
        let of = |controller: &'static str| v2(root, controller, &name).or_else(|| v1(root, controller, &name));
        let cgroups = Cgroups { memory: of("memory"), pids: of("pids"), cpu: of("cpu") };
        // Groups of workloads that ended while no daemon ran.
        cgroups.remove_all();
        cgroups
    }

    /// Removes the groups of workloads that have no processes, and the groups of the node if none is left.
    pub fn remove_all(&self) {
        let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
        for base in self.bases() {
            for group in fs::read_dir(&base.path).into_iter().flatten().flatten() {
                // Fails for files, and for groups with processes.
                let _ = fs::remove_dir(group.path());
            }
            let _ = fs::remove_dir(&base.path);
        }
    }

    /// Removes the groups of a former journal of the node, whose processes have just been killed. A group that still has
    /// a process stays.
    pub(super) fn remove_former(&self, journal: &str) {
        let former = |base: &Base| Base { path: base.path.with_file_name(group_name(journal)), ..base.clone() };
        let of = |base: &Option<Base>| base.as_ref().map(former);
        let former = Cgroups { memory: of(&self.memory), pids: of(&self.pids), cpu: of(&self.cpu) };
        let deadline = Instant::now() + EXIT_PATIENCE;
        loop {
            former.remove_all();
            if Instant::now() > deadline || former.bases().all(|base| !base.path.exists()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn bases(&self) -> impl Iterator<Item = &Base> {
        [&self.memory, &self.pids, &self.cpu].into_iter().flatten()
    }

    /// Creates the groups that enforce the limits of a workload. If there is no group for memory, the workload has to
    /// set a limit per process; for open files, it always has to.
    pub(super) fn create(&self, workload: &str, limits: &CgroupLimits) -> Groups {
        let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut groups = Groups::default();
        let cpu = limits.cpu_milli.map(|milli| (milli * CPU_PERIOD_US / 1000).max(1000));
        let wanted = [
            ("memory", limits.memory_bytes, &self.memory),
            ("processes", limits.processes_max, &self.pids),
            ("cpu", cpu, &self.cpu),
        ];
        for (limit, value, base) in wanted {
            let Some(value) = value else { continue };
            let group = base.as_ref().and_then(|base| base.limit(workload, limit, value).ok());
            let by = match group {
                Some((members, version)) => {
                    if !groups.members.contains(&members) {
                        groups.members.push(members);
                    }
                    if version == Version::V2 { Enforcer::CgroupV2 } else { Enforcer::CgroupV1 }
                }
                None if limit == "memory" => {
                    groups.rlimit_memory_bytes = Some(value);
                    Enforcer::Rlimit
                }
                // No rlimit replaces these groups: the one for processes counts all processes of the user, including
                // unrelated ones, and the one for processor time bounds a total, not a share.
                None => Enforcer::Nothing,
            };
            groups.enforcement.push(Enforcement { limit: limit.to_owned(), by });
        }
        if let Some(files) = limits.open_files_max {
            groups.rlimit_open_files_max = Some(files);
            groups.enforcement.push(Enforcement { limit: "open files".to_owned(), by: Enforcer::Rlimit });
        }
        groups
    }

    /// The memory limit of a workload, in bytes, if it has killed one of the workload's processes.
    pub(super) fn memory_limit_that_killed(&self, workload: &str) -> Option<u64> {
        let Base { path, version, .. } = self.memory.as_ref()?;
        let (events, limit) = match version {
            Version::V1 => ("memory.oom_control", "memory.limit_in_bytes"),
            Version::V2 => ("memory.events", "memory.max"),
        };
        let read = |file: &str| fs::read_to_string(path.join(workload).join(file)).ok();
        let kills =
            read(events)?.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok())?;
        if kills > 0 { read(limit)?.trim().parse().ok() } else { None }
    }

    /// Removes the groups of an ended workload, and those of the node if it was the last one.
    pub(super) fn remove(&self, workload: &str) {
        let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
        for base in self.bases() {
            // Fails if the group was never created, or is still busy. Then it is removed when the daemon ends or starts.
            let _ = fs::remove_dir(base.path.join(workload));
            let _ = fs::remove_dir(&base.path);
        }
    }
}

/// The name of the group of a node with this journal.
fn group_name(journal: &str) -> String {
    format!("mario-{journal}")
}

impl Base {
    /// Creates the group of the node, unless it is there.
    fn prepare(&self) -> io::Result<()> {
        if !self.path.is_dir() {
            fs::create_dir(&self.path)?;
        }
        if self.version == Version::V2 {
            fs::write(self.path.join("cgroup.subtree_control"), format!("+{}", self.controller))?;
        }
        Ok(())
    }

    fn limit(&self, workload: &str, limit: &str, value: u64) -> io::Result<(PathBuf, Version)> {
        self.prepare()?;
        let group = self.path.join(workload);
        if !group.is_dir() {
            fs::create_dir(&group)?;
        }
        match (self.version, limit) {
            (Version::V2, "memory") => fs::write(group.join("memory.max"), value.to_string())?,
            (Version::V2, "cpu") => fs::write(group.join("cpu.max"), format!("{value} {CPU_PERIOD_US}"))?,
            (Version::V1, "memory") => fs::write(group.join("memory.limit_in_bytes"), value.to_string())?,
            (Version::V1, "cpu") => {
                fs::write(group.join("cpu.cfs_period_us"), CPU_PERIOD_US.to_string())?;
                fs::write(group.join("cpu.cfs_quota_us"), value.to_string())?;
            }
            _ => fs::write(group.join("pids.max"), value.to_string())?,
        }
        Ok((group.join("cgroup.procs"), self.version))
    }
}

fn v2(root: &Path, controller: &'static str, name: &str) -> Option<Base> {
    let controllers = fs::read_to_string(root.join("cgroup.controllers")).ok()?;
    if !controllers.split_ascii_whitespace().any(|word| word == controller) {
        return None;
    }
    // A group with processes cannot delegate controllers, so the node's group is a new child of the root without
    // processes.
    fs::write(root.join("cgroup.subtree_control"), format!("+{controller}")).ok()?;
    let base = Base { path: root.join(name), version: Version::V2, controller };
    base.prepare().ok()?;
    Some(base)
}

fn v1(root: &Path, controller: &'static str, name: &str) -> Option<Base> {
    let mount = root.join(controller);
    if !mount.join("cgroup.procs").exists() || root.join("cgroup.controllers").exists() {
        return None;
    }
    let base = Base { path: mount.join(name), version: Version::V1, controller };
    base.prepare().ok()?;
    Some(base)
}

#[cfg(test)]
mod tests {
    use mario_testing::Scratch;

    use super::*;

    const LIMITS: CgroupLimits = CgroupLimits {
        memory_bytes: Some(64 << 20),
        processes_max: Some(10),
        cpu_milli: Some(500),
        open_files_max: Some(100),
    };

    fn by(groups: &Groups) -> Vec<(&str, Enforcer)> {
        groups.enforcement.iter().map(|entry| (entry.limit.as_str(), entry.by)).collect()
    }

    #[test]
    fn without_groups_limits_are_per_process_and_unenforced_ones_are_reported() {
        let groups = Cgroups::none().create("1.2", &LIMITS);
        assert_eq!(
            by(&groups),
            [
                ("memory", Enforcer::Rlimit),
                ("processes", Enforcer::Nothing),
                ("cpu", Enforcer::Nothing),
                ("open files", Enforcer::Rlimit)
            ]
        );
        assert_eq!((groups.rlimit_memory_bytes, groups.rlimit_open_files_max), (Some(64 << 20), Some(100)));
        assert!(groups.members.is_empty());
    }

    #[test]
    fn cgroup_v2_has_one_group_with_all_limits() {
        let root = Scratch::new("v2");
        fs::write(root.join("cgroup.controllers"), "cpu memory pids\n").unwrap();
        let cgroups = Cgroups::detect_below(&root, "ab");
        let groups = cgroups.create("1.2", &LIMITS);
        assert_eq!(groups.members, [root.join("mario-ab/1.2/cgroup.procs")]);
        assert!(by(&groups)[..3].iter().all(|&(_, by)| by == Enforcer::CgroupV2));
        let read = |name: &str| fs::read_to_string(root.join("mario-ab/1.2").join(name)).unwrap();
        assert_eq!(
            (read("memory.max"), read("pids.max"), read("cpu.max")),
            ("67108864".into(), "10".into(), "50000 100000".into())
        );
    }

    #[test]
    fn cgroup_v1_has_one_group_per_controller() {
        let root = Scratch::new("v1");
        for controller in ["memory", "pids"] {
            fs::create_dir(root.join(controller)).unwrap();
            fs::write(root.join(controller).join("cgroup.procs"), "").unwrap();
        }
        let groups = Cgroups::detect_below(&root, "ab").create("1.2", &LIMITS);
        assert_eq!(groups.members.len(), 2);
        assert_eq!(by(&groups)[0], ("memory", Enforcer::CgroupV1));
        assert_eq!(by(&groups)[2], ("cpu", Enforcer::Nothing));
    }

    #[test]
    fn no_empty_group_is_left_when_workloads_or_daemons_end() {
        let root = Scratch::new("left");
        for controller in ["memory", "pids"] {
            fs::create_dir(root.join(controller)).unwrap();
            fs::write(root.join(controller).join("cgroup.procs"), "").unwrap();
        }
        let node = |controller: &str| root.join(controller).join("mario-ab");
        // The group of a workload that ended while no daemon ran. Groups of a real system have no files to remove.
        fs::create_dir_all(node("memory").join("1.1")).unwrap();
        let cgroups = Cgroups::detect_below(&root, "ab");
        assert!(!node("memory").exists() && !node("pids").exists(), "a node without workloads has no groups");
        let limits = CgroupLimits { memory_bytes: None, cpu_milli: None, ..LIMITS };
        cgroups.create("1.2", &limits);
        assert!(node("pids").join("1.2").is_dir());
        fs::remove_file(node("pids").join("1.2/pids.max")).unwrap();
        cgroups.remove("1.2");
        assert!(!node("pids").exists());
    }

    #[test]
    fn empty_groups_of_a_former_journal_are_removed_and_those_of_other_nodes_stay() {
        let root = Scratch::new("former");
        fs::create_dir(root.join("memory")).unwrap();
        fs::write(root.join("memory/cgroup.procs"), "").unwrap();
        let cgroups = Cgroups::detect_below(&root, "new");
        for group in ["mario-old/1.1", "mario-other/1.1"] {
            fs::create_dir_all(root.join("memory").join(group)).unwrap();
        }
        cgroups.remove_former("old");
        assert!(!root.join("memory/mario-old").exists());
        assert!(root.join("memory/mario-other/1.1").is_dir());
    }
}
