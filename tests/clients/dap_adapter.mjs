// `pawl dap` and a client that others wrote (@vscode/debugadapter-testsupport), each message of the adapter held against the
// protocol's JSON schema.
//
//   await withAdapter(PAWL, {files: {'a.yaml': text}}, async a => {
//     await a.begin({program: 'a.yaml'}, {breakpoints: {'a.yaml': [{line: 3}]}});
//     const stop = await a.stop();
//   });
//
// An adapter that ends with anything but 0, in whose log a sanitizer said something, that answers a request twice, or whose
// messages do not fit the schema, has broken a promise.

import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {once} from 'node:events';
import {createConnection} from 'node:net';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {createInterface} from 'node:readline';
import {Broken, same, within} from './tap.mjs';

const require = createRequire(import.meta.url);
const {DebugClient} = require('@vscode/debugadapter-testsupport');
const Ajv = require('ajv');

const here = dirname(fileURLToPath(import.meta.url));
const data = process.env.PAWL_TEST_DATA ?? join(here, '../../../shared/data');
const schemaFile = join(data, 'dap/debugAdapterProtocol.json');
const COMPLAINTS = ['AddressSanitizer', 'LeakSanitizer', 'runtime error:', 'pawl: bug:', 'Assertion'];

const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('PAWL_') || name === 'PAWL_SDK'));

/** Whether messages are held against the schema; if not, that is to be said. */
export const hasSchema = existsSync(schemaFile);

/** What was driven in all conversations: of requests how often they succeeded and were refused, of events how often they came. */
export const driven = {succeeded: {}, refused: {}, events: {}};
const count = (of, name) => { of[name] = (of[name] ?? 0) + 1; };

/** All that the protocol has: names of requests to an adapter, and of events. */
export function protocol() {
  const {definitions} = JSON.parse(readFileSync(schemaFile, 'utf8'));
  const words = (base, key) => Object.values(definitions)
    .filter(one => one.allOf?.[0].$ref === `#/definitions/${base}`)
    .map(one => one.allOf[1].properties[key].enum[0]);
  return {requests: words('Request', 'command').filter(one => !['runInTerminal', 'startDebugging'].includes(one)), events: words('Event', 'event')};
}

const validators = new Map();
let ajv;

function validator(name) {
  if (!hasSchema) return null;
  if (!ajv) {
    const schema = JSON.parse(readFileSync(schemaFile, 'utf8'));
    delete schema.$schema; // of a draft that says the same of what is used here
    ajv = new Ajv({strict: false, formats: {int32: true, uint32: true, int64: true, uint64: true}});
    ajv.addSchema(schema, 'dap');
    for (const one of Object.keys(schema.definitions)) validators.set(one, null);
  }
  if (!validators.has(name)) return null;
  if (!validators.get(name)) validators.set(name, ajv.getSchema(`dap#/definitions/${name}`));
  return validators.get(name);
}

const capital = word => word[0].toUpperCase() + word.slice(1);

/** What a message has to be. */
function definitionOf(message) {
  if (message.type === 'event') return `${capital(message.event)}Event`;
  return message.success ? `${capital(message.command)}Response` : 'ErrorResponse';
}

export class Adapter extends DebugClient {
  constructor(pawl, options) {
    super(pawl, 'dap', 'pawl', {}, false);
    this.pawl = resolve(pawl);
    this.options = options;
    this.folder = options.folder ?? mkdtempSync(join(tmpdir(), 'pawl-dap-'));
    this.owns = !options.folder;
    this.store = options.store ?? `sqlite:${this.folder}/runs.db`;
    this.messages = []; // of the adapter, in order
    this.problems = [];
    this.sent = new Map(); // seq → [command, responses]
    this.waiting = []; // those who wait for an event
    this.unseen = []; // events that nobody waited for yet
    this.stderr = '';
    this.number = 0;
  }

  path(name) {
    return join(this.folder, name);
  }

  write(name, text) {
    mkdirSync(dirname(this.path(name)), {recursive: true});
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  command(...words) {
    return execFileSync(this.pawl, words, {cwd: this.folder, encoding: 'utf8', env: {...environment, PAWL_STORE: this.store}});
  }

  /** Another process with a run, that goes on by itself. */
  aside(...words) {
    return spawn(this.pawl, words, {cwd: this.folder, stdio: 'ignore', env: {...environment, PAWL_STORE: this.store}});
  }

  /** The exit code of one. */
  ends(...words) {
    return spawnSync(this.pawl, words, {cwd: this.folder, stdio: 'ignore', env: {...environment, PAWL_STORE: this.store}}).status;
  }

  async start() {
    for (const [name, text] of Object.entries(this.options.files ?? {})) this.write(name, text);
    const words = ['dap', ...this.options.words ?? [], ...this.options.tcp ? ['--listen', '127.0.0.1:0'] : []];
    this.process = spawn(this.pawl, words, {cwd: this.folder, env: {...environment, PAWL_STORE: this.store, ...this.options.env},
      stdio: ['pipe', 'pipe', 'pipe']});
    this.process.stderr.on('data', piece => { this.stderr += piece; });
    this.process.stdin.on('error', () => {}); // it has gone: that is looked at elsewhere
    this.ended = once(this.process, 'exit');
    if (this.options.tcp) {
      const [line] = await within(once(createInterface({input: this.process.stdout}), 'line'), 'it listens');
      this.port = Number(line.match(/:(\d+)$/)[1]);
      await this.connectTcp();
    } else {
      this.listen(this.process.stdout, this.process.stdin);
    }
  }

  async connectTcp() {
    this.socket = createConnection(this.port, '127.0.0.1');
    this.socket.on('error', () => {});
    await once(this.socket, 'connect');
    this.socket.setNoDelay(true);
    this.listen(this.socket, this.socket);
  }

  listen(readable, writable) {
    this.connect(readable, writable);
    this.over = once(readable, 'close');
  }

  raw(bytes) {
    this.outputStream.write(bytes);
  }

  /** Requests in one piece, with no answer awaited; their numbers. */
  rawRequests(list) {
    const numbers = [];
    const bytes = list.map(([command, args]) => {
      const seq = this.sequence++;
      this.sent.set(seq, [command, 0]);
      numbers.push(seq);
      const text = JSON.stringify({seq, type: 'request', command, arguments: args});
      return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
    });
    this.raw(bytes.join(''));
    return numbers;
  }

  answersTo(seq) {
    return this.messages.filter(one => one.type === 'response' && one.request_seq === seq);
  }

  doSend(command, args, done) {
    this.sent.set(this.sequence, [command, 0]);
    super.doSend(command, args, done);
  }

  check(message) {
    const name = definitionOf(message), fits = validator(name) ?? validator(capital(message.type));
    if (fits && !fits(message)) {
      this.problems.push(`${name}: ${ajv.errorsText(fits.errors)}: ${JSON.stringify(message).slice(0, 1000)}`);
    }
    if (message.type === 'event') count(driven.events, message.event);
    if (message.seq !== ++this.number) this.problems.push(`seq ${message.seq} follows ${this.number - 1}`);
    if (message.type === 'response') {
      const request = this.sent.get(message.request_seq);
      if (request) request[1]++;
      if (request?.[1] > 1) this.problems.push(`${request[0]} was answered ${request[1]} times`);
      count(message.success ? driven.succeeded : driven.refused, message.command);
      if (request && message.command !== request[0]) this.problems.push(`${request[0]} was answered as ${message.command}`);
    }
  }

  dispatch(body) {
    const message = JSON.parse(body);
    this.messages.push(message);
    this.check(message);
    if (message.type === 'event') {
      const i = this.waiting.findIndex(one => one.wants(message));
      if (i >= 0) this.waiting.splice(i, 1)[0].take(message);
      else this.unseen.push(message);
    }
    super.dispatch(body);
  }

  /** The next event that is wanted, or one that came already; the events before it stay. */
  event(name, wants = () => true) {
    const is = message => message.event === name && wants(message.body);
    const i = this.unseen.findIndex(is);
    if (i >= 0) return Promise.resolve(this.unseen.splice(i, 1)[0].body ?? {});
    const found = new Promise(take => this.waiting.push({wants: is, take: message => take(message.body ?? {})}));
    return within(found, `the event ${name}`);
  }

  async ask(command, args) {
    return (await within(this.send(command, args), command)).body ?? {};
  }

  /** The sentence with which a request is refused. */
  async refused(command, args) {
    try {
      await within(this.send(command, args), command);
    } catch (error) {
      return error.message;
    }
    throw new Broken(`${command} was not refused`);
  }

  /** Until the client may say its breakpoints. */
  async open(how, args, client = {}) {
    this.capabilities = await this.ask('initialize', {adapterID: 'pawl', clientID: 'test', supportsVariableType: true,
      supportsVariablePaging: true, supportsInvalidatedEvent: true, supportsProgressReporting: true, ...client});
    await this.ask(how, how === 'launch' && args.program ? {...args, program: this.path(args.program)} : args);
    await this.event('initialized');
  }

  async breakpoints(file, list) {
    return (await this.ask('setBreakpoints', {source: {path: this.path(file)}, breakpoints: list})).breakpoints;
  }

  /** A run that goes. */
  async begin(args, {breakpoints = {}, exceptions = [], client = {}, how = 'launch'} = {}) {
    await this.open(how, args, client);
    const set = {};
    for (const [file, list] of Object.entries(breakpoints)) set[file] = await this.breakpoints(file, list);
    await this.ask('setExceptionBreakpoints', {filters: exceptions});
    await this.ask('configurationDone');
    return set;
  }

  stop() {
    return this.event('stopped');
  }

  async stack(threadId = 1) {
    return (await this.ask('stackTrace', {threadId})).stackFrames;
  }

  /** Where a thread stands: "file:line node". */
  async at(threadId = 1) {
    const [top] = await this.stack(threadId);
    return `${top.source?.name ?? ''}:${top.line} ${top.name.replace(/ .*/, '')}`;
  }

  async go(command, threadId = 1, more = {}) {
    await this.ask(command, {threadId, ...more});
    return this.stop();
  }

  async scope(name, threadId = 1, level = 0) {
    const stack = await this.stack(threadId);
    const {scopes} = await this.ask('scopes', {frameId: stack[level].id});
    const found = scopes.find(one => one.name === name);
    if (!found) throw new Broken(`there is no scope ${name}: ${scopes.map(one => one.name)}`);
    return found;
  }

  async variables(variablesReference, more = {}) {
    return (await this.ask('variables', {variablesReference, ...more})).variables;
  }

  /** {name: value} of a scope. */
  async values(name = 'State', threadId = 1) {
    const list = await this.variables((await this.scope(name, threadId)).variablesReference);
    return Object.fromEntries(list.map(one => [one.name, one.value]));
  }

  async evaluate(expression, more = {}) {
    return this.ask('evaluate', {expression, context: 'watch', ...more});
  }

  checkAll() {
    const word = COMPLAINTS.find(one => this.stderr.includes(one));
    if (word) this.problems.push(`it said "${word}":\n${this.stderr.slice(-6000)}`);
    if (this.problems.length) throw new Broken(this.problems.slice(0, 5).join('\n'));
  }

  /** The polite end. */
  async finish(args) {
    await this.ask('disconnect', args);
    await within(this.over, 'the adapter ends the connection');
    if (this.socket) this.process.kill('SIGTERM');
    const [code, signal] = await within(this.ended, 'the adapter ends');
    this.checkAll();
    same(code ?? signal, 0, 'the exit code');
  }

  /** The client goes without a word. */
  async vanish() {
    if (this.socket) this.socket.destroy();
    else this.process.stdin.end();
    if (!this.socket) {
      const [code, signal] = await within(this.ended, 'the adapter ends');
      same(code ?? signal, 0, 'the exit code');
    }
    this.checkAll();
  }

  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
    this.checkAll();
  }

  remove() {
    if (this.process?.exitCode === null && this.process.signalCode === null) this.process.kill('SIGKILL');
    if (this.owns) rmSync(this.folder, {recursive: true, force: true, maxRetries: 5});
  }
}

/** use() ends the adapter by finish(), vanish() or kill(); where it does not, finish() is called. */
export async function withAdapter(pawl, options, use) {
  const adapter = new Adapter(pawl, options);
  try {
    await adapter.start();
    await use(adapter);
    if (adapter.process.exitCode === null && adapter.process.signalCode === null) await adapter.finish();
    adapter.checkAll();
  } catch (error) {
    if (error instanceof Broken) {
      error.message += `\nlast messages:\n${adapter.messages.slice(-6).map(one => JSON.stringify(one).slice(0, 600)).join('\n')}\n${adapter.stderr.slice(-3000)}`;
    }
    throw error;
  } finally {
    adapter.remove();
  }
}
