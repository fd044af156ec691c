// What the page is measured with: a run that tells many events a second, and clocks in the browser that say when something was
// painted.

import {Broken} from './tap.mjs';

// What a round of a frame tells: two nodes begin and end, and one of them rests.
const ROUND = 5;

/**
 * A run that goes on until it is cancelled, and tells about so many events a second: frames that rest and step, and a program
 * that prints 20 lines a second with the time.
 */
export async function busyRun(s, thread, rate, {frames = 8} = {}) {
  const rest = Math.max(5, Math.round(frames * ROUND * 1000 / rate));
  await s.begin(thread, `name: busy
config: {recursion_limit: 1000000000}
nodes:
  - name: steps
    map: {over: '[range(${frames})]', as: i, limit: ${frames}}
    do:
      while: 'true'
      max_iterations: 1000000000
      do:
        - {name: rest, sleep: ${rest}ms}
        - {name: tick, jq: '{}'}
    output: steps
  - name: prints
    shell: while sleep 0.05; do echo "now $(date +%s%3N)"; done
    max_output: 100M
edges:
  - {from: __start__, to: [steps, prints]}
  - {from: [steps, prints], to: __end__}
`);
  return rest;
}

/** Before anything of the page runs: clocks that the tests read. */
export async function clocks(page) {
  await page.addInitScript(() => {
    const kept = {events: 0, bytes: 0, paint: [], whole: [], asked: {}, longest: 0, frames: 0};
    globalThis.measured = kept;
    const MOST = 200_000;
    // A message of the page to itself comes when the frame that is being made has been painted.
    const channel = new MessageChannel(), after = [];
    channel.port1.onmessage = () => after.splice(0).forEach(one => one());
    const painted = what => {
      after.push(what);
      channel.port2.postMessage(0);
    };
    let waiting = [];
    const Real = WebSocket;
    globalThis.WebSocket = class extends Real {
      constructor(...words) {
        super(...words);
        this.addEventListener('message', event => {
          kept.bytes += event.data.length;
          if (!/"subscription":/.test(event.data.slice(0, 200)) && !/"subscription":/.test(event.data.slice(-60))) return;
          kept.events++;
          const at = /"at":"([^"]+)"/.exec(event.data);
          waiting.push([performance.now(), at ? Date.parse(at[1]) : 0]);
          if (waiting.length > 1) return;
          requestAnimationFrame(() => painted(() => {
            const now = performance.now(), clock = Date.now();
            for (const [heard, happened] of waiting) {
              if (kept.paint.length >= MOST) break;
              kept.paint.push(now - heard);
              if (happened) kept.whole.push(clock - happened);
            }
            waiting = [];
          }));
        });
      }
      send(text) {
        const type = /"type":"([^"]+)"/.exec(text)?.[1] ?? '?';
        kept.asked[type] = (kept.asked[type] ?? 0) + 1;
        super.send(text);
      }
    };
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      kept.longest = Math.max(kept.longest, now - last);
      kept.frames++;
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
}
export const read = page => page.evaluate(() => globalThis.measured);
export const reset = page => page.evaluate(() => Object.assign(globalThis.measured, {events: 0, bytes: 0, paint: [], whole: [], asked: {}, longest: 0, frames: 0}));

export const quantile = (list, q) => list.length ? [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))] : NaN;

/** What is in use after what nobody needs is gone: bytes of the heap, elements, listeners. */
export async function inUse(session) {
  for (let i = 0; i < 3; i++) await session.send('HeapProfiler.collectGarbage');
  const {usedSize} = await session.send('Runtime.getHeapUsage');
  const {nodes, jsEventListeners} = await session.send('Memory.getDOMCounters');
  return {heap: usedSize, nodes, listeners: jsEventListeners};
}

/** Everything that is loaded before the parts that come when they are needed: [{path, gzip}], as the server gives it. */
export async function weigh(url, entry = '/', lazy = () => false) {
  const out = new Map(), work = [entry];
  while (work.length) {
    const path = work.pop();
    if (out.has(path)) continue;
    const reply = await fetch(new URL(path, url), {headers: {'Accept-Encoding': 'gzip', Accept: 'text/html'}});
    if (!reply.ok) throw new Broken(`${path}: ${reply.status}`);
    const text = await reply.text();
    out.set(path, Number(reply.headers.get('content-length')));
    const found = path.endsWith('.js')
      ? [...text.matchAll(/\bimport(?:[\w*${},\s]*?\bfrom)?\s*["'`](\.\/[^"'`]+)["'`]/g), ...text.matchAll(/\bfrom\s*["'`](\.\/[^"'`]+)["'`]/g), ...[...text.matchAll(/\bimport\(\s*["'`](\.\/[^"'`]+)["'`]/g)].filter(one => !lazy(one[1]))]
      : path.endsWith('.css') ? [] : [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)];
    for (const [, at] of found) work.push(new URL(at, new URL(path, url)).pathname);
    // What a part that comes later needs beside it, styles above all.
    if (path.endsWith('.js')) for (const [, at] of text.matchAll(/["'`](assets\/[^"'`]+\.css)["'`]/g)) work.push(`/${at}`);
  }
  return [...out].map(([path, gzip]) => ({path, gzip}));
}
