// The server, asked by pages in a real browser: its own, and those of another site. Prints TAP.
//
//   tests/clients/run browser.mjs PAWL

import {createServer} from 'node:http';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {chromium} from 'playwright-core';
import {holds, runAll, same, until} from './tap.mjs';
import {withServer} from './server.mjs';

const PAWL = process.argv[2];
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(path => existsSync(path));
if (!CHROMIUM) {
  console.log('1..0 # SKIP there is no Chromium');
  process.exit(0);
}
const SHORT = "name: short\nnodes:\n  - {name: a, jq: '{n: 1}'}\n";
const SLOW = "name: slow\nnodes:\n" +
  Array.from({length: 10}, (_, i) => `  - {name: n${i}, shell: 'sleep 0.1'}\n`).join('');
const START = {definition: {main: 'a.yaml', files: {'a.yaml': SHORT}}};

async function withBrowser(use) {
  const browser = await chromium.launch({executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu',
    '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync']});
  try {
    await use(await (await browser.newContext()).newPage());
  } finally {
    await browser.close();
  }
}

/** A page of another site, on another port of this machine. */
async function withOtherSite(use) {
  const server = createServer((_, reply) => {
    reply.setHeader('Content-Type', 'text/html');
    reply.end('<!doctype html><title>another site</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

await runAll({
  'a page of the server signs in with a token, calls, listens over a death of the server, and signs out': () =>
    withServer(PAWL, ['--auth', '--rate', '100000'], s => withBrowser(async page => {
      const token = s.command('token', 'make', 'page', '--scope', 'admin', '--json');
      const secret = JSON.parse(token).token;
      await page.goto(`${s.url}/healthz`);
      const call = (method, path, body) => page.evaluate(async ([method, path, body]) => {
        const reply = await fetch(`/api/v1${path}`, {method, headers: body ? {'Content-Type': 'application/json'} : {},
          body: body ? JSON.stringify(body) : undefined});
        return [reply.status, await reply.text()];
      }, [method, path, body]);
      same((await call('GET', '/runs'))[0], 401, 'without a token');
      same((await call('POST', '/sign-in', {token: secret}))[0], 200, 'signing in');
      same(await page.evaluate(() => document.cookie), '', 'what scripts see of the cookie');
      same((await call('POST', '/runs', {definition: {main: 'a.yaml', files: {'a.yaml': SLOW}}, thread: 'slow'}))[0], 201);
      await page.evaluate(() => {
        window.heard = [];
        const source = new EventSource('/api/v1/runs/slow/events?from=0');
        source.addEventListener('node.completed', event => window.heard.push(JSON.parse(event.data).node));
        source.addEventListener('run.completed', () => { window.over = true; source.close(); });
      });
      await until(() => page.evaluate(() => window.heard.length > 1), 'something is heard');
      await s.kill();
      await s.start();
      await until(() => page.evaluate(() => window.over), 'the end is heard');
      same(await page.evaluate(() => window.heard), Array.from({length: 10}, (_, i) => `n${i}`), 'what was heard');
      const said = await page.evaluate(() => new Promise((resolve, reject) => {
        const socket = new WebSocket(location.origin.replace('http', 'ws') + '/api/v1/ws');
        socket.onopen = () => socket.send(JSON.stringify({type: 'run_get', request_id: 1, data: {thread: 'slow'}}));
        socket.onmessage = event => { resolve(JSON.parse(event.data)); socket.close(); };
        socket.onclose = event => reject(new Error(`closed with ${event.code}`));
      }));
      same([said.type, said.data.status], ['answer', 'completed'], 'over a WebSocket');
      same((await call('POST', '/sign-out', {}))[0], 200, 'signing out');
      same((await call('GET', '/runs'))[0], 401, 'after signing out');
    })),

  'a page of another site starts nothing, changes nothing and reads nothing': () =>
    withServer(PAWL, [], s => withOtherSite(site => withBrowser(async page => {
      await s.begin('mine', SHORT);
      await s.until('mine', 'completed');
      await page.goto(site);
      const tried = await page.evaluate(async ([api, start]) => {
        const out = {};
        const body = JSON.stringify(start);
        const fetched = async (name, path, options) => {
          try {
            const reply = await fetch(api + path, options);
            out[name] = reply.type === 'opaque' ? 'sent' : `read ${reply.status}`;
          } catch {
            out[name] = 'refused';
          }
        };
        await fetched('read', '/runs', {});
        await fetched('simple', '/runs', {method: 'POST', mode: 'no-cors', headers: {'Content-Type': 'text/plain'}, body});
        await fetched('json', '/runs', {method: 'POST', headers: {'Content-Type': 'application/json'}, body});
        await fetched('delete', '/runs/mine', {method: 'DELETE'});
        out.socket = await new Promise(resolve => {
          const socket = new WebSocket(api.replace('http', 'ws') + '/ws');
          socket.onopen = () => resolve('open');
          socket.onerror = () => resolve('refused');
        });
        out.events = await new Promise(resolve => {
          const source = new EventSource(`${api}/events?from=0`);
          source.onopen = () => { source.close(); resolve('open'); };
          source.onerror = () => { source.close(); resolve('refused'); };
        });
        return out;
      }, [s.api, {...START, thread: 'theirs'}]);
      same(tried, {read: 'refused', simple: 'sent', json: 'refused', delete: 'refused', socket: 'refused', events: 'refused'});
      await page.goto(site);
      const looked = await page.evaluate(api => new Promise(resolve => { // an image is a GET without an Origin
        const image = new Image();
        image.onload = image.onerror = () => resolve(performance.getEntriesByName(image.src)[0].responseStatus);
        image.src = `${api}/runs/mine/events?attach=true`;
      }), s.api);
      holds(looked === 0 || looked === 403, `an image of the events: ${looked}`);
      await page.evaluate(url => { // a link may be followed
        const link = document.createElement('a');
        link.href = `${url}/healthz`;
        document.body.append(link);
        link.click();
      }, s.url);
      await page.waitForURL(`${s.url}/healthz`);
      holds((await page.textContent('body')).includes('ok'), 'a link was not followed');
      await page.goto(site);
      await page.evaluate(api => { // a form, as it can be sent without scripts: its body reads as JSON
        const form = document.createElement('form'), field = document.createElement('input');
        form.method = 'POST';
        form.action = `${api}/runs/mine/fork`;
        form.enctype = 'text/plain';
        field.name = '{"thread": "forked", "x';
        field.value = '": 1}';
        form.append(field);
        document.body.append(form);
        form.submit();
      }, s.api);
      await page.waitForURL(url => String(url).startsWith(s.url));
      holds((await page.textContent('body')).includes('wrong_origin'), `the form was not refused: ${await page.textContent('body')}`);
      same((await s.ask('GET', '/runs')).runs.map(run => run.thread), ['mine'], 'what runs there are');
    }))),
});
