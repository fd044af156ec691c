// The list of runs: read in pages, the newest first, and again where an event says that a run is another.
import {SvelteMap} from 'svelte/reactivity';
import type {RUN} from '$api';
import {link, Refused, type Followed} from '$lib/link.svelte';
import {Paced} from '$lib/paced';

export type Filter = '' | 'running' | 'paused' | 'interrupted' | 'failed' | 'completed' | 'cancelled';

const PAGE = 200;

const keyOf = (run: RUN): string => `${run.run}.${run.checkpoint ?? 0}.${run.status}`;

export class RunsStore {
  runs = $state.raw<RUN[]>([]);
  more = $state(false);
  loaded = $state(false);
  problem = $state('');
  search = $state('');
  workflow = $state('');
  status = $state<Filter>('');
  /** Where runs stand, read for those that are shown. */
  details = new SvelteMap<string, RUN>();
  /** Runs that were just changed, to be shown once. */
  fresh = new SvelteMap<number, number>();

  #next: string | undefined;
  #end: Followed | null = null;
  #asked = new Set<string>();
  #reads = new Paced(() => this.read());
  #serial = 0;

  open(): void {
    this.#end = link.follow({types: ['run']}, event => {
      const run = event.data.run;
      if (typeof run === 'number') this.fresh.set(run, (this.fresh.get(run) ?? 0) + 1);
      this.again();
    });
  }

  close(): void {
    this.#end?.end();
    this.#reads.close();
  }

  /** Soon, once for all that comes together. */
  again(): void {
    void this.#reads.ask();
  }

  async read(): Promise<void> {
    const serial = ++this.#serial;
    try {
      const answer = await link.call('runs', this.#asking(Math.max(PAGE, this.runs.length)));
      if (serial !== this.#serial) return;
      this.runs = answer.runs;
      this.#next = answer.next;
      this.more = answer.next !== undefined;
      this.problem = '';
      this.#tidy();
    } catch (error) {
      if (error instanceof Refused && error.code !== 'away') this.problem = error.message;
    }
    this.loaded = true;
  }

  async readMore(): Promise<void> {
    if (!this.#next) return;
    const after = this.#next;
    this.#next = undefined;
    const answer = await link.call('runs', {...this.#asking(PAGE), after});
    this.runs = [...this.runs, ...answer.runs];
    this.#next = answer.next;
    this.more = answer.next !== undefined;
  }

  #asking(limit: number): {limit: number; status?: Exclude<Filter, ''>; search?: string; workflow?: string} {
    return {limit, ...this.status ? {status: this.status} : {}, ...this.search ? {search: this.search} : {},
      ...this.workflow ? {workflow: this.workflow} : {}};
  }

  /** What was kept of runs that are not listed any more, or stand somewhere else, is let go of. */
  #tidy(): void {
    const numbers = new Set(this.runs.map(one => one.run)), keys = new Set(this.runs.map(keyOf));
    for (const run of [...this.fresh.keys()]) if (!numbers.has(run)) this.fresh.delete(run);
    for (const key of [...this.details.keys()]) if (!keys.has(key)) this.details.delete(key);
    for (const key of this.#asked) if (!keys.has(key)) this.#asked.delete(key);
  }

  /** Where a run stands; asked for once for each of its checkpoints. */
  detail(run: RUN): RUN | undefined {
    const key = keyOf(run);
    const known = this.details.get(key);
    if (known || this.#asked.has(key) || run.status === 'completed' || run.status === 'cancelled') return known;
    this.#asked.add(key);
    link.call('run_get', {thread: String(run.run)})
      .then(one => this.details.set(key, one))
      .catch(() => this.#asked.delete(key));
    return undefined;
  }
}
