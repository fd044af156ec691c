// The server, asked by Node's own fetch and WebSocket, and by the packages `eventsource` and `ws`. Prints TAP.
//
//   tests/clients/run http.mjs PAWL

import {EventSource} from 'eventsource';
import {WebSocket as Ws} from 'ws';
import {Broken, holds, runAll, same, sleep, until, within} from './tap.mjs';
import {withServer} from './server.mjs';

const PAWL = process.argv[2];
const NODES = 20;
const names = Array.from({length: NODES}, (_, i) => `n${i}`);
const LONG = 'name: long\nnodes:\n' + names.map(n => `  - {name: ${n}, shell: 'sleep 0.05'}\n`).join('');
const SHORT = "name: short\nnodes:\n  - {name: a, jq: '{n: 1}'}\n";
const PAUSES = "name: pauses\nnodes:\n  - {name: a, jq: '{n: 1}'}\n  - {name: b, jq: '{n: (.n + 1)}'}\n";

/** Collects the events of these names until one of `ends` comes or the source is closed for good. */
function follow(url, types, ends, Source = EventSource, options) {
  const source = new Source(url, options), events = [];
  let connections = 0;
  const done = new Promise(resolve => {
    source.onopen = () => { connections++; };
    source.onerror = () => { if (source.readyState === 2) resolve(); };
    for (const type of types) {
      source.addEventListener(type, event => {
        events.push({type, id: event.lastEventId, data: JSON.parse(event.data)});
        if (ends.includes(type)) {
          source.close();
          resolve();
        }
      });
    }
  });
  return {source, events, done, get connections() { return connections; }};
}

/** Messages of a WebSocket of either kind, answered by their request_id. */
class Talk {
  constructor(socket) {
    this.socket = socket;
    this.events = [];
    this.waiting = new Map();
    this.count = 0;
    this.open = new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', event => reject(event.error ?? new Broken('it was refused')));
    });
    this.open.catch(() => {}); // whoever waits for it is told
    this.closed = new Promise(resolve => socket.addEventListener('close', event => resolve(event.code)));
    socket.addEventListener('message', event => {
      const message = JSON.parse(event.data), answer = this.waiting.get(message.request_id);
      if (answer) {
        this.waiting.delete(message.request_id);
        answer(message);
      } else {
        this.events.push(message);
      }
    });
  }

  static async to(url, Kind = WebSocket, ...more) {
    const talk = new Talk(new Kind(url, ...more));
    await within(talk.open, 'the WebSocket opens');
    return talk;
  }

  ask(type, data, more = {}) {
    const request_id = ++this.count;
    const answer = new Promise(resolve => this.waiting.set(request_id, resolve));
    this.socket.send(JSON.stringify({type, request_id, data, ...more}));
    return within(answer, `${type} is answered`);
  }

  async end() {
    this.socket.close();
    await within(this.closed, 'the WebSocket closes');
  }
}

const socketOf = (s, path = '/ws') => s.api.replace('http', 'ws') + path;

await runAll({
  'fetch: a run is started, read, compared by its ETag, and not found': () => withServer(PAWL, [], async s => {
    const made = await fetch(`${s.api}/runs`, {method: 'POST', headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({definition: {main: 'a.yaml', files: {'a.yaml': SHORT}}, thread: 'one'})});
    same([made.status, new URL(made.headers.get('location'), s.url).pathname], [201, '/api/v1/runs/one']);
    await made.json();
    await s.until('one', 'completed');
    const definition = await fetch(`${s.api}/runs/one/definition`);
    same(definition.status, 200);
    await definition.json();
    const again = await fetch(`${s.api}/runs/one/definition`, {headers: {'If-None-Match': definition.headers.get('etag')}});
    same([again.status, await again.text()], [304, '']);
    const missing = await fetch(`${s.api}/runs/none`);
    same([missing.status, missing.headers.get('content-type')], [404, 'application/problem+json']);
    same((await missing.json()).code, 'not_found');
    const head = await fetch(`${s.api}/runs/one`, {method: 'HEAD'});
    same([head.status, await head.text()], [200, '']);
  }),

  'fetch: a body that is streamed in chunks is read, one that is too long is refused': () =>
    withServer(PAWL, ['--max-body', '1'], async s => {
      const streamed = (pieces, delay) => fetch(`${s.api}/runs`, {method: 'POST', duplex: 'half',
        headers: {'Content-Type': 'application/json'},
        body: new ReadableStream({
          async start(out) {
            for (const piece of pieces) {
              out.enqueue(new TextEncoder().encode(piece));
              if (delay) await sleep(delay);
            }
            out.close();
          }})});
      const text = JSON.stringify({definition: {main: 'a.yaml', files: {'a.yaml': SHORT}}, thread: 'chunks'});
      const good = await streamed([...text].map((_, i) => i % 7 ? '' : text.slice(i, i + 7)).filter(Boolean), 1);
      same(good.status, 201);
      await good.arrayBuffer();
      const long = await streamed(Array(64).fill('"' + 'x'.repeat(65536))).catch(error => error);
      holds(long.status === 413 || long instanceof TypeError, `a body of 4 MB: ${long.status} ${long}`);
      await s.ask('GET', '/runs');
    }),

  'fetch: 200 requests at once over kept connections, and those that are aborted cost the others nothing': () =>
    withServer(PAWL, ['--rate', '100000'], async s => {
      await s.begin('one', SHORT);
      const abort = new AbortController();
      const lost = Array.from({length: 50}, () =>
        fetch(`${s.api}/events`, {signal: abort.signal}).then(reply => reply.text()).catch(() => 'aborted'));
      const found = await Promise.all(Array.from({length: 200}, () => s.ask('GET', '/runs/one')));
      same(new Set(found.map(run => run.thread)).size, 1);
      abort.abort();
      same(new Set(await Promise.all(lost)), new Set(['aborted']));
      await s.ask('GET', '/runs/one');
    }),

  'EventSource: comes back by itself after the server died, with each step once and in order': () =>
    withServer(PAWL, ['--rate', '100000'], async s => {
      await s.begin('long', LONG);
      const clients = Array.from({length: 10}, () =>
        follow(`${s.api}/runs/long/events?from=0`, ['node.completed', 'run.completed'], ['run.completed']));
      await until(() => clients.every(c => c.events.length > 2), 'all have heard something');
      await s.kill();
      await s.start();
      await within(Promise.all(clients.map(c => c.done)), 'the run ends for all');
      for (const client of clients) {
        same(client.events.filter(e => e.type === 'node.completed').map(e => e.data.node), names, 'what was heard');
        holds(client.connections > 1, 'it did not have to come back');
      }
    }),

  'EventSource: a run that has ended is told, and then the source rests closed': () => withServer(PAWL, [], async s => {
    await s.begin('one', SHORT);
    await s.until('one', 'completed');
    const types = ['run.started', 'node.completed', 'run.completed'];
    const client = follow(`${s.api}/runs/one/events?from=0`, types, []);
    await within(client.done, 'it is told to stay away'); // by 204, when it comes back with the last id
    same(client.events.map(e => e.type), types);
  }),

  'WebSocket of Node: calls, a subscription, 200 calls at once, an error, and a clean close': () =>
    withServer(PAWL, [], async s => {
      await s.begin('one', SHORT);
      const talk = await Talk.to(socketOf(s));
      same((await talk.ask('run_get', {thread: 'one'})).data.thread, 'one');
      same((await talk.ask('run_get', {thread: 'none'})).type, 'error');
      const many = await Promise.all(Array.from({length: 200}, () => talk.ask('runs', {})));
      same(new Set(many.map(m => m.type)).size, 1);
      await talk.ask('subscribe', {types: ['run.completed']});
      await s.begin('two', SHORT);
      await until(() => talk.events.find(m => m.data?.thread === 'two'), 'the end of the second is told');
      await talk.end();
    }),

  'WebSocket of ws: fragments, pings, compression that is offered, a megabyte, and rubbish': () =>
    withServer(PAWL, ['--max-body', '4'], async s => {
      const talk = await Talk.to(socketOf(s), Ws, {perMessageDeflate: true});
      const pong = new Promise(resolve => talk.socket.once('pong', data => resolve(String(data))));
      talk.socket.ping('are you there');
      same(await within(pong, 'the ping is answered'), 'are you there');
      const text = JSON.stringify({type: 'runs', request_id: 'parts', data: {}});
      const answer = new Promise(resolve => talk.waiting.set('parts', resolve));
      for (let i = 0; i < text.length; i += 5) talk.socket.send(text.slice(i, i + 5), {fin: i + 5 >= text.length});
      same((await within(answer, 'the fragments are answered')).type, 'answer');
      const big = await talk.ask('run_start', {thread: 'big', input: {text: 'x'.repeat(1 << 20)},
        definition: {main: 'a.yaml', files: {'a.yaml': SHORT}}});
      same(big.data.thread, 'big');
      const state = await talk.ask('run_state', {thread: 'big', path: '.text | length'});
      holds(['answer', 'error'].includes(state.type), 'it is answered');
      talk.socket.send('{"type": ');
      await until(() => talk.events.find(m => m.type === 'error'), 'rubbish is answered');
      await talk.end();
    }),

  'WebSocket of a debugger: attached by its address, stepped, and told of the pause': () =>
    withServer(PAWL, [], async s => {
      await s.begin('deb', PAUSES, {debug: {pause_on_start: true}});
      const talk = await Talk.to(socketOf(s, '/debug/deb'));
      await talk.ask('subscribe', {types: ['debug'], from: 'now'});
      same((await talk.ask('step_over', {})).type, 'resumed');
      await until(() => talk.events.find(m => m.type === 'paused' && m.data.node === 'b'), 'it pauses at b');
      same((await talk.ask('inspect_state', {})).data.state, {n: 1});
      await talk.ask('continue', {});
      await s.until('deb', 'completed');
      await talk.end();
    }),
});
