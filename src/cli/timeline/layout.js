/* SPDX-License-Identifier: MIT */
/* The places of everything: only what the filter shows, one row for each stop.  Time is not to scale. */

const ROW = 27, ROW_HEAD = 17, FLIGHT = 36, BAND = 24, EDGE = 14, TOP = 16, BUCKET = 400;
const ON_WAY = 0.6; /* of its way, drawn of a lost packet */
const LANE_LEAST = 190, LANE_MOST = 620, NOTE_LEAST = 150, SIDE_LEAST = 28, NOTE_MOST = 320, NARROW = 620;
const STRETCH_MOST = 1.5;
const GAP_FLIGHTS = 4; /* as GAP_FLIGHTS of viz/ladder_model.c */

const measure = document.createElement('canvas').getContext('2d');
measure.font = '12px ' + getComputedStyle(document.body).fontFamily;
const widths = new Map(); /* of texts that have been measured */
function textWidth(s) {
  let width = widths.get(s);
  if (width === undefined) {
    width = measure.measureText(s).width;
    widths.set(s, width);
  }
  return width;
}

/* The width of the longest of some texts: only those are measured that may be it. */
class Widest {
  constructor() { this.width = 0; this.length = 0; }
  take(s) {
    if (s.length < this.length * 0.8)
      return;
    this.length = Math.max(this.length, s.length);
    this.width = Math.max(this.width, textWidth(s));
  }
}

/* @s, shortened to @width. */
function fitted(s, width) {
  if (textWidth(s) <= width)
    return s;
  let n = Math.max(1, Math.floor(s.length * width / textWidth(s)));
  while (n > 1 && textWidth(s.slice(0, n) + '…') > width)
    n--;
  return s.slice(0, n) + '…';
}

function glyphOf(stop) { return TONES[stop.tone].name === 'done' ? '✓ ' : TONES[stop.tone].name === 'bad' ? '✗ ' : ''; }

/* The stop where an arrow begins: a copy begins where its original does. */
function tailOf(t, a) {
  return a.tail < 0 && a.original >= 0 ? t.arrows[a.original].tail : a.tail;
}

/* The arrows and stops that the filter shows. */
function chooseVisible(t, filter) {
  const isHidden = event => t.events[event].qp >= 0 && filter.qps.has(t.events[event].qp);
  const arrows = t.arrows.map(a => {
    const ends = [tailOf(t, a), a.head].filter(s => s >= 0);
    return !filter.tones.has(a.tone) && !filter.columns.has(a.from) && !filter.columns.has(a.to) &&
           !ends.some(s => isHidden(t.stops[s].event));
  });
  const stops = t.stops.map(s => {
    if (s.arrow >= 0)
      return arrows[s.arrow];
    return !s.isBlank && !filter.columns.has(s.column) && !filter.tones.has(s.tone) && !isHidden(s.event);
  });
  return { arrows, stops };
}

/* Returns true if @a has no row of its own for its end: it is lost, and ends beside the arrows that arrive. */
function isAimed(t, shown, a) {
  return a.head >= 0 && a.tail >= 0 && a.from !== a.to && t.stops[a.head].onWire && shown.arrows[a.i] && shown.stops[a.tail];
}

/* Sets y of the ends of lost packets.  A lost packet is drawn towards the place where it would have arrived, between
 * those before and after it, so that no arrow seems to overtake another.  It ends above the next of the @bands.
 */
function aimLost(t, shown, bands, scale) {
  const ways = new Map(); /* of arrows between the same lifelines: tail and aim of each */
  for (const a of t.arrows) {
    if (a.tail < 0 || a.head < 0 || !shown.arrows[a.i])
      continue;
    const way = a.from + ' ' + a.to, tail = t.stops[a.tail].y;
    if (!ways.has(way))
      ways.set(way, []);
    ways.get(way).push({ a, tail, aim: isAimed(t, shown, a) ? -1 : t.stops[a.head].y });
  }
  for (const flights of ways.values()) {
    let after = null;
    for (const f of flights.slice().reverse()) { /* the next that arrives */
      f.after = after;
      after = f.aim >= 0 ? f : after;
    }
    flights.forEach((f, i) => {
      if (f.aim >= 0)
        return;
      const { after } = f, before = i > 0 && flights[i - 1].aim > f.tail ? flights[i - 1] : null;
      if (before && after && after.tail > before.tail && after.aim > before.aim)
        f.aim = before.aim + (after.aim - before.aim) * (f.tail - before.tail) / (after.tail - before.tail);
      else if (after && after.tail < f.tail + after.aim - after.tail)
        f.aim = f.tail + after.aim - after.tail;
      else
        f.aim = f.tail + (before ? before.aim - before.tail : FLIGHT * scale);
      const band = bands.find(b => b.y0 > f.tail), y = f.tail + (f.aim - f.tail) * ON_WAY;
      t.stops[f.a.head].y = band ? Math.min(y, band.y0 - 8) : y;
    });
  }
}

/* Sets y of each stop that is shown.  Returns the bands that stand for long pauses. */
function placeStops(t, shown, rows, scale) {
  const bands = [];
  let y = TOP, low = TOP, before = null, above = null; /* above: the stop before, which may have no row of its own */
  for (const s of t.stops) {
    s.y = -1;
    if (!shown.stops[s.i])
      continue;
    const a = s.arrow >= 0 ? t.arrows[s.arrow] : null;
    const isHead = a && a.head === s.i;
    s.isAimed = isHead && isAimed(t, shown, a);
    if (!s.isAimed)
      y += before ? (isHead && !s.note && before.column !== s.column ? ROW_HEAD : ROW) * scale : 4;
    if (isHead && a.tail >= 0 && shown.arrows[a.i] && !s.onWire)
      y = Math.max(y, t.stops[a.tail].y + FLIGHT * scale);
    if (above && (above.i === s.i - 1 ? s.gap : s.ns - above.ns >= GAP_FLIGHTS * t.usual)) {
      const text = above.i === s.i - 1 ? s.gap : timeText(s.ns - above.ns) + 'us';
      y = Math.max(y, low);
      bands.push({ y0: y - 10, y1: y - 10 + BAND, text });
      y += BAND + 8;
    }
    s.y = y;
    s.row = rows.length;
    rows.push(s);
    above = s;
    if (s.isAimed)
      low = Math.max(low, t.stops[a.tail].y + FLIGHT * scale * ON_WAY + ROW);
    else
      before = s;
  }
  aimLost(t, shown, bands, scale);
  return { bands, height: Math.max(y, low) + 40 };
}

/* Places the lifelines in a picture of @width.  In .outside is whether the notes of the first and last one
 * are outside of the lifelines.
 */
function placeColumns(t, filter, rows, width) {
  const columns = t.columns.map((_, i) => i).filter(i => !filter.columns.has(i));
  const x = t.columns.map(() => 0);
  const most = [new Widest(), new Widest()], label = new Widest();
  let gutter = 0;
  for (const s of rows) {
    gutter = Math.max(gutter, timeText(s.ns).length * 6.6);
    const a = s.arrow >= 0 ? t.arrows[s.arrow] : null;
    if (a && (a.tail === s.i || a.tail < 0))
      label.take(a.label);
    if (s.note && s.column === columns[0])
      most[0].take(glyphOf(s) + s.note);
    if (s.note && s.column === columns[columns.length - 1])
      most[1].take(glyphOf(s) + s.note);
  }
  gutter = Math.ceil(gutter) + EDGE + 10;
  const side = most.map(n => Math.min(NOTE_MOST, n.width) + 30), outside = [width >= NARROW, width >= NARROW];
  const lanes = Math.max(1, columns.length - 1);
  const needed = Math.max(LANE_LEAST, Math.min(460, label.width + 50));
  const tooWide = () => gutter + side[0] + side[1] + EDGE + lanes * needed - width;
  const give = side.map(n => n - Math.min(n, Math.max(NOTE_LEAST, n / 2 + 24))); /* long notes have two lines */
  if (columns.length > 2 && tooWide() > give[0] + give[1])
    outside[0] = false; /* as of the lifelines in the middle */
  if (columns.length === 2 && tooWide() > give[0] + give[1])
    outside.fill(false); /* between them is more room */
  outside.forEach((is, i) => {
    if (!is) {
      side[i] = SIDE_LEAST;
      give[i] = 0;
    }
  });
  const over = tooWide(), all = give[0] + give[1];
  if (over > 0 && all > 0) /* rather fold notes than shorten labels, and labels than be wider than the window */
    side.forEach((n, i) => { side[i] = n - give[i] * Math.min(1, over / all); });
  const room = (width - gutter - side[0] - side[1] - EDGE) / lanes;
  const lane = Math.max(LANE_LEAST, Math.min(room, LANE_MOST));
  columns.forEach((c, k) => { x[c] = gutter + side[0] + k * lane; });
  if (columns.length === 1)
    x[columns[0]] = gutter + side[0];
  const end = columns.length ? x[columns[columns.length - 1]] : gutter;
  return { columns, x, gutter, outside, lane, side, width: Math.max(width, end + side[1] + (columns.length === 1 ? lane / 2 : 0) + EDGE) };
}

/* The line of an arrow: its points, and how it ends. */
function lineOf(t, a, c) {
  const tail = tailOf(t, a), head = a.head;
  const right = c.x[a.to] > c.x[a.from] || (a.from === a.to && a.from !== c.columns[c.columns.length - 1]);
  const way = (right ? 1 : -1) * (a.from === a.to ? c.lane * 0.7 : Math.abs(c.x[a.to] - c.x[a.from]));
  const p0 = tail >= 0 && t.stops[tail].y >= 0 ? { x: c.x[a.from], y: t.stops[tail].y } : null;
  const p1 = head >= 0 && t.stops[head].y >= 0 ? { x: c.x[a.to], y: t.stops[head].y } : null;
  if (p0 && p1 && t.stops[head].onWire)
    return [p0, { x: p0.x + way * ON_WAY, y: p1.y }];
  if (p0 && p1 && a.from === a.to) {
    const out = p0.x + (right ? 44 : -44);
    return [p0, { x: out, y: p0.y + 4 }, { x: out, y: p1.y - 4 }, p1];
  }
  if (p0 && p1)
    return [p0, p1];
  if (p0)
    return [p0, { x: p0.x + Math.sign(way) * Math.min(110, Math.abs(way) * 0.5), y: p0.y + 10 }];
  if (p1 && t.stops[head].onWire)
    return [{ x: c.x[a.from] + way * 0.3, y: p1.y - 6 }, { x: c.x[a.from] + way * ON_WAY, y: p1.y }];
  if (p1)
    return [{ x: p1.x - Math.sign(way) * Math.min(110, Math.abs(way) * 0.5), y: p1.y - 10 }, p1];
  return null;
}

/* Lists of what is in each part of the picture, BUCKET pixels high. */
function sortIntoBuckets(height, items) {
  const buckets = Array.from({ length: Math.floor(height / BUCKET) + 1 }, () => []);
  for (const item of items)
    for (let b = Math.max(0, Math.floor(item.y0 / BUCKET)); b <= Math.min(item.y1 / BUCKET, buckets.length - 1); b++)
      buckets[b].push(item);
  return buckets;
}

/* A ladder of few rows is drawn wider apart, up to STRETCH_MOST times, to fill the height @room. */
function layOut(t, filter, width, room) {
  const shown = chooseVisible(t, filter);
  let rows = [], { bands, height } = placeStops(t, shown, rows, 1);
  if (height < room) {
    rows = [];
    ({ bands, height } = placeStops(t, shown, rows, Math.min(STRETCH_MOST, room / height)));
  }
  const c = placeColumns(t, filter, rows, width);
  const items = bands.map(b => ({ ...b, type: 'band' }));
  for (const a of t.arrows) {
    const points = shown.arrows[a.i] ? lineOf(t, a, c) : null;
    if (points)
      items.push({ type: 'arrow', arrow: a, points, y0: points[0].y - 12, y1: points[points.length - 1].y + 12 });
  }
  for (const m of t.timers) {
    const armed = m.armed >= 0 ? t.stops[m.armed] : null, fired = t.stops[m.fired];
    if (fired.y >= 0)
      items.push({ type: 'timer', fired, cut: !armed || armed.y < 0,
                   y0: armed && armed.y >= 0 ? armed.y : Math.max(0, fired.y - 40), y1: fired.y });
  }
  for (const s of rows)
    items.push({ type: 'stop', stop: s, y0: s.y - 16, y1: s.y + 16 });
  placeTexts(t, c, rows, items, height);
  return { ...c, rows, height, bands, buckets: sortIntoBuckets(height, items) };
}
