// The Model Context Protocol as no official client would speak it: rubbish, wrong order, headers that lie, clients that vanish.
// Every message gets an answer or a clean end, and nothing hangs. Prints TAP.
//
//   tests/clients/run mcp_wire.mjs PAWL [PART OF A TITLE]

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {request} from 'node:http';
import {connect as connectSocket} from 'node:net';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {createInterface} from 'node:readline';
import {holds, runAll, same, until, within} from './tap.mjs';
import {COMPLAINTS, withServer} from './server.mjs';

const PAWL = resolve(process.argv[2]);
const SLOW = "name: slow\nnodes:\n  - {name: wait, shell: 'sleep 30'}\n";
const NEW = '2026-07-28', OLD = '2025-11-25';
const META = 'io.modelcontextprotocol/';

const message = (method, params, id = 1) => ({jsonrpc: '2.0', ...id === null ? {} : {id}, method, ...params === undefined ? {} : {params}});
const modern = (method, params = {}, id = 1, extensions = {}) => message(method, {...params, _meta: {[`${META}protocolVersion`]: NEW,
  [`${META}clientCapabilities`]: {extensions}, ...params._meta}}, id);
const hello = (id = 1) => message('initialize', {protocolVersion: OLD, capabilities: {}, clientInfo: {name: 'wire', version: '1'}}, id);
const ready = message('notifications/initialized', undefined, null);

// ---- standard input and output ----

async function withStdio(use, words = []) {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-test-'));
  const child = spawn(PAWL, ['mcp', ...words], {cwd: folder, stdio: ['pipe', 'pipe', 'pipe']});
  const ended = once(child, 'exit'), answers = [], waiting = [];
  let said = '';
  child.stderr.on('data', bytes => { said += bytes; });
  child.stdin.on('error', () => {});
  createInterface({input: child.stdout}).on('line', line => {
    const one = JSON.parse(line); // nothing but messages
    if (one.method) return; // it tells of something: that there is a new run
    waiting.length ? waiting.shift()(one) : answers.push(one);
  });
  const stdio = {child, folder,
    send: one => child.stdin.write(typeof one === 'string' ? `${one}\n` : `${JSON.stringify(one)}\n`),
    next: () => answers.length ? Promise.resolve(answers.shift()) : within(new Promise(give => waiting.push(give)), 'an answer'),
    ask: async one => { stdio.send(one); return stdio.next(); },
    begin: async () => { await stdio.ask(hello(0)); stdio.send(ready); },
    end: async () => (await within(ended, 'it ends')),
  };
  try {
    await use(stdio);
    child.stdin.end();
    const [code] = await stdio.end();
    same(code, 0, `how it ended (${said})`);
    holds(!COMPLAINTS.some(word => said.includes(word)), said);
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, {recursive: true, force: true, maxRetries: 5});
  }
}

const cases = {};

async function pawl(folder, ...words) {
  const child = spawn(PAWL, words, {cwd: folder, stdio: ['ignore', 'pipe', 'ignore']});
  let said = '';
  child.stdout.on('data', bytes => { said += bytes; });
  const [code] = await once(child, 'close');
  return [code, said];
}

cases['stdio: what is no message is answered with an error, and costs nothing else'] = () => withStdio(async s => {
  const rubbish = [['{', -32700], ['"text"', -32600], ['[]', -32600], [[hello()], -32600], [{jsonrpc: '1.0', id: 1, method: 'ping'}, -32600],
    [{jsonrpc: '2.0', id: 1}, -32600], [{jsonrpc: '2.0', id: {}, method: 'ping'}, -32600], [{jsonrpc: '2.0', id: null, method: 'ping'}, -32600],
    [{jsonrpc: '2.0', id: 1.5, method: 'ping'}, -32600], [{jsonrpc: '2.0', id: 1, method: ''}, -32600],
    [{jsonrpc: '2.0', id: 1, method: 'ping', params: []}, -32600], [{jsonrpc: '2.0', id: 1, method: 'ping', params: {_meta: 3}}, -32600],
    ['[' .repeat(2000), -32700], ['\u0000\u0001', -32700], [`"${'x'.repeat(9_000_000)}"`, -32700]];
  for (const [one, code] of rubbish) {
    same((await s.ask(one)).error?.code, code, JSON.stringify(one).slice(0, 80));
  }
  s.send('');
  s.send({jsonrpc: '2.0', id: 7, result: {}});
  s.send(message('notifications/nobody', {}, null));
  same((await s.ask(message('ping'))).result, {}, 'a ping after all that');
});

cases['stdio: a run in a store that did not exist is reached by other processes'] = () => withStdio(async s => {
  await s.begin();
  s.send(message('tools/call', {name: 'start_run', arguments: {text: SLOW, thread: 't', wait: 20}}));
  await until(async () => {
    const [code, said] = await pawl(s.folder, 'status', 't', '--json');
    return code === 0 && JSON.parse(said).status === 'running';
  }, 'it is under way');
  same(await pawl(s.folder, 'cancel', 't').then(([code]) => code), 0, 'cancelled from another process');
  same((await s.next()).result.structuredContent.status, 'cancelled', 'what the tool says');
});

cases['stdio: the wrong order'] = () => withStdio(async s => {
  same((await s.ask(message('tools/list'))).error.code, -32600, 'tools before initialize');
  same((await s.ask(message('initialize', {}))).error.code, -32602, 'initialize without a version');
  same((await s.ask(message('initialize', {protocolVersion: '1999-01-01', capabilities: {}}))).result.protocolVersion, OLD, 'the version');
  same((await s.ask(hello())).error.code, -32600, 'initialize again');
  same((await s.ask(message('server/discover'))).error.code, -32601, 'a method of the other era');
  same((await s.ask(modern('initialize'))).error.code, -32601, 'and the other way round');
  same((await s.ask(modern('tools/list', {_meta: {[`${META}protocolVersion`]: '2099-01-01'}}))).error.code, -32022, 'a version to come');
  same((await s.ask(modern('tools/list', {_meta: {[`${META}clientCapabilities`]: 7}}))).error.code, -32602, 'no capabilities');
  same((await s.ask(message('tools/call', {name: 7}))).error.code, -32602, 'a tool without a name');
  same((await s.ask(message('tools/call', {name: 'get_run', arguments: []}))).error.code, -32602, 'arguments that are none');
  same((await s.ask(message('tasks/get', {taskId: 'none'}))).error.code, -32602, 'a task that there is not');
  same((await s.ask(message('resources/read', {uri: 'pawl://runs/none'}))).error.code, -32002, 'a resource that there is not');
  same((await s.ask(modern('resources/read', {uri: 'pawl://runs/none'}))).error.code, -32602, 'the same in the new era');
  same((await s.ask(message('completion/complete', {ref: 7, argument: 9}))).error.code, -32602, 'completion of nothing');
});

cases['stdio: one id twice, cancelling what there is and what there is not'] = () => withStdio(async s => {
  await s.begin();
  s.send(message('notifications/cancelled', {requestId: 'none'}, null));
  s.send(message('tools/call', {name: 'start_run', arguments: {text: SLOW, thread: 't'}}, 'x'));
  same((await s.ask(message('ping', {}, 'x'))).error.code, -32600, 'the same id');
  s.send(message('notifications/cancelled', {requestId: 'x'}, null));
  const run = (await s.ask(message('tools/call', {name: 'wait_for_run', arguments: {thread: 't', wait: 0.1}}, 'y'))).result.structuredContent;
  same(run.status, 'running', 'the run goes on');
  await s.ask(message('tools/call', {name: 'cancel_run', arguments: {thread: 't'}}, 'z'));
});

cases['stdio: what was asked for is still answered after the end of the input'] = () => withStdio(async s => {
  await s.begin();
  s.send(message('tools/call', {name: 'start_run', arguments: {text: "nodes: [{name: a, shell: 'sleep 0.3; echo done'}]"}}));
  s.child.stdin.end();
  same((await s.next()).result.structuredContent.status, 'completed', 'the run');
});

cases['stdio: it ends when nobody reads, and when it is told to'] = async () => {
  for (const how of ['close', 'SIGTERM', 'SIGINT']) {
    await withStdio(async s => {
      await s.begin();
      s.send(message('tools/call', {name: 'start_run', arguments: {text: SLOW, thread: 't'}}));
      await until(async () => (await Promise.race([s.ask(message('tools/call', {name: 'list_runs'}, `l${Math.random()}`)), s.end()]))
        .result?.structuredContent?.runs?.length, 'it runs');
      how === 'close' ? s.child.stdout.destroy() : s.child.kill(how);
      if (how === 'close') for (let i = 0; i < 3; i++) s.send(message('ping', {}, `p${i}`));
      await s.end();
    });
  }
};

cases['stdio: tasks of both eras, to the end and cancelled'] = () => withStdio(async s => {
  await s.begin();
  const begun = (await s.ask(message('tools/call', {name: 'start_run', task: {ttl: 60000},
    arguments: {text: "nodes: [{name: a, shell: 'sleep 0.2'}]", thread: 'o'}}))).result.task;
  same(begun.status, 'working', 'a task');
  same((await s.ask(message('tasks/result', {taskId: begun.taskId}))).result.structuredContent.status, 'completed', 'its result');
  same((await s.ask(message('tasks/get', {taskId: begun.taskId}))).result.status, 'completed', 'the task');
  same((await s.ask(message('tasks/list', {}))).result.tasks.length, 1, 'the list');
  same((await s.ask(message('tasks/cancel', {taskId: begun.taskId}))).error.code, -32602, 'it is over');
  const ask = (method, params) => s.ask(modern(method, params, 1, {[`${META}tasks`]: {}}));
  const late = (await ask('tools/call', {name: 'start_run', arguments: {text: SLOW, thread: 'n'}})).result;
  same(late.resultType, 'task', 'what takes long becomes a task');
  same((await ask('tasks/get', {taskId: late.taskId})).result.status, 'working', 'it works');
  same((await s.ask(modern('tasks/get', {taskId: late.taskId}))).error.code, -32021, 'for those who know tasks');
  await ask('tasks/cancel', {taskId: late.taskId});
  same((await ask('tasks/get', {taskId: late.taskId})).result.status, 'cancelled', 'the task');
  const run = (await ask('tools/call', {name: 'get_run', arguments: {thread: 'n'}})).result.structuredContent;
  same(run.status, 'running', 'the run goes on');
  await ask('tools/call', {name: 'cancel_run', arguments: {thread: 'n'}});
});

// ---- HTTP ----

const HEADERS = {'Content-Type': 'application/json', Accept: 'application/json, text/event-stream'};
const of = (method, name) => ({'MCP-Protocol-Version': NEW, 'Mcp-Method': method, ...name === undefined ? {} : {'Mcp-Name': name}});

/** {status, headers, body, text}; an answer that is a stream is read to its end. */
function post(server, body, headers = {}, method = 'POST', path = '/mcp') {
  const bytes = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  return within(new Promise((resolve, reject) => {
    const r = request(server.url + path, {method, headers: {...HEADERS, ...headers}}, reply => {
      let text = '';
      reply.on('data', piece => { text += piece; }).on('error', reject).on('end', () => {
        const lines = text.split('\n').filter(line => line.startsWith('data: ')).map(line => JSON.parse(line.slice(6)));
        const body = lines.length ? lines.at(-1) : text && reply.headers['content-type']?.includes('json') ? JSON.parse(text) : null;
        resolve({status: reply.statusCode, headers: reply.headers, text, body, lines});
      });
    });
    r.on('error', reject);
    r.end(bytes);
  }), `${method} ${path}`);
}

async function session(server, headers = {}) {
  const {status, headers: got} = await post(server, hello(), headers);
  same(status, 200, 'initialize');
  const own = {...headers, 'Mcp-Session-Id': got['mcp-session-id'], 'MCP-Protocol-Version': OLD};
  same((await post(server, ready, own)).status, 202, 'a notification');
  return own;
}

cases['http: what is no message, or comes from where it may not'] = () => withServer(PAWL, ['--max-body', '1'], async s => {
  const wrong = [
    [400, -32700, '{'], [400, -32700, ''], [400, -32600, [hello()]], [400, -32600, {a: 1}], [415, -32600, hello(), {'Content-Type': 'text/plain'}],
    [406, -32600, hello(), {Accept: 'text/html'}], [400, -32600, message('tools/list')],
    [404, -32600, message('tools/list'), {'Mcp-Session-Id': 'none'}], [400, -32600, hello(), {}, '?profile=none'], [400, -32600, hello(), {}, '?x=1'],
    [400, -32600, hello(), {}, '?read_only=yes'], [400, -32600, hello(), {}, '?read_only=TRUE'],
  ];
  for (const [status, code, body, headers, query] of wrong) {
    const got = await post(s, body, headers, 'POST', `/mcp${query ?? ''}`);
    same([got.status, got.body.error.code], [status, code], `${JSON.stringify(body).slice(0, 60)} ${JSON.stringify(headers)}: ${got.text}`);
  }
  same((await post(s, hello(), {Origin: 'https://evil.example'})).status, 403, 'a page of another site');
  same((await post(s, hello(), {Host: 'evil.example'})).status, 403, 'another name');
  same((await post(s, hello(), {'Sec-Fetch-Site': 'cross-site'})).status, 403, 'a browser says so');
  same((await post(s, hello(), {Origin: s.url})).status, 200, 'its own page');
  same((await post(s, `"${'x'.repeat(1_200_000)}"`)).status, 413, 'a body that is too long');
  const put = await post(s, hello(), {}, 'PUT');
  same([put.status, put.headers.allow], [405, 'POST, GET, DELETE'], 'PUT');
  for (const method of ['GET', 'DELETE']) same((await post(s, undefined, {}, method)).status, 405, `${method} without a session`);
});

cases['http: headers have to say what the body says'] = () => withServer(PAWL, [], async s => {
  const list = modern('tools/list'), call = modern('tools/call', {name: 'list_runs', arguments: {}});
  const mismatches = [[list, {}], [list, {'MCP-Protocol-Version': NEW}], [list, of('tools/call', 'x')], [call, of('tools/call')],
    [call, of('tools/call', 'cancel_run')], [call, of('tools/call', '=?base64?!!!!?=')], [call, of('tools/call', '=?base64??=')],
    [list, {...of('tools/list'), 'MCP-Protocol-Version': OLD}]];
  for (const [body, headers] of mismatches) {
    const got = await post(s, body, headers);
    same([got.status, got.body.error.code, got.body.id], [400, -32020, 1], JSON.stringify(headers));
  }
  same((await post(s, call, of('tools/call', 'list_runs'))).status, 200, 'when they do');
  const encoded = `=?base64?${Buffer.from('list_runs').toString('base64')}?=`;
  same((await post(s, call, of('tools/call', encoded))).status, 200, 'and in base64');
  same((await post(s, modern('nothing/there'), of('nothing/there'))).status, 404, 'a method that there is not');
});

cases['http: a session is of the token that began it, and ends'] = () => withServer(PAWL, ['--auth'], async s => {
  const token = name => ({Authorization: `Bearer ${s.command('token', 'make', name, '--scope', 'debug').match(/pawl_\S+/)[0]}`});
  const mine = token('mine'), theirs = token('theirs'), own = await session(s, mine);
  same((await post(s, message('ping'), own)).body.result, {}, 'a ping');
  same((await post(s, message('ping'), {...own, ...theirs})).status, 404, 'with the token of another');
  same((await post(s, undefined, {...own, ...theirs}, 'DELETE')).status, 404, 'nor can they end it');
  same((await post(s, message('ping'), {...own, 'MCP-Protocol-Version': 'x'})).status, 400, 'a version that there is not');
  same((await post(s, undefined, own, 'DELETE')).status, 204, 'its end');
  same((await post(s, message('ping'), own)).status, 404, 'after its end');
  const again = await session(s, mine);
  const waiting = post(s, message('tools/call', {name: 'list_runs'}), again);
  s.command('token', 'revoke', 'mine');
  await waiting;
  await until(async () => (await post(s, message('ping'), again)).status === 401, 'a token that was revoked');
});

cases['http: an answer that takes long is a stream; who goes away ends the waiting alone'] = () => withServer(PAWL, [], async s => {
  const own = await session(s);
  const go = (thread, more = {}) => message('tools/call', {name: 'start_run', arguments: {text: SLOW, thread, wait: 4}, ...more});
  const slow = await post(s, go('a'), own);
  same([slow.headers['content-type'], slow.body.result.structuredContent.status], ['text/event-stream', 'running'], 'the answer');
  const told = await post(s, go('b', {_meta: {progressToken: 'p'}, arguments: {text: SLOW, thread: 'b', wait: 1}}), own);
  holds(told.lines.some(one => one.method === 'notifications/progress'), 'progress');
  const plain = await post(s, go('c', {arguments: {text: SLOW, thread: 'c', wait: 3}}), {...own, Accept: 'application/json'});
  holds(plain.headers['content-type'].includes('json') && plain.body.result, 'JSON, for who wants that');
  const text = JSON.stringify(modern('tools/call', {name: 'start_run', arguments: {text: SLOW, thread: 'd'}}));
  const socket = connectSocket(s.port, '127.0.0.1');
  socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${s.port}\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n` +
    `MCP-Protocol-Version: ${NEW}\r\nMcp-Method: tools/call\r\nMcp-Name: start_run\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  await until(async () => (await s.ask('GET', '/runs?status=running')).runs.some(run => run.thread === 'd'), 'it runs');
  socket.destroy();
  for (const thread of ['a', 'b', 'c', 'd']) same((await s.ask('GET', `/runs/${thread}`)).status, 'running', thread);
});

cases['http: the server stops while streams are open'] = () => withServer(PAWL, [], async s => {
  const own = await session(s), begun = Date.now();
  const open = [post(s, undefined, own, 'GET'), post(s, modern('subscriptions/listen', {notifications: {resourcesListChanged: true}}), of('subscriptions/listen')),
    post(s, message('tools/call', {name: 'start_run', arguments: {text: SLOW, thread: 'a'}}, 9), own)];
  await until(async () => (await s.ask('GET', '/runs')).runs.length, 'it runs');
  await s.stop();
  const [, listened, called] = await Promise.all(open);
  holds(listened.body.result, `the subscription ends with its result: ${listened.text}`);
  holds(called.body.result?.isError, `the tool says why: ${called.text}`);
  holds(Date.now() - begun < 50_000, 'soon');
});

cases['http: a second GET takes the place of the first'] = () => withServer(PAWL, [], async s => {
  const own = await session(s);
  const listen = () => within(new Promise((resolve, reject) => {
    const r = request(`${s.url}/mcp`, {headers: {...HEADERS, ...own}}, reply => resolve({status: reply.statusCode, ended: once(reply.resume(), 'end')}));
    r.on('error', reject).end();
  }), 'a stream');
  const first = await listen(), second = await listen();
  same([first.status, second.status], [200, 200], 'both');
  await within(first.ended, 'the first ends');
  const sessions = async () => Number(/^pawl_mcp_sessions (\d+)$/m.exec(await (await fetch(`${s.url}/metrics`)).text())[1]);
  same(await sessions(), 1, 'sessions that are counted');
  same((await post(s, undefined, own, 'DELETE')).status, 204, 'the session');
  same(await sessions(), 0, 'after the end of the session');
  await within(second.ended, 'the second ends with the session');
});

const wanted = Object.entries(cases).filter(([title]) => title.includes(process.argv[3] ?? ''));
await runAll(Object.fromEntries(wanted));
