// The one connection to the server: every operation goes over it by its name, and so do events. It comes back by itself
// when it breaks, tells what was missed from where it stopped, and says how it stands.
//
//     const run = await link.call('run_get', {thread: 'friday'});
//     const end = link.follow({thread: 'friday'}, event => ...);       end() when nobody listens any more
import type {Operations, Problem} from '$api';

export type Operation = keyof Operations;
export type Args<O extends Operation> = Operations[O]['args'];
export type Answer<O extends Operation> = Operations[O]['answer'];

/** What the server, or the way to it, refused; `message` is the finished sentence. */
export class Refused extends Error {
  constructor(readonly problem: Partial<Problem> & {detail: string}) {
    super(problem.detail);
  }
  get code(): string {
    return this.problem.code ?? '';
  }
}

/** What happened: `name` as outside ("debug.frame.paused"), the fields in `data`. */
export interface Told {
  name: string;
  data: Record<string, unknown> & {event?: string; cursor?: number; run?: number; thread?: string};
}

export interface Following {
  thread?: string;
  types?: string[];
  attach?: boolean;
}

export interface Followed {
  end(): void;
  /** After it was over: from where it stopped. */
  again(): void;
}

type State = 'connecting' | 'live' | 'waiting' | 'away' | 'signed out';

/** Who the server takes the page for, and what it would refuse: by operation the scope that it needs. */
interface You {
  token?: string;
  scope: string;
  inline: boolean;
  beyond: Record<string, string>;
}

interface Waiting {
  give(value: unknown): void;
  fail(error: Refused): void;
}

interface Follower {
  what: Following;
  tell(event: Told): void;
  over?: (problem: Problem | null) => void;
  begun?: () => void;
  cursor: number; // of the last event that was told, -1: none yet
  number: number; // of the subscription, 0: there is none now
}

const FIRST_WAIT = 1000, LONGEST_WAIT = 30_000, TRIES = 10;
const away = (): Refused => new Refused({code: 'away', detail: 'The server cannot be reached; this is done when it is back.'});

class Link {
  state = $state<State>('connecting');
  /** Seconds until the next try. */
  next = $state(0);
  /** How often it was connected: views read anew what may have changed meanwhile. */
  connected = $state(0);
  /** How long the last interruption was, in seconds, and how many events were caught up; for people. */
  back = $state.raw<{seconds: number; events: number} | null>(null);
  server = $state.raw<{version: string; store: string; auth: boolean; workflows?: string; folder?: string; you?: You} | null>(null);

  #socket: WebSocket | null = null;
  #asked = new Map<number, Waiting>();
  #followers = new Set<Follower>();
  #byNumber = new Map<number, Follower>();
  #last = 0;
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lostAt = 0;
  #caughtUp = 0;

  start(): void {
    void this.#connect();
    addEventListener('online', () => this.hurry());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.hurry();
    });
  }

  /** Tries at once, and as often again as after a break. */
  hurry(): void {
    if (this.state !== 'waiting' && this.state !== 'away') return;
    clearTimeout(this.#timer);
    this.#tries = 0;
    void this.#connect();
  }

  async signIn(token: string): Promise<void> {
    const reply = await fetch('/api/v1/sign-in', {method: 'POST', headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({token})});
    if (!reply.ok) throw new Refused(await reply.json() as Problem);
    await this.#connect();
  }

  async signOut(): Promise<void> {
    await fetch('/api/v1/sign-out', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'});
    this.state = 'signed out';
    this.#socket?.close();
  }

  /** '' when the token that somebody signed in with is good for it; else why not, as a sentence. */
  refuses(operation: Operation): string {
    const needs = this.server?.you?.beyond[operation];
    return needs ? `Your token has the scope ${this.server!.you!.scope}; this needs ${needs}` : '';
  }

  call<O extends Operation>(operation: O, args: Args<O>): Promise<Answer<O>> {
    return new Promise((give, fail) => {
      if (this.state !== 'live' || !this.#socket) {
        fail(away());
        return;
      }
      const id = ++this.#last;
      this.#asked.set(id, {give: give as (value: unknown) => void, fail});
      this.#socket.send(JSON.stringify({type: operation, request_id: id, data: args}));
    });
  }

  /** over: nothing more comes by itself, or (with a problem) it was refused. `begun` is told each time it has begun. */
  follow(what: Following, tell: (event: Told) => void, over?: Follower['over'], begun?: () => void): Followed {
    const follower: Follower = {what, tell, cursor: -1, number: 0, ...over ? {over} : {}, ...begun ? {begun} : {}};
    this.#followers.add(follower);
    if (this.state === 'live') this.#subscribe(follower);
    return {
      end: () => {
        this.#followers.delete(follower);
        if (!follower.number) return;
        this.#byNumber.delete(follower.number);
        this.#socket?.send(JSON.stringify({type: 'unsubscribe', data: {subscription: follower.number}}));
      },
      again: () => {
        if (!follower.number && this.state === 'live') this.#subscribe(follower);
      },
    };
  }

  async #connect(): Promise<void> {
    if (this.#socket) return;
    if (this.state !== 'signed out') this.state = 'connecting';
    try {
      const reply = await fetch('/api/v1/server', {headers: {Accept: 'application/json'}});
      if (reply.status === 401) {
        this.state = 'signed out';
        return;
      }
      if (!reply.ok) throw away();
      this.server = await reply.json();
    } catch {
      this.#lost();
      return;
    }
    if (this.#socket) return;
    const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + '/api/v1/ws');
    this.#socket = socket;
    socket.onopen = () => this.#opened();
    socket.onmessage = event => this.#hear(JSON.parse(event.data as string));
    socket.onclose = () => {
      this.#socket = null;
      for (const one of this.#asked.values()) one.fail(away());
      this.#asked.clear();
      this.#byNumber.clear();
      for (const one of this.#followers) one.number = 0;
      if (this.state !== 'signed out') this.#lost();
    };
  }

  #opened(): void {
    this.#tries = 0;
    this.#caughtUp = 0;
    this.state = 'live';
    this.connected++;
    for (const one of this.#followers) this.#subscribe(one);
    if (this.#lostAt) {
      const seconds = Math.max(1, Math.round((Date.now() - this.#lostAt) / 1000));
      this.#lostAt = 0;
      // What was missed comes at once; a moment later it can be counted.
      setTimeout(() => (this.back = {seconds, events: this.#caughtUp}), 700);
    }
  }

  #lost(): void {
    if (!this.#lostAt && this.connected) this.#lostAt = Date.now();
    if (++this.#tries > TRIES) {
      this.state = 'away';
      return;
    }
    const wait = Math.min(FIRST_WAIT * 2 ** (this.#tries - 1), LONGEST_WAIT);
    const until = Date.now() + wait;
    this.state = 'waiting';
    const tick = (): void => {
      const left = until - Date.now();
      this.next = Math.max(0, Math.ceil(left / 1000));
      if (left <= 0) void this.#connect();
      else this.#timer = setTimeout(tick, Math.min(left, 1000));
    };
    tick();
  }

  #subscribe(follower: Follower): void {
    const {thread, types, attach} = follower.what;
    const id = ++this.#last;
    this.#asked.set(id, {
      give: answer => { // at once: its events may be in the same packet
        follower.number = (answer as {subscription: number}).subscription;
        if (this.#followers.has(follower)) this.#byNumber.set(follower.number, follower);
        follower.begun?.();
      },
      fail: error => {
        if (error.code !== 'away') follower.over?.(error.problem as Problem);
      },
    });
    this.#socket?.send(JSON.stringify({type: 'subscribe', request_id: id, data: {
      ...thread ? {thread} : {}, ...types ? {types} : {}, ...attach ? {attach} : {},
      ...follower.cursor >= 0 && thread ? {from: follower.cursor} : {}}}));
  }

  #hear(message: {type: string; request_id?: number; subscription?: number; data?: unknown}): void {
    if (message.request_id !== undefined && this.#asked.has(message.request_id)) {
      const asked = this.#asked.get(message.request_id)!;
      this.#asked.delete(message.request_id);
      if (message.type === 'error') asked.fail(new Refused(message.data as Problem));
      else asked.give(message.data);
      return;
    }
    const follower = message.subscription === undefined ? undefined : this.#byNumber.get(message.subscription);
    if (!follower) return;
    if (message.type === 'over') {
      follower.number = 0;
      this.#byNumber.delete(message.subscription!);
      follower.over?.((message.data as Problem | undefined) ?? null);
      return;
    }
    const data = message.data as Told['data'];
    if (typeof data.cursor === 'number') follower.cursor = data.cursor;
    this.#caughtUp++;
    follower.tell({name: message.type, data});
  }
}

export const link = new Link();
