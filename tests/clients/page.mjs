// The page, used as a person would: one server, one browser, a story a case. Prints TAP.
//
//   tests/clients/run page.mjs PAWL [FOLDER]          FOLDER: where a picture of each story that fails goes

import {existsSync, readFileSync, mkdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import {Broken, holds, runAll, same, until} from './tap.mjs';
import {Server} from './server.mjs';

const [PAWL, PICTURES] = process.argv.slice(2);
const EXAMPLES = join(dirname(fileURLToPath(import.meta.url)), '../../examples/workflows');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(path => existsSync(path));
if (!CHROMIUM) {
  console.log('1..0 # SKIP there is no Chromium');
  process.exit(0);
}

const s = new Server(PAWL, ['--workflows', EXAMPLES, '--rate', '100000']);
await s.start();
process.on('exit', () => s.process.kill('SIGKILL'));
if (!(await (await fetch(`${s.url}/`)).text()).includes('<script')) {
  console.log('1..0 # SKIP this pawl was built without its page');
  process.exit(0);
}
const browser = await chromium.launch({executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync']});

/** What the browser complained about: an error of a script, something that the policy forbids. */
const complaints = [];
async function window(options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 720}, reducedMotion: 'reduce', ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.PAWL_PATIENCE ?? 20_000));
  page.on('pageerror', error => complaints.push(String(error.stack ?? error)));
  page.on('console', message => {
    const text = message.text();
    if (message.type() === 'error' && !/WebSocket|ERR_CONNECTION|Failed to load resource/.test(text) || /Content Security Policy|svelte/.test(text)) complaints.push(text);
  });
  return page;
}
const page = await window();

// ---- what a person sees and does ----

const go = (path, on = page) => on.goto(s.url + path);
const button = (name, on = page) => on.getByRole('button', {name, exact: typeof name === 'string'}).first();
const press = async (name, on = page) => button(name, on).click();
const region = (name, on = page) => on.locator(`[aria-label="${name}"]`).first();
const stands = (text, on = page) => on.locator('.who', {hasText: text}).waitFor();
const sees = (text, on = page) => on.getByText(text).first().waitFor();
const variable = (path, on = page) => on.locator(`[role=treeitem][data-path="${path}"]`);
const inGraph = (name, on = page) => on.locator('.graph button.node, .graph .grp > button', {hasText: name}).first();
const section = async (id, on = page) => {
  const head = on.locator(`#fold-${id}`);
  if (await head.getAttribute('aria-expanded') === 'false') await head.click();
};

/** A run of release.yaml that is paused where somebody said. */
async function paused(thread, debug = {pause_on_start: true}) {
  await s.ask('POST', '/runs', {workflow: 'release', thread, debug}, 201);
  await s.until(thread, 'paused');
}
async function debugged(thread, debug) {
  await paused(thread, debug);
  await go(`/debug/${thread}`);
  await stands('Paused');
  await inGraph('prepare').waitFor();
}

async function serious(on, what) {
  if (!await on.evaluate(() => 'axe' in globalThis)) await on.evaluate(AXE);
  const found = await on.evaluate(async () => (await globalThis.axe.run(document, {resultTypes: ['violations']})).violations
    .filter(one => one.impact === 'serious' || one.impact === 'critical')
    .map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`));
  same(found, [], `what axe finds serious in ${what}`);
}

const stories = {
  'a paused run is opened from the list; a step brings its frame further in its lane': async () => {
    await paused('lanes');
    await go('/');
    await page.getByRole('link', {name: 'lanes'}).click();
    await stands('Paused before prepare, at the start');
    await page.getByRole('tab', {name: 'Swimlanes'}).click();
    await press('Step into');
    await page.locator('.lb', {hasText: 'prepare'}).first().waitFor();
    await stands('Paused before build');
    holds(await page.locator('.lhead button').count() >= 2, 'each branch has a lane');
    await page.getByRole('tab', {name: 'Graph'}).click();
    await page.locator('.node.paused', {hasText: 'test'}).waitFor();
  },

  'a breakpoint is set with a click on a node and on a line, another in the dialog with a condition; both stop': async () => {
    await debugged('breaks');
    const dot = page.getByRole('button', {name: 'Break before test', exact: true});
    await dot.click();
    await page.getByRole('button', {name: 'Delete the breakpoint at test'}).waitFor();
    await section('breakpoints');
    await press('Add a breakpoint');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Node, or a pattern').fill('announce');
    await dialog.getByLabel('If (jq)').fill('.mirror == "us"');
    await dialog.getByText('true now').waitFor();
    await dialog.getByRole('button', {name: 'Add'}).click();
    await page.locator('#breakpoints').getByText('if .mirror == "us"').waitFor();
    await press('Add a breakpoint');
    await page.getByRole('dialog').getByLabel('Node, or a pattern').fill('anounce');
    await page.getByRole('dialog').getByRole('button', {name: 'Add'}).click();
    await page.locator('#breakpoints').getByText('did you mean `announce`?').waitFor();
    await page.locator('.cm-line', {hasText: '- name: test_note'}).scrollIntoViewIfNeeded();
    const line = await page.locator('.cm-line', {hasText: '- name: test_note'}).boundingBox();
    const gutter = await page.locator('.cm-points').boundingBox();
    await page.mouse.click(gutter.x + 10, line.y + 8);
    await page.getByRole('button', {name: 'Delete the breakpoint at test_note'}).waitFor();
    await page.keyboard.press('F8');
    await stands('Paused before test, breakpoint 1');
    await page.keyboard.press('F8');
    await stands('Paused before test_note');
  },

  'a variable is edited, pending, revoked, edited again; the run goes on and has it': async () => {
    await debugged('edits', {breakpoints: [{node: 'publish'}, {node: 'upload'}]});
    await variable('.mirror').dblclick();
    await page.getByLabel('New value of .mirror').fill('de');
    await page.keyboard.press('Enter');
    await page.locator('.vt-row.pend', {hasText: '"de"'}).waitFor();
    await page.getByTitle('Take the change back').click();
    await page.locator('.vt-row.pend').waitFor({state: 'detached'});
    await variable('.mirror').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('New value of .mirror').fill('"eu"');
    await page.keyboard.press('Enter');
    await page.locator('.vt-row.pend', {hasText: '"eu"'}).waitFor();
    await press('Continue F8');
    await stands('Paused before upload');
    await variable('.mirror').getByText('"eu"').waitFor();
    await page.getByRole('button', {name: /Changed \d/}).click();
    await page.locator('.vt-row.add', {hasText: '.signed'}).waitFor();
  },

  'where a node fails it is edited and retried, and the run completes': async () => {
    await debugged('mended', {breakpoints: [{type: 'exception'}]});
    await stands('Paused at an error in upload');
    await page.locator('.oops', {hasText: 'There is no mirror us.'}).waitFor();
    await press('Edit node');
    await page.locator('#node select').selectOption('.env.MIRROR');
    await page.getByLabel('As written in the file, for this execution').fill('"eu"');
    await page.locator('#node form').getByRole('button', {name: 'Edit', exact: true}).click();
    await press('Retry with 1 change');
    await page.locator('.node.completed', {hasText: 'announce'}).waitFor();
    await s.until('mended', 'completed');
  },

  'a node is injected before the failing one, and mends it': async () => {
    await debugged('injects', {breakpoints: [{node: 'upload'}]});
    await section('inject');
    await page.locator('#inject').getByLabel('Name').fill('mirror');
    await page.locator('#inject textarea').first().fill('{mirror: "eu"}');
    await press('Inject');
    await page.locator('#inject').getByText('before, frame 1').waitFor();
    await page.keyboard.press('F10');
    await variable('.mirror').getByText('"eu"').waitFor();
    await page.keyboard.press('F8');
    await s.until('injects', 'completed');
  },

  'three checkpoints back, and run from there: the old line stays': async () => {
    await debugged('travels', {breakpoints: [{node: 'publish'}]});
    await section('breakpoints');
    await page.getByLabel('publish: on').uncheck();
    const moments = page.locator('.cp');
    await until(async () => await moments.count() > 6, 'the checkpoints are drawn');
    await moments.nth(await moments.count() - 4).click();
    await sees(/You are looking at checkpoint/);
    holds(await button(/^Continue/).getAttribute('aria-disabled') === 'true', 'nothing goes on in the past');
    const url = page.url();
    holds(/checkpoint=\d+/.test(url), `the moment is in the address: ${url}`);
    await page.keyboard.press('Escape');
    await page.locator('.bar.past').waitFor({state: 'detached'});
    await go(new URL(url).pathname + new URL(url).search);
    await sees(/You are looking at checkpoint/);
    await press('Run from here');
    await s.until('travels', 'failed');
    await sees(/2 lines/);
  },

  'two frames are paused, and one of them goes on alone': async () => {
    await debugged('pair', {breakpoints: [{node: 'build_note'}, {node: 'test_note'}], pause_all_on_breakpoint: false});
    await sees('2 frames are paused');
    holds((await page.title()).startsWith('(2) '), `the title: ${await page.title()}`);
    await page.locator('.fr', {hasText: 'test_note'}).click();
    await stands('Paused before test_note');
    await page.keyboard.press('F8');
    await page.locator('.bar.paused').waitFor({state: 'detached'});
    await stands('Paused before build_note');
    same((await s.ask('GET', '/debug/pair')).frames.filter(one => one.status === 'paused').map(one => one.node), ['build_note'], 'who is paused');
  },

  'jq is evaluated with completion, watched, and a value is set from the console': async () => {
    await debugged('asks', {breakpoints: [{node: 'publish'}]});
    await page.keyboard.press('`');
    await page.keyboard.type('.test.std');
    await page.locator('.comp li', {hasText: 'stdout'}).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.con', {hasText: '"42 tests passed"'}).waitFor();
    await page.keyboard.type('.files | length');
    await press('Watch');
    await page.locator('#watch li', {hasText: '.files | length'}).getByText('2', {exact: true}).waitFor();
    await page.keyboard.press('`');
    await page.locator('.ask input').fill('.mirror = "eu"');
    await page.keyboard.press('Enter');
    await sees('Pending: made when frame 1 goes on.');
    await page.locator('.ask input').fill('.files[');
    await page.keyboard.press('Enter');
    await page.locator('.con .c-failed', {hasText: 'Unexpected end'}).waitFor();
    await page.keyboard.press('F10');
    await page.locator('#watch li', {hasText: '.files | length'}).waitFor();
  },

  'an approval is answered in the list, another on its run': async () => {
    await s.ask('POST', '/runs', {workflow: 'approval', thread: 'ship-1'}, 201);
    await s.ask('POST', '/runs', {workflow: 'approval', thread: 'ship-2'}, 201);
    await go('/');
    const row = page.getByRole('row', {name: /ship-1/});
    await row.getByText('Ship build 1?').waitFor();
    await row.getByRole('button', {name: 'abort'}).click();
    await s.until('ship-1', 'completed');
    await go('/runs/ship-2');
    await page.locator('.bar.asks', {hasText: 'Ship build 1?'}).getByRole('button', {name: 'approve'}).click();
    await s.until('ship-2', 'completed');
    await page.locator('.node.completed', {hasText: 'ship'}).waitFor();
  },

  'a run is started from a workflow, with a form': async () => {
    await go('/');
    await press('Start a run');
    const form = page.getByRole('complementary', {name: 'Start a run'});
    await form.getByLabel('Workflow').selectOption('release');
    await form.getByLabel('Thread').fill('from-a-form');
    await form.getByLabel('mirror').fill('eu');
    await form.getByText(`--set 'mirror="eu"'`).waitFor();
    await form.getByRole('button', {name: 'Start and debug'}).click();
    await stands('Paused before prepare, at the start');
    await variable('.mirror').getByText('"eu"').waitFor();
    same(page.url(), `${s.url}/debug/from-a-form`, 'the address');
  },

  'a workflow is written with a mistake, mended where it is, saved and debugged': async () => {
    await go('/workflows');
    await press('New workflow');
    const editor = page.locator('.cm-content');
    await editor.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('name: made\nnodes:\n  - name: ask\n    aproval: {prompt: Well?}\n');
    await page.locator('.msg', {hasText: 'There is no kind of node `aproval`'}).waitFor();
    holds((await button(/^Debug/).getAttribute('title')).includes('1 error'), 'Debug says why it waits');
    await page.keyboard.press('Control+.');
    await page.locator('.msg').waitFor({state: 'detached'});
    await sees('Fine');
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByLabel('Name').fill('made');
    await page.keyboard.press('Enter');
    await sees('made is saved as version 1');
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+Enter');
    await stands('Paused before ask');
    await press('Continue F8');
    await page.locator('.bar.asks', {hasText: 'Well?'}).getByLabel('Answer to ask').fill('yes');
    await page.keyboard.press('Enter');
    await page.locator('.node.completed', {hasText: 'ask'}).waitFor();
  },

  'two runs are compared': async () => {
    await s.ask('POST', '/runs', {workflow: 'release', thread: 'one'}, 201);
    await s.ask('POST', '/runs', {workflow: 'release', thread: 'other', input: {mirror: 'eu'}}, 201);
    await s.until('one', 'failed');
    await s.until('other', 'completed');
    await go('/');
    await page.getByRole('row', {name: /one.*release/}).locator('.th').getByRole('link').waitFor();
    await page.getByRole('row', {name: /one.*release/}).hover();
    while (!await page.locator('.tr.sel', {hasText: 'one'}).count()) await page.keyboard.press('j');
    await page.locator('.tr.sel').getByRole('button', {name: 'Compare'}).click();
    await page.getByRole('dialog').getByRole('link', {name: 'other'}).click();
    await sees(/They part after/);
    await page.locator('.dl', {hasText: '.mirror'}).first().waitFor();
  },

  'the page is loaded anew, and is where it was; nothing of the session is lost': async () => {
    await debugged('again', {breakpoints: [{node: 'build_note'}, {node: 'test_note'}], pause_all_on_breakpoint: false});
    await page.locator('.fr', {hasText: 'test_note'}).click();
    await stands('Paused before test_note');
    await page.reload();
    await stands('Paused before test_note');
    await sees('2 frames are paused');
    same(await page.locator('#breakpoints').isVisible(), true, 'the breakpoints');
  },

  'two browsers on one session see what the other does': async () => {
    await debugged('shared');
    const other = await window();
    await go('/debug/shared', other);
    await stands('Paused before prepare', other);
    await press('Step into', other);
    await stands('Paused before build');
    await page.getByRole('button', {name: 'Break before announce', exact: true}).click();
    await other.getByRole('button', {name: 'Delete the breakpoint at announce'}).waitFor();
    await other.context().close();
  },

  'what runs is followed: states, log and list change as it goes': async () => {
    await s.begin('slow', "name: slow\nnodes:\n" + [1, 2, 3].map(i => `  - {name: n${i}, shell: 'printf "\\033[31mred ${i}\\033[0m\\n"; sleep 0.2'}\n`).join(''));
    await go('/runs/slow');
    await page.locator('.node.completed', {hasText: 'n3'}).waitFor();
    await page.getByRole('tab', {name: 'Logs'}).click();
    await page.locator('.log .ansi-red', {hasText: 'red 3'}).waitFor();
    await page.getByLabel('Filter the log').fill('red 2');
    await until(async () => await page.locator('.log').count() === 1, 'one line is left');
    await page.getByRole('tab', {name: 'Console'}).click();
    await press('Debug');
    await button('Detach').waitFor();
  },

  'state, names and logs that are hostile are text, and ten megabytes do not freeze it': async () => {
    const evil = '<img src=x onerror=alert(1)>';
      await s.ask('POST', '/runs', {thread: 'hostile', definition: {main: 'h.yaml', files: {'h.yaml':
      `name: "${evil}"\nnodes:\n  - {name: makes, jq: '{big: ("x" * 10485760), "${evil}": "\\u202egnp.exe \\u001b[31mred<script>alert(2)</script>"}'}\n` +
      `  - {name: print, shell: 'head -c 10000000 /dev/zero | tr "\\0" y; echo; echo "${evil}"', max_output: 20M}\n  - {name: last, jq: '{}'}\n`}},
      debug: {breakpoints: [{node: 'last'}]}}, 201);
    await s.until('hostile', 'paused');
    await go('/debug/hostile');
    await stands('Paused before last');
    await variable('.big').waitFor();
    holds(await page.locator('.vt-row', {hasText: '‹202E›gnp.exe'}).count() === 1, 'a mark of direction is shown as what it is');
    await page.getByRole('tab', {name: 'Logs'}).click();
    await page.locator('.log', {hasText: evil}).waitFor();
    same(await page.locator('img:not(.cm-widgetBuffer), .run script').count(), 0, 'elements that came from outside');
    const slow = await page.evaluate(() => new Promise(done => {
      let longest = 0, last = performance.now(), n = 0;
      const tick = () => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
        if (++n < 20) requestAnimationFrame(tick);
        else done(longest);
      };
      requestAnimationFrame(tick);
    }));
    holds(slow < 1000, `the longest frame: ${slow} ms`);
    await page.getByRole('tab', {name: 'Console'}).click();
  },

  'a story without the mouse: find a run, step, break, look, go back': async () => {
    await paused('keys');
    await go('/workflows');
    await page.locator('.cm-content').waitFor();
    await page.keyboard.press('F6');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', {name: 'Find a run, workflow or command'}).fill('keys');
    await page.locator('#found li', {hasText: 'run '}).first().waitFor();
    await page.keyboard.press('Enter');
    await stands('Paused before prepare');
    await page.keyboard.press('F11');
    await stands('Paused before build');
    await page.keyboard.press('F9');
    await page.getByRole('button', {name: 'Delete the breakpoint at build'}).first().waitFor();
    await page.keyboard.press('Control+f');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Escape');
    await page.keyboard.press(']');
    await stands('Paused before test');
    await page.keyboard.press('Shift+F10');
    await until(async () => (await page.locator('.who').textContent()).includes('prepare'), 'it stands before prepare again');
    await page.keyboard.press('Shift+?');
    await page.getByRole('dialog').getByText('Keys and signs').waitFor();
    await page.keyboard.press('Escape');
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('F6');
      holds(await page.evaluate(() => !!document.activeElement?.closest('[data-region]')), 'F6 goes from region to region');
    }
  },

  'nothing in it is a serious problem of accessibility, in light and dark': async () => {
    for (const scheme of ['light', 'dark']) {
      const on = await window({colorScheme: scheme});
      await go('/?start', on);
      await on.getByRole('row', {name: /friday|pair/}).first().waitFor();
      await serious(on, `the list, ${scheme}`);
      await go('/debug/pair', on);
      await stands('Paused', on);
      await inGraph('prepare', on).waitFor();
      for (const id of ['breakpoints', 'node', 'inject']) await section(id, on);
      await serious(on, `the debugger, ${scheme}`);
      await on.getByRole('tab', {name: 'Swimlanes'}).click();
      await on.getByRole('tab', {name: 'Logs'}).click();
      await on.locator('.cp').first().click();
      await press('Add a breakpoint', on);
      await serious(on, `lanes, logs, the past and a dialog, ${scheme}`);
      await go('/workflows/approval', on);
      await on.locator('.cm-content').waitFor();
      await inGraph('approve', on).waitFor();
      await serious(on, `a workflow, ${scheme}`);
      await go('/compare?a=one&b=other', on);
      await sees(/They part after/, on);
      await serious(on, `two runs, ${scheme}`);
      await on.context().close();
    }
  },

  'the server is started anew under it; it comes back, and the run is where it was': async () => {
    await debugged('restart');
    await press('Step into');
    await stands('Paused before build');
    await s.kill();
    await page.locator('.conn', {hasText: 'Reconnecting'}).waitFor();
    holds((await button('Step over').getAttribute('title')).includes('cannot be reached'), 'control is off');
    await s.start();
    await page.locator('.conn', {hasText: 'Live'}).waitFor();
    await sees(/Connected again after/);
    await stands('Paused before build');
    await press('Step over');
    await stands('Paused before build_note');
  },

  'whoever has no token signs in, and out': async () => {
    const own = new Server(PAWL, ['--auth', '--workflows', EXAMPLES]);
    try {
      await own.start();
      const token = JSON.parse(own.command('token', 'make', 'me', '--scope', 'debug', '--json')).token;
      const on = await window();
      await on.goto(`${own.url}/`);
      await on.getByLabel('Token').fill('nonsense');
      await press('Sign in', on);
      await on.getByRole('alert').waitFor();
      await on.getByLabel('Token').fill(token);
      await press('Sign in', on);
      await sees('No runs yet', on);
      same(await on.evaluate(() => document.cookie), '', 'what scripts see of the cookie');
      await press('Sign out', on);
      await on.getByLabel('Token').waitFor();
      await on.context().close();
      await own.stop();
    } finally {
      own.process?.kill('SIGKILL');
    }
  },

  'the browser complained of nothing, and the server ends as it should': async () => {
    await browser.close();
    same(complaints, [], 'complaints');
    await s.stop();
  },
};

async function pictured(title, story) {
  try {
    await story();
  } catch (error) {
    if (PICTURES) {
      mkdirSync(PICTURES, {recursive: true});
      await page.screenshot({path: join(PICTURES, `${title.replace(/\W+/g, '-').slice(0, 50)}.png`)}).catch(() => {});
    }
    throw new Broken(String(error.stack ?? error).slice(0, 1500));
  }
}
const only = process.env.PAWL_STORY;
await runAll(Object.fromEntries(Object.entries(stories).filter(([title]) => !only || title.includes(only) || title.startsWith('the browser'))
  .map(([title, story]) => [title, () => pictured(title, story)])));
