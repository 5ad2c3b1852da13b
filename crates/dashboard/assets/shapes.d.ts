// The types of the dashboard's own data. Those of the server's data are in `types.d.ts`, and those of the answers of nodes
// in `operators.d.ts`.

/** All that the server knows. */
type Everything = Snapshot & { details: NodeDetails[] };

/** The selection. */
type Picked = { node?: string; instance?: string };
type Choose = (picked: Picked | null) => void;

/** A chart on the page. */
type ChartCard = { plot: HTMLElement; element: HTMLElement; caption: HTMLElement };

/** The box of a node on the map. */
type NodeBox = {
  columns: number;
  units: number;
  width: number;
  height: number;
  x: number;
  y: number;
  middleX: number;
  middleY: number;
  /** The width that texts below it can have, in pixels. */
  room: number;
  /** Its parent, if the line from it goes around other leaves. */
  under: NodeBox | null;
};
type MapLayout = {
  boxes: Map<string, NodeBox>;
  labels: { text: string; y: number }[];
  width: number;
  height: number;
  isTree: boolean;
};
