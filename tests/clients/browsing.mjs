// A person's browser, for what tests and measures the page: Chromium, one window a person, and words for what a person sees
// and does. What the browser complains of, errors of scripts and what the policy forbids, is kept for the last case.
//
//   const {s, browser, page, go, press, stands, ...} = await browsing(PAWL);
//   await go('/'); await press('Start a run');
//   await tell(stories);                         each story a case, a picture of it where it fails; prints TAP, ends the process

import {existsSync, mkdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import {Broken, runAll, same} from './tap.mjs';
import {Server} from './server.mjs';

export const EXAMPLES = join(dirname(fileURLToPath(import.meta.url)), '../../examples/workflows');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(path => existsSync(path));
// Many times what anything takes: under a sanitizer, on a machine with other work, a first drawing takes seconds.
const PATIENCE = Number(process.env.PAWL_PATIENCE ?? 60_000);

function skip(why) {
  console.log(`1..0 # SKIP ${why}`);
  process.exit(0);
}

/** flags: of Chromium, more than the usual. */
export async function launch(flags = []) {
  if (!CHROMIUM) skip('there is no Chromium');
  return chromium.launch({executablePath: CHROMIUM, timeout: PATIENCE, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', ...flags]});
}

export async function browsing(pawl, {words = ['--workflows', EXAMPLES, '--rate', '100000'], flags = [], pictures} = {}) {
  if (!CHROMIUM) skip('there is no Chromium');
  const s = new Server(pawl, words);
  await s.start();
  process.on('exit', () => {
    s.process.kill('SIGKILL');
    try {
      s.remove();
    } catch {
      // it is still writing: the folder is one of the system's temporary ones
    }
  });
  if (!(await (await fetch(`${s.url}/`)).text()).includes('<script')) skip('this pawl was built without its page');
  const browser = await launch(flags);

  const complaints = [];
  async function window(options = {}) {
    const context = await browser.newContext({viewport: {width: 1280, height: 720}, reducedMotion: 'reduce', ...options});
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.setDefaultNavigationTimeout(PATIENCE);
    page.on('pageerror', error => complaints.push(String(error.stack ?? error)));
    page.on('console', message => {
      const text = message.text();
      if (message.type() === 'error' && !/WebSocket|ERR_CONNECTION|Failed to load resource/.test(text) || /Content Security Policy|svelte/.test(text)) complaints.push(text);
    });
    return page;
  }
  const page = await window();

  const go = (path, on = page) => on.goto(s.url + path);
  const button = (name, on = page) => on.getByRole('button', {name, exact: typeof name === 'string'}).first();
  const press = async (name, on = page) => button(name, on).click();
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
  /** The same, with its debugger open. */
  async function debugged(thread, debug) {
    await paused(thread, debug);
    await go(`/debug/${thread}`);
    await stands('Paused');
    await inGraph('prepare').waitFor();
  }

  async function pictured(title, story) {
    try {
      await story();
    } catch (error) {
      if (pictures) {
        mkdirSync(pictures, {recursive: true});
        await page.screenshot({path: join(pictures, `${title.replace(/\W+/g, '-').slice(0, 60)}.png`)}).catch(() => {});
      }
      throw new Broken(String(error.stack ?? error).slice(0, 1500));
    }
  }
  /** The last case: nothing was complained of, and the server ends as it should. PAWL_STORY names one story to be told alone. */
  function tell(stories) {
    const only = process.env.PAWL_STORY;
    const told = Object.entries(stories).filter(([title]) => !only || title.includes(only)).map(([title, story]) => [title, () => pictured(title, story)]);
    told.push(['the browser complained of nothing, and the server ends as it should', async () => {
      await browser.close();
      same(complaints, [], 'complaints');
      await s.stop();
    }]);
    return runAll(Object.fromEntries(told), 4 * PATIENCE);
  }
  return {s, browser, window, page, complaints, tell, go, button, press, stands, sees, variable, inGraph, section, paused, debugged};
}
