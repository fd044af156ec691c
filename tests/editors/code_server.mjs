// The real VS Code, in a browser: code-server with a fresh profile, the extension installed from its package, and a copy of the
// examples as the workspace.
//
//   await withCode({pawl, vsix, settings}, async code => {
//     await code.open('release.yaml');
//     await code.page....                           playwright's page
//     await code.picture('stopped');                docs/images/vscode-stopped.png, where pictures are wanted
//   });

import {spawn, spawnSync} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {once} from 'node:events';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import {Broken, until} from '../clients/tap.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = resolve(HERE, '../..');
const ENTRY = join(HERE, 'node_modules/code-server/out/node/entry.js');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(path => existsSync(path));
const PATIENCE = 30_000; // milliseconds for what a person would see at once
const SIZE = {width: 1280, height: 800};

const SETTINGS = {
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'workbench.colorTheme': 'Default Light Modern',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

/** Why it cannot be had here, or null. */
export function missing() {
  if (!existsSync(ENTRY)) return 'code-server is not installed (make test-vscode installs it)';
  return CHROMIUM ? null : 'there is no Chromium (tools/deps editors installs it)';
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address();
  server.close();
  return port;
}

export class Code {
  constructor({pawl, vsix, settings = {}, pictures = null}) {
    this.folder = mkdtempSync(join(tmpdir(), 'pawl-vscode-'));
    this.workspace = join(this.folder, 'workflows');
    this.pictures = pictures;
    this.log = join(this.folder, 'code-server.log');
    cpSync(join(ROOT, 'examples/workflows'), this.workspace, {recursive: true});
    this.settings('User', {...SETTINGS, ...settings});
    if (pawl) this.settings('Machine', {'pawl.path': resolve(pawl)}); // what belongs to the machine that code-server is on
    this.words = ['--user-data-dir', join(this.folder, 'data'), '--extensions-dir', join(this.folder, 'extensions'), '--config', '/dev/null'];
    this.env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PAWL_|VSCODE_|CODE_SERVER_)/.test(name) || name === 'PAWL_SDK'));
    this.env.HOME = this.folder;
    if (vsix) this.run('--install-extension', resolve(vsix));
  }

  settings(whose, values) {
    const path = join(this.folder, 'data', whose, 'settings.json');
    mkdirSync(dirname(path), {recursive: true});
    writeFileSync(path, JSON.stringify(values));
  }

  run(...words) {
    const options = {encoding: 'utf8', env: this.env, cwd: this.folder, stdio: 'pipe'};
    const done = spawnSync(process.execPath, [ENTRY, ...this.words, ...words], options);
    if (done.status !== 0) throw new Broken(`code-server ${words.join(' ')} ended with ${done.status}: ${done.stderr.slice(-2000)}`);
    return done.stdout;
  }

  async start() {
    const port = await freePort();
    const log = openSync(this.log, 'a');
    this.process = spawn(process.execPath, [ENTRY, ...this.words, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`,
      '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
      {cwd: this.folder, env: this.env, stdio: ['ignore', log, log], detached: true});
    this.ended = once(this.process, 'exit');
    const url = `http://127.0.0.1:${port}`;
    await until(() => fetch(`${url}/healthz`).then(reply => reply.ok, () => false), 'code-server listens');
    this.browser = await chromium.launch({executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-quic',
      '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']});
    this.page = await (await this.browser.newContext({viewport: SIZE})).newPage();
    this.page.setDefaultTimeout(PATIENCE);
    await this.page.goto(`${url}/?folder=${encodeURIComponent(this.workspace)}`);
    await this.page.waitForSelector('.explorer-folders-view .monaco-list-row');
  }

  async stop() {
    await this.browser?.close();
    if (!this.process) return;
    process.kill(-this.process.pid, 'SIGTERM'); // with the processes that it has started
    await this.ended;
  }

  remove() {
    rmSync(this.folder, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
  }

  /** What somebody who looks for a failure wants to see. */
  async trouble() {
    const path = join(tmpdir(), `pawl-vscode-${process.pid}.png`);
    await this.page?.screenshot({path}).catch(() => {});
    return `a picture of it is ${path}\n${readFileSync(this.log, 'utf8').slice(-2000)}`;
  }

  async picture(name, clip) {
    if (this.pictures) await this.page.screenshot({path: join(this.pictures, `vscode-${name}.png`), clip});
  }

  // ---- what a person does ----

  /** A command of the palette, by its title. */
  async command(title) {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input');
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page.locator('.quick-input-list .monaco-list-row', {hasText: title}).first().click();
    await this.page.locator('.quick-input-widget').waitFor({state: 'hidden'});
  }

  /** A file of the workspace, by a click in the explorer. */
  async open(name) {
    for (const [i, part] of name.split('/').entries()) {
      const row = this.page.locator('.explorer-folders-view .monaco-list-row', {has: this.page.getByText(part, {exact: true})});
      if (i < name.split('/').length - 1) await row.click();
      else await row.dblclick();
    }
    await this.page.locator('.tab.active', {hasText: name.split('/').at(-1)}).waitFor();
    await this.page.waitForSelector('.monaco-editor .view-line');
  }

  /** The line of that number in the editor. */
  line(number) {
    return this.page.locator('.monaco-editor .line-numbers', {hasText: new RegExp(`^${number}$`)});
  }

  async lineBox(number) {
    const box = await this.line(number).first().boundingBox();
    if (!box) throw new Broken(`line ${number} is not in sight`);
    return box;
  }

  /** A click beside it, left of its number. */
  async clickGutter(number) {
    const box = await this.lineBox(number), margin = await this.page.locator('.monaco-editor .glyph-margin').first().boundingBox();
    await this.page.mouse.click(margin.x + margin.width / 2, box.y + box.height / 2);
  }

  /** Rows of a tree whose view has that title, as text. */
  rows(view) {
    return this.page.locator(`.pane:has(.pane-header[aria-label^="${view}"]) .monaco-list-row`);
  }
}

export async function withCode(options, use) {
  const code = new Code(options);
  try {
    await code.start();
    await use(code);
  } catch (error) {
    error.message += `\n${await code.trouble()}`;
    throw error;
  } finally {
    await code.stop();
    code.remove();
  }
}
