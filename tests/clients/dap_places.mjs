// `pawl dap` and runs that are somewhere else: on a server, in another process, in a store of another folder, or long over.
// Prints TAP.
//
//   tests/clients/run dap_places.mjs PAWL

import {once} from 'node:events';
import {existsSync, writeFileSync} from 'node:fs';
import {holds, runAll, same, until} from './tap.mjs';
import {hasSchema, withAdapter} from './dap_adapter.mjs';
import {withServer} from './server.mjs';

const PAWL = process.argv[2];
const FLOW = `name: flow
state: {count: 0}
nodes:
  - {name: one, jq: '{count: (.count + 1)}'}
  - {name: two, shell: 'echo hello', output: said}
  - {name: three, jq: '{count: (.count + 10)}'}
`;
const WAITS = `name: waits
state: {count: 0}
nodes:
  - {name: one, jq: '{count: (.count + 1)}'}
  - {name: slow, shell: 'touch begun; until test -e go; do sleep 0.05; done'}
  - {name: three, jq: '{count: (.count + 10)}'}
`;
const FAILS = `name: fails
nodes:
  - {name: fine, jq: '{x: 1}'}
  - {name: bad, shell: 'echo no >&2; exit 7'}
`;
const files = {'flow.yaml': FLOW, 'waits.yaml': WAITS, 'fails.yaml': FAILS};

/** A conversation with a server of its own; how: what the adapter is told of it. */
const served = (use, {words = [], dap = s => ({words: ['--server', s.url]})} = {}) => () =>
  withServer(PAWL, words, s => withAdapter(PAWL, {files, ...dap(s)}, a => use(a, s)));

/** The story of a run on a server: breakpoint, step, look, set, back, on to the end. */
async function story(a, s, args, {name = 'flow.yaml'} = {}) {
  const [three] = (await a.begin({program: 'flow.yaml', thread: 'far', ...args}, {breakpoints: {'flow.yaml': [{line: 6}]}}))['flow.yaml'];
  same([three.verified, three.line], [true, 6], 'the breakpoint');
  same((await a.event('output', body => body.category === 'stdout')).output, 'hello\n', 'what a node printed there');
  same((await a.stop()).reason, 'breakpoint', 'the reason');
  same(await a.at(), `${name}:6 three`, 'the place');
  same((await a.ask('threads')).threads.length, 1, 'threads');
  const {variablesReference} = await a.scope('State');
  await a.ask('setVariable', {variablesReference, name: 'count', value: '30'});
  same((await a.evaluate('count', {context: 'hover'})).result, '30', 'a value that was set');
  await a.go('stepBack');
  same(await a.at(), `${name}:5 two`, 'a step back');
  await a.go('next');
  await a.ask('continue', {threadId: 1});
  same(await a.event('exited'), {exitCode: 0}, 'the end');
  await a.event('terminated');
  same((await s.ask('GET', '/runs/far')).status, 'completed', 'the run on the server');
  holds(!existsSync(a.path('runs.db')), 'there is no store here');
}

const cases = {
  'launch on a server, named on the command line': served((a, s) => story(a, s, {})),
  'launch on a server, named by $PAWL_SERVER': served((a, s) => story(a, s, {}), {dap: s => ({env: {PAWL_SERVER: s.url}})}),
  'launch on a server, named by the client': served((a, s) => story(a, s, {server: s.url}), {dap: () => ({})}),
  'launch on a server, through an adapter at TCP': served((a, s) => story(a, s, {server: s.url}), {dap: () => ({tcp: true})}),

  'launch of a workflow that the server knows by its name': served(async (a, s) => {
    await s.ask('POST', '/workflows', {name: 'known', definition: {main: 'known.yaml', files: {'known.yaml': FLOW}}});
    await a.open('launch', {workflow: 'known', stopOnEntry: true});
    const functions = await a.ask('setFunctionBreakpoints', {breakpoints: [{name: 'three'}]});
    same(functions.breakpoints[0].verified, true, 'a breakpoint by name');
    await a.ask('configurationDone');
    same((await a.stop()).reason, 'entry', 'the reason');
    const [top] = await a.stack();
    holds(top.source.sourceReference > 0, 'its file is not here');
    same((await a.ask('source', {sourceReference: top.source.sourceReference, source: top.source})).content, FLOW, 'but the server has it');
    same((await a.go('continue')).reason, 'function breakpoint', 'the reason');
  }),

  'attach to a run that goes on a server, by its name and by its number': served(async (a, s) => {
    await s.begin('busy', WAITS);
    await until(() => existsSync(`${s.folder}/begun`), 'it has begun');
    for (const args of [{thread: 'busy'}, {run: 1}]) {
      await withAdapter(PAWL, {folder: a.folder, words: ['--server', s.url]}, async b => {
        await b.begin(args, {how: 'attach'});
        same((await b.ask('threads')).threads.length, 1, 'its thread');
        await b.ask('pause', {threadId: 1});
        same((await b.stop()).reason, 'pause', 'it is paused');
        same((await b.stack())[0].name, 'slow (shell)', 'where it is');
        same((await b.values()).count, '1', 'what it sees');
        await b.ask('continue', {threadId: 1});
        await b.finish();
        same((await s.ask('GET', '/runs/busy')).status, 'running', 'it goes on without us');
      });
    }
    await a.begin({thread: 'busy'}, {how: 'attach'});
    writeFileSync(`${s.folder}/go`, '');
    await a.event('terminated');
    await s.until('busy', 'completed');
  }),

  'attach to runs of a server that are over': served(async (a, s) => {
    await s.begin('done', FLOW);
    await s.begin('broken', FAILS);
    await s.until('done', 'completed');
    await s.until('broken', 'failed');
    await a.begin({thread: 'broken'}, {how: 'attach'});
    same((await a.stop()).reason, 'exception', 'the reason');
    same((await a.stack())[0].name, 'bad (shell)', 'where it failed');
    same((await a.values('Error')).exit_code, '7', 'the error');
    await withAdapter(PAWL, {folder: a.folder, words: ['--server', s.url]}, async b => {
      await b.begin({thread: 'done'}, {how: 'attach'});
      await b.stop();
      same((await b.values()).count, '11', 'what it came to');
      await b.go('stepBack');
      same((await b.stack())[0].name, 'three (jq)', 'one can go back into it');
      await b.ask('continue', {threadId: 1});
      await b.event('terminated');
    });
  }),

  'a client that vanishes leaves a run on a server as it is, and another comes back': served(async (a, s) => {
    await a.begin({program: 'flow.yaml', thread: 'left'}, {breakpoints: {'flow.yaml': [{line: 6}]}});
    await a.stop();
    await a.vanish();
    await withAdapter(PAWL, {folder: a.folder, words: ['--server', s.url]}, async b => {
      await b.begin({thread: 'left'}, {how: 'attach'});
      await b.stop();
      same(await b.at(), 'flow.yaml:6 three', 'it stands where it stood');
      await b.ask('continue', {threadId: 1});
      await b.event('terminated');
    });
  }),

  'a server that is not there, or is none, is named': () => withAdapter(PAWL, {files}, async a => {
    await a.ask('initialize', {adapterID: 'pawl'});
    const sentence = await a.refused('launch', {program: a.path('flow.yaml'), server: 'http://127.0.0.1:1'});
    holds(sentence.includes('127.0.0.1:1'), `the server is named: ${sentence}`);
    holds((await a.refused('attach', {thread: 'x', server: 'gopher://x'})).includes('gopher'), 'what is no URL');
    const both = await a.refused('attach', {thread: 'x', server: 'http://127.0.0.1:1', store: 'memory:'});
    holds(both.includes('not in both'), `one of them: ${both}`);
    await a.ask('launch', {program: a.path('flow.yaml')});
  }),

  'a server with --auth wants a token, and takes it from $PAWL_TOKEN': () => withServer(PAWL, ['--auth'], async s => {
    const token = async scope => {
      const made = s.command('token', 'make', scope, '--scope', scope).trim().split(/\s+/).find(word => word.length > 20);
      await until(async () => (await fetch(`${s.api}/runs`, {headers: {Authorization: `Bearer ${made}`}})).ok, 'the server knows it');
      return made;
    };
    await withAdapter(PAWL, {files, words: ['--server', s.url]}, async a => {
      await a.ask('initialize', {adapterID: 'pawl'});
      holds((await a.refused('launch', {program: a.path('flow.yaml')})).includes('token'), 'without one it is refused');
    });
    await withAdapter(PAWL, {files, words: ['--server', s.url], env: {PAWL_TOKEN: await token('debug')}}, async a => {
      await a.ask('initialize', {adapterID: 'pawl'});
      holds((await a.refused('launch', {program: a.path('flow.yaml')})).includes('knows by name'), 'a small one starts what is known there');
    });
    await withAdapter(PAWL, {files, words: ['--server', s.url], env: {PAWL_TOKEN: await token('admin')}}, async a => {
      await a.begin({program: 'flow.yaml', stopOnEntry: true});
      await a.stop();
      same(await a.at(), 'flow.yaml:4 one', 'with it, it is debugged');
    });
  }),

  'attach to a run that another process has: pause, look, set, let it go': () => withAdapter(PAWL, {files}, async a => {
    const other = a.aside('run', 'waits.yaml', '--thread', 'busy', '--quiet');
    const ended = once(other, 'exit');
    await until(() => existsSync(a.path('begun')), 'it has begun');
    await a.begin({thread: 'busy'}, {how: 'attach', breakpoints: {'waits.yaml': [{line: 6}]}});
    await a.ask('pause', {threadId: 1});
    same((await a.stop()).reason, 'pause', 'the reason');
    same(await a.at(), 'waits.yaml:5 slow', 'where it is');
    const {variablesReference} = await a.scope('State');
    same((await a.ask('setVariable', {variablesReference, name: 'count', value: '5'})).value, '5', 'set there');
    await a.ask('continue', {threadId: 1});
    a.write('go', '');
    same((await a.stop()).reason, 'breakpoint', 'the reason');
    same((await a.values()).count, '5', 'it saw the value');
    await a.ask('continue', {threadId: 1});
    await a.event('terminated');
    same((await ended)[0], 0, 'the exit code of the other process');
  }),

  'a run of another process goes on when its editor goes away': () => withAdapter(PAWL, {files}, async a => {
    const other = a.aside('run', 'waits.yaml', '--thread', 'busy', '--quiet');
    const ended = once(other, 'exit');
    await until(() => existsSync(a.path('begun')), 'it has begun');
    await a.begin({thread: 'busy'}, {how: 'attach'});
    await a.ask('threads');
    await a.vanish();
    a.write('go', '');
    same((await ended)[0], 0, 'the exit code of the other process');
  }),

  'a run whose process dies is over for the editor, and can be attached again': () => withAdapter(PAWL, {files}, async a => {
    const other = a.aside('run', 'waits.yaml', '--thread', 'busy', '--quiet');
    const ended = once(other, 'exit');
    await until(() => existsSync(a.path('begun')), 'it has begun');
    await a.begin({thread: 'busy'}, {how: 'attach'});
    await a.ask('threads');
    other.kill('SIGKILL');
    await ended;
    await a.event('terminated');
    a.write('go', '');
    await withAdapter(PAWL, {folder: a.folder}, async b => {
      await b.begin({thread: 'busy'}, {how: 'attach', breakpoints: {'waits.yaml': [{line: 6}]}});
      same((await b.stop()).description, 'Paused, in `slow`', 'it stands where it was');
      same((await b.go('continue')).reason, 'breakpoint', 'it goes on here');
      await b.ask('continue', {threadId: 1});
      await b.event('terminated');
    });
  }),

  'two editors at one run: both see where it stands, and what the other does': () => withAdapter(PAWL, {files, tcp: true}, async a => {
    await a.begin({program: 'flow.yaml', thread: 'shared', stopOnEntry: true});
    await a.stop();
    await withAdapter(PAWL, {folder: a.folder}, async b => {
      await b.begin({thread: 'shared'}, {how: 'attach'});
      await b.stop();
      same(await b.at(), 'flow.yaml:4 one', 'the other stands there too');
      await b.go('next');
      await a.event('continued');
      await a.stop();
      same([await a.at(), await b.at()], ['flow.yaml:5 two', 'flow.yaml:5 two'], 'both have moved');
      const {variablesReference} = await b.scope('State');
      await b.ask('setVariable', {variablesReference, name: 'count', value: '70'});
      await a.event('invalidated', body => body.areas.includes('variables'));
      same((await a.values()).count, '70', 'what the other has set');
      await a.ask('continue', {threadId: 1});
      await b.event('terminated');
    });
    await a.event('terminated');
  }),

  'a store of another folder is named in the configuration': () => withAdapter(PAWL, {files}, async a => {
    a.write('elsewhere/x', '');
    await a.begin({program: 'flow.yaml', thread: 'there', store: `file:${a.path('elsewhere/runs')}`, stopOnEntry: true});
    await a.stop();
    await a.finish({terminateDebuggee: false, suspendDebuggee: true});
    holds(existsSync(a.path('elsewhere/runs')), 'the store is there');
    await withAdapter(PAWL, {folder: a.folder}, async b => {
      await b.begin({thread: 'there', store: `file:${a.path('elsewhere/runs')}`}, {how: 'attach'});
      await b.stop();
      same(await b.at(), 'flow.yaml:4 one', 'and has the run');
    });
  }),
};

if (!hasSchema) cases['messages fit the schema # SKIP there is no shared data: $PAWL_TEST_DATA says where'] = async () => {};
const only = process.argv[3];
await runAll(only ? Object.fromEntries(Object.entries(cases).filter(([title]) => title.includes(only))) : cases);
