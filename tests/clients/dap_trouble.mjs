// What a client of `pawl dap` should not do, and does: requests in a wrong order, with anything in them, cancelled, in floods; bytes
// that are no message; going away without a word, at any time. Prints TAP.
//
//   tests/clients/run dap_trouble.mjs PAWL
//
// Every request gets one answer, and the adapter goes on or ends by itself.

import {existsSync} from 'node:fs';
import {holds, runAll, same, until, within} from './tap.mjs';
import {hasSchema, withAdapter} from './dap_adapter.mjs';

const PAWL = process.argv[2];
const FLOW = `name: flow
state: {count: 0}
nodes:
  - {name: one, jq: '{count: (.count + 1)}'}
  - {name: two, jq: '{count: (.count + 1)}'}
  - {name: three, jq: '{count: (.count + 10)}'}
`;
const SLEEPS = `name: sleeps
nodes:
  - {name: fine, jq: '{x: 1}'}
  - {name: slow, shell: 'sleep 60'}
`;
const files = {'flow.yaml': FLOW, 'sleeps.yaml': SLEEPS};

/* Every request of the adapter, with arguments that could be right. */
const source = {path: 'flow.yaml'};
const REQUESTS = {
  setBreakpoints: {source, breakpoints: [{line: 4}]}, setFunctionBreakpoints: {breakpoints: [{name: 'two'}]},
  setExceptionBreakpoints: {filters: ['error']}, setDataBreakpoints: {breakpoints: [{dataId: '.count'}]},
  dataBreakpointInfo: {name: '.count'}, breakpointLocations: {source, line: 1}, threads: {}, stackTrace: {threadId: 1},
  scopes: {frameId: 1}, variables: {variablesReference: 1}, evaluate: {expression: '.count', context: 'watch'},
  setVariable: {variablesReference: 1, name: 'count', value: '7'}, setExpression: {expression: '.count', value: '7'},
  completions: {text: '.co', column: 4}, exceptionInfo: {threadId: 1}, locations: {locationReference: 1}, loadedSources: {},
  source: {sourceReference: 1}, gotoTargets: {source, line: 4}, stepInTargets: {frameId: 1}, cancel: {requestId: 1},
  goto: {threadId: 1, targetId: 1}, restartFrame: {frameId: 1}, pause: {threadId: 1}, stepBack: {threadId: 1},
  reverseContinue: {threadId: 1}, next: {threadId: 1}, stepIn: {threadId: 1}, stepOut: {threadId: 1}, initialize: {adapterID: 'x'},
  attach: {thread: 'nobody'}, terminateThreads: {threadIds: [7]}, configurationDone: {}, continue: {threadId: 1},
};
const LAST = {launch: {program: 'flow.yaml', stopOnEntry: true}, restart: {}, terminate: {}};
const ODD = [undefined, null, [], 7, 'text', true, {}];
const VALUES = [null, -1, 0, 1.5, 1e300, '', 'x'.repeat(3000), [], {}, [[null]], {a: {b: []}}, true, -9007199254740993];

/** The arguments, each of their values in turn another one. */
function wrong(args) {
  return Object.keys(args).flatMap(key => VALUES.map(value => ({...args, [key]: value})));
}

/** All of them are said, and each gets one answer. */
async function answered(a, list) {
  const numbers = a.rawRequests(list);
  for (const [i, number] of numbers.entries()) {
    await until(() => a.answersTo(number).length, `${JSON.stringify(list[i]).slice(0, 200)} is answered`);
  }
  same(numbers.filter(one => a.answersTo(one).length !== 1), [], 'answered more than once');
  await a.ask('threads').catch(() => {}); // and goes on
}

const everything = Object.entries(REQUESTS);

const STAGES = {
  'before initialize': async () => {},
  'before launch': a => a.ask('initialize', {adapterID: 'pawl'}),
  'before configurationDone': a => a.open('launch', {program: 'flow.yaml'}),
  'at a stop': async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
  },
  'while the run goes': async a => {
    await a.begin({program: 'sleeps.yaml'});
    await until(() => a.command('status', 'run-1').includes('running'), 'it runs');
  },
  'when the run has ended': async a => {
    await a.begin({program: 'flow.yaml'});
    await a.event('terminated');
  },
};

const cases = {};
for (const [stage, reach] of Object.entries(STAGES)) {
  cases[`${stage}: every request gets one answer, whatever is in it`] = () => withAdapter(PAWL, {files}, async a => {
    await reach(a);
    await answered(a, [...everything, ...Object.entries(LAST).filter(([name]) => name !== 'launch')]);
    await answered(a, everything.flatMap(([name]) => ODD.map(args => [name, args])));
    await answered(a, everything.flatMap(([name, args]) => wrong(args).map(one => [name, one])));
  });
}

const framed = text => `Content-Length: ${text.length}\r\n\r\n${text}`;

/* What is on the wire, and how many complaints there are of it; null: the conversation ends. */
const BYTES = [
  ['Content-Length: -1\r\n\r\n', null], ['Content-Length: 99999999999999\r\n\r\n', null], ['Content-Length: 70000000\r\n\r\n', null],
  ['Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}', null], ['Content-Length:\r\n\r\n', null], ['Content-Length: 0x2\r\n\r\n{}', null],
  ['\r\n\r\n', null], ['{"seq": 1, "type": "request", "command": "threads"}\r\n\r\n', null], [`${'x'.repeat(5000)}`, null],
  ['\0\xff\0\xff\n', null], ['Content-Type: text/plain\r\n\r\n', null],
  ['Content-Length: 4\r\n\r\nnull', 1], ['Content-Length: 0\r\n\r\n', 1], [`Content-Length: 4000\r\n\r\n${'['.repeat(4000)}`, 1],
  ['Content-Length: 2\n\n{}', 1], ['CONTENT-LENGTH:2\r\nContent-Type: x\r\n\r\n{}', 1],
  [framed('{"type": "request", "command": "threads"}'), 1], [framed('{"seq": 1, "type": "request", "command": 7}'), 1],
  [framed('{"seq": 1, "type": "event", "event": "initialized"}'), 0], [framed('{"seq": "1", "type": "response"}'), 0],
];

Object.assign(cases, {
  'bytes that are no message are complained of, or end the conversation': async () => {
    for (const [bytes, complaints] of BYTES) {
      await withAdapter(PAWL, {files}, async a => {
        const said = () => a.messages.filter(one => one.event === 'output').length;
        a.raw(Buffer.from(bytes, 'latin1'));
        if (complaints === null) {
          const [code] = await within(a.ended, `${JSON.stringify(bytes.slice(0, 60))} ends it`);
          same([code, said()], [0, 1], 'the end');
        } else {
          await a.ask('initialize', {adapterID: 'pawl'});
          same(said(), complaints, `complaints of ${JSON.stringify(bytes.slice(0, 60))}`);
        }
      });
    }
  },

  'a message in pieces of a byte is a message': () => withAdapter(PAWL, {files, tcp: true}, async a => {
    const text = '{"seq": 900, "type": "request", "command": "initialize", "arguments": {"adapterID": "🐈"}}';
    for (const byte of Buffer.from(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)) a.raw(Buffer.from([byte]));
    await until(() => a.answersTo(900).length, 'it is answered');
    same(a.answersTo(900)[0].success, true, 'the answer');
  }),

  'a flood of requests is answered, those that are too many by a refusal': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    const numbers = a.rawRequests(Array.from({length: 15_000}, () => ['threads', {}]));
    await until(() => a.answersTo(numbers.at(-1)).length, 'the last is answered');
    const counts = new Map();
    for (const one of a.messages) if (one.type === 'response') counts.set(one.request_seq, (counts.get(one.request_seq) ?? 0) + 1);
    same(numbers.filter(one => counts.get(one) !== 1), [], 'those that were not answered once');
  }),

  'a cancelled request is answered once, before, while and after it is done': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    for (const [command, args] of everything) {
      const next = a.sequence;
      const numbers = a.rawRequests([['cancel', {requestId: next + 1}], [command, args], ['cancel', {requestId: next + 1}],
        ['cancel', {requestId: next + 2}], ['cancel', {progressId: `request-${next + 1}`}], ['cancel', {progressId: 'nonsense'}], ['cancel', {}]]);
      for (const number of numbers) await until(() => a.answersTo(number).length, `${command} is answered`);
      same(numbers.filter(one => a.answersTo(one).length !== 1), [], `answers to ${command}`);
      same(numbers.filter(one => one !== next + 1 && !a.answersTo(one)[0].success), [], 'cancel is never refused');
    }
  }),

  'an expression that takes long can be cancelled, and is bounded where it is not': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true});
    await a.stop();
    holds((await a.refused('evaluate', {expression: 'last(range(1e12))', context: 'watch'})).length > 5, 'it is ended');
    const next = a.sequence;
    a.rawRequests([['evaluate', {expression: 'last(range(1e12))', context: 'repl'}], ['evaluate', {expression: '.count', context: 'repl'}],
      ['cancel', {requestId: next}], ['cancel', {requestId: next + 1}]]);
    await until(() => a.answersTo(next).length && a.answersTo(next + 1).length, 'both are answered');
    same(a.answersTo(next)[0].success, false, 'the first did not come to an end');
    same((await a.evaluate('.count + 1')).result, '1', 'and it goes on');
  }),

  'a client that does not read is dropped, and the adapter ends': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', stopOnEntry: true, input: {text: 'x'.repeat(1_000_000)}});
    await a.stop();
    a.process.stdout.pause();
    a.process.stdout.removeAllListeners('data');
    a.rawRequests(Array.from({length: 200}, () => ['evaluate', {expression: '.text', context: 'clipboard'}]));
    const [code] = await within(a.ended, 'it ends');
    same(code, 0, 'the exit code');
  }),
});

/* A conversation, as far as it goes. */
const STORY = [
  a => a.ask('initialize', {adapterID: 'pawl'}),
  a => a.rawRequests([['launch', {program: a.path('flow.yaml'), stopOnEntry: true}]]),
  a => a.event('initialized'),
  a => a.breakpoints('flow.yaml', [{line: 5}]),
  a => a.rawRequests([['configurationDone', {}]]),
  a => a.stop(),
  a => a.rawRequests([['next', {threadId: 1}]]),
  a => a.stop(),
  a => a.rawRequests([['stepBack', {threadId: 1}]]),
  a => a.stop(),
  a => a.rawRequests([['restart', {}]]),
  a => a.stop(),
  a => a.rawRequests([['evaluate', {expression: 'last(range(1e12))', context: 'repl'}], ['continue', {threadId: 1}]]),
  a => a.rawRequests([['disconnect', {}]]),
];

Object.assign(cases, {
  'a client that goes away ends the adapter, whenever that is': async () => {
    for (let steps = 0; steps <= STORY.length; steps++) {
      await withAdapter(PAWL, {files}, async a => {
        for (const step of STORY.slice(0, steps)) await step(a);
        if (steps % 2) a.process.stdout.destroy(); // nor does it read any more
        await a.vanish();
        const runs = existsSync(a.path('runs.db')) ? JSON.parse(a.command('runs', '--json')) : [];
        same(runs.filter(one => one.status === 'running'), [], 'runs that nobody has');
      });
    }
  },

  'clients that go away leave an adapter at TCP as it was': () => withAdapter(PAWL, {files, tcp: true}, async a => {
    for (let steps = 0; steps <= STORY.length; steps++) {
      for (const step of STORY.slice(0, steps)) await step(a);
      a.socket.destroy();
      a.number = 0;
      a.sent.clear();
      a.unseen.length = 0;
      a.messages.length = 0;
      await a.connectTcp();
    }
    await a.begin({program: 'flow.yaml'});
    await a.event('terminated');
  }),

  'a killed adapter leaves its run to the next': () => withAdapter(PAWL, {files}, async a => {
    await a.begin({program: 'flow.yaml', thread: 'left', stopOnEntry: true});
    await a.stop();
    await a.go('next');
    await a.kill();
    await withAdapter(PAWL, {folder: a.folder}, async b => {
      await b.begin({thread: 'left'}, {how: 'attach'});
      await b.stop();
      same(await b.at(), 'flow.yaml:5 two', 'the place');
      await b.ask('continue', {threadId: 1});
      await b.event('terminated');
    });
  }),

  'addresses of other machines are refused, and so is a file for standard input': () => withAdapter(PAWL, {files}, async a => {
    for (const address of ['0.0.0.0:0', '192.0.2.1:80', 'example.org:1', '127.0.0.1', '127.0.0.1:x', '127.0.0.1:70000', ':4711', '']) {
      same(a.ends('dap', '--listen', address), 2, `the exit code of ${address}`);
    }
    same(a.ends('dap'), 2, 'of a file'); // standard input is /dev/null
  }),
});

if (!hasSchema) cases['messages fit the schema # SKIP there is no shared data: $PAWL_TEST_DATA says where'] = async () => {};
const only = process.argv[3];
await runAll(only ? Object.fromEntries(Object.entries(cases).filter(([title]) => title.includes(only))) : cases);
