// Generated from the structs that are serialised: UPDATE_DOCUMENTS=1 cargo test -p mario-page -p mario-experiments -p mario-dashboard types

type Happening = { number: number, time_ms: number, node: string, kind: string, text: string, instance: string | null, application: string | null, from: string | null, to: string | null, is_fresh: boolean, };
type Part = { text: string, node: string, };
type Problem = { severity: Severity, text: string, node: string | null, instance: string | null, parts?: Array<Part>, };
type Severity = "bad" | "notice";
type ShownApplication = { id: string, colour: number, instances: number, requests_per_s: number | null, responses: unknown, };
type ShownChart = { name: string, title: string, caption: string | null, chart: Chart, };
type ShownInstance = { id: string, application: string | null, node: string, state: unknown, is_silent: boolean, is_pinned: unknown, is_anchor: unknown, is_asleep: unknown, is_moving: boolean, target: string | null, hardware: unknown, requests_per_s: number | null, has_no_answer: boolean, told_by: string | null, };
type ShownLink = { ends: [string, string], is_up: boolean | null, has_data: boolean | null, round_trip_ms: number | null, };
type ShownNode = { id: string, address: string | null, reach: string, cause: string | null, capacity: unknown, free: unknown, unreserved: unknown, reservations: number | null, is_draining: unknown, journal_fault: unknown, requests_per_s: number | null, answered_per_s: number | null, failed_per_s: number | null, tier: unknown, tier_name: unknown, users: unknown, };
type Snapshot = { time_ms: number, outcome: string | null, watched: number, answering: number, nodes: Array<ShownNode>, links: Array<ShownLink>, instances: Array<ShownInstance>, applications: Array<ShownApplication>, problems: Array<Problem>, title: unknown, facts: unknown, faults: unknown, };
