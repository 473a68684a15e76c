/* SPDX-License-Identifier: MIT */
/* Shows the chosen event: its causes, and the fields and bytes of its packet. */

const CAUSES_SHOWN = 40, EFFECTS_SHOWN = 12, BYTES_IN_LINE = 16, IS_DATA = 16;

function html(name, classes, parent, text) {
  const node = document.createElement(name);
  if (classes)
    node.className = classes;
  if (text !== undefined)
    node.textContent = text;
  if (parent)
    parent.append(node);
  return node;
}

/* Appends @text, in which names of events that the page has are links. */
function appendLinked(parent, t, text) {
  for (const part of text.split(/(#\d+\.\d+)/)) {
    if (part[0] === '#' && t.byId.has(part.slice(1)))
      html('a', 'id', parent, part).href = part;
    else
      parent.append(part);
  }
}

function appendEvent(list, t, i, classes) {
  const e = t.events[i], li = html('li', classes, list);
  html('a', 'id', li, '#' + e.id).href = '#' + e.id;
  html('span', 'kind', li, e.kind);
  appendLinked(html('span', 'text', li), t, e.text);
  return li;
}

/* The packet that event @e is about: of the arrow that begins or ends in it. */
function packetOf(t, e) {
  const a = e.stop >= 0 && t.stops[e.stop].arrow >= 0 ? t.arrows[t.stops[e.stop].arrow] : null;
  if (!a)
    return null;
  const sent = a.original >= 0 && a.frame < 0 ? t.arrows[a.original] : a;
  const ends = a.head === e.stop && a.tail !== e.stop;
  return { arrow: a, frame: ends && sent.changed >= 0 ? sent.changed : sent.frame, isChanged: ends && sent.changed >= 0 };
}

function causesOf(t, i) {
  const chain = [];
  for (let c = t.events[i].cause; c >= 0; c = t.events[c].cause)
    chain.push(c);
  return chain;
}

/* Returns the drawn events that event @i led to.  The effects of one that is not drawn take its place. */
function drawnEffectsOf(t, i) {
  const drawn = new Set(), todo = [...t.events[i].then];
  while (todo.length) {
    const e = t.events[todo.pop()];
    if (e.stop >= 0)
      drawn.add(e.i);
    else
      todo.push(...e.then);
  }
  return drawn;
}

function showCauses(parent, t, e) {
  const chain = causesOf(t, e.i);
  const last = chain.length ? t.events[chain[chain.length - 1]] : e;
  if (chain.length || last.missing) {
    html('h3', '', parent, 'because');
    const list = html('ul', 'chain', parent);
    for (const c of chain.slice(0, CAUSES_SHOWN)) {
      const li = appendEvent(list, t, c, 'cause');
      const packet = packetOf(t, t.events[c]);
      if (packet && packet.arrow.fate !== IS.arrived && packet.arrow.story)
        appendLinked(html('span', 'story', li), t, 'it ' + packet.arrow.story);
    }
    if (chain.length > CAUSES_SHOWN)
      html('li', 'more', list, `and ${chain.length - CAUSES_SHOWN} more before these`);
    else if (last.missing)
      html('li', 'more', list, `because of ${last.missing}, which was not recorded or is forgotten`);
  }
  if (e.then.length) {
    html('h3', '', parent, 'what it caused');
    const list = html('ul', 'chain', parent);
    e.then.slice(0, EFFECTS_SHOWN).forEach(c => appendEvent(list, t, c, 'effect'));
    if (e.then.length > EFFECTS_SHOWN)
      html('li', 'more', list, `and ${e.then.length - EFFECTS_SHOWN} more`);
  }
}

/* Returns the index in frame.bytes of byte @at of the packet, or -1 if the page does not have it. */
function placeOf(frame, at) {
  if (at < frame.cut)
    return at < frame.bytes.length ? at : -1;
  return at < frame.cut + frame.left ? -1 : at - frame.left;
}

/* "1011 ....": the bits of one or two bytes that belong to a field. */
function bitsOf(frame, offset, size, mask) {
  let value = 0, text = '';
  for (let i = 0; i < size; i++)
    value = value << 8 | frame.bytes[placeOf(frame, offset + i)];
  for (let bit = 8 * size - 1; bit >= 0; bit--)
    text += (mask >> bit & 1 ? value >> bit & 1 : '.') + (bit && bit % 4 === 0 ? ' ' : '');
  return text;
}

/* The number of each header of the packet, for its colour. */
function shadesOf(frame) {
  const names = [];
  return frame.format.map(row => {
    if (!names.includes(row.header))
      names.push(row.header);
    return names.indexOf(row.header) % 8;
  });
}

function showBytes(parent, frame, shades) {
  const box = html('div', 'bytes', parent), length = frame.bytes.length + frame.left;
  const owner = new Array(length).fill(-1);
  frame.format.forEach((_, r) => {
    for (let at = frame.offsets[r]; at < Math.min(frame.offsets[r] + frame.sizes[r], length); at++)
      owner[at] = r;
  });
  for (let line = 0; line < length; line += BYTES_IN_LINE) {
    const end = Math.min(line + BYTES_IN_LINE, length);
    if (placeOf(frame, line) < 0 && placeOf(frame, end - 1) < 0 && line > frame.cut) {
      const whole = Math.floor((frame.cut + frame.left - line) / BYTES_IN_LINE) * BYTES_IN_LINE;
      html('div', 'left', box, `… ${frame.left} bytes of the payload are not in this page`);
      line += Math.max(0, whole - BYTES_IN_LINE);
      continue;
    }
    const row = html('div', 'row', box);
    let text = '';
    html('span', 'at', row, line.toString(16).padStart(4, '0'));
    for (let at = line; at < end; at++) {
      const place = placeOf(frame, at), value = place < 0 ? -1 : frame.bytes[place];
      const b = html('span', 'b' + (owner[at] >= 0 ? ' h' + shades[owner[at]] : ''), row, value < 0 ? '··' : value.toString(16).padStart(2, '0'));
      b.dataset.at = at;
      text += value >= 0x20 && value < 0x7f ? String.fromCharCode(value) : '·';
    }
    html('span', 'ascii', row, text);
  }
}

function valueBefore(before, frame, r) {
  if (!before)
    return '';
  const row = frame.format[r];
  const k = before.format === frame.format ? r : before.format.findIndex(o => o.header === row.header && o.name === row.name);
  if (k < 0)
    return 'not there';
  return frame.sizes[r] <= IS_DATA && row.name !== 'data' && before.values[k] !== frame.values[r] ? before.values[k].split(',')[0] : '';
}

function showFields(parent, t, frame, shades, before) {
  const table = html('table', 'fields', parent);
  let header = '', body = null;
  frame.format.forEach((row, r) => {
    if (row.header !== header) {
      header = row.header;
      body = html('tbody', '', table);
      html('th', 'h' + shades[r], html('tr', 'header', body), header).colSpan = 3;
    }
    const tr = html('tr', 'field', body), was = valueBefore(before && t.frames[before.frame], frame, r);
    tr.dataset.row = r;
    html('td', 'at', tr, frame.offsets[r].toString(16).padStart(4, '0'));
    html('td', 'name', tr, row.name);
    const value = html('td', 'value', tr, frame.values[r]);
    if (row.mask && frame.sizes[r] <= 2)
      html('span', 'bits', value, bitsOf(frame, frame.offsets[r], frame.sizes[r], row.mask));
    if (was)
      html('span', 'was', value, 'was ' + was);
  });
  if (before)
    appendLinked(html('p', 'note', parent), t, `"was": in #${t.events[t.stops[before.tail].event].id}, the packet before it of the same queue pair and direction`);
}

function showPacket(parent, t, packet) {
  const a = packet.arrow, frame = t.frames[packet.frame];
  const shades = shadesOf(frame);
  html('h3', '', parent, `packet, ${frame.bytes.length + frame.left} bytes${packet.isChanged ? ', as a fault has changed it' : ''}`);
  const box = html('div', 'packet', parent);
  box.dataset.frame = packet.frame;
  showBytes(box, frame, shades);
  const before = a.before >= 0 && t.arrows[a.before].frame >= 0 && t.arrows[a.before].tail >= 0 ? t.arrows[a.before] : null;
  showFields(box, t, frame, shades, before);
}

function showEvent(parent, t, i) {
  const e = t.events[i], packet = packetOf(t, e);
  const top = html('div', 'top', parent);
  html('span', 'id', top, '#' + e.id);
  html('span', 'kind', top, e.kind);
  html('span', 'time', top, 't=' + timeText(e.ns) + 'us');
  html('button', 'link', top, 'copy link').id = 'link';
  appendLinked(html('p', 'sentence', parent), t, e.text);
  if (packet && packet.arrow.story)
    appendLinked(html('p', 'story', parent), t, 'it ' + packet.arrow.story);
  showCauses(parent, t, e);
  if (packet && t.frames[packet.frame])
    showPacket(parent, t, packet);
}

function showNothing(parent, t) {
  const p = html('p', 'hint', parent);
  p.textContent = t.events.length ? 'Choose a packet or an event: click on it, or step through time.' : 'Nothing that a ladder draws has happened.';
  const keys = html('dl', 'keys', parent);
  for (const [key, text] of [['← →', 'event before, next event'], ['Home End', 'first event, last event'], ['c', 'the cause of the chosen event'],
                             ['t', 'light or dark'], ['Esc', 'choose nothing'], ['click', 'on a field or a byte: keeps it lit']]) {
    html('dt', '', keys, key);
    html('dd', '', keys, text);
  }
  html('p', 'hint', parent, 'A packet is drawn from its sender to where it ended. What led to the chosen event is outlined. The address of the page names the event, so that it can be passed on.');
  if (t.kept)
    html('p', 'hint kept', parent, t.kept);
}

/* Lights the fields that have byte @at, or the bytes of field @row, in the packet @box. */
function light(t, box, at, row) {
  const frame = t.frames[box.dataset.frame];
  const has = r => row >= 0 ? r === row : at >= frame.offsets[r] && at < frame.offsets[r] + frame.sizes[r];
  const rows = frame.format.map((_, r) => r).filter(has);
  for (const tr of box.querySelectorAll('tr.field'))
    tr.classList.toggle('lit', rows.includes(Number(tr.dataset.row)));
  for (const b of box.querySelectorAll('.b')) {
    const k = Number(b.dataset.at);
    b.classList.toggle('lit', rows.some(r => k >= frame.offsets[r] && k < frame.offsets[r] + frame.sizes[r]));
    b.classList.toggle('this', k === at);
  }
}

/* Scrolls the bytes so that the first lit one is seen. */
function showLitByte(box) {
  const bytes = box.querySelector('.bytes'), lit = box.querySelector('.b.lit');
  if (!lit)
    return;
  const y = lit.getBoundingClientRect().top - bytes.getBoundingClientRect().top;
  if (y < 6 || y > bytes.clientHeight - 24)
    bytes.scrollTop += y - bytes.clientHeight / 3;
}

/* Scrolls to the first lit field. */
function showLitField(box) {
  const lit = box.querySelector('.field.lit');
  if (lit)
    lit.scrollIntoView({ block: 'nearest' });
}

function unlight(box) {
  for (const node of box.querySelectorAll('.lit, .this'))
    node.classList.remove('lit', 'this');
}
