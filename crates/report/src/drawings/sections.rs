//! The sections of the page, with their figures and choices.

use mario_page::drawing::{Chart, Csv, Ends, FileWidth, Stack, fixed};

use super::bars::{By, STACK};
use super::regret::Measure;
use super::services::Graph;
use super::{
    Choice, Data, Figure, FileGroups, FileOf, Key, Section, View, areas, bars, file_name, inhibited, map, points,
    regret, responses, scale, steady,
};
use crate::Report;
use crate::run::Run;
use crate::series::OUTCOMES;

/// All sections with figures, in the order of the page.
pub(crate) fn sections(report: &Report) -> Vec<Section> {
    let all = [
        operations(report),
        services(report),
        movements(report),
        stacked(
            report,
            ["instances", "Instances", "Instances over time", "How many instances of each application there are."],
            |run| Some(areas::by_application(run)),
        ),
        stacked(
            report,
            ["asleep", "Sleepers", "Sleepers over time", "How many instances of each application sleep."],
            areas::asleep,
        ),
        stacked(
            report,
            [
                "owners",
                "Owners",
                "What owners of nodes did",
                "How many instances they have evicted and shrunk until then.",
            ],
            areas::by_owners,
        ),
        stacked(
            report,
            [
                "tiers",
                "Tiers",
                "Where instances live",
                "The same instances by the tier of their node, from the top of the infrastructure down.",
            ],
            |run| Some(areas::by_tier(run)),
        ),
        response_times(report),
        inhibitions(report),
        steady_states(report),
        regrets(report),
        costs(report),
        maps(report),
    ];
    all.into_iter().filter(|section| !section.figures.is_empty()).collect()
}

/// Creates a section with these texts: its id, its name in the list of sections, its title, and its introduction.
fn section([id, name, title, lead]: [&'static str; 4], choices: Vec<Choice>, figures: Vec<Figure>) -> Section {
    Section { id, name, title, lead, choices, figures }
}

/// A figure of a run, without caption.
fn figure(id: &str, index: usize, run: &Run, title: &str, views: Vec<View>, csv: Csv) -> Figure {
    let file = FileOf {
        run: index,
        prefix: format!("{}-{}-{id}", index + 1, file_name(&run.label)),
        title: format!("{title}, {}", run.label),
        width: FileWidth::One,
        groups: FileGroups::Each,
    };
    Figure {
        name: format!("{id}-{}", file_name(&run.label)),
        title: run.label.clone(),
        caption: None,
        is_wide: false,
        views,
        data: vec![Data { by: None, csv }],
        file: Some(file),
    }
}

/// The only view of a figure without choices.
fn only(chart: Chart) -> Vec<View> {
    vec![View { group: None, by: None, measure: None, chart }]
}

/// A view for each group of applications of a run.
fn by_group(run: &Run, chart: impl Fn(usize) -> Chart) -> Vec<View> {
    let view = |group| View { group: Some(group), by: None, measure: None, chart: chart(group) };
    (0..run.groups.len()).map(view).collect()
}

fn of_runs(report: &Report, figure: impl Fn((usize, &Run)) -> Option<Figure>) -> Vec<Figure> {
    report.runs.iter().enumerate().filter_map(figure).collect()
}

/// A section with stacked areas over time for each run that has them. The runs share both axes.
fn stacked(report: &Report, words: [&'static str; 4], stack: impl Fn(&Run) -> Option<Stack>) -> Section {
    let stacks: Vec<Option<Stack>> = report.runs.iter().map(stack).collect();
    let Some(ends) = stacks.iter().flatten().map(Stack::ends).reduce(Ends::and) else {
        return section(words, Vec::new(), Vec::new());
    };
    let draw = |(index, run): (usize, &Run)| {
        let stack = stacks[index].as_ref()?;
        Some(figure(words[0], index, run, words[2], only(areas::chart(stack, ends)), stack.csv()))
    };
    section(words, Vec::new(), of_runs(report, draw))
}

fn response_times(report: &Report) -> Section {
    let axes = responses::axes(&report.runs);
    let draw = |(index, run): (usize, &Run)| {
        let chart = only(responses::chart(run, axes));
        let mut figure = figure("responses", index, run, "Response times", chart, responses::csv(run));
        figure.caption = responses::caption(run);
        Some(figure)
    };
    let lead = "How long client requests took, by kind of application. All kinds and runs have the same axes. The axis of times is logarithmic; the dashed line is the median.";
    section(["responses", "Responses", "Response times", lead], Vec::new(), of_runs(report, draw))
}

fn inhibitions(report: &Report) -> Section {
    let most = inhibited::most(&report.runs);
    let title = "What was inhibited, where and why";
    let draw = |(index, run): (usize, &Run)| {
        let chart = only(inhibited::chart(run, most));
        Some(figure("inhibited", index, run, title, chart, inhibited::csv(run)))
    };
    let lead = "The nodes whose managers said no most often.";
    section(["inhibited", "Inhibited", title, lead], Vec::new(), of_runs(report, draw))
}

/// Returns the choice of a group, if all runs have the same groups and a kind that not all applications have.
fn group_choice(report: &Report) -> Option<Choice> {
    let groups = &report.runs.first()?.groups;
    let is_part = |run: &Run| run.groups.len() > 2 || run.applications.iter().any(|one| one.kind == "all");
    let is_shared = groups.len() > 1 && report.runs.iter().all(|run| run.groups == *groups && is_part(run));
    let name = |group: &String| match group.as_str() {
        "all" => "All".to_owned(),
        "" => "Other".to_owned(),
        name => name.to_owned(),
    };
    let options = groups.iter().enumerate().map(|(index, group)| (index.to_string(), name(group))).collect();
    is_shared.then_some(Choice { key: Key::Group, label: "Applications", options })
}

fn operations(report: &Report) -> Section {
    let groups = report.runs.iter().map(|run| run.groups.len()).max().unwrap_or(0);
    let highest: Vec<[bars::Highest; 2]> =
        (0..groups).map(|group| By::ALL.map(|by| bars::highest(&report.runs, group, by))).collect();
    let draw = |(index, run): (usize, &Run)| {
        let view = |by: By, group: usize, highest| View {
            group: Some(group),
            by: Some(by.name()),
            measure: None,
            chart: bars::chart(run, group, by, highest),
        };
        let of_group =
            |group: usize| By::ALL.into_iter().zip(highest[group]).map(move |(by, highest)| view(by, group, highest));
        let views = (0..run.groups.len()).flat_map(of_group).collect();
        let mut figure = figure("operations", index, run, "Operations", views, Csv::default());
        figure.is_wide = true;
        let many = run.bars.cycles_per_bar;
        figure.caption = (many > 1).then(|| format!("By cycle, each bar stands for {many} cycles."));
        figure.data = By::ALL.map(|by| Data { by: Some(by.name()), csv: bars::csv(run, by) }).to_vec();
        figure.file.iter_mut().for_each(|file| file.width = FileWidth::Two);
        Some(figure)
    };
    let by = Choice {
        key: Key::By,
        label: "Bars",
        options: [("cycle", "By cycle"), ("step", "By step")]
            .map(|(key, name)| (key.to_owned(), name.to_owned()))
            .to_vec(),
    };
    let outcomes = Choice {
        key: Key::Outcomes,
        label: "Shown",
        options: STACK.map(|outcome| (OUTCOMES[outcome].to_owned(), OUTCOMES[outcome].to_owned())).to_vec(),
    };
    let lead = "What became of the agents over time. All runs have the same scale. The line is the number of handovers in each step, on the \
                right axis; the first connections of users, in step 0, are not drawn.";
    let choices = group_choice(report).into_iter().chain([by, outcomes]).collect();
    section(["operations", "Operations", "Operations", lead], choices, of_runs(report, draw))
}

/// A section with the service graph of each run whose applications call each other.
fn services(report: &Report) -> Section {
    let draw = |(index, run): (usize, &Run)| {
        let graph = Graph::of(run)?;
        let mut figure = figure("services", index, run, "Service graph", only(graph.chart()), graph.csv());
        figure.is_wide = true;
        figure.caption = Some(
            "Beside an arrow: requests for each request that the caller serves, if more than one, and their mean response time. In a box: the \
             95th percentile of the response times of the application. Applications without calls are not drawn."
                .to_owned(),
        );
        figure.file.iter_mut().for_each(|file| file.width = FileWidth::Two);
        Some(figure)
    };
    let lead = "Which applications call which others for each client request that they serve, from left to right. Dashed arrows are calls in \
                parallel. The table of the service graph has all numbers.";
    section(["services", "Services", "Service graph", lead], Vec::new(), of_runs(report, draw))
}

fn movements(report: &Report) -> Section {
    let draw = |(index, run): (usize, &Run)| {
        let views = by_group(run, |group| points::chart(run, group, points::most(&report.runs, group)));
        let mut figure = figure("movements", index, run, "Movements and operations", views, points::csv(run));
        let r = fixed(run.figures[0].pearson_r_with_start, 3);
        figure.caption = Some(format!(
            "With the start, where the first connections count as movements, r is {r} for all applications."
        ));
        Some(figure)
    };
    let lead = "One point for each step after the first; larger points are several steps. r is Pearson's correlation.";
    let words = ["movements", "Movements", "Movements and operations", lead];
    section(words, group_choice(report).into_iter().collect(), of_runs(report, draw))
}

fn steady_states(report: &Report) -> Section {
    let draw = |(index, run): (usize, &Run)| {
        let views = by_group(run, |group| steady::chart(run, group, steady::most(&report.runs, group)));
        let mut figure = figure("steady", index, run, "Cycles to the steady state", views, steady::csv(run));
        figure.file.iter_mut().for_each(|file| file.groups = FileGroups::All);
        Some(figure)
    };
    let lead = "In each step, how many cycles had at least one operation before all agents stayed. Pale bars are steps without a movement; \
                they do not count for the mean.";
    let words = ["steady", "Steady state", "Cycles to the steady state", lead];
    section(words, group_choice(report).into_iter().collect(), of_runs(report, draw))
}

fn regrets(report: &Report) -> Section {
    let draw = |(index, run): (usize, &Run)| {
        let shown = run.regret.as_ref()?;
        let view = |measure: Measure| View {
            group: None,
            by: None,
            measure: Some(measure.name()),
            chart: regret::chart(run, shown, measure, regret::most(&report.runs, measure)),
        };
        let views = Measure::ALL.map(view).to_vec();
        let mut figure = figure("regret", index, run, "Satisfied users", views, regret::csv(shown));
        figure.caption = Some(regret::caption(shown));
        Some(figure)
    };
    let options = Measure::ALL.map(|measure| (measure.name().to_owned(), measure.title().to_owned())).to_vec();
    let choice = Choice { key: Key::Measure, label: "Regret of", options };
    let lead = "What the placement came to at each activation of the managers (solid), and what the best placement for the same users, nodes \
                and links would have come to (dashed). The best satisfies users first, so its latency and its instances need not be the least.";
    section(["regret", "Regret", "Regret", lead], vec![choice], of_runs(report, draw))
}

fn costs(report: &Report) -> Section {
    let draw = |measure: &scale::Measure| Figure {
        name: format!("scale-{}", measure.name),
        title: measure.title.to_owned(),
        caption: None,
        is_wide: false,
        views: only(scale::chart(&report.scale, measure)),
        data: vec![Data { by: None, csv: scale::csv(&report.scale) }],
        file: Some(FileOf {
            run: usize::MAX,
            prefix: format!("scale-{}", measure.name),
            title: measure.title.to_owned(),
            width: FileWidth::One,
            groups: FileGroups::Each,
        }),
    };
    let figures = if report.scale.is_empty() { Vec::new() } else { scale::MEASURES.iter().map(draw).collect() };
    let lead =
        "What a run costs as its world grows, as mario bench scale measured it. The axis of nodes is logarithmic.";
    section(["scale", "Scale", "Scale", lead], Vec::new(), figures)
}

/// A section with the maps. Runs with the same nodes and the same paths of users share one.
fn maps(report: &Report) -> Section {
    let nodes = |run: &Run| run.nodes.as_ref().map(|nodes| nodes.ids.clone());
    let is_new = |index: usize, run: &Run| {
        let before = &report.runs[..index];
        !before.iter().any(|other| other.tracks == run.tracks && nodes(other) == nodes(run))
    };
    let draw = |(index, run): (usize, &Run)| {
        let seed = if run.about.has_no_clients { String::new() } else { format!(", seed {}", run.about.seed) };
        let title = format!("{}{seed}", run.about.scenario);
        let mut figure = figure("map", index, run, "Map", only(map::chart(run)), map::csv(run));
        figure.name = format!("map-{}", file_name(&title.replace("seed", "")));
        figure.title = title;
        figure.is_wide = true;
        figure.file = figure.file.filter(|_| map::is_known(run));
        is_new(index, run).then_some(figure)
    };
    let lead = "Nodes by position, the tree between them, and the way of each user from access point to access point in the colour of the \
                application used. Between access points the way is drawn as a curve; the trace does not have the streets.";
    section(["map", "Map", "The map", lead], Vec::new(), of_runs(report, draw))
}
