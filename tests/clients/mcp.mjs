// The Model Context Protocol, driven by its official clients: every tool, in both eras, over both transports; an assistant that
// mends a run with tools alone; several at once; and what must not be possible. Prints TAP.
//
//   tests/clients/run mcp.mjs PAWL [PART OF A TITLE]
//
// tests/clients/mcp_wire.mjs has what no official client would send.

import {cpSync, mkdirSync, rmSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {call, callAny, connect, refusal, ways} from './mcp_world.mjs';
import {holds, runAll, same, until, within} from './tap.mjs';
import {COMPLAINTS, Server} from './server.mjs';

const PAWL = resolve(process.argv[2]);
const EXAMPLES = resolve(import.meta.dirname, '../../examples/workflows');
const HELLO = "name: hello\nnodes:\n  - {name: greet, jq: '{greeting: \"Hello, \\(.name // \"you\")\"}'}\n";
const ASKS = "name: asks\nnodes:\n  - {name: ok, approval: 'Go on?'}\n  - {name: done, jq: '{went: true}'}\n";
const SLOW = "name: slow\nnodes:\n  - {name: wait, shell: 'sleep 30'}\n";
const STEPS = "name: steps\nnodes:\n  - {name: a, jq: '{n: 1}'}\n  - {name: b, jq: '{n: (.n + 1)}'}\n  - {name: c, shell: 'echo $N', env: {N: '.n'}}\n";

/** A server with the examples and a folder of workflows, and a way to open clients to it. */
async function withWorld(use, words = []) {
  const server = new Server(PAWL, ['--workflows', 'named', ...words]), clients = [];
  mkdirSync(join(server.folder, 'named'));
  cpSync(EXAMPLES, join(server.folder, 'examples'), {recursive: true});
  const open = async (era, transport, more = {}, options = {}) => {
    const where = {url: `${server.url}/mcp${more.query ?? ''}`, token: more.token, pawl: PAWL, folder: server.folder,
      words: [...more.alone ? [] : ['--workflows', 'named'], ...more.words ?? []], env: more.env};
    clients.push(await connect(era, transport, where, options));
    return clients.at(-1);
  };
  try {
    await server.start();
    await use({server, open});
    for (const client of clients) await client.close();
    for (const client of clients) holds(!COMPLAINTS.some(word => client.said().includes(word)), client.said());
    await server.stop();
  } finally {
    for (const client of clients) await client.close().catch(() => {});
    server.process?.kill('SIGKILL');
    rmSync(server.folder, {recursive: true, force: true, maxRetries: 5});
  }
}

/** Calls through here are counted. */
function counted(client, seen) {
  return (name, args, options) => {
    seen.add(name);
    return call(client, name, args, options);
  };
}

// ---- an assistant without a model: what it knows it has from tools ----

/** Finds why release.yaml fails, mends the state of the run, tries again, and finishes it. */
async function mendRelease(ask, thread) {
  const begun = await ask('start_run', {path: 'examples/release.yaml', thread});
  same(begun.status, 'failed', 'the release');
  const shown = await ask('get_run', {thread});
  const node = shown.error.node.split('/').at(-1);
  const {text: log} = await ask('read_logs', {thread});
  const [, missing] = /There is no mirror (\w+)/.exec(log) ?? [];
  holds(missing, `the log says why: ${log}`);

  const stopped = await ask('debug_start', {thread});
  holds(JSON.stringify(stopped.stopped).includes(node), `it stands at ${node}: ${JSON.stringify(stopped.stopped)}`);
  const seen = await ask('debug_evaluate', {thread, expression: '.mirror'});
  same(seen.results, [missing], 'what the node sees');

  await ask('debug_set', {thread, path: '.mirror', value: 'eu'});
  await ask('debug_retry', {thread});
  let where = await ask('debug_where', {thread});
  for (let i = 0; i < 10 && where.status !== 'completed' && where.run_status !== 'completed'; i++) {
    where = await ask('debug_continue', {thread});
  }
  const ended = await ask('get_run', {thread});
  same(ended.status, 'completed', 'the release in the end');
  holds(ended.state.notes.some(note => note.includes('https://eu.example.org/v1.4.0')), 'it was announced');
}

async function everyTool(client) {
  const seen = new Set(), ask = counted(client, seen);
  const {tools} = await client.listTools();
  for (const tool of tools) {
    holds(tool.description.length > 20 && tool.inputSchema.type === 'object' && tool.outputSchema.type === 'object' &&
      typeof tool.annotations.readOnlyHint === 'boolean', `${tool.name} is described`);
  }

  // workflows
  await ask('save_workflow', {name: 'hello', text: HELLO});
  holds((await ask('list_workflows')).workflows.some(w => w.name === 'hello'), 'it is listed');
  holds(JSON.stringify((await ask('get_workflow', {name: 'hello'})).definition).includes('greet'), 'its text');
  same((await ask('check_workflow', {text: HELLO})).ok, true, 'a good workflow');
  const bad = await ask('check_workflow', {text: HELLO.replace('jq:', 'jqq:')});
  holds(!bad.ok && bad.problems[0].line === 3, `what is wrong: ${JSON.stringify(bad)}`);
  holds((await ask('draw_workflow', {workflow: 'hello', format: 'mermaid'})).text.includes('greet'), 'a drawing');
  holds((await ask('explain_kind', {name: 'shell'})).kinds.length > 0, 'a kind');
  holds((await ask('read_docs', {})).pages.length > 5, 'the pages');
  holds((await ask('read_docs', {page: 'workflows'})).text.length > 100, 'a page');

  // runs
  const hello = await ask('start_run', {workflow: 'hello', thread: 'h', input: {name: 'Ada'}});
  same([hello.status, hello.state.greeting], ['completed', 'Hello, Ada'], 'a run');
  await mendRelease(ask, 'friday');
  holds((await ask('list_runs', {status: 'completed'})).runs.length === 2, 'two have completed');
  const history = await ask('read_history', {thread: 'friday', values: true});
  holds(history.checkpoints.length > 3, 'its checkpoints');
  same((await ask('read_state', {thread: 'friday', path: '.published.count'})).value, 4, 'a part of the state');
  await ask('diff_states', {thread: 'friday', checkpoint: 1});
  same((await ask('start_run', {text: ASKS, thread: 'ask'})).status, 'interrupted', 'a run that asks');
  same((await ask('answer_run', {thread: 'ask', decision: 'approve'})).status, 'completed', 'after the answer');
  await ask('fork_run', {thread: 'h', checkpoint: 1, new_thread: 'h2'});
  same((await ask('resume_run', {thread: 'h2', set: {'.name': 'Bob'}})).status, 'completed', 'the fork');
  await ask('compare_runs', {thread: 'h', other: 'h2'});
  same((await ask('replay_run', {thread: 'friday', new_thread: 'f2'})).status, 'completed',
    'a replay, with what was mended');
  const slow = await ask('start_run', {text: SLOW, thread: 'slow', wait: 0.2});
  same(slow.status, 'running', 'a run that takes its time');
  same((await ask('wait_for_run', {thread: 'slow', wait: 0.1})).status, 'running', 'still');
  holds(!['running', 'completed'].includes((await ask('stop_run', {thread: 'slow'})).status), 'it was stopped');
  same((await ask('cancel_run', {thread: 'slow'})).status, 'cancelled', 'and is over');

  // debugging
  const begun = await ask('debug_start', {text: STEPS, new_thread: 'd'});
  same([begun.thread, begun.stopped.node], ['d', 'a'], 'it stops at the first node');
  await ask('debug_breakpoint_set', {thread: 'd', spec: 'c'});
  const {breakpoints} = await ask('debug_breakpoint_list', {thread: 'd'});
  same(breakpoints.length, 1, 'breakpoints');
  same((await ask('debug_step', {thread: 'd'})).stopped.node, 'b', 'a step');
  await ask('debug_diff', {thread: 'd'});
  await ask('debug_inject', {thread: 'd', text: "{name: extra, jq: '{extra: .n}'}"});
  same((await ask('debug_continue', {thread: 'd'})).stopped.node, 'c', 'the breakpoint');
  same((await ask('debug_variables', {thread: 'd', path: '.n'})).value, 2, 'a variable');
  same((await ask('debug_back', {thread: 'd', count: 1})).stopped !== undefined, true, 'a step back');
  same((await ask('debug_continue', {thread: 'd'})).stopped.node, 'c', 'again');
  await ask('debug_config_set', {thread: 'd', path: '.shell', value: 'echo changed'});
  await ask('debug_breakpoint_delete', {thread: 'd', all: true});
  await ask('debug_skip', {thread: 'd', output: {stdout: 'skipped'}});
  const over = await ask('debug_end', {thread: 'd'});
  same(over.status, 'completed', 'after the end of debugging');
  await ask('debug_start', {text: SLOW, new_thread: 'p', stop_at_start: false, wait: 0.2});
  await ask('debug_pause', {thread: 'p', wait: 0.2});
  same((await ask('debug_end', {thread: 'p', how: 'cancel'})).status, 'cancelled', 'a session that is cancelled');

  const missing = tools.map(tool => tool.name).filter(name => !seen.has(name));
  same(missing, [], 'tools that were not called');
}

async function resourcesAndPrompts(client) {
  await call(client, 'start_run', {text: HELLO, thread: 'one'});
  const {resources} = await client.listResources();
  for (const uri of ['pawl://docs/workflows', 'pawl://runs/one']) holds(resources.some(r => r.uri === uri), `${uri} is listed`);
  const {resourceTemplates} = await client.listResourceTemplates();
  holds(resourceTemplates.length >= 4, 'templates');
  for (const path of ['', '/state', '/state?path=.greeting', '/logs', '/history']) {
    const {contents} = await client.readResource({uri: `pawl://runs/one${path}`});
    holds(contents[0].text !== undefined, `pawl://runs/one${path}`);
  }
  const {prompts} = await client.listPrompts();
  same(prompts.map(p => p.name).sort(), ['debug_failed_run', 'review_state_change', 'write_workflow'], 'the prompts');
  const prompt = await client.getPrompt({name: 'write_workflow', arguments: {goal: 'greet people'}});
  holds(JSON.stringify(prompt.messages).includes('greet people'), 'a prompt');
  const {completion} = await client.complete({ref: {type: 'ref/resource', uri: 'pawl://runs/{thread}'},
    argument: {name: 'thread', value: 'o'}});
  same(completion.values, ['one'], 'names are completed');
}

const cases = {};

for (const [era, transport] of ways) {
  cases[`${era} era over ${transport}: every tool, among them those with which an assistant mends release.yaml`] = () =>
    withWorld(async ({open}) => everyTool(await open(era, transport)));
  cases[`${era} era over ${transport}: resources, prompts and completion`] = () =>
    withWorld(async ({open}) => resourcesAndPrompts(await open(era, transport)));
}

cases['through `pawl mcp --server`: every tool, on the runs of a server'] = () => withWorld(async ({server, open}) => {
  await everyTool(await open('new', 'stdio', {alone: true, words: ['--server', server.url]}));
  same((await server.ask('GET', '/runs/friday')).status, 'completed', 'the run of the server');
});

cases['progress and cancelling: the wait ends, the run goes on'] = () => withWorld(async ({server, open}) => {
  for (const [era, transport] of ways) {
    const client = await open(era, transport), thread = `${era}-${transport}`, stop = new AbortController();
    let told = 0;
    const waiting = call(client, 'start_run', {text: SLOW, thread}, {signal: stop.signal, onprogress: () => {
      told++;
      stop.abort('enough');
    }});
    await waiting.then(() => holds(false, `${thread}: it was not cancelled`), () => {});
    holds(told > 0, `${thread}: it was told how far it is`);
    same((await server.until(thread, 'running')).status, 'running', thread);
    same((await call(client, 'get_run', {thread})).status, 'running', thread);
    await call(client, 'cancel_run', {thread});
  }
});

cases['what is wrong is said so that an assistant can act on it'] = () => withWorld(async ({open}) => {
  const client = await open('new', 'http');
  await call(client, 'start_run', {text: ASKS, thread: 'asks'});
  const sentences = [
    ['get_run', {thread: 'nope'}, /list_runs/], ['start_run', {}, /path|text|workflow/],
    ['start_run', {path: 'nope.yaml'}, /nope\.yaml/], ['start_run', {text: 'name: [', wait: 1}, /\d+:\d+|line/],
    ['start_run', {text: HELLO, wiat: 3}, /wiat/], ['read_state', {thread: 'nope', path: '.['}, /./],
    ['debug_step', {thread: 'nope'}, /nope/], ['explain_kind', {name: 'shel'}, /`?shell/],
    ['answer_run', {thread: 'asks'}, /`decision`.*`value`/], 
    ['read_state', {thread: 'asks', checkpoint: 999}, /read_history/],
    ['read_docs', {page: 'workflow'}, /workflows/], ['start_run', {workflow: 'nope'}, /list_workflows/],
  ];
  for (const [name, args, says] of sentences) {
    const said = await refusal(client, name, args);
    holds(says.test(said) && /^[^{]/.test(said), `${name} ${JSON.stringify(args)} says: ${said}`);
  }
  await client.callTool({name: 'start_rum', arguments: {}}).then(
    () => holds(false, 'a tool that there is not'), error => holds(/start_run/.test(error.message), `${error.message}`));
});

cases['whoever comes later looks into a run that rests at its error as well as into one that is paused'] = () => withWorld(async ({open}) => {
  const FAILS = STEPS.replace('echo $N', 'exit 3');
  for (const breakpoints of [['error'], ['c']]) {
    const thread = breakpoints[0], first = await open('old', 'stdio');
    await call(first, 'debug_start', {text: FAILS, new_thread: thread, breakpoints});
    await first.close();
    const later = await open('new', 'stdio');
    same((await call(later, 'debug_evaluate', {thread, expression: '.n'})).results, [2], `${thread}: what the node sees`);
    same((await call(later, 'debug_where', {thread})).stopped.node, 'c', `${thread}: where it stands`);
  }
});

cases['answers are at most 25,000 bytes, and say how to read on'] = () => withWorld(async ({open}) => {
  const client = await open('old', 'stdio');
  const big = 'name: big\nnodes:\n' +
    "  - {name: many, jq: '{list: [range(20000)], deep: {text: (\"x\" * 200000)}, keys: ([range(3000) | {key: \"k\\(.)\", value: .}] | from_entries)}'}\n" +
    "  - {name: loud, shell: 'seq 1 20000'}\n";
  const run = await call(client, 'start_run', {text: big, thread: 'big'});
  holds(run.cut.length > 0, 'something was cut');
  const {tool, arguments: args} = run.cut.find(cut => cut.read_on).read_on;
  await call(client, tool, args);
  same((await call(client, 'read_state', {thread: 'big', path: '.list', offset: 19990, limit: 5})).children.length, 5, 'a page');
  await call(client, 'read_logs', {thread: 'big', from: 1});
  await call(client, 'read_history', {thread: 'big', values: true});
  await callAny(client, 'debug_start', {thread: 'big'});
  for (const page of (await call(client, 'read_docs', {})).pages) await call(client, 'read_docs', {page: page.page});
});

cases['a hundred clients at once'] = () => withWorld(async ({open}) => {
  const work = Array.from({length: 100}, async (_, i) => {
    const client = await open(i % 2 ? 'old' : 'new', 'http');
    const run = await call(client, 'start_run', {text: HELLO, thread: `t${i}`, input: {name: `N${i}`}});
    same([run.status, run.state.greeting], ['completed', `Hello, N${i}`], `t${i}`);
  });
  await Promise.all(work);
});

cases['secrets never come out'] = () => withWorld(async ({server, open}) => {
  const client = await open('old', 'stdio', {env: {PAWL_SECRET_KEY: 'hush-hush-4711'}});
  const text = "name: s\nnodes:\n  - {name: a, shell: 'echo \"key=$KEY\"; echo $KEY >&2; exit 3', env: {KEY: '$secrets.KEY'}}\n";
  const all = [await call(client, 'start_run', {text, thread: 's'}), await call(client, 'get_run', {thread: 's'}),
    await call(client, 'read_logs', {thread: 's'}), await call(client, 'read_history', {thread: 's', values: true}),
    await call(client, 'debug_start', {thread: 's'}), await call(client, 'debug_where', {thread: 's'})];
  same(all[0].status, 'failed', 'the run');
  holds(all[2].text.includes('key='), 'it was printed');
  holds(!JSON.stringify(all).includes('4711'), 'the secret is masked');
  void server;
});

cases['a door that only looks, and one with some of the tools'] = () => withWorld(async ({open}) => {
  const doors = [['stdio', {words: ['--read-only']}], ['http', {query: '?read_only=true'}]];
  for (const [transport, more] of doors) {
    const client = await open('new', transport, more);
    const {tools} = await client.listTools();
    holds(tools.length > 15 && tools.every(tool => tool.annotations.readOnlyHint), `${transport}: ${tools.map(t => t.name)}`);
    holds(/only look/.test(await refusal(client, 'start_run', {text: HELLO})), `${transport}: nothing is started`);
  }
  for (const [transport, more] of [['stdio', {words: ['--profile', 'runs']}], ['http', {query: '?profile=runs'}]]) {
    const client = await open('old', transport, more), names = (await client.listTools()).tools.map(tool => tool.name);
    holds(names.includes('start_run') && !names.includes('debug_start') && !names.includes('check_workflow'), `${transport}: ${names}`);
  }
});

cases['tokens: without one nobody comes in, and each does what its scope lets it'] = async () => {
  await withWorld(async ({server, open}) => {
    const token = scope => server.command('token', 'make', scope, '--scope', scope).match(/pawl_\S+/)[0];
    const tokens = Object.fromEntries(['read', 'run', 'debug', 'admin'].map(scope => [scope, token(scope)]));
    for (const era of ['old', 'new']) {
      await open(era, 'http').then(() => holds(false, 'it came in'), error => holds(/401|token/i.test(`${error} ${error.data?.status}`), `${error}`));
      const names = {};
      for (const scope of Object.keys(tokens)) {
        names[scope] = (await (await open(era, 'http', {token: tokens[scope]})).listTools()).tools.map(tool => tool.name);
      }
      holds(!names.read.includes('start_run') && names.run.includes('start_run') && !names.run.includes('debug_step') &&
        names.debug.includes('debug_step') && !names.debug.includes('save_workflow') && names.admin.includes('save_workflow'),
        JSON.stringify(names));
      const run = await open(era, 'http', {token: tokens.run});
      holds(/by name/.test(await refusal(run, 'start_run', {text: HELLO})), 'only workflows that are known');
      holds(/admin/.test(await refusal(run, 'start_run', {path: 'examples/hello.yaml'})), 'no files');
      holds(/only look|scope/.test(await refusal(await open(era, 'http', {token: tokens.read}), 'cancel_run', {thread: 'x'})), 'no changes');
    }
  }, ['--auth']);
};

cases['two clients on one run: both see it, and one change is not lost to the other'] = () => withWorld(async ({open}) => {
  const a = await open('old', 'http'), b = await open('new', 'http'), c = await open('new', 'stdio');
  await call(a, 'debug_start', {text: STEPS, new_thread: 'both'});
  await call(b, 'debug_set', {thread: 'both', path: '.n', value: 40});
  const steps = await Promise.all([callAny(a, 'debug_step', {thread: 'both'}), callAny(b, 'debug_step', {thread: 'both'})]);
  for (const step of steps) holds(step.structuredContent ?? step.content[0].text, 'an answer');
  const seen = await Promise.all([a, b, c].map(client => call(client, 'debug_where', {thread: 'both'})));
  same(new Set(seen.map(one => JSON.stringify(one.stopped?.node))).size, 1, 'all see it at the same place');
  await call(c, 'debug_end', {thread: 'both'});
  same((await until(async () => {
    const run = await call(a, 'get_run', {thread: 'both'});
    return run.status === 'running' ? null : run;
  }, 'it ends')).status, 'completed', 'the run');
});

cases['a client that vanishes costs nothing, and its run goes on'] = () => withWorld(async ({server, open}) => {
  const watcher = await open('new', 'http');
  for (const era of ['old', 'new']) {
    const client = await open(era, 'http');
    const waiting = call(client, 'start_run', {text: SLOW, thread: era}).catch(() => {});
    await until(async () => (await call(watcher, 'list_runs', {status: 'running'})).runs.some(run => run.thread === era), 'it runs');
    await client.close();
    await within(waiting, 'the client has gone');
    same((await server.ask('GET', `/runs/${era}`)).status, 'running', era);
    await server.ask('POST', `/runs/${era}/cancel`, {});
  }
});

cases['changes are told: lists and resources, in both eras'] = () => withWorld(async ({open}) => {
  const doer = await open('old', 'http');
  await call(doer, 'start_run', {text: ASKS, thread: 'watched'});
  for (const [era, transport] of ways) {
    const client = await open(era, transport), told = [];
    if (era === 'old') {
      client.fallbackNotificationHandler = async note => { told.push(note.method); };
      await client.subscribeResource({uri: 'pawl://runs/watched'});
    } else {
      client.fallbackNotificationHandler = async note => { told.push(note.method); };
      await client.listen({resourcesListChanged: true, resourceSubscriptions: ['pawl://runs/watched']});
    }
    let n = 0;
    await until(async () => {
      if (n++ % 50 === 0) {
        await call(doer, 'start_run', {text: HELLO});
        await call(doer, 'resume_run', {thread: 'watched', set: {'.x': n}}).catch(() => {});
      }
      return told.includes('notifications/resources/list_changed') ? true : null;
    }, `${era} over ${transport} hears of it (${told})`);
  }
});

const wanted = Object.entries(cases).filter(([title]) => title.includes(process.argv[3] ?? ''));
await runAll(Object.fromEntries(wanted));
