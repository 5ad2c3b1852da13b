// Generated from the structs that are serialised: UPDATE_DOCUMENTS=1 cargo test -p mario-page -p mario-experiments -p mario-dashboard types

type Chart = { parts: Drawn[], layouts: Array<Layout>, tips: Array<string>, edges: Array<number>, };
type Hover = { top: number, bottom: number, zero: number, factor: number, };
type Layout = { width: number, height: number, drawing: Drawn, hover: Hover | null, scrolls: boolean, };
/** An element of a drawing: content is an element, a text, or the index of a part. */
type Drawn = [tag: string, attributes: Record<string, string | number>, ...content: (Drawn | string | number)[]];
