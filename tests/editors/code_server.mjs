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
import {Broken, sleep, until} from '../clients/tap.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = resolve(HERE, '../..');
const ENTRY = join(HERE, 'node_modules/code-server/out/node/entry.js');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(path => existsSync(path));
const PATIENCE = 30_000; // milliseconds for what a person would see at once
const SIZE = {width: 1280, height: 800};

const SETTINGS = {
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'editor.stickyScroll.enabled': false,
  'files.autoSave': 'off',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'workbench.colorTheme': 'Default Light Modern',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.tree.enableStickyScroll': false,
};

/* Commands that are used often, by a key: Control, Alt and that. */
const KEYS = {
  b: 'workbench.debug.viewlet.action.removeAllBreakpoints', c: 'workbench.panel.repl.view.focus', m: 'workbench.actions.view.problems',
  n: 'notifications.clearAll', p: 'workbench.view.extension.pawl', r: 'workbench.action.files.revert', w: 'workbench.action.closeAllEditors',
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
    if (pictures) mkdirSync(pictures, {recursive: true});
    this.troubles = 0;
    this.log = join(this.folder, 'code-server.log');
    cpSync(join(ROOT, 'examples/workflows'), this.workspace, {recursive: true});
    this.settings('User', {...SETTINGS, ...settings});
    this.write('User/keybindings.json', Object.entries(KEYS).map(([key, command]) => ({key: `ctrl+alt+${key}`, command})));
    if (pawl) this.settings('Machine', {'pawl.path': resolve(pawl)}); // what belongs to the machine that code-server is on
    this.words = ['--user-data-dir', join(this.folder, 'data'), '--extensions-dir', join(this.folder, 'extensions'), '--config', '/dev/null'];
    this.env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PAWL_|VSCODE_|CODE_SERVER_)/.test(name) || name === 'PAWL_SDK'));
    this.env.HOME = this.folder;
    if (vsix) this.run('--install-extension', resolve(vsix));
  }

  write(name, json) {
    const path = join(this.folder, 'data', name);
    mkdirSync(dirname(path), {recursive: true});
    writeFileSync(path, JSON.stringify(json));
  }

  settings(whose, values) {
    this.write(`${whose}/settings.json`, values);
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
    const path = join(tmpdir(), `pawl-vscode-${process.pid}-${++this.troubles}.png`);
    await this.page?.screenshot({path}).catch(() => {});
    return `a picture of it is ${path}\n${readFileSync(this.log, 'utf8').slice(-1000)}`;
  }

  /** Where pictures are wanted; with a palette, if there is a program that makes one. */
  async picture(name) {
    if (!this.pictures) return;
    const path = join(this.pictures, `vscode-${name}.png`);
    await this.page.mouse.move(SIZE.width / 2, SIZE.height - 60);
    await this.page.locator('.workbench-hover-container .monaco-hover:visible').waitFor({state: 'hidden'});
    await this.page.screenshot({path, caret: 'hide', animations: 'disabled'});
    spawnSync('pngquant', ['--force', '--strip', '--output', path, '128', path]);
  }

  // ---- what a person does ----

  /** A command of the palette, by its title. */
  async command(title) {
    const {page} = this, input = page.locator('.quick-input-widget:visible input[type=text]').first();
    const row = page.locator('.quick-input-list .monaco-list-row', {hasText: title}).first();
    await until(async () => { // what happens meanwhile may take the focus, which closes the palette
      try {
        await page.keyboard.press('F1');
        await input.fill(`>${title}`, {timeout: 5000});
        await row.click({timeout: 5000});
        return true;
      } catch {
        await page.keyboard.press('Escape');
        return false;
      }
    }, `the command "${title}"`);
    await page.locator('.quick-input-widget').first().waitFor({state: 'hidden'});
  }

  /** A command of KEYS. */
  async press(command) {
    const [key] = Object.entries(KEYS).find(([, known]) => known === command);
    await this.page.keyboard.press(`Control+Alt+${key}`);
  }

  /** As somebody has it who begins: no session, no breakpoint, no editor, no notification. */
  async fresh() {
    const bar = this.page.locator('.debug-toolbar:visible'), tabs = this.page.locator('.tabs-container .tab');
    for (const end = Date.now() + PATIENCE; await bar.count() && Date.now() < end;) {
      await this.button('Stop').or(this.button('Disconnect')).first().click({timeout: 2000}).catch(() => {});
    }
    await until(async () => {
      if (await tabs.count() === 0) return true;
      await this.page.keyboard.press('Escape');
      await this.press('workbench.action.files.revert');
      await this.press('workbench.action.closeAllEditors');
      return false;
    }, 'no editor is open');
    await this.press('workbench.debug.viewlet.action.removeAllBreakpoints');
    await this.press('notifications.clearAll');
  }

  /** A file of the workspace, by a click in the explorer. */
  async open(name) {
    const {page} = this, parts = name.split('/');
    const tab = page.locator('.tab.active', {hasText: parts.at(-1)});
    await until(async () => { // a file that another program makes meanwhile moves the rows
      await page.keyboard.press('Control+Shift+E');
      for (const [i, part] of parts.entries()) {
        const row = page.locator('.explorer-folders-view .monaco-list-row', {has: page.getByText(part, {exact: true})});
        if (i === parts.length - 1) await row.dblclick();
        else if (await row.getAttribute('aria-expanded') === 'false') await row.click();
      }
      return tab.waitFor({timeout: 5000}).then(() => true, () => false);
    }, `${name} is open`);
    await page.waitForSelector('.editor-instance .view-line');
  }

  /** The cursor at the end of a line. */
  async goTo(line) {
    const {page} = this, input = page.locator('.quick-input-widget:visible input[type=text]').first();
    await page.keyboard.press('Control+1');
    await page.keyboard.press('Control+G');
    await input.fill(`:${line}`);
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').first().waitFor({state: 'hidden'});
    await this.line(line).first().waitFor();
    await page.keyboard.press('End');
  }

  /** The number of a line in the editor. */
  line(number) {
    return this.page.locator('.editor-instance .line-numbers').filter({hasText: new RegExp(`^${number}$`)});
  }

  async lineBox(number) {
    const box = await this.line(number).first().boundingBox();
    if (!box) throw new Broken(`line ${number} is not in sight`);
    return box;
  }

  /** Beside a line, left of its number. */
  async clickGutter(number, options) {
    const box = await this.lineBox(number), margin = await this.page.locator('.editor-instance .glyph-margin').first().boundingBox();
    await this.page.mouse.click(margin.x + margin.width / 2, box.y + box.height / 2, options);
  }

  /** A breakpoint by a click beside the line, for whose node it then stands. */
  async breakAt(line) {
    const has = async () => (await this.linesWith('[class*=codicon-debug-breakpoint]')).includes(line);
    await this.goTo(line);
    for (let clicks = 0; clicks < 3 && !await has(); clicks++) {
      await this.clickGutter(line);
      for (const end = Date.now() + PATIENCE / 2; Date.now() < end && !await has();) await sleep(50);
    }
    if (!await has()) throw new Broken(`there is no breakpoint at line ${line}`);
  }

  /** The place of a text in a line, for the pointer. */
  async textBox(number, text) {
    const {y} = await this.lineBox(number);
    const box = await this.page.evaluate(([y, text]) => {
      const lines = [...document.querySelectorAll('.editor-instance .view-line')];
      const line = lines.find(one => Math.abs(one.getBoundingClientRect().top - y) < 3);
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT), range = document.createRange();
      const from = line.textContent.replace(/\u00a0/g, ' ').indexOf(text);
      let at = 0, began = false;
      for (let node; (node = walker.nextNode()); at += node.length) {
        if (!began && from < at + node.length) {
          range.setStart(node, from - at);
          began = true;
        }
        if (began && from + text.length <= at + node.length) {
          range.setEnd(node, from + text.length - at);
          const {x, y, width, height} = range.getBoundingClientRect();
          return from < 0 ? null : {x, y, width, height};
        }
      }
      return null;
    }, [y, text]);
    if (!box) throw new Broken(`line ${number} has no "${text}"`);
    return box;
  }

  /** The lines that a mark is on: the class of its decoration. */
  linesWith(mark) {
    return this.page.evaluate(mark => {
      const tops = [...document.querySelectorAll(`.editor-instance ${mark}`)].map(one => one.getBoundingClientRect().top);
      return [...document.querySelectorAll('.editor-instance .line-numbers')]
        .filter(one => tops.some(top => Math.abs(one.getBoundingClientRect().top - top) < 9)).map(one => Number(one.textContent));
    }, mark);
  }

  /** Until it has stopped, and that line is lit. */
  async stopsAt(line) {
    let last = [];
    await until(async () => (last = await this.linesWith('.debug-top-stack-frame-line')).includes(line), `it stops at line ${line}`)
      .catch(error => {
        throw new Broken(`${error.message} (lit: ${last})`);
      });
  }

  /** Until no session is left. */
  async ends() {
    await this.page.locator('.debug-toolbar').waitFor({state: 'hidden'});
  }

  /** A button of the floating bar of the debugger. */
  button(name) {
    return this.page.locator(`.debug-toolbar .action-label[aria-label^="${name}"]`).first();
  }

  /** A line of the Variables view, its scope opened before, and in sight. */
  async variable(name, scope = 'State') {
    const view = this.page.locator('.debug-variables'), row = view.locator(`.monaco-list-row[aria-label^="${name}, value"]`).first();
    const head = view.locator(`.monaco-list-row[aria-label="Scope ${scope}"]`);
    await until(async () => {
      if (await row.count()) return true;
      if (await head.getAttribute('aria-expanded', {timeout: 1000}).catch(() => null) === 'false') {
        await head.locator('.monaco-tl-twistie').click({timeout: 1000}).catch(() => {});
      } else {
        await view.hover({timeout: 1000}).catch(() => {});
        await this.page.mouse.wheel(0, await head.count() ? 60 : -1000);
      }
      return false;
    }, `${scope} has ${name}`);
    return row;
  }

  /** Until a variable has that value, as it is shown. */
  async hasValue(name, value, scope) {
    await this.variable(name, scope);
    await this.page.locator(`.debug-variables .monaco-list-row[aria-label="${name}, value ${value.replace(/"/g, '\\"')}"]`).first().waitFor();
  }

  async setVariable(name, value) {
    const input = this.page.locator('.debug-variables input').first();
    await (await this.variable(name)).dblclick();
    await input.fill(value);
    await input.press('Enter');
    await input.waitFor({state: 'hidden'});
  }

  /** A line in the Debug Console; resolves when what it shows has that text. */
  async say(line, shown) {
    const input = this.page.locator('.repl-input-wrapper');
    await this.press('workbench.panel.repl.view.focus');
    await input.locator('.view-lines').click();
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.insertText(line);
    await input.getByText(line.split(' ')[0]).first().waitFor();
    await this.page.keyboard.press('Escape'); // what is suggested
    await this.page.keyboard.press('Enter');
    if (shown !== undefined) await this.page.locator('.repl-tree .monaco-list-row', {hasText: shown}).last().waitFor();
  }

  /** Rows of a view of the side bar, by its title. */
  rows(view) {
    return this.page.locator(`.pane:has(> .pane-header[aria-label^="${view}"]) .monaco-list-row`);
  }

  /** The text of a message in the corner, once it is there. */
  async message(text) {
    const one = this.page.locator('.notifications-toasts .notification-list-item', {hasText: text}).first();
    await one.waitFor();
    return one;
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
