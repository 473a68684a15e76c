/* SPDX-License-Identifier: MIT */
/* Looks at timelines as a reader does: loads, steps, clicks, filters, follows links.
 *
 * usage: timeline.mjs CHROMIUM PAGES TITLE [SHOTS], which tests/browser/run does.  TITLE is that of the hostile page.
 */
import puppeteer from 'puppeteer-core';

const [,, chromium, pages, hostileTitle, shots] = process.argv;
const HASH_MS = 700; /* after so long the address names the chosen event */
const WIDE = { width: 1400, height: 900 }, NARROW = { width: 400, height: 800 };

let passed = 0, failed = 0;
function expect(holds, text, found) {
  if (holds)
    passed++;
  else
    failed++;
  if (!holds)
    console.log(`FAILED: ${text}${found === undefined ? '' : ': found ' + JSON.stringify(found)}`);
}

const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox'] });

/* Opens a page of its own; what it says and asks for is in .said and .asked. */
async function open(name, hash = '', viewport = WIDE, scheme = 'light') {
  const page = await browser.newPage();
  page.said = [];
  page.asked = [];
  page.on('console', message => page.said.push(message.text()));
  page.on('pageerror', error => page.said.push(error.message));
  page.on('dialog', dialog => { page.said.push('dialog'); dialog.dismiss(); });
  page.on('request', request => page.asked.push(request.url()));
  await page.setViewport(viewport);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const begun = Date.now();
  await page.goto(`file://${pages}/${name}.html${hash}`);
  await page.waitForSelector('html[data-ready=yes]', { timeout: 60000 });
  page.ms = Date.now() - begun;
  return page;
}

const text = (page, selector) => page.$eval(selector, node => node.textContent);
const count = (page, selector) => page.$$eval(selector, nodes => nodes.length);
const chosen = page => page.$eval('#detail', detail => (detail.querySelector('.top .id') || { textContent: '' }).textContent);
const ground = page => page.$eval('body', body => getComputedStyle(body).backgroundColor);
const wait = ms => new Promise(resolve => setTimeout(resolve, ms));
const shot = async (page, name) => shots && page.screenshot({ path: `${shots}/${name}.png` });

async function press(page, ...keys) {
  for (const key of keys)
    await page.keyboard.press(key);
}

/* Clicks on the chip of the filter that is called @name. */
const clickChip = (page, name) => page.$$eval('.chip', (chips, wanted) => {
  chips.find(c => c.textContent.replace(/\d+$/, '') === wanted || c.textContent === wanted).click();
}, name);

async function itLoadsAlone() {
  for (const name of ['lost', 'many', 'hostile', 'named', 'capture']) {
    const page = await open(name);
    expect(page.said.length === 0, `${name}: no word on the console`, page.said);
    expect(page.asked.length === 1 && page.asked[0].startsWith('file:'), `${name}: nothing but itself is asked for`, page.asked);
    await page.close();
  }
}

async function keysStep() {
  const page = await open('lost');
  expect(await text(page, '#title') === 'a lost packet', 'the title', await text(page, '#title'));
  expect(await chosen(page) === '', 'at first nothing is chosen');
  await press(page, 'Home');
  const first = await chosen(page);
  await press(page, 'ArrowRight', 'ArrowRight');
  const third = await chosen(page);
  await press(page, 'ArrowLeft', 'ArrowLeft');
  expect(first && third !== first && await chosen(page) === first, 'right and left', [first, third, await chosen(page)]);
  await press(page, 'End');
  expect((await text(page, '.sentence')).includes('SUCCESS SEND'), 'the last event', await text(page, '.sentence'));
  const n = Number(await page.$eval('#slider', s => s.max));
  await press(page, 'Home');
  const visited = new Set([await chosen(page)]);
  for (let i = 0; i < n; i++) {
    await press(page, 'ArrowRight');
    visited.add(await chosen(page));
  }
  expect(visited.size === n + 1, 'each event is a step', [visited.size, n]);
  await page.$eval('#slider', s => { s.value = 0; s.dispatchEvent(new Event('input')); });
  expect(await chosen(page) === first, 'the slider', await chosen(page));
  await press(page, 'Escape');
  expect(await chosen(page) === '', 'Escape chooses nothing');
  await page.close();
}

async function aClickShowsFields() {
  const page = await open('lost');
  await page.click('g.arrow .label');
  expect((await text(page, '.sentence')).startsWith('RC_SEND_ONLY psn=100'), 'the packet', await text(page, '.sentence'));
  expect((await text(page, '.story')).startsWith('it was lost in #'), 'its fate', await text(page, '.story'));
  const rows = await page.$$eval('tr.field', all => all.map(tr => [tr.querySelector('.name').textContent, tr.querySelector('.value').firstChild.textContent, Number(tr.dataset.row)]));
  const psn = rows.find(r => r[0] === 'PSN'), opcode = rows.find(r => r[0] === 'opcode');
  expect(psn && psn[1] === '100' && opcode[1] === '0x04 RC_SEND_ONLY', 'fields, in the words of show packet', [psn, opcode]);
  await page.hover(`tr.field[data-row="${psn[2]}"]`);
  expect((await page.$$eval('.b.lit', all => all.map(b => b.textContent))).join(' ') === '00 00 64', 'a field lights its bytes');
  await page.hover('.b[data-at="42"]');
  expect((await page.$$eval('tr.lit .name', all => all.map(td => td.textContent))).join() === 'opcode', 'a byte lights its field');
  await page.hover('.b[data-at="14"]');
  expect((await page.$$eval('tr.lit .name', all => all.map(td => td.textContent))).join() === 'version,header length', 'a byte of two fields lights both');
  await page.click(`tr.field[data-row="${psn[2]}"]`);
  await page.hover('#title');
  expect(await count(page, '.b.lit') === 3, 'a click keeps the light', await count(page, '.b.lit'));
  await wait(HASH_MS);
  const id = await chosen(page);
  expect(new URL(page.url()).hash === id, 'the address names the event', [page.url(), id]);
  await page.close();
}

async function causesAreOutlined() {
  const page = await open('lost');
  await press(page, 'End');
  const kinds = await page.$$eval('.chain .cause .kind', all => all.map(k => k.textContent));
  expect(kinds.join(' ') === 'rx tx rx tx timeout tx fetch kick post_send', 'the chain of causes', kinds);
  expect(await count(page, 'g.stop.chosen') === 1 && await count(page, 'g.arrow.cause .wire') >= 3, 'causes are outlined',
         [await count(page, 'g.stop.chosen'), await count(page, 'g.arrow.cause .wire')]);
  const last = await chosen(page);
  await press(page, 'c', 'c', 'c');
  expect(await chosen(page) !== last && await count(page, 'g.later') > 0, 'c goes to the cause, and what is later is dim');
  await page.click('.chain .cause:last-child a.id');
  await page.waitForFunction(() => document.querySelector('.top .kind')?.textContent === 'post_send', { timeout: 5000 }) // the address changes first
    .catch(() => {});
  expect((await text(page, '.top .kind')) === 'post_send', 'a link leads to its event', await text(page, '.top .kind'));
  await shot(page, 'causes');
  await page.close();
}

async function theFilterHides() {
  const page = await open('lost');
  const [arrows, stops] = [await count(page, 'g.arrow .wire'), await count(page, 'g.stop')];
  await clickChip(page, 'requests');
  expect(await count(page, 'g.arrow .wire') === arrows - 2, 'requests are hidden', await count(page, 'g.arrow .wire'));
  expect((await text(page, '#all')).includes('4 events are hidden'), 'it says how much is hidden', await text(page, '#all'));
  await page.click('#all');
  await clickChip(page, 'h2');
  expect(await count(page, '.life') === 1 && await count(page, 'g.arrow .wire') === 0, 'a host is hidden, with its packets');
  await page.click('#all');
  await clickChip(page, 'h2.qp');
  expect(await count(page, '.life') === 2 && await count(page, 'g.arrow .wire') === 1, 'a queue pair is hidden', await count(page, 'g.arrow .wire'));
  await page.click('#all');
  expect(await count(page, 'g.stop') === stops, 'all is shown again');
  await page.close();
}

async function callsAreNamed() {
  const page = await open('calls');
  const calls = await page.$$eval('g[data-call]', all => all.map(g => g.dataset.call));
  expect(calls.length === 4 && calls[3].startsWith('rdma_get_cm_event'), 'calls have their place', calls);
  await page.hover('g[data-call] .mark');
  expect(await text(page, '#tip') === calls[0], 'the pointer shows the call, not the event behind it', await text(page, '#tip'));
  await page.close();
}

async function permalinksOpen() {
  let page = await open('lost');
  await press(page, 'End', 'ArrowLeft', 'ArrowLeft');
  const id = await chosen(page);
  await page.close();
  page = await open('lost', id);
  expect(await chosen(page) === id, 'a link opens its event', [id, await chosen(page)]);
  await page.evaluate(tick => { location.hash = tick; }, id.split('.')[0]);
  await wait(HASH_MS);
  expect((await chosen(page)).split('.')[0] === id.split('.')[0], 'a tick is its first event', await chosen(page));
  await page.evaluate(() => { location.hash = '#99999.1'; });
  await wait(HASH_MS);
  expect((await text(page, '.missing')).includes('#99999.1'), 'an event that is not there');
  await page.evaluate(() => { location.hash = '#%zz'; });
  await wait(HASH_MS);
  expect(page.said.length === 0, 'an address that is none does no harm', page.said);
  await page.close();
}

async function lightAndDark() {
  const light = await open('lost', '#1'), dark = await open('lost', '', WIDE, 'dark');
  const [a, b] = [await ground(light), await ground(dark)];
  expect(a !== b, 'dark is not light', [a, b]);
  await press(dark, 'End');
  await shot(dark, 'dark');
  await dark.click('#theme');
  expect(await ground(dark) === a, 'the switch', await ground(dark));
  await press(light, 'End');
  await shot(light, 'light');
  await light.close();
  await dark.close();
}

async function itPrints() {
  const page = await open('lost');
  await press(page, 'End');
  await page.emulateMediaType('print');
  expect(await page.$eval('.steps', node => getComputedStyle(node).display) === 'none', 'no buttons on paper');
  const pdf = await page.pdf(shots ? { path: `${shots}/print.pdf` } : {});
  expect(pdf.length > 10000, 'a PDF', pdf.length);
  expect(await count(page, '#space .part') >= 1, 'the ladder is back after that');
  await page.close();
}

async function itIsNarrow() {
  const page = await open('lost', '', NARROW);
  await press(page, 'Home', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight');
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is not wider than the window');
  expect(await page.$eval('#ladder', l => l.scrollWidth <= l.clientWidth + 1), 'two hosts fit');
  await shot(page, 'narrow');
  await page.close();
}

/* Texts of the ladder that are cut, that cover each other, and that cover the line of another packet.  Two packets that
 * meet on their way leave no place beside both: .crossed has their labels.
 */
const crowded = page => page.evaluate(() => {
  const cut = [], covered = [], crossed = [];
  const figure = node => {
    const b = node.getBBox(), m = node.getCTM(), at = (x, y) => ({ x: m.a * x + m.c * y + m.e, y: m.b * x + m.d * y + m.f });
    const inset = 2; /* of a line of text there is room above and below letters */
    return [at(b.x, b.y + inset), at(b.x + b.width, b.y + inset), at(b.x + b.width, b.y + b.height - inset), at(b.x, b.y + b.height - inset)];
  };
  const partedByEdge = (a, b) => a.some((p, i) => {
    const q = a[(i + 1) % a.length], side = v => (v.x - p.x) * (q.y - p.y) - (v.y - p.y) * (q.x - p.x);
    const as = a.map(side), bs = b.map(side);
    return Math.max(...as) <= Math.min(...bs) + 1e-6 || Math.max(...bs) <= Math.min(...as) + 1e-6;
  });
  const meet = (a, b) => !partedByEdge(a, b) && !partedByEdge(b, a);
  const texts = [...document.querySelectorAll('.part text')].map(node => ({ node, text: node.textContent, figure: figure(node), isOfLine: node.matches('.label') }));
  const lines = [...document.querySelectorAll('.part .arrow .wire')].map(node => {
    const m = node.getCTM(), points = [0, node.getTotalLength()].map(l => node.getPointAtLength(l)).map(p => ({ x: m.a * p.x + m.e, y: m.d * p.y + m.f }));
    return { points, text: node.closest('g').dataset.event };
  });
  texts.forEach((a, i) => {
    if (a.text.includes('\u2026'))
      cut.push(a.text);
    for (const b of texts.slice(i + 1))
      if (meet(a.figure, b.figure))
        covered.push(a.text + ' / ' + b.text);
    for (const line of lines)
      if (!(a.isOfLine && a.node.closest('g').dataset.event === line.text) && meet(a.figure, line.points))
        (a.isOfLine ? crossed : covered).push(a.text + ' / the line of event ' + line.text);
  });
  return { cut, covered, crossed, texts: texts.length, lines: lines.length };
});

/* In windows of two widths every text can be read. */
async function textsStandAlone() {
  for (const name of ['lost', 'lossy', 'read', 'cm', 'rejected', 'three'])
    for (const [width, scheme] of [[1280, 'light'], [700, 'dark']]) {
      const page = await open(name, '', { width, height: 1800 }, scheme);
      const found = await crowded(page);
      expect(found.texts > 10 && found.lines > 1, `${name}, ${width} pixels: there are texts and lines`, found);
      expect(found.cut.length === 0, `${name}, ${width} pixels: no text is cut`, found.cut);
      expect(found.covered.length === 0, `${name}, ${width} pixels: no text is covered`, found.covered);
      expect(found.crossed.length <= 1, `${name}, ${width} pixels: labels are beside lines`, found.crossed);
      await shot(page, `${name}-${width}`);
      await page.close();
    }
}

/* Lines of packets that go the same way do not cross, also if one of them is lost: that would read as overtaking.  A
 * lost one is cut, and is compared in its direction.
 */
async function lostPacketsOvertakeNothing() {
  for (const [name, n] of [['lost', 1], ['lossy', 1], ['burst', 2]]) {
    const page = await open(name, '', { width: 1280, height: 1800 });
    const lines = await page.$$eval('g.arrow', all => all.filter(g => g.querySelector('.wire')).map(g => {
      const wire = g.querySelector('.wire'), p = wire.getPointAtLength(0), q = wire.getPointAtLength(wire.getTotalLength());
      return { x0: p.x, y0: p.y, x1: q.x, y1: q.y, lost: g.querySelector('.cross') !== null, event: g.dataset.event };
    }));
    const wide = Math.max(...lines.map(l => Math.abs(l.x1 - l.x0)));
    const short = lines.filter(l => l.lost && Math.abs(l.x1 - l.x0) < wide * 0.9);
    expect(short.length === n, `${name}: lost packets end on their way`, short);
    for (const a of short)
      for (const b of lines.filter(l => l !== a && l.x0 === a.x0 && Math.sign(l.x1 - l.x0) === Math.sign(a.x1 - a.x0))) {
        const end = l => l.y0 + (l.y1 - l.y0) * wide / Math.abs(l.x1 - l.x0); /* where it arrives, or would */
        expect((a.y0 - b.y0) * (end(a) - end(b)) > 0, `${name}: packets that go the same way do not cross`, [a, b]);
      }
    await page.close();
  }
}

async function theKeptBytesAreNoNotice() {
  const page = await open('lossy');
  expect(await page.$eval('#notices', n => n.hidden), 'no notice of what is usual');
  expect(await text(page, '.kept') === 'Only the first 256 bytes of a payload are kept.', 'a quiet line');
  const kinds = await page.$$eval('#chips .group:first-child .chip', all => all.map(c => c.textContent));
  expect(kinds.includes('timers and retries1'), 'a retry is not called a timer', kinds);
  await page.close();
}

/* No verdict on times: machines differ. */
async function manyPackets() {
  const page = await open('many');
  expect(Number(await page.$eval('#slider', s => s.max)) > 30000, 'all events are there', await page.$eval('#slider', s => s.max));
  expect(await count(page, '*') < 4000, 'only what can be seen is drawn', await count(page, '*'));
  const scrolled = await page.evaluate(async () => {
    const ladder = document.getElementById('ladder'), times = [];
    for (let i = 1; i <= 60; i++) {
      const begun = performance.now();
      ladder.scrollTop = i * ladder.scrollHeight / 61;
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - begun);
    }
    return times.sort((a, b) => a - b);
  });
  expect(await count(page, 'g.arrow') > 5, 'what is in the middle is drawn');
  let begun = Date.now();
  await press(page, ...Array(50).fill('ArrowRight'));
  const step = (Date.now() - begun) / 50;
  begun = Date.now();
  await press(page, 'End');
  const end = Date.now() - begun;
  expect((await text(page, '.sentence')).includes('SUCCESS SEND'), 'the last event of many');
  begun = Date.now();
  await clickChip(page, 'answers');
  const filtered = Date.now() - begun;
  for (const name of ['requests', 'posts', 'completions'])
    await clickChip(page, name);
  expect(await count(page, 'g.stop') === 2 && page.said.length === 0, 'what is left of many is drawn', [await count(page, 'g.stop'), page.said]);
  await page.click('#all');
  console.log(`10,000 packets: loaded in ${page.ms} ms, a jump anywhere drawn in ${scrolled[30].toFixed(0)} ms (most ${scrolled[59].toFixed(0)}), ` +
              `a step ${step.toFixed(0)} ms, to the end ${end} ms, filtered in ${filtered} ms`);
  await shot(page, 'many');
  await page.close();
}

async function strangersDoNoHarm() {
  const page = await open('hostile');
  expect(await text(page, '#title') === hostileTitle && await page.title() === hostileTitle, 'the title is text', await text(page, '#title'));
  expect(await page.evaluate(() => window.harmed) === undefined && await count(page, 'img') === 0, 'it does nothing');
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.harmed = 2';
    document.body.append(script);
  });
  expect(await page.evaluate(() => window.harmed) === undefined, 'the policy refuses other scripts');
  await page.close();
  const named = await open('named');
  expect((await text(named, '#heads')).includes('<img src=q>&amp;') && await count(named, 'img') === 0, 'a name is text', await text(named, '#heads'));
  expect((await text(named, '#notices')).includes('3 packets have no bytes here'), 'what is missing is said', await text(named, '#notices'));
  await named.close();
}

async function aCaptureHasBytes() {
  const page = await open('capture');
  await press(page, 'Home', 'ArrowRight');
  expect(await count(page, 'tr.field') > 40 && await count(page, '.b') === 322, 'a packet of a capture', await count(page, '.b'));
  await shot(page, 'capture');
  await page.close();
}

for (const check of [itLoadsAlone, keysStep, aClickShowsFields, causesAreOutlined, theFilterHides, callsAreNamed, permalinksOpen, lightAndDark,
                     itPrints, itIsNarrow, textsStandAlone, lostPacketsOvertakeNothing, theKeptBytesAreNoNotice, manyPackets, strangersDoNoHarm, aCaptureHasBytes])
  await check().catch(error => expect(false, `${check.name}: ${error.message}`));
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
