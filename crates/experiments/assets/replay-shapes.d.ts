// The types of the replay's own data.

/** A run that is shown instance by instance. */
type Replayed = Run & { replay: Replay; nodes: Nodes };

/** The state at a time: the positions of instances and users, and the state of nodes; -1 for nowhere. */
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

/** An event and the node that its instance was on. */
type Judgement = { event: ReplayEvent; from: number };

/** The selection. */
type Picked = { instance?: number; node?: number };
type Choose = (picked: Picked) => void;

/** The box of a node around its cells. */
type NodeBox = { x: number; y: number; width: number; height: number; columns: number; cell: number };

/** Where everything is drawn; `users` is the place of a user at an access point. */
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
