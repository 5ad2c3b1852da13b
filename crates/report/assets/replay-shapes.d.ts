// The types that the scripts of the replay use among themselves.

/** A run that is shown instance by instance. */
type Replayed = Run & { replay: Replay; nodes: Nodes };

/**
 * The state at a time: the node, slot and flavour of each instance, the node of each user, and the instances on each
 * node. -1 is nowhere. `broken` has the keys of links that are down.
 */
type ReplayState = {
  node: Int32Array;
  slot: Int32Array;
  flavour: Int32Array;
  user: Int32Array;
  on: number[][];
  asleep: Set<number>;
  down: Set<number>;
  leaving: Set<number>;
  broken: Set<string>;
};

/** An event, and the node that its instance was on before it; -1 if it was on none. */
type Judgement = { event: ReplayEvent; from: number };

/** The selected instance or node. */
type Picked = { instance?: number; node?: number };
type Choose = (picked: Picked) => void;

/** The box of a node around its cells. */
type NodeBox = { x: number; y: number; width: number; height: number; columns: number; cell: number };

/** Where everything is drawn; `users` returns the place of a user at an access point, `tops` are the tops of tiers. */
type StageLayout = {
  width: number;
  height: number;
  cell: number;
  boxes: NodeBox[];
  users: (node: number, place: number, count: number) => Place;
  radius: number;
  tops?: number[];
};

/** A run that is shown by area. */
type AreaRun = Run & { areas: Areas };

type EventKind = ReplayEvent["kind"];

/** The names of what an event refers to by number; `from` is the node of its instance, and `refusal` who refused and why. */
type EventNames = {
  from: string;
  instance: (place: number) => string;
  application: (place: number) => string;
  node: (place: number) => string;
  flavour: (instance: number, flavour: number) => string;
  wanted: (wanted: Wanted) => string;
  reason: (place: number) => string;
  refusal: (place: number) => string;
};

/** What the page says of events of a kind. */
type WordsOfKind<K extends EventKind> = {
  /** What happened, from the point of view of the instance `seenBy` if there is one. Without it, it is in no list. */
  text?: (event: Extract<ReplayEvent, { kind: K }>, names: EventNames, seenBy?: number) => string;
  /** The style class in lists; by default, the kind. */
  look?: string;
  /** The words after a number of them: for any number, or for one and for more. */
  counted?: [one: string, many?: string];
  /** The head and the name of the column of tables that is shown if the count is not zero in some run. */
  column?: [head: string, name: keyof FurtherCounts];
  /** The name and style class of its mark on the stage. */
  mark?: string;
  /** When the mark is in the legend: always, if an application has flavours, or if there is such an event. */
  legend?: "always" | "flavours" | "found";
  /** For an operation with a target node, the word before its own node; by default, "to". */
  onOwnNode?: string;
};
