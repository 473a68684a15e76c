/* SPDX-License-Identifier: MIT */
/* Places the texts of the ladder: each takes, of a few places, the one where it covers the least.  All of it is
 * done when the page is laid out, so that scrolling moves no text.
 */

const OVER_TEXT = 10, OVER_LINE = 4, OVER_LIFE = 1, CUT = 6, LATER_PLACE = 0.1; /* costs */
const PART = 100;                  /* pixels: height of the parts of the picture in which obstacles are sought */
const ASCENT = 10, DESCENT = 3, LINE_HEIGHT = 13, NOTE_GAP = 12;
const ABOVE = -5, BELOW = 14, ABOVE_CROSS = -9, BELOW_CROSS = 17; /* baselines of labels, from their line */

function box(x, y, width, height) {
  return [{ x, y }, { x: x + width, y }, { x: x + width, y: y + height }, { x, y: y + height }];
}

function turned(points, at, angle) {
  const cos = Math.cos(angle), sin = Math.sin(angle);
  return points.map(p => ({ x: at.x + p.x * cos - p.y * sin, y: at.y + p.x * sin + p.y * cos }));
}

/* Returns true if no edge of @a is a line between the convex figures @a and @b.  Two points are a figure. */
function noEdgeParts(a, b) {
  for (let i = 0; i < a.length; i++) {
    const p = a[i], q = a[(i + 1) % a.length], nx = q.y - p.y, ny = p.x - q.x;
    let a0 = Infinity, a1 = -Infinity, b0 = Infinity, b1 = -Infinity;
    for (const v of a) {
      const d = v.x * nx + v.y * ny;
      a0 = Math.min(a0, d);
      a1 = Math.max(a1, d);
    }
    for (const v of b) {
      const d = v.x * nx + v.y * ny;
      b0 = Math.min(b0, d);
      b1 = Math.max(b1, d);
    }
    if (a1 <= b0 || b1 <= a0)
      return false;
  }
  return true;
}

function boundsOf(points) {
  const b = { x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity };
  for (const p of points) {
    b.x0 = Math.min(b.x0, p.x);
    b.x1 = Math.max(b.x1, p.x);
    b.y0 = Math.min(b.y0, p.y);
    b.y1 = Math.max(b.y1, p.y);
  }
  return b;
}

/* Texts and lines that have their places. */
class Obstacles {
  constructor(height) { this.parts = Array.from({ length: Math.floor(height / PART) + 1 }, () => []); }

  partOf(y) { return Math.max(0, Math.min(this.parts.length - 1, Math.floor(y / PART))); }

  /* Adds an obstacle.  It does not stand in the way of texts of @owner. */
  add(points, cost, owner) {
    const b = boundsOf(points), first = this.partOf(b.y0), last = this.partOf(b.y1);
    for (let i = first; i <= last; i++)
      this.parts[i].push({ points, cost, owner, first, x0: b.x0, x1: b.x1, y0: b.y0, y1: b.y1 });
  }

  /* Returns the sum of the costs of all obstacles that a text of @owner covers. */
  costOf(points, owner) {
    const b = boundsOf(points), first = this.partOf(b.y0), last = this.partOf(b.y1);
    let cost = 0;
    for (let i = first; i <= last; i++)
      for (const o of this.parts[i])
        if (o.x0 < b.x1 && b.x0 <= o.x1 && o.y0 < b.y1 && b.y0 <= o.y1 && o.owner !== owner && i === Math.max(first, o.first) &&
            noEdgeParts(points, o.points) && noEdgeParts(o.points, points))
          cost += o.cost;
    return cost;
  }

  /* Returns the cheapest of @places, of which earlier ones are better, and makes it an obstacle.  Places that
   * are not needed are not computed.
   */
  take(places, owner) {
    let best = null, least = Infinity, i = -1;
    for (const place of places) {
      i++;
      const cost = this.costOf(place.points, owner) + (place.isCut ? CUT : 0) + i * LATER_PLACE;
      if (cost < least) {
        best = place;
        least = cost;
      }
      if (least <= i * LATER_PLACE)
        break;
    }
    this.add(best.points, OVER_TEXT, owner);
    return best;
  }
}

/* @s in two lines that are as equal as they can be. */
function wrapped(s) {
  let best = [s], least = Infinity;
  for (let i = s.indexOf(' ', 2); i > 0; i = s.indexOf(' ', i + 1)) {
    const lines = [s.slice(0, i), s.slice(i + 1)], most = Math.max(...lines.map(textWidth));
    if (most < least) {
      best = lines;
      least = most;
    }
  }
  return best;
}

/* A place of a note of @lines, in the middle of which is @y, on the left or right of its lifeline. */
function notePlace(x, y, left, lines, room) {
  const cut = lines.map(s => fitted(s, room)), width = Math.max(...cut.map(textWidth));
  const height = LINE_HEIGHT * (cut.length - 1);
  return {
    x: x + (left ? -NOTE_GAP : NOTE_GAP), y: y + 4 - height / 2, middle: y, left, lines: cut, width, height: height + 18, isCut: cut.some((s, i) => s !== lines[i]),
    points: box(left ? x - NOTE_GAP - width : x + NOTE_GAP, y + 4 - height / 2 - ASCENT, width, height + ASCENT + DESCENT),
  };
}

/* The places of a note: outside of the first and last lifeline, if there is room, and between lifelines. */
function* notePlaces(c, stop) {
  const isFirst = stop.column === c.columns[0], isLast = stop.column === c.columns[c.columns.length - 1];
  const x = c.x[stop.column], text = glyphOf(stop) + stop.note, inside = c.lane - 2 * NOTE_GAP;
  const placed = (left, room, below = 0) => notePlace(x, stop.y + below, left, textWidth(text) <= room ? [text] : wrapped(text), room);
  if (isFirst && c.outside[0] && c.columns.length > 1)
    yield placed(true, c.side[0] - 18);
  if (isLast && c.outside[1] && c.columns.length > 1)
    yield placed(false, c.side[1] - 18);
  for (const below of [0, 12, -12]) { /* a packet that ends here comes from above */
    if (!isLast || c.columns.length === 1)
      yield placed(false, inside, below);
    if (!isFirst)
      yield placed(true, inside, below);
  }
  if (textWidth(text) > inside) { /* rather over another lifeline than cut */
    yield placed(false, c.width - x - 2 * NOTE_GAP);
    yield placed(true, x - c.gutter - 2 * NOTE_GAP);
  }
}

/* The places of a label along the line from @p to @q: above and below it, near the sender, in the middle, near the
 * receiver.  It may be longer than the line of a lost packet, but not than its whole way.
 */
function* labelPlaces(c, a, points, label) {
  const [p, q] = points.length === 2 ? points : [points[1], points[2]];
  if (points.length !== 2) {
    const text = fitted(label, Math.max(80, c.lane * 0.6)), width = textWidth(text);
    yield { text, x: 6, y: BELOW, anchor: 'start', at: p, angle: 0, points: turned(box(6, BELOW - ASCENT, width, ASCENT + DESCENT), p, 0) };
    return;
  }
  const right = q.x > p.x, angle = Math.atan2(q.y - p.y, q.x - p.x) + (right ? 0 : Math.PI);
  const length = Math.hypot(q.x - p.x, q.y - p.y), isCrossed = a.fate !== IS.arrived && a.fate !== IS.unknown;
  const way = Math.max(length, Math.abs(c.x[a.to] - p.x) / Math.max(0.2, Math.abs(Math.cos(angle))));
  const text = fitted(label, Math.max(way - 20, a.beyond ? 260 : 80)), width = textWidth(text);
  const middle = Math.max(14, (length - width) / 2), end = Math.max(14, length - width - 16);
  const distances = a.flags & IS.copy ? [length * 0.45, end, 14] : [14, middle, end, (14 + middle) / 2, (middle + end) / 2];
  const place = (distance, y) => ({
    text, x: right ? distance : -distance, y, anchor: right ? 'start' : 'end', at: p, angle,
    points: turned(box(right ? distance : -distance - width, y - ASCENT, width, ASCENT + DESCENT), p, angle),
  });
  const above = isCrossed && width + 20 > length ? ABOVE_CROSS : ABOVE, below = above === ABOVE ? BELOW : BELOW_CROSS;
  for (const y of [above, below])
    for (const d of distances)
      yield place(d, y);
}

/* The places of the word about the end @q of a packet from @p: beside its cross, behind it along its line, below it,
 * above it.
 */
function endPlaces(text, p, q) {
  const width = textWidth(text), right = q.x > p.x, along = Math.atan2(q.y - p.y, q.x - p.x) + (right ? 0 : Math.PI);
  const place = (x, y, anchor, angle = 0) => ({
    text, x, y, anchor, at: q, angle,
    points: turned(box(x - (anchor === 'start' ? 0 : anchor === 'end' ? width : width / 2), y - ASCENT, width, ASCENT + DESCENT), q, angle),
  });
  const beside = angle => right ? place(10, 5, 'start', angle) : place(-10, 5, 'end', angle);
  return [beside(0), beside(along), place(0, 20, 'middle'), place(0, -10, 'middle'), right ? place(-10, 5, 'end') : place(10, 5, 'start')];
}

/* Gives each stop with a note .place, and each arrow of @items .label and .end.  Notes come first: their
 * rows are given.
 */
function placeTexts(t, c, rows, items, height) {
  const o = new Obstacles(height), arrows = items.filter(i => i.type === 'arrow');
  for (const b of items.filter(i => i.type === 'band'))
    o.add(box((c.x[c.columns[0]] + c.x[c.columns[c.columns.length - 1]] - textWidth(b.text)) / 2, b.y0 + 4, textWidth(b.text), BAND - 8), OVER_TEXT, b);
  for (const column of c.columns)
    o.add([{ x: c.x[column], y: 0 }, { x: c.x[column], y: height }], OVER_LIFE, null);
  for (const { points, arrow } of arrows)
    for (let i = 1; i < points.length; i++)
      o.add([points[i - 1], points[i]], OVER_LINE, arrow);
  for (const s of rows)
    if (s.note && s.arrow < 0)
      o.add(box(c.x[s.column] - 4, s.y - 4, 8, 8), OVER_LINE, s);
  for (const s of rows)
    s.place = s.note ? o.take(notePlaces(c, s), s) : null;
  for (const item of arrows) {
    const { arrow: a, points } = item, last = points[points.length - 1];
    const label = (a.flags & IS.copy ? a.label || 'copy' : a.label) + (a.beyond ? '  (' + a.beyond + ')' : '');
    if (a.end)
      o.add(box(last.x - 4, last.y - 4, 8, 8), OVER_LINE, null);
    item.label = o.take(labelPlaces(c, a, points, label), a);
    item.end = a.end ? o.take(endPlaces(a.end, points[points.length - 2], last), a.end) : null;
    for (const place of [item.label, item.end])
      for (const p of place ? place.points : []) {
        item.y0 = Math.min(item.y0, p.y);
        item.y1 = Math.max(item.y1, p.y);
      }
  }
}
