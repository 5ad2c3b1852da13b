// Records that the program wrote as columns.

/**
 * The records of a table, in order. A field is left out of the records that have no value for it.
 * @template T
 * @param {Columns<T>} table
 * @returns {T[]}
 */
function recordsOf({ length, columns }) {
  /** @type {Record<string, unknown>[]} */
  const records = Array.from({ length }, () => ({}));
  for (const [name, column] of Object.entries(columns)) {
    const values = Array.isArray(column) ? column : listsOf(column);
    records.forEach((record, row) => {
      if (values[row] !== null) record[name] = values[row];
    });
  }
  return /** @type {T[]} */ (records);
}

/**
 * The lists of records of a column.
 * @param {ColumnOfLists} column
 */
function listsOf({ lengths, rows }) {
  const records = recordsOf(rows);
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return records.slice(end - length, end);
  });
}

/**
 * The events of a replay, in order: the rows of the tables of their kinds, taken in turns.
 * @param {EventColumns} events
 * @returns {ReplayEvent[]}
 */
function eventsOf({ moment, kind, kinds }) {
  const rows = kinds.map(({ events }) => recordsOf(events).values());
  return moment.map((at, place) => {
    const event = { kind: kinds[kind[place]].kind, ...rows[kind[place]].next().value, moment: at };
    return /** @type {ReplayEvent} */ (event);
  });
}
