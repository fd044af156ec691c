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

type Said = [at: string, frame: number, node: string, stream: string, text: string];

const KEPT = 50_000, FIRST = 2000;
const LONGEST = 8000; // characters of a line that are shown; the rest is in the record

export class Logs {
  lines = $state.raw<Line[]>([]);
  version = $state(0);
  dropped = $state(0);
  #last = 0;
  #read = ''; // when the last was printed that the record had
  #early: Said[] | null = []; // told before the record was read; it may not have that yet
  #open = new Map<string, Line>(); // lines without their end, by who writes them

  async read(thread: string): Promise<void> {
    this.#early ??= [];
    const answer = await link.call('run_logs', {thread, last: FIRST});
    const told = this.lines;
    this.lines = [];
    this.#open.clear();
    this.dropped = answer.dropped ?? 0;
    for (const one of answer.logs as LOG[]) {
      if (!('text' in one)) continue;
      this.add(one.at, one.frame, one.node, one.stream, one.text);
      this.#read = one.at;
    }
    // What was told and is not on record yet, or never will be, as messages of log points.
    for (const one of told) if (one.stream === 'point' || one.at > this.#read) this.add(one.at, one.frame, one.node, one.stream, `${one.text}\n`);
    const missed = this.#early;
    this.#early = null;
    for (const one of missed ?? []) this.tell(...one);
    this.version++;
  }

  /** As it happens: what was read from the record is not said twice, and what comes before it was read waits. */
  tell(...one: Said): void {
    if (this.#early) this.#early.push(one);
    else if (one[0] > this.#read) this.add(...one);
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
