// The variables of a frame as a tree: what is open is read, a page at a time, and nothing else.
import {SvelteMap, SvelteSet} from 'svelte/reactivity';
import {link} from '$lib/link.svelte';
import {brief, pathText, type Path} from '$lib/format';
import {Paced} from '$lib/paced';

export interface Leaf {
  path: Path;
  text: string; // the path
  key: string | number;
  type: string;
  size: number;
  length: number;
  preview: string;
  whole?: unknown; // the value, where it came whole
}

export interface Row {
  leaf: Leaf;
  depth: number;
  open: boolean;
  more?: {path: Path; have: number; total: number}; // a row that reads on
}

/** record: of a run as the store has it; nobody has to have it. */
export interface Asking {
  thread: string;
  frame?: number;
  checkpoint?: number;
  record: boolean;
}

const PAGE = 100, SMALL = 400;

const typeOf = (value: unknown): string => value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

export function leafOf(path: Path, value: unknown): Leaf {
  const type = typeOf(value), holds = type === 'array' || type === 'object';
  const length = type === 'array' ? (value as unknown[]).length : type === 'object' ? Object.keys(value as object).length : typeof value === 'string' ? value.length : 0;
  return {path, text: pathText(path), key: path.at(-1) ?? '', type, size: 0, length, preview: brief(value, SMALL), ...holds || length < SMALL ? {whole: value} : {}};
}

export class Tree {
  open = new SvelteSet<string>();
  /** Children of what is open, by the text of its path. */
  children = new SvelteMap<string, {leaves: Leaf[]; total: number}>();
  size = $state(0);
  problem = $state('');
  #asking = {} as Asking;
  #serial = 0;

  #anew = new Paced(() => this.#readAnew());

  /** What is shown is of something else: reads anew what is open, soon; what was there stays until then. */
  of(asking: Asking): Promise<void> {
    const {frame, record} = this.#asking;
    if (frame !== asking.frame || record !== asking.record) {
      this.#serial++; // what is under way is not of this frame
      this.#anew.hurry();
    }
    this.#asking = asking;
    return this.#anew.ask();
  }
  close(): void {
    this.#anew.close();
  }

  async #readAnew(): Promise<void> {
    const serial = this.#serial;
    const opened = [...this.open].filter(text => this.children.has(text) && text !== '.').map(text => [text, this.#paths.get(text)] as const);
    try {
      await this.#read([], 0, serial);
      this.problem = '';
    } catch (error) {
      if (serial === this.#serial) this.problem = (error as Error).message;
      return;
    }
    await Promise.all(opened.map(([text, path]) => path ? this.#read(path, 0, serial).catch(() => {
      this.open.delete(text);
      this.children.delete(text);
    }) : null));
  }

  clear(): void {
    this.#serial++;
    this.children.clear();
    this.problem = '';
    this.size = 0;
  }

  #paths = new Map<string, Path>();

  async #read(path: Path, offset: number, serial = this.#serial): Promise<void> {
    const {record, ...at} = this.#asking;
    const answer = await link.call(record ? 'run_variables' : 'variables', {...at, path, offset, limit: PAGE} as never);
    if (serial !== this.#serial) return;
    if (!path.length) this.size = answer.size;
    const text = pathText(path), before = offset ? this.children.get(text)?.leaves ?? [] : [];
    const value = answer.value;
    let leaves: Leaf[], total: number;
    if (answer.children) {
      leaves = answer.children.map(one => {
        const at = [...path, one.key];
        return {path: at, text: pathText(at), key: one.key, type: one.type, size: one.size, length: one.length ?? 0, preview: one.preview};
      });
      total = answer.total ?? leaves.length;
    } else if (value && typeof value === 'object') {
      leaves = Object.entries(value as object).map(([key, one]) => leafOf([...path, Array.isArray(value) ? Number(key) : key], one));
      total = leaves.length;
    } else return;
    this.#paths.set(text, path);
    this.children.set(text, {leaves: [...before, ...leaves], total});
  }

  async readMore(path: Path): Promise<void> {
    await this.#read(path, this.children.get(pathText(path))?.leaves.length ?? 0);
  }

  async toggle(leaf: Leaf, open = !this.open.has(leaf.text)): Promise<void> {
    if (!open) {
      this.open.delete(leaf.text);
      return;
    }
    if (leaf.whole && typeof leaf.whole === 'object') {
      const value = leaf.whole as object;
      const leaves = Object.entries(value).map(([key, one]) => leafOf([...leaf.path, Array.isArray(value) ? Number(key) : key], one));
      this.#paths.set(leaf.text, leaf.path);
      this.children.set(leaf.text, {leaves, total: leaves.length});
    } else await this.#read(leaf.path, 0);
    this.open.add(leaf.text);
  }

  /** What can be seen is opened, two levels at most: more is asked for by hand. */
  async expandAll(): Promise<void> {
    const MOST = 200;
    for (let level = 0; level < 2; level++) {
      const closed = this.rows().filter(row => !row.more && this.holds(row.leaf) && !row.open).slice(0, MOST);
      await Promise.all(closed.map(row => this.toggle(row.leaf, true)));
    }
  }
  collapseAll(): void {
    this.open.clear();
  }

  holds(leaf: Leaf): boolean {
    return (leaf.type === 'object' || leaf.type === 'array') && leaf.length > 0;
  }

  rows(): Row[] {
    const out: Row[] = [];
    const work: {text: string; depth: number; at: number}[] = [{text: '.', depth: 0, at: 0}];
    while (work.length) {
      const top = work.at(-1)!, kids = this.children.get(top.text);
      if (!kids || top.at >= kids.leaves.length) {
        work.pop();
        if (kids && kids.total > kids.leaves.length) {
          const path = this.#paths.get(top.text) ?? [];
          out.push({leaf: leafOf([...path, '…'], null), depth: top.depth, open: false, more: {path, have: kids.leaves.length, total: kids.total}});
        }
        continue;
      }
      const leaf = kids.leaves[top.at++]!, open = this.open.has(leaf.text) && this.holds(leaf);
      out.push({leaf, depth: top.depth, open});
      if (open) work.push({text: leaf.text, depth: top.depth + 1, at: 0});
    }
    return out;
  }
}
