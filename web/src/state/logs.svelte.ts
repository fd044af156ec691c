// What the nodes of a run printed, as lines: read in pages, and added to as it happens.
import type {LOG} from '$api';
import {link} from '$lib/link.svelte';

export interface Line {
  id: number;
  at: string;
  frame: number;
  node: string;
  stream: string; // stdout, stderr, log; point: a log point
  text: string;
}

export interface Said {
  at: string;
  frame: number;
  node: string;
  stream: string;
  text: string;
  execution?: string; // of the node, and where in what that prints to the stream the text stands, in bytes
  offset?: number;
}

const bytes = new TextEncoder();

const KEPT = 50_000, FIRST = 2000;
const LONGEST = 8000; // characters of a line that are shown; the rest is in the record

export class Logs {
  lines = $state.raw<Line[]>([]);
  version = $state(0);
  dropped = $state(0);
  #last = 0;
  #told: Said[] = []; // and in no record that was read, which may have it later
  #reading = true;
  #ends = new Map<string, number>(); // how far the output of an execution to a stream is here
  #open = new Map<string, Line>(); // lines without their end, by who writes them

  async read(thread: string): Promise<void> {
    this.#reading = true;
    const answer = await link.call('run_logs', {thread, last: FIRST});
    const points = this.lines.filter(one => one.stream === 'point'); // they are in no record
    this.lines = [];
    this.#open.clear();
    this.#ends.clear();
    this.dropped = answer.dropped ?? 0;
    for (const one of answer.logs as LOG[]) {
      if (!('text' in one)) continue;
      this.#take(one);
    }
    for (const one of points) this.add(one.at, one.frame, one.node, one.stream, `${one.text}\n`);
    this.#told = this.#told.filter(one => this.#take(one));
    this.#reading = false;
    this.version++;
  }

  /** As it happens: what was read from the record is not said twice, and what comes before it was read waits. */
  tell(one: Said): void {
    this.#told.push(one);
    if (this.#told.length > KEPT) this.#told = this.#told.slice(-FIRST);
    if (!this.#reading) this.#take(one);
  }

  /** False: it is here. */
  #take(one: Said): boolean {
    if (one.execution !== undefined && one.offset !== undefined) {
      const key = `${one.execution} ${one.stream}`, end = one.offset + bytes.encode(one.text).length;
      if (end <= (this.#ends.get(key) ?? 0)) return false;
      this.#ends.set(key, end);
    }
    this.add(one.at, one.frame, one.node, one.stream, one.text);
    return true;
  }

  /** Without telling: whoever adds several says so once (`version`). */
  add(at: string, frame: number, node: string, stream: string, text: string): void {
    const key = `${frame} ${node} ${stream}`;
    const parts = text.split('\n');
    for (let i = 0; i < parts.length; i++) {
      const whole = i < parts.length - 1, part = parts[i]!;
      const open = this.#open.get(key);
      if (open) {
        if (open.text.length < LONGEST) open.text = this.#cut(open.text + part);
        if (whole) this.#open.delete(key);
      } else if (part || whole) {
        const line = {id: ++this.#last, at, frame, node, stream, text: this.#cut(part)};
        this.lines.push(line);
        if (!whole && stream !== 'point') this.#open.set(key, line);
      }
    }
    if (this.lines.length > KEPT * 1.2) {
      this.dropped += this.lines.length - KEPT;
      this.lines = this.lines.slice(-KEPT);
    }
  }

  #cut(text: string): string {
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}… cut here: the line is longer` : text;
  }
}
