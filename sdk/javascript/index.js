/* Nodes of Pawl workflows, written in JavaScript.
 *
 *     const {node, serve, interrupt, log} = require('pawl');   or: import {node, ...} from 'pawl'
 *
 *     node('analyze', async (state) => ({analysis: state.files.length}));
 *     node('approve', (state, env) => ({decision: interrupt({question: `Ship ${env.target}?`})}));
 *
 *     serve();
 *
 * A workflow names the program and the function:
 *
 *     - {name: analyze, javascript: {file: nodes.js, function: analyze}}
 *
 * pawl starts the program when a node needs it, keeps it, and calls its functions as often as the
 * workflow asks for them. What a function prints is the log of the node; what it returns, or what
 * its promise comes to, is merged into the state.
 *
 * This module is in pawl itself, so that a program that pawl starts needs nothing installed.
 *
 * Reading the next call blocks: between calls nothing of an earlier one goes on. While a call is
 * under way the event loop is free, so that code can wait for whatever it likes. interrupt() blocks
 * too; it can be awaited all the same. */
'use strict';

const fs = require('fs');
const vm = require('vm');
const util = require('util');
const path = require('path');
const Module = require('module');

const READ_FIRST = 1 << 16;
const WRITE_PIECE = 1 << 17; // characters
const KEEP_BUFFER = 1 << 22;
const TEXT_MAX = 16384; // characters of a message and of a traceback

const nodes = new Map();
let worker = null;

// ---- for programs ----

function node(name, fn) {
  if (typeof name === 'function') [name, fn] = [name.name, name];
  if (typeof fn !== 'function' || !name) {
    throw new TypeError('node() takes a name and a function: node("analyze", (state) => ...).');
  }
  nodes.set(name, fn);
  return fn;
}

function currentCall(what) {
  if (!worker || !worker.call) {
    throw new Error(`${what}() can be called only while a node runs in a workflow.`);
  }
  return worker.call;
}

function interrupt(value) {
  return currentCall('interrupt').interrupt(value);
}

function log(...values) {
  if (worker && worker.call) {
    worker.call.log(...values);
  } else {
    console.error(...values);
  }
}

function serve() {
  if (worker) return;
  console.error(
    'This program has nodes for a workflow and is started by pawl: name it in the workflow ' +
    '(javascript: {file: ..., function: ...}) and use `pawl run`.');
  process.exitCode = 1;
}

exports.node = node;
exports.interrupt = interrupt;
exports.log = log;
exports.serve = serve;

// ---- code of nodes ----

const GIVEN = ['interrupt', 'log', 'require'];

function canBeParameter(name) {
  try {
    new Function(`"use strict"; let ${name};`);
    return true;
  } catch {
    return false;
  }
}

/* The body of an async function, compiled once. */
class Code {
  constructor(source, names, label) {
    this.names = names.filter(canBeParameter);
    const given = GIVEN.filter((name) => !this.names.includes(name));
    const own = ['state', 'vars', 'env'].filter((name) => !this.names.includes(name));
    this.parameters = [...own, ...given, ...this.names];
    this.fn = compile(source, this.parameters, label);
  }

  run(call) {
    const {state, env, vars} = call.message;
    const values = {
      state, vars: state, env: env ?? {}, require: requireIn(call.message.folder), ...call.given(),
      ...vars,
    };
    return this.fn.apply(undefined, this.parameters.map((name) => values[name]));
  }
}

let importModule; // import(), as a function

/* import() in code, where Node.js does not do that by itself (before 20.10). */
function importFor(name) {
  const local = /^\.{0,2}\//.test(name);
  return importModule(local ? require('url').pathToFileURL(path.resolve(name)).href : name);
}

/* One line before the code, so that its own lines keep their numbers. */
function compile(source, parameters, label) {
  const text = `(async function (${parameters.join(', ')}) {\n${source}\n})`;
  const importModuleDynamically = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER ?? importFor;
  return new vm.Script(text, {filename: label, lineOffset: -1, importModuleDynamically})
    .runInThisContext();
}

let required = {folder: null, require: null};

function requireIn(folder) {
  if (required.folder !== folder) {
    required = {folder, require: Module.createRequire(path.resolve(folder, 'node.js'))};
  }
  return required.require;
}

// ---- the conversation with pawl: a line of JSON each way ----

class Channel {
  constructor(fd, rest) {
    this.fd = fd;
    this.buffer = Buffer.allocUnsafe(Math.max(READ_FIRST, rest.length));
    this.length = rest.copy(this.buffer);
    this.out = Buffer.allocUnsafe(3 * (WRITE_PIECE + 1)); // a character takes three bytes at most
  }

  /* The next line, as text; the process ends when there are no more. */
  read() {
    let at = this.buffer.subarray(0, this.length).indexOf(10);
    while (at < 0) {
      this.makeRoom();
      const room = this.buffer.length - this.length;
      const n = fs.readSync(this.fd, this.buffer, this.length, room, null);
      if (n === 0) process.exit(0);
      at = this.buffer.subarray(this.length, this.length + n).indexOf(10);
      if (at >= 0) at += this.length;
      this.length += n;
    }
    return this.take(at);
  }

  makeRoom() {
    if (this.length < this.buffer.length) return;
    const larger = Buffer.allocUnsafe(this.buffer.length * 2);
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }

  take(at) {
    const line = this.buffer.toString('utf8', 0, at);
    this.buffer.copyWithin(0, at + 1, this.length);
    this.length -= at + 1;
    if (this.buffer.length > KEEP_BUFFER && this.length < READ_FIRST) {
      const rest = this.buffer.subarray(0, this.length);
      this.buffer = Buffer.allocUnsafe(READ_FIRST);
      rest.copy(this.buffer);
    }
    return line;
  }

  /* A line. A long one goes in pieces, so that the other side reads the first while the next is
   * made, and without being put together first. */
  write(...parts) {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    for (const part of length < WRITE_PIECE ? [parts.join('')] : parts) this.writePart(part);
  }

  writePart(text) {
    for (let at = 0, end; at < text.length; at = end) {
      end = Math.min(at + WRITE_PIECE, text.length);
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++;
      const length = this.out.write(text.slice(at, end));
      for (let sent = 0; sent < length;) {
        sent += fs.writeSync(this.fd, this.out, sent, length - sent);
      }
    }
  }
}

const isHighSurrogate = (code) => code >= 0xd800 && code < 0xdc00;
const turn = () => new Promise((go) => setImmediate(go));
const asJson = (value) => JSON.stringify(value) ?? 'null';

/* Libraries look for the trace of a call where processes have it. */
function enterTrace(env) {
  for (const name of ['TRACEPARENT', 'TRACESTATE']) {
    if (typeof env[name] === 'string') process.env[name] = env[name];
    else if ('TRACEPARENT' in env) delete process.env[name];
  }
}

/* One call of a node, and what its code may ask for meanwhile. */
class Call {
  constructor(channel, message) {
    this.channel = channel;
    this.message = message;
    this.answers = message.answers ?? [];
    this.next = 0;
    this.over = false;
  }

  say(fields) {
    if (this.over) throw new Error('The node that this code belongs to has ended.');
    this.channel.write(`{"call":"${this.message.call}",${fields}}\n`);
  }

  interrupt(value) {
    if (this.next === this.answers.length) {
      this.say(`"interrupt":${asJson(value)}`);
      this.answers.push(JSON.parse(this.channel.read()).answer);
    }
    return this.answers[this.next++];
  }

  log(...values) {
    this.say(`"log":${asJson(util.format(...values) + '\n')}`);
  }

  given() {
    return {
      interrupt: (value) => this.interrupt(value),
      log: (...values) => this.log(...values),
    };
  }
}

class Worker {
  constructor(channel, file) {
    this.channel = channel;
    this.file = file;
    this.codes = new Map();
    this.call = null;
    this.broken = null; // why the program could not be loaded
  }

  async serve() {
    for (;;) {
      const line = this.channel.read();
      await new Promise((done) => this.answer(line, done));
    }
  }

  async answer(line, done) {
    const token = line.slice(9, line.indexOf('"', 9)); // {"call":"TOKEN",
    this.call = new Call(this.channel, {call: token});
    this.done = done;
    const call = this.call;
    try {
      const result = await this.run(call, line);
      await turn(); // errors that nobody waits for come out now, while it is known whose they are
      this.finish(call, 'result', asJson(result));
    } catch (error) {
      this.fail(call, error);
    }
  }

  run(call, line) {
    if (this.broken) throw this.broken.error;
    const message = JSON.parse(line);
    call.message = message;
    call.answers = message.answers ?? [];
    process.chdir(message.folder);
    enterTrace(message.env ?? {});
    if (message.function !== undefined) {
      return this.find(message.function)(message.state, message.env ?? {});
    }
    const label = call.label = `<code ${message.code}>`;
    if (message.source !== undefined) {
      this.codes.delete(label);
      this.codes.set(label, new Code(message.source, message.names ?? [], label));
    }
    return this.codes.get(label).run(call);
  }

  find(name) {
    if (nodes.has(name)) return nodes.get(name);
    const known = [...nodes.keys()].sort().join(', ') || 'none';
    throw new ReferenceError(`The program has no node \`${name}\`; it has: ${known}.`);
  }

  /* Once for a call: it may also end while it still runs, by an error that nobody waits for. */
  finish(call, key, text) {
    if (call.over) return;
    call.over = true;
    this.call = null;
    call.channel.write(`{"call":"${call.message.call}","${key}":`, text, '}\n');
    this.done();
  }

  fail(call, error, stray) {
    const described = describe(error, call.label ?? this.file);
    if (this.broken || stray) described.retire = true;
    this.finish(call, 'error', asJson(described));
  }

  failCurrent(error, stray) {
    if (this.call) this.fail(this.call, error, stray);
  }
}

// ---- errors ----

/* A text, whatever the getters of an error do. */
function textOf(make) {
  try {
    return String(make()).slice(0, TEXT_MAX);
  } catch {
    return '';
  }
}

function describe(error, label) {
  const isError = util.types.isNativeError(error) || error instanceof Error;
  const described = {
    type: isError ? textOf(() => error.name) : 'Error',
    message: textOf(() => isError ? error.message : util.format(error)),
  };
  const stack = isError ? textOf(() => withoutUs(error.stack ?? '')) : '';
  const line = lineOf(stack, label);
  if (line) described.line = line;
  if (/allocation failed|out of memory/i.test(described.message)) {
    described.limit = described.retire = true;
  }
  described.traceback = stack;
  return described;
}

function withoutUs(stack) {
  const ours = /\bat .*(<pawl>:\d+:\d+|\bnode:internal\/|\(node:vm:|<anonymous>\)?$)/;
  return stack.split('\n').filter((line) => !ours.test(line)).join('\n');
}

function lineOf(stack, label) {
  const at = label ? stack.indexOf(`${label}:`) : -1;
  const found = at < 0 ? null : /^:(\d+)/.exec(stack.slice(at + label.length));
  const line = found ? Number(found[1]) : 0;
  return line < 2 ** 31 ? line : 0;
}

// ---- the start of a worker ----

const EMBEDDED = 'data:text/javascript,' + encodeURIComponent(
  'const {node, interrupt, log, serve} = globalThis[Symbol.for("pawl")];' +
  'export {node, interrupt, log, serve};');
const HOOK = `export async function resolve(specifier, context, next) {
  return specifier === 'pawl'
    ? {url: ${JSON.stringify(EMBEDDED)}, shortCircuit: true} : next(specifier, context);
}`;

/* Makes `pawl` this very module, for require and for import. */
function provide() {
  globalThis[Symbol.for('pawl')] = exports;
  const load = Module._load;
  Module._load = (request, ...rest) => request === 'pawl' ? exports : load(request, ...rest);
}

function provideToImports() {
  if (Module.registerHooks) {
    Module.registerHooks({
      resolve: (specifier, context, next) => specifier === 'pawl'
        ? {url: EMBEDDED, shortCircuit: true} : next(specifier, context),
    });
  } else {
    Module.register?.('data:text/javascript,' + encodeURIComponent(HOOK));
  }
}

async function load(file, importer) {
  provideToImports();
  process.argv = [process.execPath, file];
  await importer(require('url').pathToFileURL(file).href);
}

const NEVER =
  'The code waits for something that can never happen: nothing is left that could end the wait.';

/* Called by pawl in the process that it started; `importer` is import(), as a function. */
exports._start = async function start(fd, hello, rest, importer) {
  importModule = importer;
  worker = new Worker(new Channel(fd, rest), hello.file);
  provide();
  for (const stream of [process.stdout, process.stderr]) stream._handle?.setBlocking?.(true);
  // Nobody waited for it: it may be what an earlier call left running, so there is no next one here.
  process.on('uncaughtException', (error) => worker.failCurrent(error, true));
  process.on('beforeExit', () => setImmediate(() => worker.failCurrent(new Error(NEVER))));
  if (worker.file) {
    await load(worker.file, importer).catch((error) => { worker.broken = {error}; });
  }
  await worker.serve();
};
