// The page, used as a person would: one server, one browser, a story a case. Prints TAP.
//
//   tests/clients/run page.mjs PAWL [FOLDER]          FOLDER: where a picture of each story that fails goes

import {holds, same, until} from './tap.mjs';
import {browsing} from './browsing.mjs';

const [PAWL, pictures] = process.argv.slice(2);
const {s, page, window, tell, go, button, press, stands, sees, variable, inGraph, section, paused, debugged} = await browsing(PAWL, {pictures});

const stories = {
  'a paused run is opened from the list': async () => {
    await paused('lanes');
    await go('/');
    await page.getByRole('link', {name: 'lanes'}).click();
    await stands('Paused before prepare, at the start');
    await inGraph('prepare').waitFor();
    await variable('.mirror').getByText('"us"').waitFor();
    await page.locator('.cm-line.cm-cur', {hasText: 'prepare'}).waitFor();
  },

  'a frame is stepped, and goes further in its lane': async () => {
    await debugged('lane');
    await page.getByRole('tab', {name: 'Swimlanes'}).click();
    await press('Step into');
    await stands('Paused before build');
    const test = await page.locator('.lhead button', {hasText: /test/}).getAttribute('aria-label').catch(() => null);
    await page.locator('.lb', {hasText: 'prepare'}).first().waitFor();
    holds(await page.locator('.lhead button').count() >= 2, 'each branch has a lane');
    const other = (await s.ask('GET', '/debug/lane')).frames.find(one => one.node === 'test').frame;
    await page.getByRole('button', {name: new RegExp(`^Frame ${other} `)}).first().click();
    await stands('Paused before test');
    await press('Step over');
    await stands('Paused before test_note');
    const done = page.getByRole('button', {name: new RegExp(`^test, completed, frame ${other},`)}), next = page.getByRole('button', {name: new RegExp(`^test_note, paused, frame ${other},`)});
    await done.waitFor();
    await next.waitFor();
    const [above, below] = [await done.boundingBox(), await next.boundingBox()];
    same(above.x, below.x, 'the lane of what comes next');
    holds(below.y > above.y, 'what comes next is below');
    await page.getByRole('tab', {name: 'Graph'}).click();
    await page.locator('.node.paused', {hasText: 'test_note'}).waitFor();
  },

  'a breakpoint is set with a click on a node, and given a condition in the dialog': async () => {
    await debugged('conditions');
    await page.getByRole('button', {name: 'Break before publish', exact: true}).click();
    await page.getByRole('button', {name: 'Delete the breakpoint at publish'}).waitFor();
    await page.getByRole('button', {name: 'Break before build_note', exact: true}).click();
    await page.getByRole('button', {name: 'Delete the breakpoint at build_note'}).waitFor();
    await section('breakpoints');
    const dialog = page.getByRole('dialog');
    const conditional = async (place, condition, now) => {
      await page.locator('#breakpoints li', {hasText: place}).getByRole('button', {name: /^Edit breakpoint/}).click();
      await dialog.getByLabel('If (jq)').fill(condition);
      await dialog.getByText(now).waitFor();
      await dialog.getByRole('button', {name: 'Change'}).click();
      await page.locator('#breakpoints').getByText(`if ${condition}`).waitFor();
      await dialog.waitFor({state: 'detached'});
    };
    await conditional('build_note', '.mirror == "eu"', 'false now');
    await conditional('publish', '.mirror == "us"', 'true now');
    await page.keyboard.press('F8');
    await stands(/Paused before publish, breakpoint \d/);
    same((await s.ask('GET', '/debug/conditions')).frames.filter(one => one.status === 'paused').map(one => one.node), ['publish'], 'where it stopped');
  },

  'a breakpoint is added in the dialog, another with a click on a line; one that fits nothing says so': async () => {
    await debugged('breaks');
    await section('breakpoints');
    const dialog = page.getByRole('dialog');
    await press('Add a breakpoint');
    await dialog.getByLabel('Node, or a pattern').fill('announce');
    await dialog.getByLabel('If (jq)').fill('.mirror == "us"');
    await dialog.getByText('true now').waitFor();
    await dialog.getByRole('button', {name: 'Add'}).click();
    await page.locator('#breakpoints').getByText('if .mirror == "us"').waitFor();
    await press('Add a breakpoint');
    await dialog.getByLabel('Node, or a pattern').fill('anounce');
    await dialog.getByRole('button', {name: 'Add'}).click();
    await page.locator('#breakpoints').getByText('did you mean `announce`?').waitFor();
    await page.locator('.cm-line', {hasText: '- name: test_note'}).scrollIntoViewIfNeeded();
    const line = await page.locator('.cm-line', {hasText: '- name: test_note'}).boundingBox();
    const gutter = await page.locator('.cm-points').boundingBox();
    await page.mouse.click(gutter.x + 10, line.y + 8);
    await page.getByRole('button', {name: 'Delete the breakpoint at test_note'}).waitFor();
    await page.keyboard.press('F8');
    await stands(/Paused before test_note, breakpoint \d/);
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
    await page.getByRole('button', {name: 'All', exact: true}).click();
    await press('Continue F8');
    await page.locator('.node.completed', {hasText: 'announce'}).waitFor();
    await variable('.published').getByText('https://eu.example.org').first().waitFor();
    await s.until('edits', 'completed'); // at the mirror "us", as it was, it fails
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
    const gone = Number(/checkpoint=(\d+)/.exec(url)[1]), head = (await s.ask('GET', '/runs/travels')).checkpoint;
    holds(gone < head, 'that is before now');
    await press('Run from here');
    await s.until('travels', 'failed');
    await sees(/2 lines/);
    const record = (await s.ask('GET', '/runs/travels/history?limit=1000')).checkpoints;
    holds(record.some(one => one.checkpoint > head && one.parent === gone), `a line begins at checkpoint ${gone}`);
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

};

await tell(stories);
