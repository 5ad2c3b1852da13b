// The types of the scripts' own data. Those of the data that the program writes into the page are in `types.d.ts`.

/** The content of an element; null and false are left out. */
type Child = Node | string | number | null | undefined | false | Child[];

/** The attributes of an element: texts, numbers, `true` for an attribute without a value, and functions as event listeners. */
type Given = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

/** A place in a drawing. */
type Place = [x: number, y: number, ...scale: number[]];

/** A line of an explanation. */
type ExplanationLine = { depth: number; look: string; text: string; before?: string; after?: string; place?: string | null };
