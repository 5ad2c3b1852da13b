// Generated from the structs that are serialised: UPDATE_DOCUMENTS=1 cargo test -p mario-experiments -p mario-dashboard types

type About = { program: string, scenario: string, seed: number, duration: Compact, step: Compact, evaluation_period: Compact, detail: string, observation: string, routing: string, arbitration: string, memory: string, node_count: number, user_count: number, is_complete: boolean, until: Compact, evaluations: number, instances_at_most: number, served: number, lost: number, };
type ApplicationRow = { id: string, kind: string, hardware: number, max_rate: Compact, max_latency: Compact, flavours?: [name: string, hardware: number][], keeps?: number, };
type Area = { cell: [number, number], nodes: number, units: number, };
type Areas = { by: string, parts: Array<Area>, frames: Samples<[area: number, application: number, instances: number][]>, };
type Beside = { source: string, values: Array<{ [key in string]: number }>, };
type Choice = { key: Key, label: string, options: Array<[string, string]>, };
type Claim = { claim: string, holds: boolean, numbers: string, };
type ClauseText = { text: string, place: string, words: Array<[string, string]>, };
type Compact = number;
type Data = { by?: string, csv: string, };
type Explanations = { texts: Array<string>, lines: Array<Array<number>>, parts: Array<Array<number>>, all: Array<Array<number>>, };
type Figure = { name: string, title: string, caption?: string, is_wide: boolean, views: Array<View>, data: Array<Data>, };
type FurtherCounts = { adapt?: number, evicted?: number, shrunk?: number, sleep?: number, wake?: number, woken?: number, not_woken?: number, };
type Hover = { top: number, bottom: number, zero: number, factor: number, };
type Key = "group" | "by" | "measure" | "outcomes";
type Layout = { width: number, height: number, drawing: Drawn, hover: Hover | null, };
type MeanAndMax = { mean: number, max: number, };
type Nodes = { ids: Array<string>, capacities: Array<number>, tiers: Array<number>, parents: Array<number>, is_access_point: Array<number>, positions: Array<[number, number]> | null, other_links: Array<[number, number]>, };
type OperationCounts = { undeploy: number, nop: number, migrate: number, replicate: number, inhibited: number, };
type PageData = { title: string, runs: Array<Run>, published: Beside | null, claims: Array<Claim>, tables: Array<Table>, sections: Array<Section>, };
type PolicyText = { name: string, memory: number, clauses: Array<ClauseText>, };
type Replay = { instances: [id: number | string, application: number][], moments: Array<Compact>, events: ReplayEvent[], decisions: Record<number, Decision[]>, has_all_decisions: boolean, explanations: Explanations | null, reasons: [node: string, rule: string, text: string][], };
type Run = { label: string, about: About, policies: Array<PolicyText>, applications: Array<ApplicationRow>, groups: Array<string>, tier_names: Array<string>, nodes: Nodes | null, users: [id: string, application: number][], figures: Array<ShownFigures>, regret: ShownRegret | null, replay: Replay | null, areas: Areas | null, };
type Samples<T> = { times: Array<Compact>, values: Array<T>, };
type Section = { id: string, name: string, title: string, lead: string, choices: Array<Choice>, figures: Array<Figure>, };
type ShownFigures = { movements: number, counts: OperationCounts, further: FurtherCounts, instances: MeanAndMax, response: number | null, service_usage: number | null, pearson_r: number | null, cycles_to_steady_state: MeanAndMax | null, };
type ShownRegret = { satisfied: [number, number], };
type Table = { id: string, title: string, lead: string, head: Array<string>, rows: Array<Array<string>>, notes: Array<string>, };
type View = { group?: number, by?: string, measure?: string, parts: Drawn[], layouts: Array<Layout>, tips: Array<string>, edges: Array<Compact>, };
/** An element of a drawing: content is an element, a text, or the index of a part. */
type Drawn = [tag: string, attributes: Record<string, string | number>, ...content: (Drawn | string | number)[]];
/** A code of EVENT, and what the event is about. */
type ReplayEvent = [moment: number, code: number, ...about: number[]];
/** What an agent saw and decided, at one evaluation or at several in a row. */
type Decision = [
  first: number, last: number, count: number, node: number, free: number, seen: Seen, explanation: number, policy: number,
];
type Seen = [
  requests?: RequestFact[], inhibited?: Wish[], solutions?: Solution[], ending?: string | null, random?: number | null,
];
/** The neighbour is the index of a node, or -1 for the agent's own. */
type RequestFact = [neighbour: number, rate: number, latency: number];
/** An index into OPERATIONS, and a node, a flavour, or -1 for the agent's own node. */
type Wish = [operation: number, target: number | string];
/** As a wish; a text in the place of an operation says why the answer is not valid. */
type Solution = [operation: number | string, target: number | string | null, clause: number];
declare const EVENT: { deployed: 0; handover: 1; migrate: 2; replicate: 3; adapt: 4; undeploy: 5; inhibited: 6; deployInhibited: 7; nodeDown: 8; nodeUp: 9; nodeLeaving: 10; linkDown: 11; linkUp: 12; evicted: 13; shrunk: 14; announced: 15; sleep: 16; wake: 17; woken: 18; notWoken: 19 };
declare const OPERATIONS: string[];
declare const LOOKS: string[];
