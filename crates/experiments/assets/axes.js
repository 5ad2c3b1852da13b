// Axes with few lines: grid lines carry the numbers, the zero line alone is drawn strong.

function yAxis(svg, box, scale, values, { label, format = amount } = {}) {
  for (const value of values) {
    const y = scale(value);
    svg.append(
      s("line", { x1: box.left, x2: box.right, y1: y, y2: y, class: value === 0 ? "base" : "gridline" }),
      s("text", { x: box.left - 7, y: y + 3.5, class: "tick end" }, format(value)),
    );
  }
  if (label) svg.append(s("text", { x: 0, y: box.top - 12, class: "axis-label" }, label));
}

// How much room the numbers of a left axis need.
function leftRoom(top, least) {
  return Math.max(least, 14 + whole(top).length * 7);
}

function rightAxis(svg, box, scale, values, label) {
  for (const value of values) {
    svg.append(s("text", { x: box.right + 7, y: scale(value) + 3.5, class: "tick" }, amount(value)));
  }
  svg.append(s("text", { x: box.width, y: box.top - 12, class: "axis-label end" }, label));
}

function xAxis(svg, box, scale, values, { label, format = amount } = {}) {
  for (const value of values) {
    const x = scale(value);
    svg.append(
      s("line", { x1: x, x2: x, y1: box.bottom, y2: box.bottom + 4, class: "base" }),
      s("text", { x, y: box.bottom + 16, class: "tick middle" }, format(value)),
    );
  }
  if (label)
    svg.append(s("text", { x: (box.left + box.right) / 2, y: box.height - 3, class: "axis-label middle" }, label));
}

function timeAxis(svg, box, scale, end) {
  const count = Math.max(2, Math.floor((box.right - box.left) / 72));
  xAxis(svg, box, scale, ticks(0, end, count), { label: "time, ms" });
}

// Moves labels apart: gives each place in order, at least `gap` from the one before it, within bounds.
function spread(places, gap, low, high) {
  const order = places.map((place, index) => [place, index]).sort((one, other) => one[0] - other[0]);
  let floor = low;
  for (const item of order) {
    item[0] = Math.max(item[0], floor);
    floor = item[0] + gap;
  }
  let ceiling = high;
  for (const item of order.reverse()) {
    item[0] = Math.min(item[0], ceiling);
    ceiling = item[0] - gap;
  }
  const result = [];
  for (const [place, index] of order) result[index] = place;
  return result;
}

// Tells what is under the pointer: `lines(place)` for a place along the x axis.
function hover(svg, box, locate, lines) {
  const guide = s("line", { class: "guide", y1: box.top, y2: box.bottom, visibility: "hidden" });
  const area = s("rect", {
    x: box.left,
    y: box.top,
    width: Math.max(0, box.right - box.left),
    height: Math.max(0, box.bottom - box.top),
    class: "hover-area",
    onpointermove: (event) => {
      const frame = svg.getBoundingClientRect();
      const found = locate(((event.clientX - frame.left) / frame.width) * box.width);
      if (!found) return;
      guide.setAttribute("x1", found.x);
      guide.setAttribute("x2", found.x);
      guide.setAttribute("visibility", "visible");
      tooltip.show(event, lines(found.place));
    },
    onpointerleave: () => {
      guide.setAttribute("visibility", "hidden");
      tooltip.hide();
    },
  });
  svg.append(guide, area);
}
