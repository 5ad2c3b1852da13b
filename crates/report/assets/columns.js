// Restores the records that the page's data stores as columns.

/**
 * The records of a table, in order. A record without a value for a field does not have the field.
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
 * The values of a column of lists of records.
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
 * The events of a replay, in order. The nth event of a kind is the nth row of the table of that kind.
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
