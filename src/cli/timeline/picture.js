/* SPDX-License-Identifier: MIT */
/* Draws the part of the ladder that can be seen. */

const SVG = 'http://www.w3.org/2000/svg';

function svg(name, attributes, parent) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes)
    node.setAttribute(key, attributes[key]);
  if (parent)
    parent.append(node);
  return node;
}

function svgText(parent, x, y, text, classes, more) {
  const node = svg('text', { x, y, class: classes, ...more }, parent);
  node.textContent = text;
  return node;
}

function pathOf(points) { return points.map((p, i) => (i ? 'L' : 'M') + p.x.toFixed(1) + ' ' + p.y.toFixed(1)).join(''); }

/* Classes of an event for the chosen moment: chosen, a cause or an effect of that, or later. */
function classOf(state, event) {
  if (state.chosen < 0)
    return '';
  return event === state.chosen ? ' chosen' : state.causes.has(event) ? ' cause' :
         state.effects.has(event) ? ' effect' : event > state.chosen ? ' later' : '';
}

function drawHead(g, from, to, tone) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const ux = (to.x - from.x) / length, uy = (to.y - from.y) / length;
  const corner = side => (to.x - 10 * ux - side * 4 * uy).toFixed(1) + ' ' + (to.y - 10 * uy + side * 4 * ux).toFixed(1);
  svg('path', { class: 'head ' + tone, d: `M${to.x.toFixed(1)} ${to.y.toFixed(1)}L${corner(1)}L${corner(-1)}Z` }, g);
}

function drawCross(g, p) {
  svg('path', { class: 'cross', d: `M${p.x - 5} ${p.y - 5}l10 10m0 -10l-10 10` }, g);
}

function drawLabel(g, label, classes) {
  svgText(g, label.x, label.y, label.text, classes, {
    'text-anchor': label.anchor,
    transform: `translate(${label.at.x.toFixed(1)} ${label.at.y.toFixed(1)}) rotate(${(label.angle * 180 / Math.PI).toFixed(2)})`,
  });
}

function drawArrow(parent, labels, t, state, item) {
  const { arrow: a, points } = item;
  const tone = 'tone-' + TONES[a.tone].name, last = points[points.length - 1];
  const tail = tailOf(t, a), event = t.stops[tail >= 0 ? tail : a.head].event;
  const headEvent = a.head >= 0 ? t.stops[a.head].event : -1;
  const ends = [classOf(state, event), headEvent >= 0 ? classOf(state, headEvent) : ''];
  const marks = [' chosen', ' cause', ' effect'].find(c => ends.includes(c)) || ends[0];
  const flies = state.chosen >= 0 && event <= state.chosen && headEvent > state.chosen;
  const classes = 'arrow' + marks + (flies ? ' flies' : '');
  const g = svg('g', { class: classes, 'data-event': event }, parent);
  const words = svg('g', { class: classes, 'data-event': event }, labels);
  svg('path', { class: 'under', d: pathOf(points) }, g);
  svg('path', { class: 'wire ' + tone + (a.flags & IS.copy ? ' copy' : a.flags & IS.again ? ' again' : '') +
                       (a.flags & IS.injected ? ' injected' : ''), d: pathOf(points) }, g);
  if (a.fate !== IS.arrived && a.fate !== IS.unknown)
    drawCross(g, last);
  else if (a.fate === IS.arrived && a.head >= 0)
    drawHead(g, points[points.length - 2], last, tone);
  else
    svg('path', { class: 'wire ' + tone, d: `M${last.x - 2} ${last.y - 5}l-3 10m6 -10l-3 10` }, g);
  drawLabel(words, item.label, 'label ' + tone);
  if (item.end)
    drawLabel(words, item.end, 'label end');
  if (headEvent >= 0 && headEvent !== event)
    svg('circle', { class: 'hit', cx: last.x, cy: last.y, r: 9, 'data-event': headEvent }, g);
}

const MARKS = {
  state: 'M0 -5L5 0L0 5L-5 0Z', bad: 'M-4 -4H4V4H-4Z', call: 'M-4 -4H4V4H-4Z',
  round: 'M-2 -4H2L4 -2V2L2 4H-2L-4 2V-2Z',
};

/* The note stands beside its lifeline. */
function drawStop(parent, t, layout, state, stop, shownTime) {
  const tone = TONES[stop.tone].name, at = layout.x[stop.column], place = stop.place;
  const g = svg('g', { class: 'stop' + classOf(state, stop.event), 'data-event': stop.event }, parent);
  if (stop.isCall) /* a call is no event: a click chooses the one behind it */
    g.dataset.call = stop.note;
  if (shownTime)
    svgText(g, layout.gutter - 10, stop.y + 4, timeText(stop.ns), 'time', { 'text-anchor': 'end' });
  if (!place)
    return;
  const width = place.width + 12;
  svg('rect', { class: 'plate', x: at + (place.left ? -6 - width : 6), y: place.middle - place.height / 2, width, height: place.height, rx: 5 }, g);
  place.lines.forEach((line, i) => svgText(g, place.x, place.y + i * LINE_HEIGHT, line, 'note tone-' + tone, { 'text-anchor': place.left ? 'end' : 'start' }));
  if (stop.arrow < 0)
    svg('path', { class: 'mark tone-' + tone, d: MARKS[tone] || MARKS.round, transform: `translate(${at} ${stop.y})` }, g);
}

function drawTimer(parent, layout, state, item) {
  const at = layout.x[item.fired.column];
  const left = layout.columns.length < 2 || item.fired.column !== layout.columns[layout.columns.length - 1];
  const out = at + (left ? -7 : 7);
  const g = svg('g', { class: 'timer' + classOf(state, item.fired.event), 'data-event': item.fired.event }, parent);
  svg('path', { class: 'wire tone-timer', d: `M${item.cut ? out : at} ${item.y0}L${out} ${item.y0}V${item.y1}H${at}` }, g);
}

function drawLifelines(parent, layout, from, to) {
  for (const c of layout.columns)
    svg('path', { class: 'life', d: `M${layout.x[c]} ${Math.max(0, from)}V${Math.min(layout.height, to)}` }, parent);
}

function drawBand(parent, layout, band) {
  const first = layout.x[layout.columns[0]], last = layout.x[layout.columns[layout.columns.length - 1]];
  const g = svg('g', { class: 'band' }, parent);
  svg('rect', { x: first - 4, y: band.y0, width: Math.max(last - first + 8, 8), height: BAND, rx: 3 }, g);
  for (const c of layout.columns)
    svg('path', { class: 'pause', d: `M${layout.x[c]} ${band.y0}V${band.y0 + BAND}` }, g);
  svgText(g, (first + last) / 2, band.y0 + BAND / 2 + 4, band.text, 'gap', { 'text-anchor': 'middle' });
}

/* Returns a picture of the rows between @from and @to, which are y of the whole ladder. */
function drawPart(t, layout, state, from, to) {
  const height = Math.min(layout.height, to) - from;
  const picture = svg('svg', { class: 'part', width: layout.width, height, viewBox: `0 ${from} ${layout.width} ${height}` });
  const seen = new Set();
  for (let b = Math.max(0, Math.floor(from / BUCKET)); b <= to / BUCKET && b < layout.buckets.length; b++)
    for (const item of layout.buckets[b])
      if (item.y1 >= from && item.y0 <= to)
        seen.add(item);
  const items = type => [...seen].filter(i => i.type === type);
  if (!layout.columns.length)
    return picture;
  items('band').forEach(i => drawBand(picture, layout, i));
  drawLifelines(picture, layout, from, to);
  items('timer').forEach(i => drawTimer(picture, layout, state, i));
  const labels = svg('g', {}); /* above all lines */
  items('arrow').forEach(i => drawArrow(picture, labels, t, state, i));
  picture.append(labels);
  for (const { stop } of items('stop')) {
    let row = stop.row - 1;
    while (row >= 0 && layout.rows[row].isAimed)
      row--;
    drawStop(picture, t, layout, state, stop, !stop.isAimed && (row < 0 || layout.rows[row].ns !== stop.ns));
  }
  return picture;
}
