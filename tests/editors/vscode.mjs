// The extension for VS Code, as people use it: in the real VS Code (code-server), in Chromium. Prints TAP.
//
//   tests/editors/run vscode.mjs PAWL VSIX [--pictures DIR]     DIR: where pictures for the documents go
//   ONLY=TEXT: the cases with that in their titles

import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {Broken, holds, runAll, same, sleep, until} from '../clients/tap.mjs';
import {Code, missing} from './code_server.mjs';

const [PAWL, VSIX, option, pictures] = process.argv.slice(2);
const CASE = 240_000; // milliseconds for a story, on a machine that does other things too

const why = missing();
if (why) {
  console.log(`1..0 # SKIP ${why}`);
  process.exit(0);
}

const code = new Code({pawl: PAWL, vsix: VSIX, pictures: option === '--pictures' ? resolve(pictures) : null});
await code.start();
const {page} = code;

/** What the program says of the workspace's runs. */
function pawl(...words) {
  const done = spawnSync(resolve(PAWL), words, {cwd: code.workspace, encoding: 'utf8'});
  return {code: done.status, text: done.stdout, said: done.stderr};
}

const runsNow = () => JSON.parse(pawl('runs', '--json').text || '[]');

/** Until the newest run is as it should be; that. */
async function newest(status, workflow) {
  let last;
  return until(() => {
    last = runsNow()[0];
    return last?.status === status && (!workflow || last.workflow === workflow) && last;
  }, `the newest run is ${status}`).catch(error => {
    throw new Broken(`${error.message}; it is ${JSON.stringify(last)}`);
  });
}

const stateOf = thread => JSON.parse(pawl('show', thread).text);

function write(name, text) {
  writeFileSync(join(code.workspace, name), text);
}

/** The lines of a file that has this text. */
const linesOf = (name, text) => readFileSync(join(code.workspace, name), 'utf8').split('\n')
  .flatMap((line, i) => line.includes(text) ? [i + 1] : []);
const [PUBLISH] = linesOf('release.yaml', 'name: publish'), [ANNOUNCE] = linesOf('release.yaml', 'name: announce');

/** The frame of the page inside a web view. */
const inside = () => page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');

async function showRuns() {
  await code.press('workbench.view.extension.pawl');
  await code.rows('Runs').first().waitFor();
}

const stories = {
  'a first session: a breakpoint, F5, values, one that is changed, a step, one back, and on to the end': async () => {
    await code.open('release.yaml');
    await code.breakAt(PUBLISH);
    await page.keyboard.press('F5');
    await code.stopsAt(PUBLISH);
    await code.hasValue('mirror', '"us"');
    await code.hasValue('tag', '"v1.4.0"');
    await code.setVariable('mirror', '"eu"');
    await code.hasValue('mirror', '"eu"');
    await code.picture('stopped');
    await code.button('Step Over').click();
    await code.stopsAt(ANNOUNCE);
    await code.variable('published');
    await code.button('Step Back').click();
    await code.stopsAt(PUBLISH);
    holds(!await page.locator('.debug-variables .monaco-list-row[aria-label^="published,"]').count(), 'what came later is gone');
    await code.button('Step Over').click();
    await code.stopsAt(ANNOUNCE);
    await code.button('Continue').click();
    await code.ends();
    same(stateOf((await newest('completed', 'release')).thread).published.url, 'https://eu.example.org/v1.4.0', 'the result');
  },

  'a path of the state has its value under the pointer, while a run is stopped': async () => {
    await code.open('release.yaml');
    await code.breakAt(PUBLISH);
    await page.keyboard.press('F5');
    await code.stopsAt(PUBLISH);
    const [line] = linesOf('release.yaml', '.test.stdout');
    const {x, y, width, height} = await code.textBox(line, 'stdout');
    const shown = page.locator('.debug-hover-widget:visible', {hasText: '42 tests passed'});
    await until(async () => {
      await page.mouse.move(x - 60, y - 60);
      await page.mouse.move(x + width / 2, y + height / 2);
      return shown.waitFor({timeout: 4000}).then(() => true, () => false);
    }, 'the value is shown');
  },

  'mistakes show at their lines while one types, and go when they are mended': async () => {
    const [line] = linesOf('release.yaml', 'shell: echo');
    await code.open('release.yaml');
    await code.goTo(line);
    await page.keyboard.press('Enter');
    await page.keyboard.insertText('tiemout: 5s');
    await page.keyboard.press('Escape');
    await page.locator('.editor-instance .squiggly-error, .editor-instance .squiggly-warning').first().waitFor();
    same(await code.linesWith('.squiggly-error, .editor-instance .squiggly-warning'), [line + 1], 'the line');
    await code.press('workbench.actions.view.problems');
    await page.locator('.markers-panel .monaco-list-row', {hasText: 'timeout'}).filter({hasText: `Ln ${line + 1}`}).waitFor();
    await code.goTo(line + 1);
    await page.keyboard.press('Control+Shift+K');
    await page.locator('.editor-instance .squiggly-error, .editor-instance .squiggly-warning').first().waitFor({state: 'detached'});
  },

  'keys and values complete by the schema': async () => {
    const [line] = linesOf('release.yaml', 'shell: echo'), suggested = page.locator('.suggest-widget:visible');
    const row = text => suggested.locator('.monaco-list-row', {hasText: text}).first();
    await code.open('release.yaml');
    await code.goTo(line);
    await page.keyboard.press('Enter');
    await page.keyboard.type('tim');
    await row('timeout').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.editor-instance .view-line', {hasText: /^\s*timeout:\s*$/}).waitFor();
    await code.goTo(linesOf('release.yaml', 'from: publish')[0] + 1);
    await page.keyboard.press('Enter');
    await page.keyboard.insertText('- {from: prepare, to: bui');
    await page.keyboard.press('Control+Space');
    await row('build_note').waitFor();
    await page.keyboard.press('Escape');
  },

  'Run and Debug stand above a workflow': async () => {
    await code.open('hello.yaml');
    const lens = name => page.locator('.editor-instance .codelens-decoration a', {hasText: name}).first();
    const before = runsNow().length;
    await lens('Run').click();
    await until(() => runsNow().length > before, 'a run has begun');
    await newest('completed', 'hello');
    await code.ends();
    const [line] = linesOf('hello.yaml', '- name:').slice(-1);
    await code.breakAt(line);
    await lens('Debug').click();
    await code.stopsAt(line);
  },

  'the side view has the runs, the graph of one with what became of its nodes, and its history': async () => {
    pawl('run', 'release.yaml', '--thread', 'friday', '--set', 'mirror="eu"');
    await showRuns();
    await code.rows('Runs').filter({hasText: 'friday'}).click();
    await page.locator('.pane-header[aria-label^="History"] .description', {hasText: 'friday'}).waitFor();
    await code.rows('History').filter({hasText: 'announce'}).first().waitFor();
    await inside().locator('.node.done', {hasText: 'publish'}).first().waitFor();
    await code.rows('History').filter({hasText: 'completed'}).filter({hasText: 'announce'}).click();
    await page.locator('.tab.active', {hasText: 'friday@'}).waitFor();
    await page.locator('.editor-instance .view-line', {hasText: 'is at https'}).first().waitFor();
    await inside().locator('.node', {hasText: 'announce'}).last().click();
    await page.locator('.tab.active', {hasText: 'release.yaml'}).waitFor();
    await page.locator('.editor-instance .view-line', {hasText: 'name: announce'}).waitFor();
    await code.picture('runs');
  },

  'the side view rests while nothing happens, and shows what does': async () => {
    const asked = join(code.folder, 'asked'), counting = join(code.folder, 'counting');
    const times = () => readFileSync(asked, 'utf8').split('\n').filter(line => line.startsWith('runs')).length;
    writeFileSync(counting, `#!/bin/sh\necho "$*" >>'${asked}'\nexec '${resolve(PAWL)}' "$@"\n`, {mode: 0o755});
    writeFileSync(asked, '');
    code.settings('Machine', {'pawl.path': counting});
    try {
      await code.press('workbench.view.extension.pawl');
      for (const name of ['tuesday', 'wednesday']) {
        pawl('run', 'hello.yaml', '--thread', name);
        await code.rows('Runs').filter({hasText: name}).waitFor();
      }
      await until(() => times() > 0, 'the program is asked');
      await sleep(1000);
      const before = times();
      await sleep(3000);
      holds(times() <= before + 1, `it asked ${times() - before} times in 3 s`);
    } finally {
      code.settings('Machine', {'pawl.path': resolve(PAWL)});
    }
  },

  'a run that waits for a person is come to, answered in the console, and ends': async () => {
    same(pawl('run', 'approval.yaml', '--thread', 'ship').code, 3, 'the run waits');
    await showRuns();
    const row = code.rows('Runs').filter({hasText: 'ship'});
    await row.hover();
    await row.locator('.action-label').first().click();
    await page.locator('.debug-toolbar:visible').waitFor();
    await code.say('answer "approve"', 'approve');
    await code.ends();
    same((await newest('completed', 'approval')).thread, 'ship', 'the run');
  },

  'where the program is not found, a message says so, with the way to the setting': async () => {
    code.settings('Machine', {'pawl.path': '/nowhere/pawl'});
    try {
      await code.open('hello.yaml');
      await until(async () => {
        await page.keyboard.press('F5');
        return code.message('`/nowhere/pawl` was not found').then(() => true, () => false);
      }, 'a message');
      holds(!await page.locator('.debug-toolbar:visible').count(), 'no session has begun');
      await (await code.message('was not found')).getByText('Open Settings').click();
      await page.locator('.settings-editor', {hasText: 'Pawl: Path'}).waitFor();
      await page.keyboard.press('Escape');
    } finally {
      code.settings('Machine', {'pawl.path': resolve(PAWL)});
    }
  },

  'a node that fails stops the run with its error, which can be passed over; restart begins a new one': async () => {
    write('fails.yaml', 'name: fails\nnodes:\n  - name: bad\n    shell: echo trouble >&2; exit 7\n    output: bad\n  - name: last\n    jq: "{done: true}"\n');
    await code.open('fails.yaml');
    await page.keyboard.press('F5');
    await code.stopsAt(3);
    await page.locator('.exception-widget', {hasText: 'trouble'}).waitFor();
    const [first] = runsNow();
    await code.button('Restart').click();
    const again = await until(() => runsNow()[0].run > first.run && runsNow()[0], 'a new run');
    await code.stopsAt(3);
    await until(() => runsNow().find(run => run.run === first.run).status === 'cancelled', 'the first is cancelled');
    await code.say('.last // "nothing"', 'nothing');
    await code.say('skip {"stdout": "mended"}');
    await code.ends();
    const state = stateOf((await newest('completed', 'fails')).thread);
    same([runsNow()[0].run, state.done, state.bad.stdout], [again.run, true, 'mended'], 'the run');
  },

  'a workflow with mistakes is not run, and the first of them is said': async () => {
    const before = runsNow().length;
    write('broken.yaml', 'nodes:\n  - {name: a, jq: "(("}\n');
    await code.open('broken.yaml');
    await page.locator('.editor-instance .squiggly-error').first().waitFor();
    await page.keyboard.press('F5');
    const said = page.locator('.monaco-dialog-box, .notifications-toasts').filter({hasText: 'broken.yaml'}).first();
    await said.or(page.locator('.monaco-dialog-box')).first().waitFor();
    for (const name of ['Debug Anyway', 'Cancel']) await page.locator('.monaco-dialog-box').getByText(name, {exact: true}).click({timeout: 5000}).catch(() => {});
    await code.ends();
    same(runsNow().length, before, 'the number of runs');
  },

  'conditions, log messages and functions': async () => {
    write('count.yaml', 'name: count\nstate: {n: 0}\nnodes:\n  - name: loop\n    while: .n < 6\n    do:\n      - name: up\n        jq: "{n: (.n + 1)}"\n  - name: last\n    jq: "{done: true}"\n');
    await code.open('count.yaml');
    await code.goTo(7);
    await page.keyboard.press('Home');
    await page.keyboard.press('Home');
    await code.command('Debug: Add Conditional Breakpoint...');
    await page.locator('.breakpoint-widget .view-lines').click();
    await page.keyboard.insertText('.n == 3');
    await page.keyboard.press('Enter');
    await page.locator('.breakpoint-widget').waitFor({state: 'hidden'});
    await code.goTo(9);
    await page.keyboard.press('Home');
    await page.keyboard.press('Home');
    await code.command('Debug: Add Logpoint...');
    await page.locator('.breakpoint-widget .view-lines').click();
    await page.keyboard.insertText('n is {.n} now');
    await page.keyboard.press('Enter');
    await page.locator('.breakpoint-widget').waitFor({state: 'hidden'});
    await page.keyboard.press('F5');
    await code.hasValue('n', '3');
    await code.command('Add Function Breakpoint');
    await page.locator('.debug-breakpoints input').first().fill('la*');
    await page.keyboard.press('Enter');
    await page.locator('.debug-breakpoints .monaco-list-row', {hasText: 'la*'}).waitFor();
    await code.button('Continue').click();
    await code.stopsAt(9);
    await page.locator('.repl-tree .monaco-list-row', {hasText: 'n is 6 now'}).waitFor();
    await code.button('Continue').click();
    await code.ends();
  },

  'Disconnect leaves a run of another process as it is': async () => {
    write('slow.yaml', 'name: slow\nnodes:\n  - name: waits\n    shell: while [ ! -e go ]; do sleep 0.1; done\n  - name: last\n    jq: "{done: true}"\n');
    const other = spawn(resolve(PAWL), ['run', 'slow.yaml', '--thread', 'slow'], {cwd: code.workspace, stdio: 'ignore'});
    const over = once(other, 'exit');
    try {
      await until(() => runsNow().find(run => run.thread === 'slow' && run.status === 'running'), 'it is under way');
      await showRuns();
      const row = code.rows('Runs').filter({hasText: 'slow'});
      await row.first().hover();
      await row.locator('.action-label').first().click();
      await code.button('Disconnect').waitFor();
      await code.button('Disconnect').click();
      await code.ends();
      same(runsNow().find(run => run.thread === 'slow').status, 'running', 'the run');
    } finally {
      write('go', '');
    }
    same((await over)[0], 0, 'its exit code');
    same((await newest('completed', 'slow')).thread, 'slow', 'the run');
  },

  'two workflows are debugged at once': async () => {
    const [line] = linesOf('hello.yaml', '- name:').slice(-1);
    await code.open('release.yaml');
    await code.breakAt(PUBLISH);
    await page.keyboard.press('F5');
    await code.stopsAt(PUBLISH);
    await code.open('hello.yaml');
    await code.breakAt(line);
    await page.locator('.editor-instance .codelens-decoration a', {hasText: 'Debug'}).first().click();
    await code.stopsAt(line);
    same(runsNow().slice(0, 2).map(run => `${run.workflow} ${run.status}`).sort(), ['hello paused', 'release paused'], 'the runs');
    await page.locator('.debug-call-stack .monaco-list-row', {hasText: 'hello'}).first().click({position: {x: 45, y: 10}}); // beside its buttons
    await page.locator('.debug-toolbar', {hasText: 'hello'}).waitFor();
    await code.button('Continue').click();
    await newest('completed', 'hello');
  },
};

const only = process.env.ONLY;
const cases = Object.fromEntries(Object.entries(stories).filter(([title]) => !only || title.includes(only)).map(([title, story]) => [title, async () => {
  try {
    await code.fresh();
    await story();
  } catch (error) {
    throw new Broken(`${error.message}\n${await code.trouble()}`);
  }
}]));

await runAll(cases, CASE, async () => {
  await code.stop();
  code.remove();
});
