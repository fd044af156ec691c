export type Json = null | boolean | number | string | Json[] | {[key: string]: Json};
export type State = {[key: string]: any};
export type NodeFunction = (state: State, env: State) => unknown | Promise<unknown>;

/** Makes a function callable from a workflow, under a name or under its own. */
export function node(name: string, fn: NodeFunction): NodeFunction;
export function node(fn: NodeFunction): NodeFunction;

/**
 * Asks a person: the run stops with the value as its prompt, and this gives back the answer. When the
 * process is gone by then, the node runs from its start again and every interrupt that was answered
 * before gives its answer at once.
 */
export function interrupt(value?: Json): any;

/** Writes a line to the node's log, apart from what is printed. */
export function log(...values: unknown[]): void;

/** Says that all functions are there: the last line of a program. */
export function serve(): void;
