// `pawl dap`, driven by @vscode/debugadapter-testsupport. Prints TAP.
//
//   tests/clients/run dap.mjs PAWL

import {Broken, holds, runAll, same, until} from './tap.mjs';
import {hasSchema, withAdapter} from './dap_adapter.mjs';

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
    await a.finish();
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
};

if (!hasSchema) cases['messages fit the schema # SKIP there is no shared data: $PAWL_TEST_DATA says where'] = async () => {};
const only = process.argv[3];
await runAll(only ? Object.fromEntries(Object.entries(cases).filter(([title]) => title.includes(only))) : cases);
