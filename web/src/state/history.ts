// The checkpoints of a run: a tree, of which the run is on one line.
import type {CHECKPOINT} from '$api';

export interface Moment {
  n: number;
  parent: number;
  node: string;
  title?: string;
  frame: number;
  status: string;
  at: string;
  by?: string;
  changed: string[];
}

/** What is not shown in the timeline by itself: it ends no work and nobody stopped there. */
const SILENT = new Set(['debug', 'started', 'entered', 'resumed', 'retrying', 'joined', 'reopened', 'answered']);

const KEPT = 6000; // checkpoints; older ones are forgotten here, and are in the record

export class History {
  #list: Moment[] = [];
  #by = new Map<number, Moment>();
  #parents = new Set<number>();

  get length(): number {
    return this.#list.length;
  }
  get last(): Moment | undefined {
    return this.#list.at(-1);
  }
  all(): readonly Moment[] {
    return this.#list;
  }
  get(n: number): Moment | undefined {
    return this.#by.get(n);
  }

  /**
   * True when it is new. What an event told is put right by what the record says (`recorded`), and never the other way round:
   * events do not say where a line was left.
   */
  add(one: Moment, recorded = false): boolean {
    const known = this.#by.get(one.n);
    if (known) {
      if (recorded) {
        Object.assign(known, one);
        this.#parents.add(one.parent);
      }
      return false;
    }
    this.#by.set(one.n, one);
    this.#parents.add(one.parent);
    if ((this.#list.at(-1)?.n ?? 0) < one.n) this.#list.push(one);
    else {
      let at = this.#list.length;
      while (at > 0 && this.#list[at - 1]!.n > one.n) at--;
      this.#list.splice(at, 0, one);
    }
    return true;
  }

  /** Lets go of the oldest when there are many, a good part of them at once; those of the line that leads to `head`, in order. */
  forget(head: number): Moment[] {
    if (this.#list.length <= KEPT * 1.2) return [];
    const on = new Set(this.line(head)), gone = this.#list.splice(0, this.#list.length - KEPT);
    for (const one of gone) {
      this.#by.delete(one.n);
      this.#parents.delete(one.n);
    }
    return gone.filter(one => on.has(one));
  }

  static of(row: CHECKPOINT): Moment {
    const one = row as Partial<Exclude<CHECKPOINT, {error: string}>> & {checkpoint: number; status: string};
    return {n: one.checkpoint, parent: one.parent ?? 0, node: one.node ?? '', frame: one.frame ?? 0, status: one.status,
      at: one.at ?? '', changed: one.changed ?? [], ...one.title ? {title: one.title} : {}, ...one.by ? {by: one.by} : {}};
  }

  /** From the first to `head`, along the parents. */
  line(head: number): Moment[] {
    const out: Moment[] = [];
    for (let one = this.#by.get(head); one; one = one.parent < one.n ? this.#by.get(one.parent) : undefined) out.push(one);
    return out.reverse();
  }

  isShown(one: Moment, head: number): boolean {
    return one.n === head || !this.#parents.has(one.n) || !SILENT.has(one.status);
  }

  /**
   * Lines for a drawing, newest last: each has the checkpoints that are its own, and where it left another. The line that
   * the run is on is the one with `on`.
   */
  lines(head: number): {on: boolean; from: number; moments: Moment[]}[] {
    const lineOf = new Map<number, number>();
    const lines: {on: boolean; from: number; moments: Moment[]}[] = [];
    const taken = new Set<number>(); // who has a child on its own line already
    for (const one of this.#list) {
      const parent = this.#by.get(one.parent);
      let line = parent && !taken.has(parent.n) ? lineOf.get(parent.n) : undefined;
      if (parent && line !== undefined) taken.add(parent.n);
      if (line === undefined) {
        line = lines.length;
        lines.push({on: false, from: parent?.n ?? 0, moments: []});
      }
      lineOf.set(one.n, line);
      lines[line]!.moments.push(one);
    }
    const on = lineOf.get(head);
    if (on !== undefined) lines[on]!.on = true;
    return lines;
  }
}
