// How long clients waited: one row for each kind of application, on a logarithmic axis.

// Bucket k holds response times from 2^(k/4) on; those of 0 go with the shortest.
function bucketTime(bucket) {
  return 2 ** (bucket / 4);
}

function distributions(run) {
  return run.groups.slice(1).map((kind) => {
    const counts = new Map();
    let [served, lost, total] = [0, 0, 0];
    run.applications.forEach((application, place) => {
      if (application.kind !== kind) return;
      const row = run.responses[place];
      served += row.served;
      lost += row.lost;
      total += row.sum;
      for (const [bucket, count] of row.histogram) counts.set(bucket, (counts.get(bucket) || 0) + count);
    });
    return { kind, counts, served, lost, mean: served ? total / served : null };
  });
}

// The time below which a share of the requests lies, to the width of a bucket.
function quantile({ counts, served }, share) {
  let seen = counts.get(null) || 0;
  if (seen >= served * share) return 0;
  for (const bucket of [...counts.keys()].filter((key) => key !== null).sort((one, other) => one - other)) {
    seen += counts.get(bucket);
    if (seen >= served * share) return bucketTime(bucket + 1);
  }
  return null;
}

function duration(value) {
  return value === null
    ? "n/a"
    : value >= 10
      ? whole(value)
      : value >= 1
        ? value.toFixed(1)
        : String(Number(value.toPrecision(1)));
}

function distributionChart(run, width) {
  const rows = distributions(run).filter((row) => row.served);
  if (!rows.length) return nothing(width, "No client request was served.");
  const keys = rows.flatMap((row) => [...row.counts.keys()].filter((key) => key !== null));
  const low = Math.min(...keys, 0);
  const high = Math.max(...keys, 4) + 1;
  const room = 88;
  const { svg, box } = canvas(width, 26 + rows.length * room + 22, { left: 16, right: 16, top: 6, bottom: 38 });
  const x = linear([low, high], [box.left, box.right]);
  rows.forEach((row, place) => {
    const floor = box.top + (place + 1) * room;
    const counts = new Map(row.counts);
    if (counts.has(null)) counts.set(low, (counts.get(low) || 0) + counts.get(null));
    counts.delete(null);
    const most = Math.max(...counts.values());
    const y = linear([0, most], [floor, floor - room + 36]);
    for (const [bucket, count] of counts) {
      svg.append(
        s("rect", {
          x: x(bucket) + 0.5,
          width: Math.max(1, x(bucket + 1) - x(bucket) - 1),
          y: y(count),
          height: floor - y(count),
          class: "response",
          onpointermove: (event) =>
            tooltip.show(event, [
              `${row.kind}: ${duration(bucketTime(bucket))} to ${duration(bucketTime(bucket + 1))}`,
              `${whole(count)} of ${whole(row.served)} (${fixed((100 * count) / row.served, 1)} %)`,
            ]),
          onpointerleave: tooltip.hide,
        }),
      );
    }
    svg.append(s("line", { x1: box.left, x2: box.right, y1: floor, y2: floor, class: "base" }));
    const middle = quantile(row, 0.5);
    if (middle) {
      const at = x(Math.log2(middle) * 4);
      svg.append(s("line", { x1: at, x2: at, y1: floor - room + 30, y2: floor + 3, class: "mean" }));
    }
    svg.append(
      s(
        "text",
        { x: 0, y: floor - room + 20, class: "direct" },
        s("tspan", { class: "strong" }, row.kind || "all"),
        `  mean ${duration(row.mean)}, half below ${duration(middle)}, 95 % below ${duration(quantile(row, 0.95))}`,
        row.lost ? `, ${whole(row.lost)} lost` : "",
      ),
    );
  });
  const decades = [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10000].filter(
    (value) => Math.log2(value) * 4 >= low && Math.log2(value) * 4 <= high,
  );
  box.bottom = box.top + rows.length * room;
  xAxis(svg, box, (value) => x(Math.log2(value) * 4), decades, { label: "response time, ms" });
  return svg;
}

function distributionRows(run) {
  const rows = [["application", "kind", "from", "to", "count"]];
  run.responses.forEach((row, place) => {
    const { id, kind } = run.applications[place];
    for (const [bucket, count] of row.histogram) {
      rows.push(
        bucket === null ? [id, kind, 0, 0, count] : [id, kind, bucketTime(bucket), bucketTime(bucket + 1), count],
      );
    }
  });
  return rows;
}
