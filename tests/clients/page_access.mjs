// The page without a mouse, and for who does not see it: a story walked by the keyboard alone, and what axe-core finds in each
// view, light and dark. Prints TAP.
//
//   tests/clients/run page_access.mjs PAWL [FOLDER]          FOLDER: where a picture of each story that fails goes

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {holds, same, until} from './tap.mjs';
import {browsing, EXAMPLES} from './browsing.mjs';
import {Server} from './server.mjs';

const [PAWL, pictures] = process.argv.slice(2);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const {s, page, window, tell, go, press, stands, sees, inGraph, section, variable, paused} = await browsing(PAWL, {pictures});

async function serious(on, what) {
  if (!await on.evaluate(() => 'axe' in globalThis)) await on.evaluate(AXE);
  // What moves in or fades is looked at when it has come to rest.
  await on.evaluate(() => Promise.all(document.getAnimations().filter(one => one.effect?.getTiming().iterations !== Infinity).map(one => one.finished.catch(() => {}))));
  const found = await on.evaluate(async () => (await globalThis.axe.run(document, {resultTypes: ['violations']})).violations
    .filter(one => one.impact === 'serious' || one.impact === 'critical')
    .map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`));
  same(found, [], `what axe finds serious in ${what}`);
}

/** What each view is, and how a person comes to it. */
const views = {
  'the list of runs, with a run to start': async on => {
    await go('/?start', on);
    await on.getByRole('row', {name: /pair/}).first().waitFor();
    await on.getByRole('button', {name: 'approve'}).first().waitFor();
  },
  'the debugger, all panels unfolded': async on => {
    await go('/debug/pair', on);
    await stands('Paused', on);
    await inGraph('prepare', on).waitFor();
    for (const id of ['breakpoints', 'node', 'inject']) await section(id, on);
  },
  'swimlanes, logs, the past and a dialog': async on => {
    await go('/debug/pair', on);
    await stands('Paused', on);
    await on.getByRole('tab', {name: 'Swimlanes'}).click();
    await on.getByRole('tab', {name: 'Logs'}).click();
    await on.locator('.cp').first().click();
    await sees(/You are looking at checkpoint/, on);
    await press('Add a breakpoint', on);
    await on.getByRole('dialog').waitFor();
  },
  'a run that failed': async on => {
    await go('/debug/one', on);
    await on.locator('.oops').waitFor();
  },
  'a run that asks': async on => {
    await go('/runs/ship', on);
    await on.locator('.bar.asks').waitFor();
  },
  'the palette': async on => {
    await go('/debug/pair', on);
    await stands('Paused', on);
    await on.keyboard.press('Control+k');
    await on.locator('#found li').first().waitFor();
  },
  'the help': async on => {
    await go('/', on);
    await on.getByRole('row', {name: /pair/}).first().waitFor();
    await on.keyboard.press('Shift+?');
    await on.getByRole('dialog').getByText('Keys and signs').waitFor();
  },
  'a workflow': async on => {
    await go('/workflows/approval', on);
    await on.locator('.cm-content').waitFor();
    await inGraph('approve', on).waitFor();
  },
  'a workflow with a mistake': async on => {
    await go('/workflows', on);
    await press('New workflow', on);
    await on.locator('.cm-content').click();
    await on.keyboard.press('Control+A');
    await on.keyboard.insertText('name: made\nnodes:\n  - name: ask\n    aproval: {prompt: Well?}\n');
    await on.locator('.msg', {hasText: 'There is no kind of node `aproval`'}).waitFor();
  },
  'two runs, compared': async on => {
    await go('/compare?a=one&b=other', on);
    await sees(/They part after/, on);
  },
  'a run that there is not': async on => {
    await go('/runs/nobody', on);
    await on.getByRole('heading', {name: 'There is no such run'}).waitFor();
  },
};

const stories = {
  'the keyboard alone: a run is found in the list, opened, stepped, changed and let go': async () => {
    await paused('keys');
    await go('/');
    await page.getByRole('link', {name: 'keys'}).waitFor();
    const row = page.locator('.tr.sel', {hasText: 'keys'});
    await until(async () => {
      if (await row.count()) return true;
      await page.keyboard.press('j');
      return row.count();
    }, 'J comes to the run');
    await page.keyboard.press('Enter');
    await stands('Paused before prepare');
    await page.keyboard.press('F11');
    await stands('Paused before build');
    await page.keyboard.press('F9');
    await page.getByRole('button', {name: 'Delete the breakpoint at build', exact: true}).waitFor();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('mirror');
    await variable('.mirror').waitFor();
    await until(async () => await page.locator('[role=treeitem]').count() === 1, 'the filter leaves one');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByLabel('New value of .mirror').waitFor();
    await page.keyboard.type('"eu"');
    await page.keyboard.press('Enter');
    await page.locator('.vt-row.pend', {hasText: '"eu"'}).waitFor();
    holds(await page.evaluate(() => document.activeElement?.getAttribute('role') === 'treeitem'), 'the row has the focus again');
    await page.keyboard.press('Control+f');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('step over');
    await page.locator('#found li').first().filter({hasText: 'Step over'}).waitFor();
    await page.keyboard.press('Enter');
    await stands('Paused before build_note');
    await variable('.mirror').getByText('"eu"').waitFor();
    await page.keyboard.press('Shift+F8');
    await s.until('keys', 'completed'); // at the mirror "us", as it was, it fails
  },

  'the keyboard alone: a run is found by its name, frames are gone through, the past is looked at and left': async () => {
    await paused('keys-2');
    await go('/workflows');
    await page.locator('.cm-content').waitFor();
    await page.keyboard.press('F6');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', {name: 'Find a run, workflow or command'}).waitFor();
    await page.keyboard.type('keys-2');
    await page.locator('#found li', {hasText: 'run '}).first().waitFor();
    await page.keyboard.press('Enter');
    await stands('Paused before prepare');
    await page.keyboard.press('F11');
    await stands('Paused before build');
    await page.keyboard.press(']');
    await stands('Paused before test');
    await page.keyboard.press('Shift+F10');
    await stands('Paused before prepare');
    await until(async () => {
      if (await page.evaluate(() => !!document.activeElement?.closest('.p-his'))) return true;
      await page.keyboard.press('F6');
      return false;
    }, 'F6 comes to the history');
    await page.keyboard.press('Shift+?');
    await page.getByRole('dialog').getByText('Keys and signs').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({state: 'detached'});
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('F6');
      holds(await page.evaluate(() => !!document.activeElement?.closest('[data-region]')), 'F6 goes from region to region');
    }
  },

  'whoever has no token signs in; what axe finds there, and in a list without runs': async () => {
    const own = new Server(PAWL, ['--auth', '--workflows', EXAMPLES]);
    try {
      await own.start();
      const token = JSON.parse(own.command('token', 'make', 'me', '--scope', 'debug', '--json')).token;
      for (const colorScheme of ['light', 'dark']) {
        const on = await window({colorScheme});
        await on.goto(`${own.url}/`);
        await on.getByLabel('Token').fill('nonsense');
        await press('Sign in', on);
        await on.getByRole('alert').waitFor();
        await serious(on, `signing in, ${colorScheme}`);
        await on.getByLabel('Token').fill(token);
        await press('Sign in', on);
        await sees('No runs yet', on);
        same(await on.evaluate(() => document.cookie), '', 'what scripts see of the cookie');
        await serious(on, `a list without runs, ${colorScheme}`);
        await press('Sign out', on);
        await on.getByLabel('Token').waitFor();
        await on.context().close();
      }
      await own.stop();
    } finally {
      own.process?.kill('SIGKILL');
      own.remove();
    }
  },
};

await s.ask('POST', '/runs', {workflow: 'release', thread: 'pair', debug: {breakpoints: [{node: 'build_note'}, {node: 'test_note'}], pause_all_on_breakpoint: false}}, 201);
await s.ask('POST', '/runs', {workflow: 'release', thread: 'one'}, 201);
await s.ask('POST', '/runs', {workflow: 'release', thread: 'other', input: {mirror: 'eu'}}, 201);
await s.ask('POST', '/runs', {workflow: 'approval', thread: 'ship'}, 201);
await s.until('pair', 'paused');
await s.until('one', 'failed');
await s.until('other', 'completed');
await s.until('ship', 'interrupted');
for (const [what, open] of Object.entries(views)) {
  stories[`axe finds nothing serious in ${what}, light and dark`] = async () => {
    for (const colorScheme of ['light', 'dark']) {
      const on = await window({colorScheme});
      await open(on);
      await serious(on, `${what}, ${colorScheme}`);
      await on.context().close();
    }
  };
}
stories['axe finds nothing serious while the server is away'] = async () => {
  await go('/debug/pair');
  await sees('2 frames are paused');
  await s.kill();
  try {
    await page.locator('.conn', {hasText: 'Reconnecting'}).waitFor();
    await serious(page, 'the debugger while the server is away');
  } finally {
    await s.start();
  }
  await page.locator('.conn', {hasText: 'Live'}).waitFor();
};
await tell(stories);
