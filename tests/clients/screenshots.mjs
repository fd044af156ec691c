// Pictures of every view of the page, for the documents and for whoever changes how it looks.
//
//   tests/clients/run screenshots.mjs PAWL FOLDER [VIEW...]        those of docs/page.md, palette-compressed (needs pngquant)
//   tests/clients/run screenshots.mjs PAWL FOLDER --all [VIEW...]  each in two sizes, light and dark, as they are
//
// PAGE=http://127.0.0.1:5173 looks at the page that `make web-dev` serves; PAWL then has to listen at --listen $PAWL_LISTEN.

import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, cpSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import {Server} from './server.mjs';

const [PAWL, FOLDER, ...rest] = process.argv.slice(2);
const ALL = rest[0] === '--all', ONLY = ALL ? rest.slice(1) : rest;
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(path => existsSync(path));
const EXAMPLES = join(dirname(fileURLToPath(import.meta.url)), '../../examples/workflows');
const SMALL = {width: 1280, height: 720}, LARGE = {width: 1920, height: 1080};
const MOST = 150_000; // bytes of a picture in the documents

const COLOURED = `name: load
nodes:
  - name: probe
    shell: |
      for i in 1 2 3 4 5 6; do
        printf '\\033[2m%s\\033[0m GET /orders \\033[32m200\\033[0m in %s ms\\n' "$i" "$((i * 7 + 4))"
      done
      printf '\\033[33mwarning\\033[0m: the cache is cold\\n'
      printf '\\033[1;31merror\\033[0m: /orders/7 answered 503, asked again\\n' >&2
      echo 'all answered'
  - name: report
    jq: '{report: "6 requests, 1 asked again"}'
`;
const SLOW = "name: soak\nnodes:\n  - {name: warm_up, shell: 'echo warm'}\n  - {name: hold, shell: 'echo holding; sleep 600'}\n";

const folder = mkdtempSync(join(tmpdir(), 'pawl-pictures-')), workflows = join(folder, 'workflows');
cpSync(EXAMPLES, workflows, {recursive: true});
const s = new Server(PAWL, ['--workflows', workflows, '--rate', '100000']);
await s.start();
const locked = new Server(PAWL, ['--auth']);
const browser = await chromium.launch({executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--font-render-hinting=none']});

const run = (workflow, thread, more = {}, until = 'completed') =>
  s.ask('POST', '/runs', {workflow, thread, ...more}, 201).then(() => s.until(thread, until));
const begin = (thread, text, until) => s.begin(thread, text).then(() => until && s.until(thread, until));
const debug = (thread, what, body = {}) => s.ask('POST', `/debug/${thread}/${what}`, body);
/** Asks as a debugger does that looks on: the session stays as it is. */
async function debugged(thread, ask) {
  await s.ask('POST', `/debug/${thread}`, {}, 201).catch(() => s.ask('POST', `/debug/${thread}`, {}));
  await ask();
}

/** What there is to be seen, made once. */
async function scenes() {
  await run('release', 'monday', {input: {mirror: 'eu'}});
  await run('release', 'tuesday', {input: {mirror: 'eu', version: '1.3.9'}});
  await run('release', 'wednesday', {}, 'failed');
  await run('map', 'sizes');
  await run('review', 'pull-81', {}, 'interrupted');
  await run('approval', 'ship', {}, 'interrupted');
  await begin('probe', COLOURED, 'completed');
  await begin('soak-arm64', SLOW, 'running');
  await begin('soak-x86', SLOW, 'running');
  await s.ask('POST', '/runs/soak-x86/cancel', {});
  await s.until('soak-x86', 'cancelled');
  await run('review', 'pull-82', {debug: {breakpoints: [{node: 'test'}, {node: 'lint'}], pause_all_on_breakpoint: false}}, 'paused');
  await run('release', 'saturday', {debug: {breakpoints: [{node: 'prepare'}]}}, 'paused');
  await run('release', 'thursday', {debug: {breakpoints: [{type: 'exception'}]}}, 'paused');
  await run('release', 'friday', {debug: {breakpoints: [{type: 'exception'}, {node: 'announce', condition: '.mirror == "eu"'},
    {node: 'test_note', log_message: 'tests: \\(.test.stdout)', group: 'tests'}]}}, 'paused');
}

const wait = (page, text) => page.getByText(text).first().waitFor();
const press = (page, name) => page.getByRole('button', {name, exact: typeof name === 'string'}).first().click();
const unfold = async (page, ...ids) => {
  for (const id of ids) {
    const head = page.locator(`#fold-${id}`);
    if (await head.getAttribute('aria-expanded') === 'false') await head.click();
  }
};
const stands = (page, text) => page.locator('.who', {hasText: text}).waitFor();
const graph = page => page.locator('.graph button.node').first().waitFor();
const open = async (page, path, text) => {
  await page.goto(s.url + path);
  await stands(page, text);
  await graph(page);
};

/** name: what is done before the picture is taken; dark, large: how it is taken for the documents. */
const VIEWS = {
  debugger: {async look(page) {
    await open(page, '/debug/friday', 'Paused at an error');
    const value = page.locator('[role=treeitem][data-path=".mirror"]');
    await value.dblclick();
    await page.getByLabel('New value of .mirror').fill('"eu"');
    await page.keyboard.press('Enter');
    await page.locator('.vt-row.pend').waitFor();
    if (!await page.getByLabel('Delete the watch .files | length').count()) {
      const field = page.getByLabel(/^jq on frame/);
      for (const one of ['.mirror', '.files | length']) {
        await field.fill(one);
        await press(page, 'Watch');
        await page.getByLabel(`Delete the watch ${one}`).waitFor();
      }
    }
  }},
  runs: {async look(page) {
    await page.goto(s.url);
    await wait(page, 'Ship build 1?');
    await wait(page, 'at an error');
  }},
  start: {dark: true, async look(page) {
    await page.goto(`${s.url}/?start=release`);
    await page.getByLabel('mirror').waitFor();
    await page.getByLabel('mirror').fill('eu');
    await wait(page, 'at an error');
  }},
  swimlanes: {dark: true, async look(page) {
    await open(page, '/debug/pull-82', 'Paused');
    await page.getByRole('tab', {name: 'Swimlanes'}).click();
    await page.locator('.lb').first().waitFor();
  }},
  past: {async look(page) {
    await open(page, '/debug/thursday', 'Paused at an error');
    for (let i = 0; i < 2; i++) {
      const lines = await page.locator('.tree2 .cp').count();
      await page.keyboard.press('Shift+F10');
      await page.waitForFunction(count => document.querySelectorAll('.tree2 .cp').length > count, lines);
    }
    await page.keyboard.press('F10');
    await page.locator('.yl .on', {hasText: 'line 3'}).waitFor();
    await page.locator('.tree2').focus();
    for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowLeft');
    await page.locator('.bar.past').waitFor();
    await page.locator('[role=treeitem]').first().waitFor();
  }},
  logs: {async look(page) {
    await open(page, '/runs/probe', 'Completed');
    await page.getByRole('tab', {name: 'Logs'}).click();
    await wait(page, 'the cache is cold');
    await press(page, 'Larger');
  }},
  breakpoint: {async look(page) {
    await open(page, '/debug/friday', 'Paused at an error');
    await unfold(page, 'breakpoints');
    await press(page, 'Add a breakpoint');
    await page.getByLabel('Node, or a pattern').fill('verify');
    await page.getByLabel('If (jq)').fill('.files | length > 1');
    await wait(page, 'true now');
  }},
  inject: {async look(page) {
    await open(page, '/debug/friday', 'Paused at an error');
    for (const id of ['watch', 'variables', 'frames']) {
      const head = page.locator(`#fold-${id}`);
      if (await head.getAttribute('aria-expanded') === 'true') await head.click();
    }
    await unfold(page, 'breakpoints', 'node', 'inject');
  }},
  answer: {async look(page) {
    await open(page, '/runs/pull-81', 'approve');
    await page.locator('.bar.asks').waitFor();
  }},
  workflow: {async look(page) {
    await page.goto(`${s.url}/workflows/approval`);
    await wait(page, 'Fine');
    await graph(page);
    const line = page.locator('.cm-line', {hasText: 'approval:'}).last();
    await line.click();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Backspace');
    await wait(page, 'did you mean');
  }},
  compare: {async look(page) {
    await page.goto(`${s.url}/compare?a=monday&b=tuesday`);
    await wait(page, 'Parts at checkpoint');
  }},
  palette: {dark: true, async look(page) {
    await open(page, '/debug/saturday', 'Paused');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('re');
    await page.waitForTimeout(300);
  }},
  help: {async look(page) {
    await open(page, '/debug/saturday', 'Paused');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
  }},
  'sign-in': {async look(page) {
    if (!locked.process) await locked.start();
    await page.goto(locked.url);
    await wait(page, 'Sign in to Pawl');
  }},
};

async function picture(name, view, size, theme, path) {
  const context = await browser.newContext({viewport: size, colorScheme: theme, reducedMotion: 'reduce'});
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.PAWL_PATIENCE ?? 30_000));
  try {
    await view.look(page);
    await page.mouse.move(size.width / 2, 2);
    await page.waitForTimeout(400);
    await page.screenshot({path});
  } catch (error) {
    await page.screenshot({path: `${path}.failed.png`});
    throw new Error(`${name}: ${error.message}`, {cause: error});
  } finally {
    await context.close();
  }
}

mkdirSync(FOLDER, {recursive: true});
let failed = false;
try {
  await scenes();
  for (const [name, view] of Object.entries(VIEWS)) {
    if (ONLY.length && !ONLY.includes(name)) continue;
    const kinds = ALL ? [[SMALL, 'light'], [SMALL, 'dark'], [LARGE, 'light'], [LARGE, 'dark']] : [[SMALL, view.dark ? 'dark' : 'light']];
    for (const [size, theme] of kinds) {
      const path = resolve(FOLDER, ALL ? `${name}-${size.width}-${theme}.png` : `${name}.png`);
      try {
        await picture(name, view, size, theme, path);
        if (!ALL) execFileSync('pngquant', ['--force', '--ext', '.png', '--speed', '1', '--strip', '--nofs', '64', path]);
        if (!ALL && statSync(path).size > MOST) throw new Error(`${path} has ${statSync(path).size} bytes, more than ${MOST}.`);
        console.log(path);
      } catch (error) {
        failed = true;
        console.error(String(error.message));
      }
    }
  }
} finally {
  await browser.close();
  for (const one of [s, locked]) {
    one.process?.kill('SIGTERM');
    if (one.process) await one.ended;
    rmSync(one.folder, {recursive: true, force: true});
  }
  rmSync(folder, {recursive: true, force: true});
}
process.exit(failed ? 1 : 0);
