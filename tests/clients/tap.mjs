// Cases as TAP, one after the other: each is a function whose promise is its title, and that throws when it does not hold.

import {inspect} from 'node:util';

const PATIENCE = 60_000; // for what takes milliseconds, also under a sanitizer

export class Broken extends Error {}

export function same(got, want, what = 'it') {
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    throw new Broken(`${what} is ${inspect(got, {depth: 6})}, not ${inspect(want, {depth: 6})}`);
  }
}

export function holds(condition, what) {
  if (!condition) throw new Broken(what);
}

export function sleep(ms) {
  return new Promise(resolve => setTimeout(resolve, ms));
}

/** Until holds() gives something; that. */
export async function until(found, what) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(20)) {
    const it = await found();
    if (it) return it;
  }
  throw new Broken(`${what}: not within ${PATIENCE / 1000} s`);
}

/** The promise, or an error when it takes too long. */
export function within(promise, what, patience = PATIENCE) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Broken(`${what}: not within ${patience / 1000} s`)), patience);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** cases: {title: async function}. Each has so many milliseconds. Ends the process. */
export async function runAll(cases, patience = PATIENCE, end = () => {}) {
  let number = 0, failed = 0;
  for (const [title, run] of Object.entries(cases)) {
    let problem = null;
    try {
      await within(run(), title, patience);
    } catch (error) {
      problem = error instanceof Broken ? error.message : inspect(error);
      failed++;
    }
    for (const line of problem ? problem.split('\n') : []) console.log(`# ${line.slice(0, 2000)}`);
    console.log(`${problem ? 'not ok' : 'ok'} ${++number} - ${title}`);
  }
  console.log(`1..${number}`);
  await end();
  process.exit(failed ? 1 : 0);
}
