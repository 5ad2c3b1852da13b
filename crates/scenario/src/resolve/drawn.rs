//! Draws the random applications of `[applications]`.

use mario_domain::{Application, ApplicationId, Hardware, Quantity};
use mario_settings::At;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::Resolving;
use super::applications::{Policies, cloud, find_application};
use crate::ApplicationPlan;
use crate::index::{NodeIndex, PolicyIndex};
use crate::mobility::GOLDEN;
use crate::settings::{DrawnApplications, SortSettings, Time};
use crate::topology::Topology;

const APPLICATIONS: At<'static> = At::Key("applications");

/// Sets the random streams of drawn applications apart from other random streams of the same seed.
const STREAM: u64 = 0x6170_706c_6963_6174;

impl Resolving<'_> {
    /// Draws the applications of `[applications]` and adds them to `plans`. Reports errors.
    pub(super) fn draw_applications(
        &mut self,
        topology: &Topology,
        plans: &mut Vec<ApplicationPlan>,
        policies: &mut Policies,
    ) {
        let settings = self.settings;
        let drawn = &settings.applications;
        if drawn.are_none() || !self.can_be_drawn(drawn, plans) {
            return;
        }
        let mut of_sort = Vec::with_capacity(drawn.mix.len());
        for (position, sort) in drawn.mix.iter().enumerate() {
            let at = |key| [APPLICATIONS, "mix".into(), position.into(), At::Key(key)];
            let most = Hardware::units(u64::from(sort.hardware[1]));
            let id = ApplicationId::name(&sort.kind).unwrap_or_else(|_| ApplicationId::number(position as i64));
            self.check_hardware(topology, &id, most, &at("hardware"));
            let memory = self.settings.memory.cycles;
            of_sort.push(match &sort.policy {
                Some(policy) => self.policy(policies, policy, memory, &at("policy")),
                None => self.policy(policies, &drawn.policy, memory, &[APPLICATIONS, "policy".into()]),
            });
        }
        let home = cloud(topology).unwrap_or(NodeIndex(0));
        let weights: f64 = drawn.mix.iter().map(|sort| sort.weight.value()).sum();
        for number in 1..=drawn.count {
            let Ok(id) = ApplicationId::name(&format!("{}{number}", drawn.prefix)) else { return };
            // The fractional parts of multiples of the golden ratio are evenly spread, so every prefix of the list
            // contains each sort nearly in proportion to its weight.
            let mut left = (f64::from(number) * GOLDEN).fract() * weights;
            let is_sort = |sort: &SortSettings| {
                left -= sort.weight.value();
                left < 0.0
            };
            let place = drawn.mix.iter().position(is_sort).unwrap_or(drawn.mix.len() - 1);
            let application = self.drawn_application(&drawn.mix[place], id, number, home);
            // A missing policy was already reported, and resolving fails.
            plans.push(ApplicationPlan { policy: of_sort[place].unwrap_or(PolicyIndex(0)), ..application });
        }
    }

    fn drawn_application(
        &self,
        sort: &SortSettings,
        id: ApplicationId,
        number: u32,
        home: NodeIndex,
    ) -> ApplicationPlan {
        let seed = u128::from(self.settings.seed) << 64 | u128::from(STREAM);
        let mut random = Pcg64::new(seed ^ u128::from(number).rotate_left(40), u128::from(number));
        let mut whole = |[low, high]: [u32; 2]| random.random_range(low..=high);
        let application = Application {
            id,
            owner: None,
            hardware: Hardware::units(u64::from(whole(sort.hardware))),
            max_rate: Quantity::whole(whole(sort.max_rate)),
            max_latency: Quantity::whole(whole(sort.max_latency)),
            flavours: Vec::new(),
            sleep: None,
        };
        let service_time = match sort.service_time.map(|times| times.map(Time::span)) {
            Some([low, high]) => low + (high - low) * random.random::<f64>(),
            None => self.settings.network.service_time.span(),
        };
        ApplicationPlan {
            application,
            kind: sort.kind.clone(),
            policy: PolicyIndex(0),
            service_time,
            facts: Vec::new(),
            home,
            is_anchor: false,
            stages: Vec::new(),
        }
    }

    /// Reports errors in the settings of drawn applications. Returns whether there are none.
    fn can_be_drawn(&mut self, drawn: &DrawnApplications, listed: &[ApplicationPlan]) -> bool {
        let reported = self.mistakes.len();
        if drawn.mix.is_empty() {
            let mistake = self.mistake("there is no sort of applications to draw", &[APPLICATIONS, "mix".into()]);
            self.mistakes.push(mistake.hint("omit `mix`, or list a sort in it"));
        }
        for (position, sort) in drawn.mix.iter().enumerate() {
            let ranges = [("hardware", sort.hardware), ("max_rate", sort.max_rate), ("max_latency", sort.max_latency)];
            let times = sort.service_time.is_some_and(|[low, high]| low > high);
            let wrong = ranges.into_iter().filter(|(_, [low, high])| low > high).map(|(key, _)| key);
            for key in wrong.chain(times.then_some("service_time")) {
                let at = [APPLICATIONS, "mix".into(), position.into(), key.into()];
                let mistake = self.mistake(format!("`{key}` is from the lesser number to the greater"), &at);
                self.mistakes.push(mistake.hint("write the lesser number first"));
            }
        }
        let ids = (1..=drawn.count).map(|number| ApplicationId::name(&format!("{}{number}", drawn.prefix)));
        let taken = ids.flatten().find(|id| !listed.is_empty() && find_application(listed, id.id()).is_some());
        if let Some(id) = taken {
            let mistake =
                self.mistake(format!("application `{id}` is listed, and drawn too"), &[APPLICATIONS, "prefix".into()]);
            self.mistakes.push(mistake.hint("write another `prefix`"));
        }
        self.mistakes.len() == reported
    }
}
