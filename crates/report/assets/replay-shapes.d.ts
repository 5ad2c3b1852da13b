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
