// One run, as the page shows it: what the server says of it, kept current by events. Views read it; whatever a person does
// goes through act().
//
// Events say what happened; how things stand is asked for. Steps, logs and states of nodes are taken from events as they come,
// gathered into one change a frame of the screen. Frames, breakpoints and watches are asked for again when an event of the
// debugger says that they are others: once for all that came together, and no more often than $lib/paced lets it.
import {SvelteMap} from 'svelte/reactivity';
import type {BREAKPOINT, CHANGES, CONFIG, EDGE, FAILURE, FRAME, INJECTED, LEVEL, NODE, RUN, SESSION} from '$api';
import {link, Refused, type Followed, type Answer, type Args, type Operation, type Told} from '$lib/link.svelte';
import {ofFrame, type State} from '$lib/states';
import {toasts} from '$lib/toasts.svelte';
import {pathText, type Path} from '$lib/format';
import {Paced} from '$lib/paced';
import {modelOf, type Drawing, type Model} from '$graph/model';
import {History, type Moment} from './history';
import {Logs, type Said} from './logs.svelte';

export interface NodeState {
  state: State;
  at: number; // since when, ms
  took?: number;
  frame: number;
  times: number; // how often it has ended
}

export interface Watch {
  id: number;
  expression: string;
  results?: unknown[];
  error?: string;
  more?: boolean;
}

export interface Pending {
  id: number;
  path: Path;
  value?: unknown;
  before?: unknown; // what is there until then, unless it is large
}

const HISTORY_READ = 5000, PAGES_BEFORE = 4;
const FRAMES_READ = 1000, FRAMES_PAGE = 500; // of more frames the first are shown
const REST_MS = 3000; // between two looks at a run that waits: another process may go on with it

/** What a frame on record waits for, as its status is called when it is under way. */
const WAITS: Record<string, string> = {pause: 'paused', interrupt: 'waiting', error: 'failed', join: 'joining', timer: 'sleeping', sleep: 'sleeping', done: 'done'};
const ENDS: Record<string, State> = {completed: 'completed', failed: 'failed', skipped: 'skipped', cancelled: 'cancelled'};

export class RunStore {
  run = $state.raw<RUN | null>(null);
  problem = $state.raw<Refused | null>(null);
  loaded = $state(false);
  /** Somebody has deleted it: what was read stays in view. */
  gone = $state(false);
  debugging = $state(false);

  session = $state.raw<SESSION | null>(null);
  sessionRead = $state(0); // when, ms: for the time that is left
  frames = $state.raw<FRAME[]>([]);
  total = $state(0); // frames there are, which may be more than are read
  selected = $state(0);
  breakpoints = $state.raw<BREAKPOINT[]>([]);
  watches = $state.raw<Watch[]>([]);
  injected = $state.raw<INJECTED[]>([]);
  pending = $state.raw<Pending[]>([]);
  diff = $state.raw<(CHANGES & {from?: number}) | null>(null);
  node = $state.raw<NODE | null>(null); // that the selected frame stands at
  config = $state.raw<CONFIG | null>(null);
  lastEdge = $state.raw<EDGE | null>(null);
  stack = $state.raw<LEVEL[]>([]); // of the selected frame, innermost first
  saved = $state(0); // breakpoints that were kept for this workflow and are not set

  files = $state.raw<Record<string, string>>({});
  main = $state('');
  model = $state.raw<Model | null>(null);

  history = new History();
  historyVersion = $state(0);
  head = $state(0);
  past = $state<number | null>(null);
  nodes = new SvelteMap<string, NodeState>();
  hits = new SvelteMap<string, number>(); // nodes that were just hit: a number that grows
  logs = new Logs();
  /** Grows when what the selected frame sees may be something else: panels read anew. */
  seen = $state(0);
  /** Commands under way, by name. */
  busy = new SvelteMap<string, true>();

  onpaused: ((frame: FRAME) => void) | null = null;

  #ends: Followed[] = [];
  #rests = false;
  #looking: ReturnType<typeof setInterval> | undefined;
  #leave: Followed | null = null;
  #queue: Told[] = [];
  /** How nodes stood where the checkpoints begin that are kept here. */
  #before = new Map<string, NodeState>();
  #flushing = false;
  #standing = new Paced(() => this.#readStanding());
  #missed = new Paced(() => this.#readMissed());
  #looks = new Paced(() => this.#readFrame());
  #seenKey = '';
  #known = 0; // the last checkpoint that there is, as far as was heard
  #closed = false;

  constructor(readonly thread: string) {}

  // ---- how it stands ----

  frame = $derived(this.frames.find(one => one.frame === this.selected) ?? null);
  paused = $derived(this.frames.filter(one => one.status === 'paused'));
  /** Frames that go on by themselves. */
  moving = $derived(this.frames.filter(one => ofFrame(one.status) === 'running'));
  byNode = $derived.by(() => {
    const out = new Map<string, FRAME[]>();
    for (const one of this.frames) if (one.node) out.set(one.node, [...out.get(one.node) ?? [], one]);
    return out;
  });
  status = $derived(this.session?.run_status ?? this.run?.status ?? 'pending');
  /** '' while the run is debugged from here; else why nothing of a session can be changed. */
  whyNot = $derived(this.gone ? 'The run was deleted' : this.debugging ? '' : link.refuses('continue') || 'Debug the run first');
  over = $derived(['completed', 'failed', 'cancelled'].includes(this.status));
  changes = $derived.by(() => {
    const out = new Map<string, '+' | '~' | '−'>();
    for (const one of this.diff?.added ?? []) out.set(pathText(one.path), '+');
    for (const one of this.diff?.changed ?? []) out.set(pathText(one.path), '~');
    for (const one of this.diff?.removed ?? []) out.set(pathText(one.path), '−');
    return out;
  });
  pendingAt = $derived(new Map(this.pending.map(one => [pathText(one.path), one])));
  error = $derived<FAILURE | null>(this.frame?.error ?? (this.over ? this.session?.error ?? this.run?.error ?? null : null));

  // ---- life ----

  async open(debug: boolean): Promise<void> {
    debug &&= !link.refuses('continue');
    this.debugging = debug;
    // A run that waits tells nothing until somebody has answered: then it is listened to again.
    const own = link.follow({thread: this.thread}, event => this.#hear(event), () => (this.#rests = true));
    const all = link.follow({types: ['run']}, event => {
      if (event.data.run === this.run?.run) this.#listen(own);
    });
    this.#ends.push(own, all);
    this.#looking = setInterval(() => {
      if (this.#rests && !document.hidden && link.state === 'live') this.#listen(own);
    }, REST_MS);
    await this.#load(true);
    if (debug) await this.attach();
  }

  /** Takes the run for this page: its frames can be controlled from here, and it stays as long as the page does. */
  async attach(): Promise<boolean> {
    this.#leave?.end();
    try {
      await link.call('run_open', {thread: this.thread});
      await new Promise<void>((begun, refused) => {
        this.#leave = link.follow({thread: this.thread, attach: true, types: ['debug.session']}, () => {},
          problem => refused(new Refused(problem ?? {detail: 'The run was let go of.'})), () => begun());
      });
      this.debugging = true;
      await this.refresh();
      const kept = await link.call('breakpoint_saved', {thread: this.thread});
      this.saved = this.breakpoints.length ? 0 : kept.breakpoints;
    } catch (error) {
      this.debugging = false;
      toasts.bad(error);
    }
    return this.debugging;
  }

  #listen(own: Followed): void {
    if (!this.#rests) return;
    link.call('run_get', {thread: this.thread}).then(run => {
      const moved = run.checkpoint !== this.run?.checkpoint || run.status !== this.run?.status;
      if (!moved) return;
      this.#rests = false;
      own.again();
      this.#setRun(run);
    }).catch((error: Refused) => {
      if (error.code === 'not_found') this.gone = true;
    });
  }

  close(): void {
    this.#closed = true;
    this.#leave?.end();
    for (const one of this.#ends) one.end();
    clearInterval(this.#looking);
    this.#ends = [];
    for (const one of [this.#standing, this.#missed, this.#looks]) one.close();
  }

  /** After the connection came back: what happened meanwhile was told by events, the rest is read again. */
  async returned(): Promise<void> {
    const debugged = this.debugging; // also if it is heard meanwhile that nobody has the run now
    await this.#load(false);
    if (debugged) await this.attach();
    else await this.refresh();
  }

  async #load(first: boolean): Promise<void> {
    const thread = this.thread;
    try {
      const [run, definition, graph] = await Promise.all([
        link.call('run_get', {thread}),
        first ? link.call('run_definition', {thread}) : null,
        first ? link.call('run_graph', {thread, format: 'json'}) : null,
      ]);
      this.#setRun(run);
      if (definition && graph) {
        this.files = definition.definition.files;
        this.main = definition.definition.main;
        this.model = modelOf(JSON.parse(graph.text) as Drawing);
      }
      await this.#readHistory(first ? 0 : this.history.last?.n ?? 0);
      await this.logs.read(thread);
      this.loaded = true;
      if (first) void this.#readBefore().catch(() => {});
      this.problem = null;
    } catch (error) {
      if (error instanceof Refused && error.code !== 'away') this.problem = error;
    }
  }

  async #readHistory(from: number): Promise<void> {
    const answer = await link.call('run_history', from
      ? {thread: this.thread, from, limit: 10_000}
      : {thread: this.thread, last: HISTORY_READ, limit: HISTORY_READ});
    for (const one of answer.checkpoints) this.history.add(History.of(one), true);
    this.head = Math.max(answer.run.checkpoint ?? 0, this.history.last?.n ?? 0);
    this.showNodes();
    this.historyVersion++;
  }

  /** How nodes stood before the checkpoints that are kept: read behind what is shown, the newest first, as far as it is worth it. */
  async #readBefore(): Promise<void> {
    const line: Moment[] = [];
    let next = this.history.all()[0]?.parent ?? 0;
    for (let page = 0; page < PAGES_BEFORE && next > 0 && !this.#closed; page++) {
      const from = Math.max(1, next - HISTORY_READ + 1);
      const answer = await link.call('run_history', {thread: this.thread, from, limit: next - from + 1});
      const by = new Map(answer.checkpoints.map(one => [one.checkpoint, one]));
      for (let one = by.get(next); one; one = by.get(next)) {
        const moment = History.of(one);
        line.push(moment);
        next = moment.parent < moment.n ? moment.parent : 0;
      }
      if (next >= from) break;
    }
    if (!line.length) return;
    const before = new Map<string, NodeState>();
    for (const one of line.reverse()) this.#step(one, before);
    for (const [name, one] of this.#before) before.set(name, one);
    this.#before = before;
    this.showNodes();
  }

  #setRun(run: RUN): void {
    this.run = run;
    this.#catchUp(run.checkpoint ?? 0);
    if (!this.debugging) {
      this.total = 0;
      this.frames = (run.frames ?? []).map(one => ({
        frame: one.frame, name: one.frame === 1 ? 'main' : '', depth: 1, pending: 0, injected: 0,
        status: (one.waits && WAITS[one.waits]) ?? (one.waits ? 'holding' : run.status === 'running' ? 'working' : 'ready'),
        ...one.node ? {node: one.node} : {}, ...one.title ? {title: one.title} : {},
        ...one.pause ? {position: one.pause.position ?? '', reason: one.pause.reason ?? '',
          breakpoints: one.pause.breakpoints ?? [], ...one.pause.error ? {error: one.pause.error} : {}} : {},
      }));
      const kept = this.frames.find(one => one.frame === this.selected);
      if (!kept) this.#select((this.frames.find(one => ['paused', 'waiting', 'failed'].includes(one.status)) ?? this.frames[0])?.frame ?? 0);
    }
  }

  // ---- what is told ----

  #hear(event: Told): void {
    this.#queue.push(event);
    if (this.#flushing) return;
    this.#flushing = true;
    const flush = (): void => {
      this.#flushing = false;
      this.#take(this.#queue.splice(0));
    };
    if (document.hidden) setTimeout(flush, 100);
    else requestAnimationFrame(flush);
  }

  #take(events: Told[]): void {
    let asks = false, logged = false, stepped = false, known = false, begun = false, forked = 0;
    for (const {name, data} of events) {
      if (typeof data.checkpoint === 'number' && data.event === 'step') {
        const one = this.#momentOf(data);
        if (!this.history.add(one)) known = true;
        else {
          stepped = true;
          if (one.status === 'forked') forked ||= one.n;
          this.head = Math.max(this.head, one.n);
          if (!forked) this.#step(one);
        }
      } else if (name === 'node.started') {
        begun = true;
        this.#begin(String(data.node ?? ''), Number(data.frame), Date.parse(String(data.at)));
      } else if (name === 'log') {
        this.logs.tell(data as unknown as Said);
        logged = true;
      } else if (name === 'debug.log') {
        this.logs.add(new Date().toISOString(), Number(data.frame), String(data.node), 'point', `${String(data.message)}\n`);
        logged = true;
      }
      if (name === 'debug.frame.paused' && Array.isArray(data.breakpoints) && data.breakpoints.length && data.node) {
        this.hits.set(String(data.node), (this.hits.get(String(data.node)) ?? 0) + 1);
      }
      if (name === 'debug.variable.changed') this.#seenKey = '';
      if (name.startsWith('debug.') && name !== 'debug.log' || name.startsWith('run.')) asks = true;
      if (!this.debugging && stepped) asks = true;
    }
    if (logged) this.logs.version++;
    // The record was read before these came: what ended in it has not begun again.
    if (known && begun) this.showNodes();
    if (stepped) {
      if (this.past === null) for (const one of this.history.forget(this.head)) this.#step(one, this.#before);
      this.historyVersion++;
    }
    if (forked) void this.#readHistory(forked).catch(() => {});
    if (asks) void this.refresh();
  }

  #momentOf(data: Told['data']): Moment {
    return {n: data.checkpoint as number, parent: this.history.last?.n ?? 0, node: String(data.node ?? ''),
      frame: Number(data.frame ?? 0), status: String(data.status), at: String(data.at ?? ''),
      changed: Array.isArray(data.changed) ? data.changed as string[] : []};
  }

  #begin(node: string, frame: number, at: number): void {
    if (this.past !== null) return;
    this.nodes.set(node, {state: 'running', at, frame, times: this.nodes.get(node)?.times ?? 0});
  }

  #step(one: Moment, into: Map<string, NodeState> = this.nodes): void {
    if (!one.node || into === this.nodes && this.past !== null) return;
    const before = into.get(one.node), at = Date.parse(one.at), end = ENDS[one.status];
    if (end) {
      const took = before && before.state === 'running' ? at - before.at : undefined;
      into.set(one.node, {state: end, at, frame: one.frame, times: (before?.times ?? 0) + 1,
        ...took === undefined ? {} : {took}});
    } else if (one.status === 'started' || one.status === 'entered' || one.status === 'retrying') {
      into.set(one.node, {state: 'running', at, frame: one.frame, times: before?.times ?? 0});
    } else if (one.status === 'interrupted') {
      into.set(one.node, {state: 'waiting', at, frame: one.frame, times: before?.times ?? 0});
    }
  }

  /** The states of nodes at the moment that is shown, from the record. */
  showNodes(): void {
    const now = new Map(this.#before);
    for (const one of this.history.line(this.past ?? this.head)) this.#step(one, now);
    if (this.past === null && this.over) {
      for (const [name, one] of now) if (one.state === 'running') now.set(name, {...one, state: 'cancelled'});
    }
    for (const name of [...this.nodes.keys()]) if (!now.has(name)) this.nodes.delete(name);
    for (const [name, one] of now) this.nodes.set(name, one);
  }

  /** Asks how things stand: soon, until an answer is there. */
  refresh(): Promise<void> {
    return this.#standing.ask();
  }

  async #readStanding(): Promise<void> {
    try {
      if (this.debugging) {
        const all = await link.call('overview', {thread: this.thread});
        while (all.frames.length < Math.min(all.total, FRAMES_READ)) {
          const {frames} = await link.call('frames', {thread: this.thread, offset: all.frames.length, limit: FRAMES_PAGE});
          if (!frames.length) break;
          all.frames.push(...frames);
        }
        this.#setOverview(all);
      } else this.#setRun(await link.call('run_get', {thread: this.thread}));
    } catch (error) {
      if (error instanceof Refused && error.code === 'not_held' && this.debugging) this.#sessionEnded();
    }
  }

  #sessionEnded(): void {
    this.debugging = false;
    this.session = null;
    this.watches = [];
    this.#seenKey = '';
    this.#look();
    void this.refresh();
  }

  #setOverview(all: Answer<'overview'>): void {
    const were = new Set(this.paused.map(one => one.frame));
    const wasOver = this.over;
    this.session = all.session;
    this.sessionRead = Date.now();
    this.frames = all.frames;
    this.total = all.total;
    this.breakpoints = all.breakpoints;
    this.watches = all.watches as Watch[];
    this.injected = all.injected;
    if (this.run && this.run.status !== all.session.run_status) this.run = {...this.run, status: all.session.run_status};
    const chosen = all.frames.find(one => one.frame === this.selected);
    const theirs = all.selected ?? all.frames.find(one => one.status === 'paused')?.frame ?? all.frames[0]?.frame ?? 0;
    // Who looks at a paused frame goes on looking at it; else the one that stopped is shown, which may be another than the
    // one that was selected on the server. Who chose one that runs keeps it until the next one stops.
    if (!chosen || chosen.status !== 'paused') {
      const stopped = this.paused.find(one => one.frame === theirs) ?? this.paused.find(one => !chosen || !were.has(one.frame));
      if (stopped || !chosen) this.#select(stopped?.frame ?? theirs);
    }
    for (const one of this.paused) if (!were.has(one.frame)) this.onpaused?.(one);
    this.#catchUp(all.session.checkpoint);
    if (this.over !== wasOver) this.showNodes();
    this.#look();
  }

  /** Not each checkpoint is told: those of the session itself are read when they are missed. */
  #catchUp(checkpoint: number): void {
    if (!this.history.length || checkpoint <= (this.history.last?.n ?? 0)) return;
    this.#known = checkpoint;
    void this.#missed.ask();
  }
  async #readMissed(): Promise<void> {
    const last = this.history.last?.n ?? 0;
    if (this.#known > last) await this.#readHistory(last + 1); // else it was told meanwhile
  }

  #select(frame: number): void {
    this.selected = frame;
  }

  /** Reads what belongs to the selected frame when it stands somewhere else than before. */
  #look(): void {
    const f = this.frame;
    const key = [this.selected, f?.status, f?.node, f?.position, f?.at, f?.pending, f?.edited, f?.injected, this.past].join(' ');
    if (key === this.#seenKey) return;
    this.#seenKey = key;
    this.seen++;
    void this.#looks.ask();
  }

  async #readFrame(): Promise<void> {
    const f = this.frame, key = this.#seenKey;
    if (!f || !this.debugging || this.past !== null) {
      this.pending = [];
      this.diff = null;
      this.node = null;
      this.config = null;
      this.stack = [];
      return;
    }
    const of = {thread: this.thread, frame: f.frame};
    const still = f.status === 'paused' || f.status === 'waiting' || f.status === 'failed';
    const no = Promise.reject(new Error());
    no.catch(() => {});
    const [pending, diff, watches, node, config, edges, whole] = await Promise.allSettled([
      link.call('pending', of),
      still ? link.call('diff', of) : no,
      this.watches.length ? link.call('watches', of) : no,
      link.call('node', of),
      still ? link.call('config', of) : no,
      link.call('edges', of),
      this.#stackOf(f),
    ]);
    if (key !== this.#seenKey) return;
    this.pending = pending.status === 'fulfilled' ? pending.value.pending as Pending[] : [];
    this.diff = diff.status === 'fulfilled' ? diff.value : null;
    this.node = node.status === 'fulfilled' ? node.value : null;
    this.config = config.status === 'fulfilled' ? config.value : null;
    this.lastEdge = edges.status === 'fulfilled' ? edges.value.last ?? null : null;
    this.stack = whole.status === 'fulfilled' ? whole.value : [];
    if (watches.status === 'fulfilled') this.watches = watches.value.watches as Watch[];
  }

  /** `frame` gives the levels, and selects: asked of the frame that is selected here anyway. */
  async #stackOf(f: FRAME): Promise<LEVEL[]> {
    if (f.stack) return f.stack;
    return (await link.call('frame', {thread: this.thread, frame: f.frame})).stack ?? [];
  }

  // ---- what a person does ----

  /** A command, once at a time by its name; what the server refuses is said in the top bar. */
  async act<O extends Operation>(operation: O, args: Omit<Args<O>, 'thread'>, name: string = operation): Promise<Answer<O> | null> {
    if (this.busy.has(name)) return null;
    this.busy.set(name, true);
    try {
      const asked = {thread: this.thread, ...args} as unknown as Args<O>;
      try {
        return await link.call(operation, asked);
      } catch (error) {
        // Whoever had the run has left, as when a server is new: it is taken again, once.
        if (!(error instanceof Refused) || error.code !== 'not_held' || !this.debugging || !await this.attach()) throw error;
        return await link.call(operation, asked);
      }
    } catch (error) {
      toasts.bad(error);
      return null;
    } finally {
      this.busy.delete(name);
      this.#hurry();
      void this.refresh();
    }
  }

  /** A person waits for what is asked. */
  #hurry(): void {
    this.#standing.hurry();
    this.#looks.hurry();
  }

  choose(frame: number): void {
    if (this.selected === frame) return;
    this.#hurry();
    this.#select(frame);
    this.#look();
    if (this.debugging && this.past === null) {
      link.call('frame', {thread: this.thread, frame}).catch(() => {});
    }
  }

  /** Shows an earlier moment everywhere, or now. */
  show(checkpoint: number | null): void {
    const past = checkpoint === this.head ? null : checkpoint;
    if (past === this.past) return;
    this.#hurry();
    this.past = past;
    this.showNodes();
    this.#look();
  }

  async setVariable(path: Path, value: unknown): Promise<boolean> {
    return this.#pend(await this.act('set', {path, value, frame: this.selected}, 'set'));
  }
  async unsetVariable(path: Path): Promise<boolean> {
    return this.#pend(await this.act('unset', {path, frame: this.selected}, 'set'));
  }
  /** All changes of that place: a person sees one, however often it was set. */
  async revoke(path: Path): Promise<boolean> {
    return this.#pend(await this.act('revoke', {path, frame: this.selected} as never, 'revoke'));
  }
  #pend(answer: {pending: unknown[]} | null): boolean {
    if (!answer) return false;
    this.pending = answer.pending as Pending[];
    return true;
  }

  /** What was added is evaluated at once. */
  async rewatch(): Promise<void> {
    try {
      this.watches = (await link.call('watches', {thread: this.thread, frame: this.selected})).watches as Watch[];
    } catch {
      // a frame that runs has no value now; the next pause has
    }
  }

  async toggleBreakpoint(at: {node: string} | {file: string; line: number}): Promise<void> {
    const here = this.breakpoints.filter(one => 'node' in at
      ? one.places.some(place => place.node === at.node) || one.node === at.node
      : one.places.some(place => place.file === at.file && place.line === at.line) || one.file === at.file && one.line === at.line);
    if (here.length) await this.act('breakpoint_delete', {ids: here.map(one => one.id)}, 'breakpoint');
    else await this.act('breakpoint_set', at, 'breakpoint');
  }
}
