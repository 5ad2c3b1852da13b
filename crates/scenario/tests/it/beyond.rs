//! Settings beyond the paper: memory declared by policies, and several kinds of hardware.

use mario_domain::HardwareKind;
use mario_scenario::PolicyText;

use crate::scenarios::{Texts, levels, resolve};

#[test]
fn the_memory_of_a_policy_applies_unless_a_setting_overrides_it() {
    let looks_back =
        ":- remembers(inhibited, 7).\n:- remembers(requests, 2).\noperation(undeploy, I, self) :- age(I, 9).\n";
    let mut files = Texts::default().with("p/back.pl", looks_back);
    let text = "preset = \"paper\"\n[[application]]\nid = \"app1\"\npolicy = \"p/back.pl\"\n\
        [[application]]\nid = \"app2\"\npolicy = \"p/back.pl\"\nmemory = 3\n";
    let scenario = resolve(text, &mut files).scenario;
    let policies: Vec<&PolicyText> = scenario.policies.iter().filter(|policy| policy.name == "p/back.pl").collect();
    assert_eq!(policies.iter().map(|policy| policy.memory).collect::<Vec<u32>>(), [7, 3]);
    let declared = mario_scenario::remembers(policies[0]);
    assert_eq!((declared.requests, declared.operations, declared.inhibited), (2, 0, Some(7)));
    assert!(declared.reads_age);
    let scenario = resolve(&format!("{text}[memory]\ncycles = 5\n"), &mut files).scenario;
    let cycles = scenario.policies.iter().filter(|policy| policy.name == "p/back.pl").map(|policy| policy.memory);
    assert_eq!(cycles.collect::<Vec<u32>>(), [5, 3]);
}

#[test]
fn hardware_is_units_or_a_table_of_kinds() {
    let text = "preset = \"paper\"\n[topology]\nhardware = [\"unbounded\", { units = 9, gpu = 1, memory_mb = 4096 }, 6, 1]\n\
        [[application]]\nid = \"app1\"\nhardware = { units = 2, memory_mb = 512 }\n";
    let scenario = resolve(text, &mut Texts::default()).scenario;
    let hardware = scenario.applications[0].application.hardware;
    assert_eq!((hardware.as_units(), hardware.of(HardwareKind::MemoryMb), hardware.of(HardwareKind::Gpu)), (2, 512, 0));
    let capacities: Vec<String> =
        levels(&resolve(text, &mut Texts::default())).0.iter().map(ToString::to_string).collect();
    assert_eq!(capacities, ["unbounded", "9 and 1 gpu and 4096 memory_mb", "6", "1"]);
}
