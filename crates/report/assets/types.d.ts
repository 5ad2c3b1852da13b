// Generated from the structs that are serialised: UPDATE_DOCUMENTS=1 cargo test -p mario-page -p mario-experiments -p mario-dashboard types

type About = { program: string, scenario: string, seed: number, duration: Compact, step: Compact, evaluation_period: Compact, detail: string, observation: string, routing: string, arbitration: string, memory: string, node_count: number, user_count: number, is_complete: boolean, until: Compact, evaluations: number, instances_at_most: number, served: number, lost: number, is_live?: boolean, has_no_clients?: boolean, };
type ApplicationRow = { id: string, kind: string, hardware: number, max_rate: Compact, max_latency: Compact, flavours?: [name: string, hardware: number][], keeps?: number, first_description?: number, };
type Area = { cell: [number, number], nodes: number, units: number, };
type Areas = { by: string, parts: Array<Area>, frames: Samples<[area: number, application: number, instances: number][]>, };
type Choice = { key: Key, label: string, options: Array<[string, string]>, };
type Claim = { claim: string, holds: boolean, numbers: string, };
type ClauseText = { text: string, place: string, words: Array<[string, string]>, };
type Compact = number;
type Data = { by?: string, csv: string, };
type Decision = { instance: number, first: Compact, last: Compact, count: number, node: number, free?: number, explanation: number, policy: number, requests: Array<SeenRequests>, inhibited: Array<Wanted>, solutions: Array<Solved>, ending?: string, random?: number, };
type EventColumns = { moment: Array<number>, kind: Array<number>, kinds: Array<EventsOfKind>, };
type EventOfKind = { "kind": "deployed", instance: number, node: number, } | { "kind": "handover", user: number, to?: number, } | { "kind": "migrate", instance: number, node: number, renamed?: number, } | { "kind": "replicate", instance: number, node: number, replica: number, } | { "kind": "adapt", instance: number, flavour: number, } | { "kind": "undeploy", instance: number, } | { "kind": "inhibited", instance: number, operation: number, target?: number, reason: number, } | { "kind": "deployInhibited", application: number, node: number, reason: number, } | { "kind": "nodeDown", node: number, instances: Array<number>, } | { "kind": "nodeUp", node: number, } | { "kind": "nodeLeaving", node: number, } | { "kind": "linkDown", nodes: [number, number], } | { "kind": "linkUp", nodes: [number, number], } | { "kind": "evicted", instance: number, reason: number, } | { "kind": "shrunk", instance: number, flavour: number, reason: number, } | { "kind": "announced", instance: number, evaluations: number, reason: number, } | { "kind": "sleep", instance: number, } | { "kind": "wake", instance: number, } | { "kind": "woken", instance: number, } | { "kind": "notWoken", instance: number, reason: number, };
type EventsOfKind = { kind: string, events: Columns<object>, };
type Explanations = { texts: Array<string>, lines: Array<Array<number>>, parts: Array<Array<number>>, all: Array<Array<number> | null>, };
type Figure = { name: string, title: string, caption?: string, is_wide: boolean, views: Array<View>, data: Array<Data>, };
type FurtherCounts = { adapt?: number, evicted?: number, shrunk?: number, sleep?: number, wake?: number, woken?: number, not_woken?: number, };
type Key = "group" | "by" | "measure" | "outcomes";
type MeanAndMax = { mean: number, max: number, };
type Nodes = { ids: Array<string>, capacities: Array<number>, tiers: Array<number>, parents: Array<number>, is_access_point: Array<number>, positions: Array<[number, number]> | null, other_links: Array<[number, number]>, };
type OperationCounts = { undeploy: number, nop: number, migrate: number, replicate: number, inhibited: number, };
type PageData = { title: string, runs: Array<Run>, published: ReferenceValues | null, claims: Array<Claim>, tables: Array<Table>, sections: Array<Section>, };
type PolicyText = { name: string, memory: number, clauses: Array<ClauseText>, };
type ReferenceValues = { source: string, values: Array<{ [key in string]: number }>, };
type Replay = { instances: [id: number | string, application: number][], moments: Array<Compact>, events: EventColumns, decisions: Columns<Decision>, has_all_decisions: boolean, explanations: Explanations | null, reasons: [node: string, rule: string, text: string][], };
type Run = { label: string, about: About, policies: Array<PolicyText>, applications: Array<ApplicationRow>, groups: Array<string>, tier_names: Array<string>, nodes: Nodes | null, users: [id: string, application: number][], figures: Array<ShownFigures>, regret: ShownRegret | null, replay: Replay | null, areas: Areas | null, };
type Samples<T> = { times: Array<Compact>, values: Array<T>, };
type Section = { id: string, name: string, title: string, lead: string, choices: Array<Choice>, figures: Array<Figure>, };
type SeenRequests = { neighbour?: number, rate: number, latency: number, };
type ShownFigures = { movements: number, counts: OperationCounts, further: FurtherCounts, instances: MeanAndMax, response: number | null, service_usage: number | null, pearson_r: number | null, cycles_to_steady_state: MeanAndMax | null, };
type ShownRegret = { satisfied: [number, number], };
type Solved = { operation?: number, target?: WantedTarget, invalid?: string, clause: number, };
type Table = { id: string, title: string, lead: string, head: Array<string>, rows: Array<Array<string>>, notes: Array<string>, };
type View = { group?: number, by?: string, measure?: string, chart: Chart, };
type Wanted = { operation: number, target?: WantedTarget, };
type WantedTarget = number | string;
/** Records as columns, which `recordsOf` turns back into records. No data has `record`: it carries the type. */
type Columns<T> = { length: number, columns: Record<string, unknown[] | ColumnOfLists>, record?: T };
/** A column whose values are lists of records: the length of each list, and the records of all. */
type ColumnOfLists = { lengths: number[], rows: Columns<unknown> };
/** An event with the index of its time. */
type ReplayEvent = EventOfKind & { moment: number };
declare const LINE_ROLES: string[];
