// `pawl dap`, driven by @vscode/debugadapter-testsupport. Prints TAP.
//
//   tests/clients/run dap.mjs PAWL

import {once} from 'node:events';
import {createServer} from 'node:net';
import {holds, runAll, same, until} from './tap.mjs';
import {driven, hasSchema, protocol, withAdapter} from './dap_adapter.mjs';

const PAWL = process.argv[2];

const FLOW = `name: flow
state: {count: 0, word: "grüße 🐈"}
nodes:
  - name: one
    jq: '{count: (.count + 1)}'
  - name: two
    shell: echo "count is $COUNT"
    env: {COUNT: .count}
    output: said
  - name: three
    jq: '{count: (.count + 10)}'
`;
const NESTED = `name: outer
state: {word: outside}
nodes:
  - {name: first, jq: '{n: 1}'}
  - name: inside
    workflow: ./parts/inner.yaml
    input: '{n}'
    output: inner
  - {name: last, jq: '{n: (.n + 1)}'}
`;
const INNER = `name: inner
nodes:
  - {name: add, jq: '{n: (.n + 100)}'}
  - {name: double, jq: '{n: (.n * 2)}'}
`;
const PARALLEL = `name: branches
state: {log: {default: [], reduce: append}}
nodes:
  - {name: begin, jq: '{}'}
  - {name: left, jq: '{log: ["left"]}'}
  - {name: left_more, jq: '{log: ["left_more"]}'}
  - {name: right, jq: '{log: ["right"]}'}
  - {name: right_more, jq: '{log: ["right_more"]}'}
  - {name: end, jq: '{}'}
edges:
  - {from: __start__, to: begin}
  - {from: begin, to: [left, right], parallel: true}
  - {from: left, to: left_more}
  - {from: left_more, to: end}
  - {from: right, to: right_more}
  - {from: right_more, to: end}
  - {from: end, to: __end__}
`;
const FAILS = `name: fails
nodes:
  - {name: fine, jq: '{x: 1}'}
  - {name: bad, shell: 'echo no >&2; exit 7'}
`;
const SLEEPS = `name: sleeps
nodes:
  - {name: fine, jq: '{x: 1}'}
  - {name: slow, shell: 'sleep 60'}
  - {name: after, jq: '{x: 2}'}
`;

const files = {'flow.yaml': FLOW, 'nested.yaml': NESTED, 'parts/inner.yaml': INNER, 'parallel.yaml': PARALLEL,
  'fails.yaml': FAILS, 'sleeps.yaml': SLEEPS};

/** The same over standard input and output, and over TCP. */
const both = (title, options, use) => ({
  [title]: () => withAdapter(PAWL, {files, ...options}, use),
  [`${title}, over TCP`]: () => withAdapter(PAWL, {files, tcp: true, ...options}, use),
});

const cases = {
  ...both('a breakpoint is verified at once, moved to its node, hit, and stepped on from', {}, async a => {
    const set = await a.begin({program: 'flow.yaml'}, {breakpoints: {'flow.yaml': [{line: 8}, {line: 99}]}});
    const [moved, none] = set['flow.yaml'];
    same([moved.verified, moved.line], [true, 6], 'the breakpoint');
    holds(moved.message.includes('`two`'), `it says where it was moved: ${moved.message}`);
    same(none.verified, false, 'a line behind the end');
    const stop = await a.stop();
    same([stop.reason, stop.threadId, stop.allThreadsStopped, stop.hitBreakpointIds],
      ['breakpoint', 1, true, [moved.id]], 'the stop');
    same(await a.at(), 'flow.yaml:6 two', 'the place');
    same((await a.go('next')).reason, 'step', 'the reason');
    same(await a.at(), 'flow.yaml:10 three', 'the place');
    await a.ask('continue', {threadId: 1});
    same(await a.event('exited'), {exitCode: 0}, 'the end');
    await a.event('terminated');
  }),

  'a breakpoint at the first node is hit, too': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml'}, {breakpoints: {'flow.yaml': [{line: 4}]}});
    same((await a.stop()).reason, 'breakpoint', 'the reason');
    same(await a.at(), 'flow.yaml:4 one', 'the place');
    same((await a.go('next')).reason, 'step', 'and stepped on from');
    same(await a.at(), 'flow.yaml:6 two', 'the next place');
  }),

  'DebugClient\'s own scenario of a breakpoint': () => withAdapter(PAWL, {files}, async a => {
    await a.hitBreakpoint({program: a.path('flow.yaml')}, {path: a.path('flow.yaml'), line: 10});
  }),

  'nothing runs before configurationDone': () => withAdapter(PAWL, {files}, async a => {
    await a.open('launch', {program: 'flow.yaml'});
    const refused = await a.refused('threads', {}).catch(() => null);
    same(refused, null, 'threads may be asked for');
    holds((await a.refused('continue', {threadId: 1})).includes('configurationDone'), 'continue has to wait');
    const history = JSON.parse(a.command('history', 'run-1', '--json'));
    same(history.filter(one => one.status === 'completed'), [], 'steps that were done');
    await a.ask('configurationDone');
    await a.event('terminated');
  }),

  'launch says what is wrong with a workflow': () => withAdapter(PAWL, {files}, async a => {
    a.write('bad.yaml', 'nodes:\n  - {name: a, jq: "(("}\n');
    await a.ask('initialize', {adapterID: 'pawl'});
    const sentence = await a.refused('launch', {program: a.path('bad.yaml')});
    holds(sentence.includes('bad.yaml:2'), `the place is named: ${sentence}`);
    const missing = await a.refused('launch', {program: a.path('nowhere.yaml')});
    holds(missing.includes('nowhere.yaml'), `the file is named: ${missing}`);
    holds((await a.refused('launch', {})).includes('program'), 'what it takes is said');
    await a.ask('launch', {program: a.path('flow.yaml')}); // and then it works
  }),

  'stopOnEntry stops before the first node': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    const stop = await a.stop();
    same(stop.reason, 'entry', 'the reason');
    same(await a.at(), 'flow.yaml:4 one', 'the place');
  }),

  'a stack has the levels of nested workflows, and each sees its own state': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'nested.yaml'}, {breakpoints: {'parts/inner.yaml': [{line: 4}]}});
    await a.stop();
    const stack = await a.stack();
    same(stack.map(one => `${one.source?.name ?? '-'}:${one.line}`), ['inner.yaml:4', 'nested.yaml:5', '-:0'], 'the stack');
    same(stack[0].source.path, a.path('parts/inner.yaml'), 'the path of the part');
    const outer = await a.variables((await a.scope('State', 1, 1)).variablesReference);
    same(Object.fromEntries(outer.map(one => [one.name, one.value])), {word: '"outside"', n: '1'}, 'the state outside');
    same(await a.values(), {n: '101'}, 'the state inside');
    const page = await a.ask('stackTrace', {threadId: 1, startFrame: 1, levels: 1});
    same([page.stackFrames.length, page.totalFrames, page.stackFrames[0].line], [1, 3, 5], 'a page of the stack');
    same((await a.ask('stackTrace', {threadId: 1, startFrame: 30, levels: 5})).stackFrames, [], 'past the end');
    same((await a.evaluate('.n', {frameId: stack[1].id})).result, '1', 'evaluated outside');
    same((await a.evaluate('.n + 0', {frameId: stack[0].id})).result, '101', 'evaluated inside');
  }),

  'stepIn goes into a workflow, stepOut leaves it, next goes over it': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'nested.yaml', stopOnEntry: true});
    await a.stop();
    await a.go('next');
    same(await a.at(), 'nested.yaml:5 inside', 'after next');
    await a.go('stepIn');
    same(await a.at(), 'inner.yaml:3 add', 'after stepIn');
    await a.go('stepOut');
    same(await a.at(), 'nested.yaml:9 last', 'after stepOut');
  }),

  'a parallel workflow has a thread for each branch, and one stop is told for all': () =>
    withAdapter(PAWL, {files}, async a => {
      await a.begin({program: 'parallel.yaml'}, {breakpoints: {'parallel.yaml': [{line: 5}]}});
      const stop = await a.stop();
      same(stop.allThreadsStopped, true, 'all are stopped');
      const {threads} = await a.ask('threads');
      same(threads.length, 3, 'threads');
      same(await a.at(stop.threadId), 'parallel.yaml:5 left', 'the branch that stopped');
      same(a.messages.filter(one => one.event === 'stopped').length, 1, 'stops that were told');
      const other = threads.map(one => one.id).find(id => id !== 1 && id !== stop.threadId);
      await a.go('next', stop.threadId);
      same(await a.at(stop.threadId), 'parallel.yaml:6 left_more', 'only that branch went on');
      same(await a.at(other), 'parallel.yaml:7 right', 'the other one stands');
      await a.go('next', stop.threadId);
      same(a.messages.at(-1).event, 'stopped', 'a branch that waits for others is a stop too');
      await a.ask('continue', {threadId: other});
      await a.event('terminated');
    }),

  'non-stop: each branch stops and goes on by itself': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'parallel.yaml', nonStop: true}, {breakpoints: {'parallel.yaml': [{line: 5}, {line: 7}]}});
    const stops = [await a.stop(), await a.stop()];
    same(stops.map(one => one.allThreadsStopped), [false, false], 'each is told by itself');
    const [one, other] = stops.map(stop => stop.threadId);
    const answer = await a.ask('continue', {threadId: one});
    same(answer.allThreadsContinued, false, 'one goes on');
    await a.event('thread', body => body.reason === 'exited' && body.threadId === one);
    same((await a.stack(other)).length > 1, true, 'the other still stands');
    await a.ask('continue', {threadId: other});
    await a.event('terminated');
  }),

  'scopes, pages and values': () => withAdapter(PAWL, {files}, async a => {
    const input = {list: Array.from({length: 250}, (_, i) => ({i})), wide: Object.fromEntries(
      Array.from({length: 250}, (_, i) => [`key ${i}`, i])), text: 'x'.repeat(5000), none: null, deep: {a: {b: [1, {c: 2}]}}};
    await a.begin({program: 'flow.yaml', input, stopOnEntry: true});
    await a.stop();
    const state = await a.variables((await a.scope('State')).variablesReference);
    const by = Object.fromEntries(state.map(one => [one.name, one]));
    same(by.word.value, '"grüße 🐈"', 'text that is not ASCII');
    same(by.none.value, 'null', 'null');
    same(by.list.indexedVariables, 250, 'elements');
    holds(by.text.value.length < 2000 && by.text.value.endsWith('...'), 'a long text is cut');
    const page = await a.variables(by.list.variablesReference, {filter: 'indexed', start: 240, count: 20});
    same(page.map(one => one.name), Array.from({length: 10}, (_, i) => `[${240 + i}]`), 'the last page');
    same(await a.variables(by.list.variablesReference, {filter: 'indexed', start: 250, count: 20}), [], 'past the end');
    same(await a.variables(by.list.variablesReference, {filter: 'named'}), [], 'an array has no names');
    const parts = await a.variables(by.wide.variablesReference);
    same(parts.map(one => one.name), ['[0..99]', '[100..199]', '[200..249]'], 'parts of a wide object');
    const last = await a.variables(parts[2].variablesReference);
    same([last.length, last[0].name, last[49].value], [50, 'key 200', '249'], 'the last part');
    same((await a.evaluate(last[0].evaluateName)).result, '200', 'its evaluateName');
    const deep = await a.variables(by.deep.variablesReference);
    const inner = await a.variables(deep[0].variablesReference);
    same([inner[0].name, inner[0].evaluateName], ['b', '.deep.a.b'], 'a name that can be evaluated');
    const elements = await a.variables(inner[0].variablesReference);
    same(elements.map(one => one.evaluateName), ['.deep.a.b[0]', '.deep.a.b[1]'], 'of elements, too');
    const config = await a.values('Node config');
    holds(config.resolved.includes('count'), 'the config of the node');
    await a.go('next');
    const gone = await a.refused('variables', {variablesReference: by.list.variablesReference});
    holds(gone.includes('gone on'), `what was seen before is not good any more: ${gone}`);
    holds('one' in await a.values('Outputs'), 'the outputs');
    const history = await a.variables((await a.scope('History')).variablesReference);
    const then = await a.variables(history[0].variablesReference);
    same(then.find(one => one.name === 'count').value, '1', 'the state at a step of the history');
  }),

  'a client that does not page gets parts of a long array': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', input: {list: Array.from({length: 20_000}, (_, i) => i)}, stopOnEntry: true},
      {client: {supportsVariablePaging: false, supportsVariableType: false}});
    await a.stop();
    const state = await a.variables((await a.scope('State')).variablesReference);
    const list = state.find(one => one.name === 'list');
    same([list.indexedVariables, list.type], [undefined, undefined], 'what the client did not ask for');
    const parts = await a.variables(list.variablesReference);
    same([parts.length, parts[1].name], [2, '[10000..19999]'], 'parts of parts');
    const inner = await a.variables(parts[1].variablesReference);
    same([inner.length, inner[99].name], [100, '[19900..19999]'], 'their parts');
    const leaves = await a.variables(inner[99].variablesReference);
    same([leaves.length, leaves[99].name, leaves[99].value], [100, '[19999]', '19999'], 'and what is in them');
  }),

  'evaluate: paths, jq, several outputs, errors, clipboard': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', input: {a: {b: [1, 2, 3]}}, stopOnEntry: true});
    await a.stop();
    same((await a.evaluate('.a.b', {context: 'hover'})).result, '[1,2,3]', 'a path');
    same((await a.evaluate('a.b[1]', {context: 'hover'})).result, '2', 'a hover needs no dot');
    same((await a.evaluate('.nothing')).result, 'null', 'what is not there');
    holds((await a.refused('evaluate', {expression: 'nothing', context: 'hover'})).includes('nothing'), 'no hover of it');
    same((await a.evaluate('.a.b | add')).result, '6', 'jq');
    const several = await a.evaluate('.a.b[]');
    same(several.result, '[1,2,3]', 'several outputs');
    same((await a.variables(several.variablesReference))[2].evaluateName, '[.a.b[]] | .[2]', 'and how to get one of them');
    same((await a.evaluate('empty')).result, '(no output)', 'no output');
    holds((await a.refused('evaluate', {expression: '((', context: 'watch'})).length > 10, 'what is no jq');
    same((await a.evaluate('.a', {context: 'clipboard'})).result, '{\n  "b": [\n    1,\n    2,\n    3\n  ]\n}', 'for the clipboard');
  }),

  'output of nodes comes with its place': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml'});
    const output = await a.event('output', body => body.category === 'stdout');
    same([output.output, output.line, output.source.name], ['count is 1\n', 6, 'flow.yaml'], 'the output');
    await a.event('terminated');
  }),

  'an unhandled error stops the run where it is, and then fails it': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'fails.yaml'}, {exceptions: ['unhandled']});
    const stop = await a.stop();
    same(stop.reason, 'exception', 'the reason');
    holds(stop.text.includes('exited with code 7'), `what is said: ${stop.text}`);
    const error = await a.values('Error');
    same(error.exit_code, '7', 'the error');
    await a.ask('continue', {threadId: 1});
    same(await a.event('exited'), {exitCode: 1}, 'the end');
  }),

  'pause stops a command, terminate cancels the run': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'sleeps.yaml'});
    await until(() => a.command('status', 'run-1').includes('running'), 'it runs');
    await a.ask('pause', {threadId: 1});
    const stop = await a.stop();
    same(stop.reason, 'pause', 'the reason');
    await a.ask('terminate');
    await a.event('terminated');
    same(JSON.parse(a.command('runs', '--json'))[0].status, 'cancelled', 'the run');
  }),

  'disconnect leaves a run when it is told to': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    await a.finish({terminateDebuggee: false, suspendDebuggee: true});
    same(JSON.parse(a.command('runs', '--json'))[0].status, 'paused', 'the run');
  }),

  'disconnect without that ends a run that was launched': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    const before = a.messages.length;
    await a.finish();
    // of a thread it would ask, when nobody is there any more, and dap-mode kills the adapter when it hears `exited`
    same(a.messages.slice(before).filter(one => one.event && one.event !== 'output'), [], 'what a client that goes is told');
    same(JSON.parse(a.command('runs', '--json'))[0].status, 'cancelled', 'the run');
  }),

  'disconnect can let it go on to its end': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    await a.finish({terminateDebuggee: false});
    same(JSON.parse(a.command('runs', '--json'))[0].status, 'completed', 'the run');
  }),

  'attach comes to a run that waits in the store, and goes on with it': () => withAdapter(PAWL, {files}, async a => {
    same(a.ends('run', 'flow.yaml', '--thread', 'friday', '--break', 'three', '--quiet'), 3, 'the run waits');
    await a.begin({thread: 'friday'}, {how: 'attach'});
    const stop = await a.stop();
    same(stop.reason, 'breakpoint', 'the reason');
    same(await a.at(), 'flow.yaml:10 three', 'the place');
    await a.ask('continue', {threadId: 1});
    await a.event('terminated');
  }),

  'attach to a run that has failed shows where': () => withAdapter(PAWL, {files}, async a => {
    same(a.ends('run', 'fails.yaml', '--thread', 'broken', '--quiet'), 1, 'the run failed');
    await a.begin({thread: 'broken'}, {how: 'attach'});
    const stop = await a.stop();
    same(stop.reason, 'exception', 'the reason');
    same(await a.at(), 'fails.yaml:4 bad', 'the place');
    same((await a.values()).x, '1', 'the state');
    await a.finish();
    same(JSON.parse(a.command('runs', '--json'))[0].status, 'failed', 'nothing was changed');
  }),

  'attach to a run that has completed shows what it came to': () => withAdapter(PAWL, {files}, async a => {
    a.command('run', 'flow.yaml', '--thread', 'done', '--quiet');
    await a.begin({run: 1}, {how: 'attach'});
    await a.stop();
    same((await a.ask('threads')).threads.length, 1, 'there is a thread to look at');
    same((await a.values()).count, '11', 'the state');
    holds('three' in await a.values('Outputs'), 'the outputs');
    await a.ask('continue', {threadId: 1});
    await a.event('terminated');
  }),

  'an unknown request, a wrong order and wrong arguments are answered': () => withAdapter(PAWL, {files}, async a => {
    holds((await a.refused('threads')).includes('initialize'), 'nothing comes before initialize');
    await a.ask('initialize', {adapterID: 'pawl'});
    holds((await a.refused('initialize', {adapterID: 'pawl'})).includes('already'), 'it is said once');
    holds((await a.refused('flyAway', {})).includes('flyAway'), 'an unknown request');
    holds((await a.refused('steIn', {})).includes('stepIn'), 'the nearest one is named');
    holds((await a.refused('stackTrace', {threadId: 1})).includes('launch'), 'there is no run yet');
    holds((await a.refused('setBreakpoints', {source: 7})).includes('source'), 'wrong arguments');
    holds((await a.refused('launch', {program: 7})).includes('program'), 'wrong arguments of launch');
    holds((await a.refused('attach', {thread: 'nobody'})).includes('no store'), 'a store that is not there');
    const {breakpoints} = await a.ask('setBreakpoints', {source: {path: a.path('flow.yaml')}, breakpoints: [{line: 10}]});
    same(breakpoints[0].verified, false, 'a breakpoint before there is a run');
    await a.ask('launch', {program: a.path('flow.yaml')});
    const [again] = await a.breakpoints('flow.yaml', [{line: 10}]);
    same([again.verified, again.id], [true, breakpoints[0].id], 'it is set by then, and is the same one');
    await a.ask('configurationDone');
    await a.stop();
    holds((await a.refused('stackTrace', {threadId: 77})).includes('77'), 'a thread that is not there');
    holds((await a.refused('next', {threadId: 77})).includes('77'), 'nor can it step');
    holds((await a.refused('scopes', {frameId: 12345})).includes('12345'), 'a stack frame that is not there');
    holds((await a.refused('launch', {program: a.path('flow.yaml')})).includes('already'), 'one run for a conversation');
  }),

  'rubbish on the wire is answered, and what is no header ends the conversation': () =>
    withAdapter(PAWL, {files}, async a => {
      const count = () => a.messages.filter(one => one.event === 'output').length;
      a.raw('Content-Length: 9\r\n\r\n{"seq": 1');
      await until(() => count() === 1, 'what is no JSON is answered');
      a.raw('Content-Length: 2\r\n\r\n[]');
      await until(() => count() === 2, 'what is no request is answered');
      await a.ask('initialize', {adapterID: 'pawl'});
      a.raw('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await until(() => count() === 3, 'what is no header is answered');
      const [code] = await a.ended;
      same(code, 0, 'the exit code');
    }),

  'a client that vanishes leaves its run in the store': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'sleeps.yaml', thread: 'left'});
    await until(() => a.command('status', 'left').includes('running'), 'it runs');
    await a.vanish();
    same(JSON.parse(a.command('runs', '--json'))[0].status, 'stopped', 'the run can be resumed');
  }),

  'a client that vanishes at a stop leaves it paused, and another comes back to it': () =>
    withAdapter(PAWL, {files}, async a => {
      await a.begin({program: 'flow.yaml', thread: 'left'}, {breakpoints: {'flow.yaml': [{line: 6}]}});
      await a.stop();
      await a.vanish();
      await withAdapter(PAWL, {folder: a.folder}, async b => {
        await b.begin({thread: 'left'}, {how: 'attach'});
        same((await b.stop()).reason, 'breakpoint', 'it stands where it stood');
        same(await b.at(), 'flow.yaml:6 two', 'the place');
      });
    }),

  'stepping back, changing the state, and going on another way': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml'}, {breakpoints: {'flow.yaml': [{line: 10}]}});
    await a.stop();
    same((await a.values()).count, '1', 'before');
    same((await a.go('stepBack')).reason, 'step', 'the reason');
    same(await a.at(), 'flow.yaml:6 two', 'one step back');
    const {variablesReference} = await a.scope('State');
    const set = await a.ask('setVariable', {variablesReference, name: 'count', value: '.count + 40'});
    same([set.value, set.type], ['41', 'number'], 'what was set');
    await a.event('invalidated', body => body.areas.includes('variables'));
    same((await a.values()).count, '41', 'is seen at once');
    await a.go('continue');
    same((await a.values()).said.includes('count is 41'), true, 'the node saw it');
    await a.breakpoints('flow.yaml', []);
    same((await a.go('reverseContinue')).reason, 'step', 'back to the beginning, without a breakpoint on the way');
    same(await a.at(), 'flow.yaml:4 one', 'the place');
  }),

  'reverseContinue goes to the last place where a breakpoint would have stopped it': () =>
    withAdapter(PAWL, {files}, async a => {
      const set = await a.begin({program: 'flow.yaml', stopOnEntry: true}, {breakpoints: {'flow.yaml': [{line: 4}]}});
      await a.stop();
      await a.go('next');
      await a.go('next');
      const stop = await a.go('reverseContinue');
      same([stop.reason, stop.hitBreakpointIds], ['breakpoint', [set['flow.yaml'][0].id]], 'the stop');
      same(await a.at(), 'flow.yaml:4 one', 'the place');
    }),

  'setting values: deep inside, by an expression, in the config, and what cannot be set': () =>
    withAdapter(PAWL, {files}, async a => {
      await a.begin({program: 'nested.yaml', input: {deep: {list: [1, {x: null}]}}},
        {breakpoints: {'parts/inner.yaml': [{line: 3}]}});
      await a.stop();
      const stack = await a.stack();
      const outer = await a.scope('State', 1, 1);
      const refused = await a.refused('setVariable', {variablesReference: outer.variablesReference, name: 'n', value: '7'});
      holds(refused.includes('top of the stack'), `only the top can be changed: ${refused}`);
      await a.go('stepBack');
      await a.go('stepBack');
      same(await a.at(), 'nested.yaml:4 first', 'outside again');
      const top = (await a.stack())[0].id;
      const set = await a.ask('setExpression', {expression: '.deep.list[1].x', value: '{"y": [true]}', frameId: top});
      same(set.value, '{"y":[true]}', 'what was set');
      same((await a.variables(set.variablesReference))[0].name, 'y', 'and can be looked into');
      same((await a.evaluate('.deep.list[1].x.y[0]', {frameId: top})).result, 'true', 'is there');
      const state = await a.variables((await a.scope('State')).variablesReference);
      const list = (await a.variables(state.find(one => one.name === 'deep').variablesReference))[0];
      same((await a.ask('setVariable', {variablesReference: list.variablesReference, name: '[0]', value: '"text"'})).value,
        '"text"', 'an element');
      holds((await a.refused('setVariable', {variablesReference: list.variablesReference, name: 'x', value: '1'}))
        .includes('no child'), 'an array has no such element');
      holds((await a.refused('setExpression', {expression: '.a + 1', value: '1', frameId: top})).includes('path'), 'no path');
      holds((await a.refused('setExpression', {expression: '.a', value: 'bare', frameId: top})).includes('quotes'), 'no value');
      const result = await a.evaluate('[1, 2]', {frameId: top});
      holds((await a.refused('setVariable', {variablesReference: result.variablesReference, name: '[0]', value: '1'}))
        .includes('result'), 'a result is no variable');
      const config = await a.variables((await a.scope('Node config')).variablesReference);
      const written = config.find(one => one.name === 'as written');
      await a.ask('setVariable', {variablesReference: written.variablesReference, name: 'jq', value: '"{n: 5}"'});
      await a.go('next');
      same((await a.values()).n, '5', 'the edited config was used');
      void stack;
    }),

  'function, data and exception breakpoints, with conditions, hits and log messages': () =>
    withAdapter(PAWL, {files}, async a => {
      a.write('loop.yaml', `name: loop
state: {tries: 0}
nodes:
  - {name: try, jq: '{tries: (.tries + 1)}'}
  - {name: done, shell: 'echo done', output: said}
edges:
  - {from: __start__, to: try}
  - {from: try, to: done, when: .tries == 9}
  - {from: try, to: try}
  - {from: done, to: __end__}
`);
      await a.open('launch', {program: 'loop.yaml'});
      const functions = await a.ask('setFunctionBreakpoints', {breakpoints: [
        {name: 'try', condition: '.tries == 2'}, {name: 'shell'}, {name: 'nowhere'}, {name: 'try', hitCondition: '5'}]});
      same(functions.breakpoints.map(one => one.verified), [true, true, false, true], 'verified');
      holds(functions.breakpoints[2].message.includes('nowhere'), 'why one is not');
      const [, , bad] = (await a.ask('setBreakpoints', {source: {path: a.path('loop.yaml')}, breakpoints: [
        {line: 4, logMessage: 'tried {.tries} times, {"so {to} say"}'}, {line: 5, condition: '.tries > 100'},
        {line: 5, condition: '(('}]})).breakpoints;
      same(bad.verified, false, 'a condition that is no jq');
      holds(bad.message.length > 10, `and why: ${bad.message}`);
      await a.ask('configurationDone');
      let stop = await a.stop();
      same([stop.reason, stop.hitBreakpointIds], ['function breakpoint', [functions.breakpoints[0].id]], 'the condition');
      same((await a.values()).tries, '2', 'the state');
      const logged = await a.event('output', body => body.category === 'console' && body.output.includes('tried'));
      same(logged.output, 'try: tried 0 times, so {to} say\n', 'the log point');
      const state = await a.scope('State');
      const info = await a.ask('dataBreakpointInfo', {variablesReference: state.variablesReference, name: 'tries'});
      same([info.dataId, info.canPersist, info.accessTypes], ['.tries', true, ['write']], 'the data');
      same((await a.ask('dataBreakpointInfo', {name: '.tries + 1'})).dataId, null, 'what cannot be watched');
      const data = await a.ask('setDataBreakpoints', {breakpoints: [{dataId: info.dataId, accessType: 'write', condition: '.tries > 3'}]});
      await a.ask('setFunctionBreakpoints', {breakpoints: [{name: 'shell'}]});
      stop = await a.go('continue');
      same([stop.reason, stop.hitBreakpointIds, stop.text], ['data breakpoint', [data.breakpoints[0].id], '.tries: 3 → 4'], 'the change');
      await a.ask('setDataBreakpoints', {breakpoints: []});
      stop = await a.go('continue');
      same([stop.reason, (await a.values()).tries], ['function breakpoint', '9'], 'all nodes of a kind');
    }),

  'exception filters with conditions, exceptionInfo, and retry from the console': () =>
    withAdapter(PAWL, {files}, async a => {
      a.write('retries.yaml', `name: retries
nodes:
  - {name: flaky, shell: 'echo trouble >&2; exit 3', retry: {attempts: 2, delay: 1ms}}
`);
      await a.open('launch', {program: 'retries.yaml'});
      const {breakpoints} = await a.ask('setExceptionBreakpoints', {filters: ['timeout'],
        filterOptions: [{filterId: 'error', condition: '.exit_code == 3'}, {filterId: 'unhandled', condition: '.exit_code == 4'},
          {filterId: 'nonsense'}]});
      same(breakpoints.map(one => one.verified), [true, true, true, false], 'verified');
      holds((await a.refused('exceptionInfo', {threadId: 1})).includes('configurationDone'), 'not yet');
      await a.ask('configurationDone');
      const stop = await a.stop();
      same([stop.reason, stop.hitBreakpointIds], ['exception', [breakpoints[1].id]], 'the first attempt');
      const info = await a.ask('exceptionInfo', {threadId: 1});
      same(info.exceptionId, 'exit', 'what it is');
      holds(info.details.stackTrace.includes('trouble'), 'and what was written');
      await a.go('continue');
      holds((await a.evaluate('help retry', {context: 'repl'})).result.includes('retry'), 'help in the console');
      await a.evaluate('skip {"stdout": "x"}', {context: 'repl'});
      await a.event('terminated');
    }),

  'breakpointLocations, gotoTargets and goto': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    const source = {path: a.path('flow.yaml')};
    same((await a.ask('breakpointLocations', {source, line: 1, endLine: 20})).breakpoints,
      [{line: 4, column: 1}, {line: 6, column: 1}, {line: 10, column: 1}], 'the locations');
    same((await a.ask('breakpointLocations', {source, line: 5})).breakpoints, [], 'none in the midst of a node');
    const {targets} = await a.ask('gotoTargets', {source, line: 11});
    same([targets.length, targets[0].label, targets[0].line], [1, 'three (jq)', 10], 'the target');
    const stop = await (await a.ask('goto', {threadId: 1, targetId: targets[0].id}), a.stop());
    same(stop.reason, 'goto', 'the reason');
    same(await a.at(), 'flow.yaml:10 three', 'the place');
    holds((await a.refused('goto', {threadId: 1, targetId: 99})).includes('gotoTargets'), 'no such target');
    same((await a.ask('gotoTargets', {source, line: 1})).targets, [], 'nothing begins before line 4');
  }),

  'stepInTargets chooses the branch that is shown': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'parallel.yaml', stopOnEntry: true});
    await a.stop();
    const [top] = await a.stack();
    const {targets} = await a.ask('stepInTargets', {frameId: top.id});
    same(targets.map(one => one.label), ['left', 'right'], 'the branches');
    const stop = await a.go('stepIn', 1, {targetId: targets[1].id});
    same(await a.at(stop.threadId), 'parallel.yaml:7 right', 'the one that was chosen');
    const {threads} = await a.ask('threads');
    const left = threads.find(one => one.id !== 1 && one.id !== stop.threadId);
    same(await a.at(left.id), 'parallel.yaml:5 left', 'the other stands at its beginning');
  }),

  'targets of tasks have their titles, and a frame that waits for its branches does not go elsewhere': () =>
    withAdapter(PAWL, {files}, async a => {
      a.write('tasks.yaml', `name: checks
tasks:
  - name: run_shell
    title: first
    config: {command: 'echo one'}
  - name: run_tasks_concurrent
    config:
      tasks:
        - {name: run_shell, title: left, config: {command: 'echo left'}}
        - {name: run_shell, title: right, config: {command: 'echo right'}}
  - {name: sleep, title: nap, config: {duration: 1ms}}
cleanupTasks:
  - {name: run_shell, title: tidy, config: {command: 'echo tidy'}}
`);
      await a.begin({program: 'tasks.yaml'}, {breakpoints: {'tasks.yaml': [{line: 9}]}});
      const {threadId} = await a.stop();
      same((await a.stack(threadId)).map(one => one.name).slice(0, 2),
        ['run_shell (run_shell): left', 'run_tasks_concurrent (run_tasks_concurrent)'], 'the stack of a branch');
      const {targets} = await a.ask('gotoTargets', {source: {path: a.path('tasks.yaml')}, line: 3});
      same(targets.map(one => one.label), ['run_shell (run_shell): first'], 'the target');
      const refused = await a.refused('goto', {threadId: 1, targetId: targets[0].id});
      holds(refused.includes('waits for its branch'), `it says what it does: ${refused}`);
      const {threadId: other} = await a.go('stepOut', threadId);
      holds(other !== threadId, 'out of a branch that ends is where the other one stands');
      await a.go('stepOut', other);
      await a.go('goto', 1, {targetId: targets[0].id});
      same(await a.at(), 'tasks.yaml:3 run_shell', 'and then it goes');
      await a.breakpoints('tasks.yaml', []);
      await a.ask('continue', {threadId: 1});
      await a.event('terminated');
      const said = a.messages.filter(one => one.body?.category === 'stdout').map(one => [one.body.output, one.body.line]);
      same(said.at(-1), ['tidy\n', undefined], 'the cleanup was done; of a name that several nodes have, no place is better than a wrong one');
      same(said.find(one => one[0] === 'right\n'), ['right\n', 10], 'the place of a name that one node has');
    }),

  'a thousand frames are a thousand threads, one stop for all, and each steps by itself': () =>
    withAdapter(PAWL, {files}, async a => {
      a.write('wide.yaml', `name: wide
nodes:
  - {name: each, map: {over: .items, limit: 2000}, do: {workflow: ./parts/inner.yaml, input: '{n: $item}'}}
`);
      await a.begin({program: 'wide.yaml', input: {items: Array.from({length: 1000}, (_, i) => i)}, store: 'memory:'},
        {breakpoints: {'parts/inner.yaml': [{line: 3}]}});
      const {threadId} = await a.stop();
      const {threads} = await a.ask('threads');
      same(threads.length, 1001, 'threads');
      const last = threads.at(-1).id, n = async id => Number((await a.values('State', id)).n);
      const before = [await n(threadId), await n(last)], stood = await a.at(last);
      same((await a.go('next', threadId)).threadId, threadId, 'which one stopped');
      same(await a.at(threadId), 'inner.yaml:4 double', 'where');
      same([await n(threadId), await n(last)], [before[0] + 100, before[1]], 'only that one has done its step');
      same(await a.at(last), stood, 'the last stands where it stood');
      same(a.messages.filter(one => one.event === 'stopped').length, 2, 'stops that were told');
      await a.breakpoints('parts/inner.yaml', []);
      await a.ask('continue', {threadId});
      await a.event('terminated');
    }),

  'a state of 10 MB: a page, a hover, and a value that is set deep inside': () => withAdapter(PAWL, {files}, async a => {
    const rows = Array.from({length: 40_000}, (_, i) => ({id: i, deep: [{value: i}], text: 'x'.repeat(220)}));
    await a.begin({program: 'flow.yaml', input: {rows}, store: 'memory:', stopOnEntry: true});
    await a.stop();
    const [top] = await a.stack();
    const state = await a.variables((await a.scope('State')).variablesReference);
    const list = state.find(one => one.name === 'rows');
    same(list.indexedVariables, 40_000, 'elements');
    same((await a.variables(list.variablesReference, {filter: 'indexed', start: 39_999, count: 100})).map(one => one.name), ['[39999]'], 'the last page');
    const at = '.rows[30000].deep[0].value', hover = () => a.evaluate(at, {context: 'hover', frameId: top.id});
    same((await hover()).result, '30000', 'a hover');
    same((await a.ask('setExpression', {expression: at, value: '{"new": true}', frameId: top.id})).value, '{"new":true}', 'set');
    same((await hover()).result, '{"new":true}', 'a hover on it');
    await a.go('next');
    const now = (await a.stack())[0].id;
    same((await a.evaluate('[.rows[29999, 30000, 30001].deep[0].value]', {frameId: now})).result, '[29999,{"new":true},30001]', 'it stays');
  }),

  'restartFrame runs a node, or a workflow, from its beginning': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'nested.yaml'}, {breakpoints: {'parts/inner.yaml': [{line: 4, mode: 'after'}]}});
    await a.stop();
    let stack = await a.stack();
    same((await a.values()).n, '202', 'after the node');
    await a.ask('restartFrame', {frameId: stack[0].id});
    same((await a.stop()).reason, 'restart', 'the reason');
    same([await a.at(), (await a.values()).n], ['inner.yaml:4 double', '101'], 'before the node');
    stack = await a.stack();
    await a.ask('restartFrame', {frameId: stack[0].id});
    same((await a.stop()).reason, 'restart', 'it has not begun: it stands there already');
    stack = await a.stack();
    await a.ask('restartFrame', {frameId: stack[1].id});
    await a.stop();
    same(await a.at(), 'nested.yaml:5 inside', 'before the workflow');
    await a.go('stepIn');
    same(await a.at(), 'inner.yaml:3 add', 'and into it again');
    stack = await a.stack();
    same(stack.at(-1).canRestart, false, 'the run itself has its own way');
    holds((await a.refused('restartFrame', {frameId: stack.at(-1).id})).length > 10, 'and says so');
  }),

  'restart begins anew, with wrapped and with bare arguments, and keeps the breakpoints': () =>
    withAdapter(PAWL, {files}, async a => {
      const set = await a.begin({program: 'flow.yaml', thread: 'mine'}, {breakpoints: {'flow.yaml': [{line: 6}]}});
      await a.stop();
      await a.ask('restart', {});
      let stop = await a.stop();
      same(stop.hitBreakpointIds, [set['flow.yaml'][0].id], 'the same breakpoint');
      await a.ask('restart', {arguments: {program: a.path('flow.yaml'), input: {count: 70}}});
      stop = await a.stop();
      same((await a.values()).count, '71', 'with other arguments');
      await a.ask('restart', {program: a.path('nested.yaml'), stopOnEntry: true});
      same((await a.stop()).reason, 'entry', 'bare ones');
      same(await a.at(), 'nested.yaml:4 first', 'another workflow');
      same(a.messages.filter(one => one.event === 'terminated').length, 0, 'nobody was told that it is over');
      const runs = JSON.parse(a.command('runs', '--json'));
      same(runs.map(one => one.status), ['paused', 'cancelled', 'cancelled', 'cancelled'], 'the runs');
    }),

  'terminateThreads ends a branch, and the others go on': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'parallel.yaml'}, {breakpoints: {'parallel.yaml': [{line: 5}, {line: 9}]}});
    const stop = await a.stop();
    await a.ask('terminateThreads', {threadIds: [stop.threadId]});
    await a.event('thread', body => body.reason === 'exited' && body.threadId === stop.threadId);
    await a.go('continue');
    same([await a.at(), (await a.values()).log], ['parallel.yaml:9 end', '["right","right_more"]'], 'what was left out');
    await a.ask('terminateThreads', {threadIds: [1]});
    await a.event('terminated');
    same(JSON.parse(a.command('runs', '--json'))[0].status, 'cancelled', 'the first thread is the run');
  }),

  'completions have a place, in UTF-16, and know commands, nodes and paths': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    const [top] = await a.stack();
    const complete = async (text, more = {}) =>
      (await a.ask('completions', {text, column: text.length + 1, frameId: top.id, ...more})).targets;
    const [word] = await complete('"🐈🐈" + .wo');
    same([word.label, word.start, word.length], ['word', 11, 2], 'a key of the state');
    const commands = await complete('reverse');
    holds(commands.some(one => one.label === 'reverse-continue' && one.start === 1 && one.length === 7), 'a command');
    const nodes = await complete('goto th');
    same(nodes.map(one => [one.label, one.start, one.length]), [['three', 6, 2]], 'a node');
    const line = await complete('.x\n.cou', {line: 2, column: 5});
    same(line.map(one => [one.label, one.start, one.length]), [['count', 2, 3]], 'the second line');
    holds((await complete('len')).some(one => one.label.startsWith('length')), 'a function');
  }),

  'the console takes the commands of the prompt': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    const repl = expression => a.evaluate(expression, {context: 'repl'});
    same((await repl('print .count + 1')).result, '1', 'print');
    same((await repl('.count')).result, '0', 'jq');
    holds((await repl('break three if .count > 0')).result.includes('three'), 'break');
    holds((await repl('info breakpoints')).result.includes('three'), 'info');
    holds((await repl('set .count = 5')).result.includes('.count = 5'), 'set');
    await a.event('invalidated');
    await repl('continue');
    await a.event('continued');
    await a.stop();
    same(await a.at(), 'flow.yaml:10 three', 'it went on');
    await repl('back');
    await a.event('continued');
    await a.stop();
    const told = a.messages.filter(one => ['continued', 'stopped'].includes(one.event)).map(one => one.event);
    same(told.slice(-2), ['continued', 'stopped'], 'the last word: it stands');
    same(await a.at(), 'flow.yaml:6 two', 'it went back');
    holds((await repl('history')).result.includes('one'), 'history');
    holds((await a.refused('evaluate', {expression: 'quit', context: 'repl'})).includes('editor'), 'quit is not for here');
    holds((await a.refused('evaluate', {expression: 'goto nowhere', context: 'repl'})).includes('nowhere'), 'errors');
    same((await a.refused('evaluate', {expression: 'continue', context: 'watch'})).length > 5, true, 'no watch is a command');
  }),

  'a breakpoint that somebody else changes or deletes is told': () => withAdapter(PAWL, {files}, async a => {
    const set = await a.begin({program: 'flow.yaml', stopOnEntry: true}, {breakpoints: {'flow.yaml': [{line: 6}, {line: 10}]}});
    await a.stop();
    const [two, three] = set['flow.yaml'];
    const repl = expression => a.evaluate(expression, {context: 'repl'});
    const listed = (await repl('info breakpoints')).result;
    const number = place => listed.split('\n').find(line => line.includes(place)).match(/\d+/)[0];
    await repl(`condition ${number('yaml:10')} .count > 100`);
    const changed = await a.event('breakpoint');
    same([changed.reason, changed.breakpoint.id, changed.breakpoint.line], ['changed', three.id, 10], 'what was changed');
    await repl(`delete ${number('yaml:6')}`);
    const removed = await a.event('breakpoint');
    same([removed.reason, removed.breakpoint.id], ['removed', two.id], 'what was deleted');
    await a.ask('continue', {threadId: 1});
    await a.event('terminated');
  }),

  'a question of the run is told, and answered in the console': () => withAdapter(PAWL, {files}, async a => {
    a.write('ask.yaml', `name: ask
nodes:
  - {name: sure, approval: {prompt: Go on?, options: [yes, no]}, output: said}
  - {name: done, jq: '{}'}
`);
    await a.begin({program: 'ask.yaml'}, {breakpoints: {'ask.yaml': [{line: 4}]}});
    const stop = await a.stop();
    same(stop.reason, 'approval', 'the reason');
    await a.event('output', body => body.output.includes('Go on?'));
    await a.event('output', body => body.output.includes('answer yes'));
    holds((await a.refused('continue', {threadId: 1})).includes('answer'), 'it cannot just go on');
    await a.evaluate('answer yes', {context: 'repl'});
    same((await a.stop()).reason, 'breakpoint', 'it goes on');
    same(JSON.parse((await a.values()).said).decision, 'yes', 'with the answer');
  }),

  'locations: which node wrote a value last': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'nested.yaml'}, {breakpoints: {'nested.yaml': [{line: 9}]}});
    await a.stop();
    const state = await a.variables((await a.scope('State')).variablesReference);
    const where = async name => a.ask('locations',
      {locationReference: state.find(one => one.name === name).valueLocationReference});
    same([(await where('n')).line, (await where('n')).source.name], [4, 'nested.yaml'], 'a node of its own');
    same((await where('inner')).line, 5, 'the node that holds the workflow');
    const word = state.find(one => one.name === 'word').valueLocationReference;
    holds((await a.refused('locations', {locationReference: word})).includes('began'), 'what was there from the beginning');
  }),

  'sources: all files are listed, and one that is not here is given as text': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'nested.yaml', thread: 'gone'}, {breakpoints: {'parts/inner.yaml': [{line: 3}]}});
    await a.stop();
    same((await a.ask('loadedSources')).sources.map(one => one.path).sort(),
      [a.path('nested.yaml'), a.path('parts/inner.yaml')], 'the files');
    await a.finish({terminateDebuggee: false, suspendDebuggee: true});
    a.write('parts/inner.yaml', '# another text\n');
    await withAdapter(PAWL, {folder: a.folder}, async b => {
      await b.begin({thread: 'gone'}, {how: 'attach'});
      await b.stop();
      const [top] = await b.stack();
      holds(top.source.sourceReference > 0 && !top.source.path, 'the file is another one by now');
      same((await b.ask('source', {sourceReference: top.source.sourceReference, source: top.source})).content, INNER, 'the text');
      const [set] = (await b.ask('setBreakpoints', {source: top.source, breakpoints: [{line: 4}]})).breakpoints;
      same([set.verified, set.line], [true, 4], 'a breakpoint in it');
      await b.go('continue');
      same((await b.stack())[0].line, 4, 'is hit');
      holds((await b.refused('source', {sourceReference: 99})).length > 5, 'a text that is not there');
    });
  }),

  'lines and columns that begin at 0, and paths as URIs': () => withAdapter(PAWL, {files}, async a => {
    a.write('größe 🐈.yaml', 'name: größe\nnodes:\n  [{name: a, shell: "echo ü🐈🐈"},\n   {name: b, shell: "echo ü🐈🐈"}, {name: c, jq: "{}"}]\n');
    await a.ask('initialize', {adapterID: 'pawl', linesStartAt1: false, columnsStartAt1: false, pathFormat: 'uri'});
    const uri = `file://${encodeURI(a.path('größe 🐈.yaml'))}`;
    await a.ask('launch', {program: uri});
    const {breakpoints} = await a.ask('setBreakpoints', {source: {path: uri}, breakpoints: [{line: 3}]});
    same([breakpoints[0].verified, breakpoints[0].line, breakpoints[0].source.path], [true, 3, uri], 'the breakpoint');
    await a.ask('configurationDone');
    await a.stop();
    const [top] = await a.stack();
    same([top.line, top.column, top.source.path, top.name], [3, 0, uri, 'b (shell)'], 'the place');
    await a.go('next');
    const [next] = await a.stack();
    same([next.line, next.column, next.name], [3, 35, 'c (jq)'], 'a column behind what takes two units');
  }),

  'a cancelled request is answered, and what is slow is shown as progress': () => withAdapter(PAWL, {files}, async a => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1'); // takes connections and says nothing
    await once(silent, 'listening');
    await a.ask('initialize', {adapterID: 'pawl', supportsProgressReporting: true});
    const attached = a.refused('attach', {thread: 'x', server: `http://127.0.0.1:${silent.address().port}`});
    const waits = a.refused('stackTrace', {threadId: 1});
    const start = await a.event('progressStart');
    same(start.requestId, 2, 'the request');
    await a.ask('cancel', {requestId: 3});
    same(await waits, 'cancelled', 'one that waited');
    await a.ask('cancel', {progressId: start.progressId});
    same(await attached, 'cancelled', 'one that was under way');
    same((await a.event('progressEnd')).progressId, start.progressId, 'the end of the progress');
    await a.ask('cancel', {requestId: 12345}); // nothing to do is no error
    silent.close();
    silent.closeAllConnections?.();
  }),

  'noDebug just runs': () => withAdapter(PAWL, {files}, async a => {
    const set = await a.begin({program: 'flow.yaml', noDebug: true}, {breakpoints: {'flow.yaml': [{line: 4}]}});
    same(set['flow.yaml'][0].verified, false, 'breakpoints are not set');
    same(await a.event('exited'), {exitCode: 0}, 'the end');
  }),

  'a misspelled word of the configuration is pointed out': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEnty: true, __sessionId: 'x', request: 'launch', type: 'pawl'});
    await a.event('output', body => body.output.includes('stopOnEnty'));
    same(a.messages.filter(one => one.event === 'output' && one.body.output.includes('means nothing')).length, 1, 'only that');
    await a.event('terminated');
  }),
};

/* What belongs to the machine code of other debuggers, or asks for what the client did not say: refused, in words. */
const NOT_HERE = ['disassemble', 'modules', 'readMemory', 'setInstructionBreakpoints', 'writeMemory'];
const NEVER_TOLD = ['capabilities', 'loadedSource', 'memory', 'module', 'progressUpdate'];

const everything = {
  'every other request of the protocol is refused in words': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    for (const command of protocol().requests.filter(one => NOT_HERE.includes(one))) {
      holds((await a.refused(command, {})).includes(command), `${command} is named`);
    }
  }),

  'every request of the protocol was driven, and every event that is told': async () => {
    const {requests, events} = protocol();
    same(requests.filter(one => !driven.succeeded[one] && !NOT_HERE.includes(one)), [], 'what never succeeded');
    same(requests.filter(one => driven.succeeded[one] && NOT_HERE.includes(one)), [], 'what should not have');
    same(events.filter(one => !driven.events[one] && !NEVER_TOLD.includes(one)), [], 'events that never came');
    same(events.filter(one => driven.events[one] && NEVER_TOLD.includes(one)), [], 'events that should not have');
  },
};
if (hasSchema && !process.argv[3]) Object.assign(cases, everything);
if (!hasSchema) cases['messages fit the schema # SKIP there is no shared data: $PAWL_TEST_DATA says where'] = async () => {};
const only = process.argv[3];
await runAll(only ? Object.fromEntries(Object.entries(cases).filter(([title]) => title.includes(only))) : cases);
