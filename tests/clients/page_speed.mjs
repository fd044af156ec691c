// That nothing of the page is out of all proportion: what is loaded, a thousand events a second, and what stays behind of them.
// The bars are wide, for any machine on any day. Prints TAP.
//
//   tests/clients/run page_speed.mjs PAWL [FOLDER]          FOLDER: where a picture of each story that fails goes

import {holds, until} from './tap.mjs';
import {browsing} from './browsing.mjs';
import {busyRun, clocks, inUse, quantile, read, reset, weigh} from './page_load.mjs';

const [PAWL, pictures] = process.argv.slice(2);
const {s, page, tell, go, sees} = await browsing(PAWL, {pictures});
const KB = 1024;

const stories = {
  'all of the page but the layout of graphs is at most 400 KB, as it is sent': async () => {
    const parts = await weigh(s.url, '/', path => /elk/.test(path)), whole = parts.reduce((sum, one) => sum + one.gzip, 0) / KB;
    holds(parts.some(one => /\/Run-.*\.js$/.test(one.path)) && parts.some(one => one.path.endsWith('.css')), `what was weighed: ${parts.map(one => one.path)}`);
    holds(whole <= 400, `${Math.round(whole)} KB: ${parts.map(one => `${one.path} ${one.gzip}`).join(', ')}`);
    const first = await weigh(s.url, '/', () => true), list = first.reduce((sum, one) => sum + one.gzip, 0) / KB;
    holds(list <= 100, `the list of runs needs ${Math.round(list)} KB: ${first.map(one => `${one.path} ${one.gzip}`).join(', ')}`);
  },

  'a thousand events a second are painted together, ask the server for little, and leave nothing behind': async () => {
    await busyRun(s, 'busy', 1000);
    await clocks(page);
    await go('/runs/busy');
    await page.locator('.node.running').first().waitFor();
    const session = await page.context().newCDPSession(page);
    await until(async () => (await read(page)).events > 1000, 'events come');
    const before = await inUse(session);
    await reset(page);
    const begun = Date.now();
    await until(async () => (await read(page)).events > 3000, 'more events come');
    const seen = await read(page), seconds = (Date.now() - begun) / 1000, after = await inUse(session);
    await page.getByLabel('Filter variables').fill('nothing has this');
    await sees('Nothing has this in its name or value.');
    await s.ask('POST', '/runs/busy/cancel', {});
    holds(seen.paint.length > 1000, `${seen.paint.length} were painted`);
    const p50 = quantile(seen.paint, 0.5);
    holds(p50 < 1000, `an event was painted after ${Math.round(p50)} ms, at the median`);
    const asked = Object.values(seen.asked).reduce((sum, one) => sum + one, 0);
    holds(asked <= 20 + 40 * seconds, `in ${seconds} s the server was asked ${asked} times: ${JSON.stringify(seen.asked)}`);
    holds(after.nodes < before.nodes + 3000, `elements: ${before.nodes}, then ${after.nodes}`);
    await sees(/cancelled/i);
  },
};
await tell(stories);
