// What the page says in passing: one slot in the top bar, newest first. Good news goes by itself, errors stay.
import {Refused} from './link.svelte';

export interface Toast {
  id: number;
  kind: 'good' | 'bad';
  text: string;
  remedy?: {label: string; act(): void};
}

const GOOD_MS = 5000, KEPT = 20;

class Toasts {
  list = $state.raw<Toast[]>([]);
  #last = 0;

  say(text: string, remedy?: Toast['remedy']): void {
    const id = this.#add('good', text, remedy);
    setTimeout(() => this.dismiss(id), GOOD_MS);
  }

  bad(error: unknown, remedy?: Toast['remedy']): void {
    const text = error instanceof Refused || error instanceof Error ? error.message : String(error);
    if (this.list.some(one => one.kind === 'bad' && one.text === text)) return;
    this.#add('bad', text, remedy);
  }

  dismiss(id: number): void {
    this.list = this.list.filter(one => one.id !== id);
  }

  #add(kind: Toast['kind'], text: string, remedy?: Toast['remedy']): number {
    const id = ++this.#last;
    this.list = [{id, kind, text, ...remedy ? {remedy} : {}}, ...this.list].slice(0, KEPT);
    return id;
  }
}

export const toasts = new Toasts();

/** Does it, and says in the top bar why it could not be done. */
export async function trying<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    toasts.bad(error);
    return null;
  }
}
