// `pawl serve` of a build, in a folder of its own, for clients that others wrote.
//
//   await withServer(PAWL, ['--rate', '100000'], async s => { ... s.api + '/runs' ... });
//
// A server that ends with anything but 0, or in whose log a sanitizer said something, has broken a promise.

import {execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, openSync, closeSync, rmSync, writeFileSync, mkdirSync} from 'node:fs';
import {once} from 'node:events';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {createInterface} from 'node:readline';
import {Broken, until, within} from './tap.mjs';

export const COMPLAINTS = ['AddressSanitizer', 'LeakSanitizer', 'runtime error:', 'ThreadSanitizer', 'pawl: bug:'];

const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('PAWL_') || name === 'PAWL_SDK'));

export class Server {
  constructor(pawl, words) {
    this.pawl = resolve(pawl);
    this.words = words;
    this.folder = mkdtempSync(join(tmpdir(), 'pawl-test-'));
    this.log = join(this.folder, 'serve.log');
    this.port = 0;
  }

  /** Again: where it was. */
  async start() {
    const log = openSync(this.log, 'a');
    this.process = spawn(this.pawl, ['serve', '--json', '--listen', `127.0.0.1:${this.port}`, ...this.words],
      {cwd: this.folder, env: environment, stdio: ['ignore', 'pipe', log]});
    closeSync(log);
    this.ended = once(this.process, 'exit');
    const lines = createInterface({input: this.process.stdout});
    const [line] = await within(Promise.race([once(lines, 'line'), this.ended.then(() => [])]), 'the server begins');
    if (!line) throw new Broken(`the server did not start: ${this.said}`);
    this.url = JSON.parse(line).url;
    this.port = Number(new URL(this.url).port);
    this.api = `${this.url}/api/v1`;
  }

  /** Its folder, when it has ended. */
  remove() {
    rmSync(this.folder, {recursive: true, force: true, maxRetries: 5});
  }

  get said() {
    return readFileSync(this.log, 'utf8');
  }

  checkLog() {
    const word = COMPLAINTS.find(one => this.said.includes(one));
    if (word) throw new Broken(`the server's log has "${word}":\n${this.said.slice(-6000)}`);
  }

  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
    this.checkLog();
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill('SIGTERM');
    const [code, signal] = await within(this.ended, 'the server stops');
    this.checkLog();
    if (code !== 0) throw new Broken(`the server ended with ${code ?? signal}: ${this.said.slice(-6000)}`);
  }

  write(name, text) {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), {recursive: true});
    writeFileSync(path, text);
    return path;
  }

  /** Another command in the same folder; what it printed. */
  command(...words) {
    return execFileSync(this.pawl, words, {cwd: this.folder, env: environment, encoding: 'utf8'});
  }

  /** An answer, as an object; throws when its status is not the one. */
  async ask(method, path, body, status = 200, headers = {}) {
    const reply = await fetch(this.api + path, {method,
      headers: {...body === undefined ? {} : {'Content-Type': 'application/json'}, ...headers},
      body: body === undefined ? undefined : JSON.stringify(body)});
    const text = await reply.text();
    if (reply.status !== status) throw new Broken(`${method} ${path}: ${reply.status}, not ${status}: ${text}`);
    return text ? JSON.parse(text) : null;
  }

  begin(thread, text, more = {}) {
    return this.ask('POST', '/runs', {definition: {main: 'a.yaml', files: {'a.yaml': text}}, thread, ...more}, 201);
  }

  until(thread, status) {
    return until(async () => {
      const run = await this.ask('GET', `/runs/${thread}`);
      return run.status === status ? run : null;
    }, `${thread} is ${status}`);
  }
}

export async function withServer(pawl, words, use) {
  const server = new Server(pawl, words);
  try {
    await server.start();
    await use(server);
    await server.stop();
  } finally {
    server.process?.kill('SIGKILL');
    server.remove();
  }
}
