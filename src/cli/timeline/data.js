/* SPDX-License-Identifier: MIT */
/* The history, made from the JSON that timeline.c has written. */
'use strict';

/* Tones of stops and arrows, in the order of the filter, and numbers of flags and of what became of packets:
 * timeline.c writes them, readTimeline() fills these in.
 */
const TONES = [], IS = {};

function readEvents(raw) {
  const events = [];
  let tick = 0, ns = 0;
  for (const [ticks, row, passed, kind, text, cause = 0, qp = 0] of raw.events) {
    const i = events.length;
    tick += ticks;
    ns += passed;
    events.push({
      i, id: tick + '.' + row, tick, ns, kind: raw.kinds[kind], text, qp: qp - 1,
      cause: typeof cause === 'number' && cause > 0 ? i - cause : -1,
      missing: typeof cause === 'string' ? cause : '',
      stop: -1, then: [],
    });
  }
  for (const e of events)
    if (e.cause >= 0)
      events[e.cause].then.push(e.i);
  return events;
}

function readStops(raw, events) {
  const stops = [];
  let event = 0;
  for (const [distance, column, tone, note, gap = '', flags = 0, ns = 0] of raw.stops) {
    const i = stops.length;
    event += distance;
    const isCall = (flags & IS.call) !== 0;
    stops.push({ i, event, column, tone, note, gap, onWire: (flags & IS.onWire) !== 0, isCall, ns: isCall ? ns : events[event].ns, arrow: -1, y: -1 });
  }
  return stops;
}

function readArrows(raw, stops) {
  return raw.arrows.map((a, i) => {
    const [from, to, tail, head, tone, fate, flags, label, end, beyond, frame, changed, story, original] = a;
    for (const s of [tail, head])
      if (s >= 0)
        stops[s].arrow = i;
    return { i, from, to, tail, head, tone, fate, flags, label, end, beyond, frame, changed, story, original };
  });
}

/* Undoes put_bytes() of timeline_frames.c. */
function readBytes(text, before) {
  const coded = atob(text);
  const bytes = new Uint8Array(coded.charCodeAt(0) << 16 | coded.charCodeAt(1) << 8 | coded.charCodeAt(2));
  let to = 0;
  bytes.set(before.subarray(0, bytes.length));
  for (let at = 3; at < coded.length;) {
    to += coded.charCodeAt(at++);
    for (let left = coded.charCodeAt(at++); left > 0; left--)
      bytes[to++] = coded.charCodeAt(at++);
  }
  return bytes;
}

/* A packet: its bytes, and the value and place of each field of its kind. */
function readFrames(raw) {
  const formats = raw.formats.map(flat => {
    const rows = [];
    for (let i = 0; i < flat.length; i += 3)
      rows.push({ header: raw.words[flat[i]], name: raw.words[flat[i + 1]], mask: flat[i + 2] });
    return rows;
  });
  const last = formats.map(rows => ({
    bytes: new Uint8Array(0), values: rows.map(() => ''), offsets: rows.map(() => 0), sizes: rows.map(() => 0),
  }));
  return raw.frames.map(([kind, coded, changed = [], places = [], cut = -1, left = 0]) => {
    const before = last[kind];
    const f = {
      format: formats[kind], bytes: readBytes(coded, before.bytes), values: before.values,
      offsets: before.offsets, sizes: before.sizes, cut: left ? cut : Infinity, left,
    };
    if (changed.length)
      f.values = f.values.slice();
    for (let i = 0; i < changed.length; i += 2)
      f.values[changed[i]] = changed[i + 1];
    if (places.length) {
      f.offsets = f.offsets.slice();
      f.sizes = f.sizes.slice();
    }
    for (let i = 0; i < places.length; i += 3) {
      f.offsets[places[i]] = places[i + 1];
      f.sizes[places[i]] = places[i + 2];
    }
    last[kind] = f;
    return f;
  });
}

/* Stops where nothing is to be seen are not shown: they are places for labels in other ladders.  Gives
 * each event its first stop that is shown.
 */
function findShown(raw, stops, events) {
  const armed = new Set(raw.timers.map(([stop]) => stop));
  for (const s of stops) {
    s.isBlank = s.arrow < 0 && !s.note && !armed.has(s.i);
    if (!s.isBlank && !s.isCall && events[s.event].stop < 0)
      events[s.event].stop = s.i;
  }
}

/* For each packet the one before it of the same queue pair and direction, -1: none. */
function findBefore(arrows, stops, events) {
  const newest = new Map();
  for (const a of arrows) {
    const qp = a.tail >= 0 ? events[stops[a.tail].event].qp : -1;
    const flow = qp + (TONES[a.tone].name === 'request' ? '>' : '<');
    a.before = -1;
    if (qp < 0 || a.flags & IS.copy)
      continue;
    a.before = newest.has(flow) ? newest.get(flow) : -1;
    newest.set(flow, a.i);
  }
}

function readTimeline(raw) {
  TONES.push(...raw.tones.map(([name, label]) => ({ name, label })));
  Object.assign(IS, raw.is);
  const events = readEvents(raw);
  const stops = readStops(raw, events);
  const arrows = readArrows(raw, stops);
  findShown(raw, stops, events);
  findBefore(arrows, stops, events);
  return {
    title: raw.title, columns: raw.columns, qps: raw.qps, notices: raw.notices, kept: raw.kept, usual: raw.usual,
    events, stops, arrows, frames: readFrames(raw),
    timers: raw.timers.map(([armed, fired]) => ({ armed, fired })),
    byId: new Map(events.map(e => [e.id, e.i])),
  };
}

/* "81.036": microseconds, as in the ladders. */
function timeText(ns) {
  return Math.floor(ns / 1000) + '.' + String(ns % 1000).padStart(3, '0');
}
