// What the page makes of what it is given: nothing of it is run, all of it is text, and none of it stops the page. Prints TAP.
//
//   tests/clients/run page_safety.mjs PAWL [FOLDER]          FOLDER: where a picture of each story that fails goes

import {holds, same, until} from './tap.mjs';
import {browsing} from './browsing.mjs';

const [PAWL, pictures] = process.argv.slice(2);
const {s, page, window, complaints, tell, go, press, stands, sees, variable, inGraph} = await browsing(PAWL, {pictures});

const IMG = '<img src=x onerror=alert(1)>', SCRIPT = '<script>alert(2)</script>', BIDI = '\u202egnp.exe', MB = 1 << 20;
const LONGEST = 2000; // ms without a frame: what nobody takes for frozen, under a sanitizer on a busy machine

/** How long the page gave no frame while something was done, ms. */
async function stillness(on, what) {
  await on.evaluate(() => {
    const watched = {longest: 0, last: performance.now(), on: true};
    globalThis.watched = watched;
    const tick = () => {
      watched.longest = Math.max(watched.longest, performance.now() - watched.last);
      watched.last = performance.now();
      if (watched.on) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  await what();
  return on.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
    globalThis.watched.on = false;
    done(globalThis.watched.longest);
  }))));
}
/** Nothing of what came from outside is an element, and nothing of it has run. */
async function isText(on, where) {
  same(await on.locator('img:not(.cm-widgetBuffer), body script, iframe, object').count(), 0, `elements that came from outside, ${where}`);
  const raw = await on.evaluate(() => document.body.innerText);
  holds(!/[\u202a-\u202e\u2066-\u2069]/.test(raw), `a mark of direction stands as it is, ${where}`);
  holds(!raw.includes('\u001b'), `an escape stands as it is, ${where}`);
}

const stories = {
  'the policy lets no script run that is not a file of the server, and the browser keeps to it': async () => {
    for (const path of ['/', '/runs/x', '/debug/x', '/workflows', '/nowhere']) {
      const reply = await fetch(s.url + path, {headers: {Accept: 'text/html'}});
      const policy = Object.fromEntries((reply.headers.get('content-security-policy') ?? '').split(';').map(one => one.trim().split(/\s+/)).map(([name, ...rest]) => [name, rest]));
      same(policy['default-src'], [`'none'`], `default-src of ${path}`);
      same(policy['script-src'], [`'self'`], `script-src of ${path}`);
      same(policy['base-uri'], [`'none'`], `base-uri of ${path}`);
      same(policy['frame-ancestors'], [`'none'`], `frame-ancestors of ${path}`);
      holds(!JSON.stringify([policy['script-src'], policy['worker-src'], policy['connect-src']]).includes('unsafe'), 'nothing unsafe');
      const text = await reply.text();
      holds(!/<script(?![^>]*\bsrc=)[^>]*>/.test(text) && !/\son\w+=/.test(text), `no script in ${path} itself`);
    }
    const on = await window();
    const forbidden = [];
    await on.exposeBinding('tellForbidden', (_, what) => forbidden.push(what));
    await on.addInitScript(() => document.addEventListener('securitypolicyviolation', one => globalThis.tellForbidden(one.violatedDirective)));
    await s.ask('POST', '/runs', {workflow: 'release', thread: 'policy', debug: {pause_on_start: true}}, 201);
    for (const path of ['/', '/debug/policy', '/workflows/release', '/compare?a=policy&b=policy']) {
      await go(path, on);
      await on.locator('.conn', {hasText: 'Live'}).waitFor();
      if (path.startsWith('/debug')) await inGraph('prepare', on).waitFor();
    }
    same(forbidden, [], 'what the page itself does against the policy');
    // That the browser does keep to it, or none of the above says anything.
    await on.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.ran = true';
      document.body.append(script);
      const link = document.createElement('a');
      link.setAttribute('onclick', 'globalThis.ran = true');
      document.body.append(link);
      link.click();
    });
    await until(() => forbidden.length >= 2, 'the browser tells what it forbids');
    same(await on.evaluate(() => globalThis.ran), undefined, 'what ran');
    await on.context().close();
    await until(() => complaints.length >= 2, 'the browser complains of it');
    same(complaints.splice(0).filter(one => !/^Executing inline .* violates/.test(one)), [], 'complaints of anything else');
  },

  'names, state and logs with markup, escapes and marks of direction are text, wherever they are shown': async () => {
    const thread = `t ${IMG} ${BIDI}`, name = `w ${IMG} ${BIDI}`;
    await s.ask('POST', '/runs', {thread, definition: {main: 'h.yaml', files: {'h.yaml': [`name: ${JSON.stringify(name)}`, 'nodes:',
      `  - {name: makes, title: ${JSON.stringify(`n ${IMG} ${BIDI}`)}, jq: ${JSON.stringify(`{${JSON.stringify(IMG)}: ${JSON.stringify(`${BIDI} \u001b[31mred${SCRIPT}`)}, list: [${JSON.stringify(SCRIPT)}]}`)}}`,
      `  - {name: prints, shell: ${JSON.stringify(`printf '%s\\n' '${IMG}' '${BIDI}'; printf '\\033[31mred\\033[0m \\033]0;title\\007\\033[2J%s\\n' '${SCRIPT}'`)}}`,
      `  - {name: fails, shell: ${JSON.stringify(`echo '${IMG} ${BIDI}' >&2; exit 3`)}}`, ''].join('\n')}},
    debug: {breakpoints: [{type: 'exception'}]}}, 201);
    const at = encodeURIComponent(thread);
    await s.until(at, 'paused');
    await go('/');
    await page.locator('.tr', {hasText: IMG}).first().waitFor();
    await isText(page, 'in the list');
    await go(`/debug/${at}`);
    await stands('Paused at an error in fails');
    await page.locator('.oops', {hasText: IMG}).waitFor();
    await page.locator('.vt-row', {hasText: '‹202E›gnp.exe'}).first().waitFor();
    await isText(page, 'in the debugger');
    holds((await page.title()).includes('‹202E›'), `the title: ${await page.title()}`);
    await page.getByRole('tab', {name: 'Logs'}).click();
    await page.locator('.log', {hasText: IMG}).first().waitFor();
    await page.locator('.log .ansi-red', {hasText: 'red'}).waitFor();
    await isText(page, 'in the log');
    await page.getByRole('tab', {name: 'Swimlanes'}).click();
    await page.locator('.lb').first().waitFor();
    await isText(page, 'in the lanes');
    await page.getByRole('tab', {name: 'Graph'}).click();
    await page.getByRole('tab', {name: 'Console'}).click();
    await page.locator('.ask input').fill('., keys');
    await page.keyboard.press('Enter');
    await page.locator('.con', {hasText: IMG}).waitFor();
    await isText(page, 'in the console');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('t <img');
    await page.locator('#found li', {hasText: IMG}).first().waitFor();
    await isText(page, 'in the palette');
    await page.keyboard.press('Escape');
    await go(`/compare?a=${at}&b=policy`);
    await sees(/They part|They have nothing|differ/i).catch(() => {});
    await isText(page, 'in a comparison');
  },

  'ten megabytes in a text, in a line of the log and in an answer do not freeze it': async () => {
    await s.ask('POST', '/runs', {thread: 'large', definition: {main: 'h.yaml', files: {'h.yaml':
      `name: large\nnodes:\n  - {name: makes, jq: '{big: ("x" * ${10 * MB}), lines: ("line <b>\\n" * 100000), deep: (reduce range(900) as $i (1; [.])), many: [range(100000)]}'}\n` +
      `  - {name: print, shell: 'head -c ${10 * MB} /dev/zero | tr "\\0" y; echo; echo the end', max_output: 20M}\n  - {name: last, jq: '{}'}\n`}},
    debug: {breakpoints: [{node: 'last'}]}}, 201);
    await s.until('large', 'paused');
    await go('/debug/large');
    await stands('Paused before last');
    await variable('.big').waitFor();
    const still = {};
    still.state = await stillness(page, async () => {
      for (const path of ['.lines', '.many', '.deep']) {
        await variable(path).click();
        await page.keyboard.press('ArrowRight');
      }
      await variable('.many[0]').waitFor();
    });
    still.edit = await stillness(page, async () => {
      await variable('.big').dblclick();
      await sees(/\.big is .* long/);
    });
    still.console = await stillness(page, async () => {
      await page.locator('.ask input').fill('.big');
      await page.keyboard.press('Enter');
      await page.locator('.con .in', {hasText: '.big'}).waitFor();
      await page.locator('.con', {hasText: /xxxx|long/}).waitFor();
    });
    still.log = await stillness(page, async () => {
      await page.getByRole('tab', {name: 'Logs'}).click();
      await page.locator('.log', {hasText: 'the end'}).waitFor();
    });
    still.past = await stillness(page, async () => {
      await page.locator('.cp').first().click();
      await sees(/You are looking at checkpoint/);
      await page.keyboard.press('Escape');
    });
    for (const [what, ms] of Object.entries(still)) holds(ms < LONGEST, `${what}: ${Math.round(ms)} ms without a frame`);
    const letters = await page.evaluate(() => document.body.innerText.length);
    holds(letters < 200_000, `${letters} letters are drawn`);
    await page.getByRole('tab', {name: 'Console'}).click();
  },
};
await tell(stories);
