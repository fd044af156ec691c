// What a person can do with the selected frame, and why not: for buttons, keys and the palette alike.
import type {RunStore} from '$state/run.svelte';
import {link} from '$lib/link.svelte';

export type Control = 'continue' | 'all' | 'pause' | 'step' | 'back' | 'retry' | 'skip' | 'detach';

export class Commands {
  constructor(readonly run: RunStore) {}

  /** '' when it can be done. */
  why = (what: Control): string => {
    const {run} = this, frame = run.frame;
    if (link.state !== 'live') return 'The server cannot be reached';
    if (run.past !== null) return 'You are looking at the past: Esc goes back to now';
    if (!run.debugging) return run.whyNot;
    if (what === 'detach') return '';
    if (what === 'back') return run.history.length > 1 ? '' : 'Nothing came before this';
    if (run.over && what !== 'retry' && what !== 'skip') return 'The run has ended: go back, or fork it';
    if (what === 'pause') return run.moving.length ? '' : 'No frame is running';
    if (what === 'all') return run.paused.length ? '' : 'No frame is paused';
    if (!frame) return 'There is no frame';
    if (what === 'retry') return frame.position === 'on_error' || frame.status === 'failed' ? '' : 'The frame is not at an error';
    if (what === 'skip' && (frame.status === 'paused' || frame.status === 'failed')) return '';
    return frame.status === 'paused' ? '' : frame.status === 'waiting' ? 'The frame waits for an answer' : 'The frame is running';
  };

  #if(what: Control, act: () => Promise<unknown>): void {
    if (!this.why(what)) void act();
  }
  continue = (): void => this.#if('continue', () => this.run.act('continue', {frame: this.run.selected} as never, 'continue'));
  continueAll = (): void => this.#if('all', () => this.run.act('continue', {frame: 'all'} as never, 'all'));
  pause = (): void => this.#if('pause', () => this.run.act('pause', {frame: 'all'} as never, 'pause'));
  over = (): void => this.#step('over');
  into = (): void => this.#step('into');
  out = (): void => this.#step('out');
  back = (): void => this.#if('back', () => this.run.act('back', {frame: this.run.selected}, 'back'));
  retry = (): void => this.#if('retry', () => this.run.act('retry', {frame: this.run.selected}, 'retry'));
  skip = (): void => this.#if('skip', () => this.run.act('skip', {frame: this.run.selected}, 'skip'));
  debug = (): void => {
    if (!link.refuses('continue')) void this.run.attach();
  };

  #step(kind: 'over' | 'into' | 'out'): void {
    this.#if('step', () => this.run.act('step', {kind, frame: this.run.selected}, kind));
  }
  /** F8: what runs is paused, what is paused goes on. */
  toggle = (): void => {
    if (!this.why('continue')) this.continue();
    else this.pause();
  };
  next = (by: number): void => {
    const {run} = this, all = run.paused;
    if (!all.length) return;
    const at = all.findIndex(one => one.frame === run.selected);
    run.choose(all[(at + by + all.length) % all.length]!.frame);
  };
}
