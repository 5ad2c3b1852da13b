//! Resolves users: their movements, applications and workloads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mario_domain::{Duration, Id};
use mario_settings::{At, Mistake, Place, Text};

use super::Resolving;
use super::applications::find_application;
use crate::attachments;
use crate::index::{ApplicationIndex, NodeIndex, UserIndex};
use crate::layers::{read_text, unreadable};
use crate::mobility::{
    AfterLastFix, Assignment, AttachError, AttachmentRule, Attachments, BetweenFixes, MobileUser, RandomWaypointError,
    Resampling, SamplingTimes, SumoCoordinates, TrackFormat, TrajectoryError, TrajectoryProblem, assign, attach,
    commute_attached, random_waypoint_attached, read_positions, read_tracks, resample, step_count,
};
use crate::position::{Area, Position};
use crate::presets;
use crate::settings::{
    AfterKind, AreaSettings, AssignmentKind, AttachKind, BetweenKind, CitySettings, ClockKind, FileSettings,
    GeneratedSettings, MobilityFormat, MobilitySettings, Phase, PhaseWord, TopologySettings, UserSettings,
    WorkloadSettings,
};
use crate::topology::Topology;
use crate::{ApplicationPlan, UserPlan, Workload};

const MOBILITY: At<'static> = At::Key("mobility");

/// The maximum number of hotspots in all districts together, which bounds the memory.
const COUNT_MAX: u32 = 1 << 24;

impl<'a> Resolving<'a> {
    /// The time between two mobility steps.
    pub(super) fn step(&self) -> Duration {
        crate::cost::step(self.settings)
    }

    pub(super) fn attachments(&mut self, topology: &Topology, applications: &[ApplicationPlan]) -> Attachments {
        let found = match &self.settings.mobility {
            MobilitySettings::Generated(settings) => self.generated(settings, topology),
            MobilitySettings::City(settings) => self.city(settings, topology),
            MobilitySettings::Static(settings) => self.fixed(settings.users, topology),
            MobilitySettings::Attachments(settings) => {
                let text = self.file_text(&settings.file, &[MOBILITY, "file".into()]);
                text.and_then(|text| self.listed_users(&text, topology, applications))
            }
            MobilitySettings::Recorded(_) => {
                self.notes.push("the users are those of the paper's experiment".to_owned());
                self.listed_users(&Arc::new(presets::recorded_users()), topology, applications)
            }
            MobilitySettings::File(settings) => self.position_file(settings, topology),
        };
        let found = found.unwrap_or_default();
        self.note_unused_steps(&found);
        found
    }

    fn how_to_attach(&mut self, wanted: Option<AttachKind>) -> Option<AttachmentRule> {
        match (&self.settings.topology, wanted) {
            (TopologySettings::TiledTree(tree), None | Some(AttachKind::Grid)) => {
                let area = self.area(&tree.area, &["topology".into(), "area".into()])?;
                Some(AttachmentRule::Grid { size: tree.size, area })
            }
            (_, None | Some(AttachKind::Distance)) => Some(AttachmentRule::Distance),
            (_, Some(AttachKind::Grid)) => {
                let mistake =
                    self.mistake("only a tiled tree has a grid to attach users by", &[MOBILITY, "attach".into()]);
                self.mistakes.push(mistake.hint("write `attach = \"distance\"`"));
                None
            }
        }
    }

    /// The area of generated users: as configured in `[mobility]`, or else the area of the infrastructure.
    fn area_of_users(&mut self, given: Option<&AreaSettings>, topology: &Topology) -> Option<Area> {
        match given {
            Some(area) => self.area(area, &[MOBILITY, "area".into()]),
            None => self.covered(topology, "add `[mobility.area]` with `south_west` and `north_east`", &[MOBILITY]),
        }
    }

    /// Checks a number against [`COUNT_MAX`]. Reports an error and returns `None` if it is larger.
    fn check_count(&mut self, key: &str, count: u64) -> Option<()> {
        if count <= u64::from(COUNT_MAX) {
            return Some(());
        }
        let mistake = self.mistake(format!("{count} {key} are too many"), &[MOBILITY, key.into()]);
        self.mistakes.push(mistake.hint(format!("write {COUNT_MAX} or fewer")));
        None
    }

    fn generated(&mut self, settings: &GeneratedSettings, topology: &Topology) -> Option<Attachments> {
        let districts = u64::from(settings.districts);
        self.check_count("hotspots", districts.saturating_mul(districts).saturating_mul(u64::from(settings.hotspots)))?;
        let how = self.how_to_attach(settings.attach)?;
        let area = self.area_of_users(settings.area.as_ref(), topology)?;
        let made = random_waypoint_attached(&settings.waypoints(area), self.settings.seed, topology, how);
        self.made_users(made)
    }

    fn city(&mut self, settings: &CitySettings, topology: &Topology) -> Option<Attachments> {
        let how = self.how_to_attach(settings.attach)?;
        let area = self.area_of_users(settings.area.as_ref(), topology)?;
        let commuting = settings.commuting(area, self.settings.duration.value());
        let made = commute_attached(commuting, self.settings.seed, topology, how);
        self.made_users(made)
    }

    /// Returns generated users and adds a note about them, or reports why they cannot be generated or connected.
    fn made_users(&mut self, made: Result<Attachments, RandomWaypointError>) -> Option<Attachments> {
        match made {
            Ok(attachments) => {
                let (users, seed) = (attachments.users.len(), self.settings.seed);
                self.notes.push(format!("{users} users are generated from seed {seed}"));
                Some(attachments)
            }
            Err(RandomWaypointError::Setting { setting, expected }) => {
                let mistake = self.mistake(format!("`{setting}` must be {expected}"), &[MOBILITY, setting.into()]);
                self.mistakes.push(mistake.hint("mend it in `[mobility]`"));
                None
            }
            Err(RandomWaypointError::Attach(error)) => self.not_attached(&error),
        }
    }

    /// The area of the topology: as configured, or else the bounding box of its nodes. Reports an error if the
    /// configured area is invalid, or if neither exists.
    fn covered(&mut self, topology: &Topology, remedy: &str, at: &[At<'_>]) -> Option<Area> {
        if let Some(area) = self.settings.topology.area() {
            return self.area(&area, &TOPOLOGY_AREA);
        }
        let extent = topology.extent();
        if extent.is_none() {
            let mistake = self.mistake("the nodes of the topology do not say which part of the map it covers", at);
            self.mistakes.push(mistake.hint(remedy));
        }
        extent
    }

    fn not_attached(&mut self, error: &AttachError) -> Option<Attachments> {
        let mistake = self.mistake(error.to_string(), &[MOBILITY, "attach".into()]);
        self.mistakes
            .push(mistake.hint("choose another way to `attach`, or a topology whose access points have places"));
        None
    }

    /// Users who do not move. Access points are assigned round robin, unless `[[user]]` names the access point.
    fn fixed(&mut self, users: u32, topology: &Topology) -> Option<Attachments> {
        let access_points: Vec<NodeIndex> = topology.access_points().collect();
        if access_points.is_empty() {
            return self.not_attached(&AttachError::NoAccessPoint);
        }
        let mut attachments = Attachments { users: Vec::new(), steps: vec![Vec::new()], commuters: None };
        for user in 0..users {
            attachments.users.push(MobileUser { id: Id::number(i64::from(user) + 1), application: None });
            attachments.steps[0].push((UserIndex(user), Some(access_points[user as usize % access_points.len()])));
        }
        for (position, user) in self.settings.user.iter().enumerate() {
            let at = ["user".into(), position.into(), "node".into()];
            let Some(node) = &user.node else { continue };
            let Some(node) = self.node(topology, node, &at) else { continue };
            if !topology.node(node).is_access_point {
                let mistake = self.mistake(format!("node `{}` is not an access point", topology.node(node).id), &at);
                self.mistakes.push(mistake.hint("name one that users can be connected to"));
            }
            if let Some(place) = attachments.users.iter().position(|known| known.id == user.id) {
                attachments.steps[0][place].1 = Some(node);
            }
        }
        Some(attachments)
    }

    /// Users whose access points are listed step by step in a JSON text.
    fn listed_users(
        &mut self,
        text: &Arc<Text>,
        topology: &Topology,
        applications: &[ApplicationPlan],
    ) -> Option<Attachments> {
        let application = |id: &Id| {
            // Application 4 of the prototype is called `app4` in the paper.
            let by_number = || Id::name(&format!("app{id}")).ok().and_then(|id| find_application(applications, &id));
            let found = find_application(applications, id).or_else(by_number)?;
            Some(applications[found.position()].application.id.clone())
        };
        match attachments::read(text, topology, &application) {
            Ok(attachments) => Some(attachments),
            Err(mistakes) => {
                self.mistakes.extend(mistakes);
                None
            }
        }
    }

    fn position_file(&mut self, settings: &FileSettings, topology: &Topology) -> Option<Attachments> {
        let how = self.how_to_attach(settings.attach)?;
        let text = self.file_text(&settings.file, &[MOBILITY, "file".into()])?;
        let format = settings.format.unwrap_or_else(|| detected_format(&settings.file, &text.text));
        let origin = match settings.origin {
            None => None,
            Some(origin) => Some(self.origin(origin, &[MOBILITY, "origin".into()])?),
        };
        let trajectories = match track_format(format, origin) {
            None => match read_positions(text.text.as_bytes(), origin) {
                Ok(mut trajectories) => {
                    if !self.check_trajectories(&trajectories, format, topology) {
                        return None;
                    }
                    trajectories.steps.truncate(settings.steps.map_or(usize::MAX, |steps| steps as usize));
                    trajectories.keep_first_users(settings.users.unwrap_or(u32::MAX));
                    if let Some(area) = self.clip_area(settings, topology)? {
                        trajectories.clip(area);
                    }
                    Ok(Ok(trajectories))
                }
                Err(error) => Err(error),
            },
            Some(track_format) => {
                let resampling = self.resampling(settings, topology)?;
                match read_tracks(text.text.as_bytes(), &track_format) {
                    Ok(tracks) => {
                        let steps = step_count(&tracks, &resampling).map_or(0.0, f64::from);
                        if !self.check_tracks(&tracks, format, topology)
                            || !self.fits_as_steps(&tracks, settings, steps)
                        {
                            return None;
                        }
                        Ok(resample(&tracks, &resampling))
                    }
                    Err(error) => Err(error),
                }
            }
        };
        match trajectories {
            Ok(Ok(trajectories)) => match attach(&trajectories, topology, how) {
                Ok(attachments) => Some(attachments),
                Err(error) => self.not_attached(&error),
            },
            Ok(Err(error)) => {
                let mistake = self.mistake(error.to_string(), &[MOBILITY, "step_seconds".into()]);
                self.mistakes.push(mistake.hint("write a longer `step_seconds`, or fewer `steps`"));
                None
            }
            Err(error) => {
                self.mistakes.push(trace_mistake(&error, text));
                None
            }
        }
    }

    /// The area outside of which users are absent; `Some(None)` if they are not clipped. `None` if the topology has no
    /// valid area, which is reported.
    #[allow(clippy::option_option, reason = "a mistake and a setting that is off are different")]
    fn clip_area(&mut self, settings: &FileSettings, topology: &Topology) -> Option<Option<Area>> {
        if !settings.clip {
            return Some(None);
        }
        let remedy = "give nodes `latitude` and `longitude`, or write `clip = false`";
        self.covered(topology, remedy, &[MOBILITY, "clip".into()]).map(Some)
    }

    fn resampling(&mut self, settings: &FileSettings, topology: &Topology) -> Option<Resampling> {
        let clip = self.clip_area(settings, topology)?;
        let clock = match settings.clock {
            ClockKind::OwnPace => SamplingTimes::OwnPace { parts: settings.parts },
            ClockKind::Shared => SamplingTimes::Shared {
                step_seconds: settings.step_seconds.value(),
                between: match settings.between {
                    BetweenKind::LastKnown => BetweenFixes::LastKnown,
                    BetweenKind::Interpolated => BetweenFixes::Interpolated,
                },
                after: match settings.after {
                    AfterKind::Stays => AfterLastFix::Stays,
                    AfterKind::Gone => AfterLastFix::Gone,
                },
            },
        };
        Some(Resampling { clock, clip, users_max: settings.users, steps_max: settings.steps })
    }

    pub(super) fn file_text(&mut self, file: &str, at: &[At<'_>]) -> Option<Arc<Text>> {
        let path = self.document.path(at, file);
        let place = self.document.place(at);
        match read_text(&mut self.files_of(&place), &path) {
            Ok(text) => Some(Arc::new(Text { name: path.display().to_string(), text, directory: path })),
            Err(error) => {
                let remedy = if place.text.name.starts_with("--") {
                    "a path on the command line starts from the current directory"
                } else {
                    "a path starts from the directory of the file that it is written in"
                };
                let mistake = unreadable(&mut self.files_of(&place), &path, &error, remedy);
                self.mistakes.push(mistake.at(Some(place)));
                None
            }
        }
    }

    /// The application and workload of each user. Reports errors.
    pub(super) fn users(
        &mut self,
        topology: &Topology,
        applications: &[ApplicationPlan],
        attachments: &Attachments,
    ) -> Vec<UserPlan> {
        let special = self.special_users(topology, applications, attachments);
        let dealt = self.dealt_applications(applications, attachments);
        let count = attachments.users.len();
        let mut plans = Vec::with_capacity(count);
        let mut is_any_without = false;
        for (position, user) in attachments.users.iter().enumerate() {
            let own = special.get(&position).copied();
            let chosen = own.and_then(|own| own.application.as_ref()).or(user.application.as_ref());
            let application = chosen.and_then(|id| find_application(applications, id.id()));
            let application = application.or_else(|| dealt.get(position).copied());
            is_any_without |= application.is_none();
            plans.push(UserPlan {
                application: application.unwrap_or(ApplicationIndex(0)),
                workload: self.workload(position, count, own),
            });
        }
        // After an error that was already reported, such as a cycle of calls, there may be no application for users.
        if is_any_without && self.mistakes.is_empty() {
            let mistake = self.mistake("there are users, and no application for them", &["application".into()]);
            self.mistakes.push(mistake.hint("write `users = true` in the applications that users use themselves"));
        }
        plans
    }

    /// The settings in `[[user]]`, by the index of the user. Reports errors in them.
    fn special_users(
        &mut self,
        topology: &Topology,
        applications: &[ApplicationPlan],
        attachments: &Attachments,
    ) -> BTreeMap<usize, &'a UserSettings> {
        let mut special = BTreeMap::new();
        if self.settings.user.is_empty() {
            return special;
        }
        let places: BTreeMap<&Id, usize> =
            attachments.users.iter().enumerate().map(|(position, user)| (&user.id, position)).collect();
        let settings = self.settings;
        let is_periodic = matches!(settings.workload, WorkloadSettings::Periodic(_));
        let is_static = matches!(settings.mobility, MobilitySettings::Static(_));
        for (position, user) in settings.user.iter().enumerate() {
            let at = |key| [At::Key("user"), position.into(), At::Key(key)];
            match places.get(&user.id) {
                Some(place) => {
                    special.insert(*place, user);
                }
                None => {
                    let known = attachments.users.iter().map(|user| &user.id);
                    let mistake = self.unknown("user", &user.id, &at("id"), known);
                    self.mistakes.push(mistake);
                }
            }
            if let Some(application) = &user.application {
                self.application(applications, application, &at("application"));
            }
            if user.phase.is_some() && !is_periodic {
                let mistake = self.mistake("only a periodic workload has a phase", &at("phase"));
                self.mistakes.push(mistake.hint("omit `phase`"));
            }
            if let (Some(node), false) = (&user.node, is_static) {
                let is_known = topology.find(node).is_some();
                let mistake = self.mistake("only static users stay at a node", &at("node"));
                let hint = if is_known { "write `kind = \"static\"` in `[mobility]`" } else { "omit `node`" };
                self.mistakes.push(mistake.hint(hint));
            }
        }
        special
    }

    fn dealt_applications(&self, applications: &[ApplicationPlan], attachments: &Attachments) -> Vec<ApplicationIndex> {
        let mut kinds: Vec<(&str, Vec<ApplicationIndex>)> = Vec::new();
        let used = self.used_by_users(applications);
        for (position, plan) in applications.iter().enumerate().filter(|(position, _)| used[*position]) {
            let index = ApplicationIndex::at(position);
            match kinds.iter_mut().find(|(kind, _)| *kind == plan.kind) {
                Some((_, members)) => members.push(index),
                None => kinds.push((&plan.kind, vec![index])),
            }
        }
        let kinds: Vec<Vec<ApplicationIndex>> = kinds.into_iter().map(|(_, members)| members).collect();
        let how = match self.settings.workload.assignment() {
            AssignmentKind::Balanced => Assignment::Balanced,
            AssignmentKind::RoundRobin => Assignment::RoundRobin,
            AssignmentKind::Random => Assignment::Random { seed: self.seed_for(2) },
            AssignmentKind::Popular => Assignment::Popular { seed: self.seed_for(2) },
        };
        // Only `balanced` needs the numbers of handovers. Counting them is slow: it replays the movements of all users.
        let handovers = match how {
            Assignment::Balanced => attachments.handovers().of_user,
            _ => vec![0; attachments.users.len()],
        };
        assign(&handovers, &kinds, how).unwrap_or_default()
    }

    fn workload(&self, position: usize, count: usize, own: Option<&UserSettings>) -> Workload {
        let own_period = own.and_then(|own| own.period).map(crate::settings::Period::span);
        match &self.settings.workload {
            WorkloadSettings::Periodic(settings) => {
                let period = own_period.unwrap_or(settings.period.span());
                let phase = match (own.and_then(|own| own.phase), settings.phase) {
                    (Some(phase), _) | (None, Phase::After(phase)) => phase.span(),
                    (None, Phase::Word(PhaseWord::Simultaneous)) => period,
                    (None, Phase::Word(PhaseWord::Spread)) => period * (position + 1) as f64 / count as f64,
                };
                Workload::Periodic { period, phase }
            }
            WorkloadSettings::Poisson(settings) => {
                Workload::Poisson { mean_period: own_period.unwrap_or(settings.period.span()) }
            }
            WorkloadSettings::OnOff(settings) => Workload::OnOff {
                period: own_period.unwrap_or(settings.period.span()),
                mean_on: settings.mean_on.span(),
                mean_off: settings.mean_off.span(),
            },
        }
    }
}

/// The format of a file with tracks; `None` for a file with positions by step.
fn track_format(format: MobilityFormat, origin: Option<Position>) -> Option<TrackFormat> {
    match format {
        MobilityFormat::Positions => None,
        MobilityFormat::Csv => Some(TrackFormat::Csv { origin }),
        MobilityFormat::Taxi => Some(TrackFormat::Taxi),
        MobilityFormat::Gpx => Some(TrackFormat::Gpx { user: None }),
        MobilityFormat::Sumo => {
            Some(TrackFormat::Sumo(origin.map_or(SumoCoordinates::Degrees, SumoCoordinates::Metres)))
        }
    }
}

const TOPOLOGY_AREA: [At<'static>; 2] = [At::Key("topology"), At::Key("area")];

/// Detects the format of a mobility file by its extension, ignoring `.gz`, or else by its first line.
fn detected_format(file: &str, text: &str) -> MobilityFormat {
    let name = file.strip_suffix(".gz").unwrap_or(file);
    let first = text.lines().next().unwrap_or_default();
    match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("gpx") => MobilityFormat::Gpx,
        Some("xml") => MobilityFormat::Sumo,
        _ if first.contains(";POINT") => MobilityFormat::Taxi,
        _ if first.split([',', ';']).any(|column| column.trim() == "step") => MobilityFormat::Positions,
        _ => MobilityFormat::Csv,
    }
}

fn trace_mistake(error: &TrajectoryError, text: Arc<Text>) -> Mistake {
    let span = error.span.clone();
    let remedy = match error.problem {
        TrajectoryProblem::Expected(what) if what.contains("latitude") => {
            "mend the file; if latitude and longitude are exchanged in it, exchange them"
        }
        TrajectoryProblem::NoOrigin => "add `origin = [latitude, longitude]` to `[mobility]`",
        _ => "mend the file, or say its `format`",
    };
    Mistake::new(error.to_string()).at(Some(Place { text, span })).hint(remedy)
}
