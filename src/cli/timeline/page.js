/* SPDX-License-Identifier: MIT */
/* The page: what is chosen, what is hidden, and what the reader does. */

const AHEAD = 700;          /* pixels that are drawn above and below of what can be seen */
const CHIPS_WITH_SEARCH = 12; /* more queue pairs than these get a field to search in */
const PRINTED_MOST = 3000;  /* rows */
const PAPER_WIDTH = 700;    /* pixels of CSS: A4 and Letter without margins */
const HASH_DELAY = 300;     /* ms: browsers limit how often a page may change its address */
const DENSITY_MOST = 400;   /* columns of the picture behind the slider */

const $ = id => document.getElementById(id);
const t = readTimeline(JSON.parse($('data').textContent));
const filter = { tones: new Set(), columns: new Set(), qps: new Set() };
const state = { chosen: -1, causes: new Set(), effects: new Set(), pinned: false };
let layout = null, drawn = { from: 0, to: -1 }, hashTimer = 0, paneOfLayout = '';

/* --- Drawing --- */

function draw(force) {
  const ladder = $('ladder');
  const top = Math.min(ladder.scrollTop, layout.height), bottom = top + ladder.clientHeight;
  if (!force && top >= drawn.from && Math.min(bottom, layout.height) <= drawn.to)
    return;
  drawn = { from: Math.max(0, Math.floor(top - AHEAD)), to: Math.min(layout.height, Math.ceil(bottom + AHEAD)) };
  const part = drawPart(t, layout, state, drawn.from, drawn.to);
  part.style.top = drawn.from + 'px';
  $('space').replaceChildren(part);
}

function drawHeads() {
  const heads = $('heads');
  heads.replaceChildren();
  heads.style.width = layout.width + 'px';
  const unit = html('span', 'unit', heads, 't/us');
  unit.style.width = (layout.gutter - 10) + 'px';
  for (const c of layout.columns) {
    const head = html('span', 'host', heads, t.columns[c][0]);
    html('small', '', head, t.columns[c][1]);
    head.style.left = layout.x[c] + 'px';
    head.style.maxWidth = layout.lane + 'px';
  }
}

function relayout() {
  layout = layOut(t, filter, $('ladder').clientWidth, $('ladder').clientHeight - 60);
  $('space').replaceChildren(); /* or it would stay as high as it was */
  $('space').style.height = layout.height + 'px';
  $('space').style.width = layout.width + 'px';
  drawHeads();
  drawDensity();
  const n = layout.rows.length;
  $('slider').max = Math.max(0, n - 1);
  $('slider').disabled = n === 0;
  draw(true);
  showPosition();
}

/* Behind the slider: how much happens where, and where something goes wrong. */
function drawDensity() {
  const n = layout.rows.length, columns = Math.min(DENSITY_MOST, n), picture = $('density');
  picture.replaceChildren();
  if (n === 0)
    return;
  const width = Math.min(0.8, 9 * columns / Math.max(1, $('slider').clientWidth));
  picture.setAttribute('viewBox', `0 0 ${Math.max(1, columns - 1)} 20`);
  const spans = Array.from({ length: columns }, () => ({ ns: 0, n: 0, tone: 'plain' }));
  const weight = { bad: 5, nak: 4, timer: 3, request: 2, answer: 1 };
  let most = 1;
  for (const s of layout.rows) {
    const span = spans[Math.min(columns - 1, Math.floor(s.row * columns / n))];
    const a = s.arrow >= 0 ? t.arrows[s.arrow] : null;
    const tone = a && a.fate !== IS.arrived && a.head === s.i ? 'bad' : TONES[a ? a.tone : s.tone].name;
    if ((weight[tone] || 0) > (weight[span.tone] || 0))
      span.tone = tone;
    span.n += a ? 2 : 1;
    most = Math.max(most, span.n);
  }
  spans.forEach((span, i) => {
    const height = span.n ? 5 + 15 * span.n / most : 0;
    svg('rect', { x: i - width / 2, width, y: 20 - height, height, class: 'tone-' + span.tone }, picture);
  });
}

/* --- The choice --- */

/* The row of the chosen event, or else of the last one before it; -1: there is none. */
function rowOfChosen() {
  let low = 0, high = layout.rows.length;
  if (state.chosen < 0)
    return -1;
  const own = t.events[state.chosen].stop;
  if (own >= 0 && t.stops[own].y >= 0)
    return t.stops[own].row;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layout.rows[middle].event <= state.chosen)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

function showPosition() {
  const row = rowOfChosen(), n = layout.rows.length;
  $('slider').value = row < 0 ? Math.max(0, n - 1) : row;
  $('now').textContent = state.chosen < 0 ? `${n} events` : `#${t.events[state.chosen].id}   t=${timeText(t.events[state.chosen].ns)}us   ${row + 1} of ${n}`;
}

function scrollToRow(row) {
  const ladder = $('ladder'), y = layout.rows[row].y, room = ladder.clientHeight;
  if (y < ladder.scrollTop + 60 || y > ladder.scrollTop + room - 110)
    ladder.scrollTop = Math.max(0, y - room / 2);
}

function choose(i, scroll) {
  state.chosen = i;
  state.pinned = false;
  state.causes = new Set(i < 0 ? [] : causesOf(t, i));
  state.effects = i < 0 ? new Set() : drawnEffectsOf(t, i);
  showDetail();
  showPosition();
  const row = rowOfChosen();
  if (scroll && row >= 0)
    scrollToRow(row);
  draw(true);
  $('tip').hidden = true;
  clearTimeout(hashTimer);
  hashTimer = setTimeout(writeHash, HASH_DELAY);
}

function showDetail() {
  const detail = $('detail');
  detail.replaceChildren();
  detail.scrollTop = 0;
  if (state.chosen < 0)
    showNothing(detail, t);
  else
    showEvent(detail, t, state.chosen);
  if (state.chosen >= 0 && isHidden(state.chosen))
    html('p', 'hint', detail, 'The filter hides this event.');
}

function isHidden(i) {
  const stop = t.events[i].stop;
  return stop >= 0 && t.stops[stop].y < 0;
}

function writeHash() {
  const hash = state.chosen < 0 ? '' : '#' + t.events[state.chosen].id;
  if (location.hash !== hash)
    history.replaceState(null, '', hash || location.pathname + location.search);
}

/* "#52.3", "#e52.3", or "#52", which is the first event of that tick. */
function readHash() {
  const match = /^#e?(\d+)(\.\d+)?$/.exec(location.hash);
  if (!match)
    return;
  const i = match[2] ? t.byId.get(match[1] + match[2]) : t.events.findIndex(e => e.tick === Number(match[1]));
  if (i >= 0) {
    if (i !== state.chosen)
      choose(i, true);
  } else {
    choose(-1, false);
    $('detail').prepend(html('p', 'hint missing', null, `This page has no event #${match[1]}${match[2] || ''}.`));
  }
}

function step(by) {
  const n = layout.rows.length, row = rowOfChosen();
  if (n === 0)
    return;
  const own = row >= 0 && layout.rows[row].event === state.chosen;
  let to = row < 0 ? (by > 0 ? 0 : state.chosen < 0 ? n - 1 : 0) : row + (by > 0 || own ? by : 0);
  while (by && to > 0 && to < n - 1 && layout.rows[to].event === state.chosen)
    to += by;
  choose(layout.rows[Math.max(0, Math.min(n - 1, to))].event, true);
}

function chooseRow(row) {
  if (layout.rows.length)
    choose(layout.rows[Math.max(0, Math.min(layout.rows.length - 1, row))].event, true);
}

/* --- The filter --- */

function chip(parent, set, value, label, swatch, count) {
  const b = html('button', 'chip', parent);
  if (swatch)
    html('i', swatch, b);
  b.append(label);
  if (count !== undefined)
    html('small', '', b, String(count));
  b.title = 'show or hide; with Alt or a double click only this one';
  const update = () => b.setAttribute('aria-pressed', String(!set.has(value)));
  update();
  const only = () => {
    const others = [...parent.querySelectorAll('.chip')].map(c => c.value_);
    const isAlone = !set.has(value) && others.every(o => o === value || set.has(o));
    set.clear();
    if (!isAlone)
      others.filter(o => o !== value).forEach(o => set.add(o));
  };
  b.value_ = value;
  b.update = update;
  b.addEventListener('click', event => {
    if (event.altKey)
      only();
    else if (!set.delete(value))
      set.add(value);
    filterChanged();
  });
  b.addEventListener('dblclick', () => { only(); filterChanged(); });
}

function group(name) {
  const g = html('div', 'group', $('chips'));
  html('span', 'what', g, name);
  return g;
}

function searchIn(g) {
  const input = html('input', 'search', g);
  input.type = 'search';
  input.placeholder = 'name';
  input.setAttribute('aria-label', 'queue pairs with this in their name');
  input.addEventListener('input', () => {
    for (const c of g.querySelectorAll('.chip'))
      c.hidden = !c.textContent.includes(input.value);
  });
}

function makeFilter() {
  const counts = TONES.map(() => 0);
  t.arrows.forEach(a => counts[a.tone]++);
  t.stops.forEach(s => { if (s.arrow < 0 && !s.isBlank) counts[s.tone]++; });
  const kinds = group('kinds');
  [...TONES.keys()].slice(1).concat(0).filter(k => counts[k]).forEach(k => chip(kinds, filter.tones, k, TONES[k].label, 'swatch tone-' + TONES[k].name, counts[k]));
  if (t.columns.length > 1) {
    const hosts = group('hosts');
    t.columns.forEach((c, i) => chip(hosts, filter.columns, i, c[0]));
  }
  if (t.qps.length > 1) {
    const qps = group('queue pairs');
    if (t.qps.length > CHIPS_WITH_SEARCH)
      searchIn(qps);
    t.qps.forEach((name, i) => chip(qps, filter.qps, i, name));
  }
  const all = html('button', 'all', $('chips'), 'show all');
  all.id = 'all';
  all.hidden = true;
  all.addEventListener('click', () => {
    Object.values(filter).forEach(set => set.clear());
    filterChanged();
  });
}

function filterChanged() {
  for (const c of document.querySelectorAll('.chip'))
    c.update();
  relayout();
  const hidden = t.stops.filter(s => !s.isBlank).length - layout.rows.length;
  $('all').hidden = hidden === 0;
  $('all').textContent = `show all: ${hidden} events are hidden`;
  showDetail();
  const row = rowOfChosen();
  if (row >= 0)
    scrollToRow(row);
}

/* --- Input --- */

function eventUnder(target) {
  const node = target.closest && target.closest('[data-event]');
  return node ? Number(node.dataset.event) : -1;
}

function hover(event) {
  const i = eventUnder(event.target), tip = $('tip');
  for (const g of $('space').querySelectorAll('.near'))
    g.classList.remove('near');
  tip.hidden = i < 0;
  if (i < 0)
    return;
  for (const g of $('space').querySelectorAll('g[data-event]'))
    g.classList.toggle('near', Number(g.dataset.event) === i);
  tip.replaceChildren();
  const call = event.target.closest('[data-call]');
  if (call)
    tip.append(call.dataset.call);
  else {
    html('b', '', tip, '#' + t.events[i].id);
    html('i', '', tip, t.events[i].kind);
    tip.append(t.events[i].text);
  }
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = (event.clientY + 20 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 20) + 'px';
}

function lightUnder(event) {
  const box = event.target.closest('.packet');
  if (!box)
    return false;
  const b = event.target.closest('.b'), tr = event.target.closest('tr.field');
  if (b)
    light(t, box, Number(b.dataset.at), -1);
  else if (tr) {
    light(t, box, -1, Number(tr.dataset.row));
    showLitByte(box);
  } else
    unlight(box);
  return Boolean(b || tr);
}

function toggleTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
}

function copyLink() {
  writeHash();
  const say = text => { if ($('link')) $('link').textContent = text; }; /* another event may be chosen by then */
  if (navigator.clipboard)
    navigator.clipboard.writeText(location.href).then(() => say('copied'), () => say(location.hash));
  else
    say(location.hash);
}

const KEYS = {
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  Home: () => chooseRow(0),
  End: () => chooseRow(layout.rows.length - 1),
  Escape: () => choose(-1, false),
  c: () => { if (state.chosen >= 0 && t.events[state.chosen].cause >= 0) choose(t.events[state.chosen].cause, true); },
  t: toggleTheme,
  '?': () => choose(-1, false),
};

function listen() {
  $('ladder').addEventListener('scroll', () => draw(false), { passive: true });
  $('ladder').addEventListener('click', event => {
    const i = eventUnder(event.target);
    if (i >= 0)
      choose(i, false);
  });
  $('ladder').addEventListener('mousemove', hover);
  $('ladder').addEventListener('mouseleave', () => { $('tip').hidden = true; });
  $('detail').addEventListener('mouseover', event => { if (!state.pinned) lightUnder(event); });
  $('detail').addEventListener('mouseleave', () => {
    if (!state.pinned)
      document.querySelectorAll('.packet').forEach(unlight);
  });
  $('detail').addEventListener('click', event => {
    if (event.target.id === 'link')
      copyLink();
    else if (event.target.closest('.packet')) {
      state.pinned = lightUnder(event);
      if (event.target.closest('.b'))
        showLitField(event.target.closest('.packet'));
    }
  });
  $('slider').addEventListener('input', () => chooseRow(Number($('slider').value)));
  $('first').addEventListener('click', KEYS.Home);
  $('back').addEventListener('click', KEYS.ArrowLeft);
  $('next').addEventListener('click', KEYS.ArrowRight);
  $('last').addEventListener('click', KEYS.End);
  $('theme').addEventListener('click', toggleTheme);
  $('help').addEventListener('click', KEYS['?']);
  $('print').addEventListener('click', () => print());
  document.addEventListener('keydown', event => {
    const isTyped = event.target.matches('input[type=search]');
    if (isTyped || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key))
      return;
    event.preventDefault();
    KEYS[event.key]();
  });
  addEventListener('hashchange', readHash);
  addEventListener('beforeprint', beginPrint);
  addEventListener('afterprint', endPrint);
  new ResizeObserver(() => {
    const pane = $('ladder').clientWidth + ' ' + $('ladder').clientHeight;
    if (pane !== paneOfLayout)
      relayout();
    paneOfLayout = pane;
  }).observe($('ladder'));
}

/* On paper the ladder is as wide as a page, and in parts, each of which stays on one page. */
function beginPrint() {
  layout = layOut(t, filter, PAPER_WIDTH, 0);
  drawHeads();
  const part = 840, last = Math.min(layout.rows.length, PRINTED_MOST);
  const height = last < layout.rows.length ? layout.rows[last].y - 14 : layout.height;
  $('space').replaceChildren();
  $('space').classList.add('printed');
  for (let y = 0; y < height; y += part)
    $('space').append(drawPart(t, layout, state, y, Math.min(y + part, height)));
  if (last < layout.rows.length)
    html('p', 'hint', $('space'), `${layout.rows.length - last} more events are not printed.`);
}

function endPrint() {
  $('space').classList.remove('printed');
  relayout();
}

function begin() {
  $('title').textContent = t.title || 'timeline';
  for (const text of t.notices)
    html('p', '', $('notices'), text);
  $('notices').hidden = t.notices.length === 0;
  makeFilter();
  relayout();
  showDetail();
  listen();
  readHash();
  document.documentElement.dataset.ready = 'yes';
}

begin();
