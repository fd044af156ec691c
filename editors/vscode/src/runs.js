/* The runs of the store, or of the server, and the history of the one that is chosen. */
'use strict';

const {stat} = require('node:fs/promises');
const vscode = require('vscode');
const {askJson, placeOf, ProgramError} = require('./program');

/**
 * @typedef {import('./types').Run} Run
 * @typedef {import('./types').Checkpoint} Checkpoint
 */

const RUNS = 200, CHECKPOINTS = 1000; // that are listed

/* How each status looks, of runs and of checkpoints. */
/** @type {Record<string, [icon: string, colour: string]>} */
const ICONS = {
  running: ['sync', 'charts.blue'], pending: ['circle-outline', 'disabledForeground'], stopped: ['debug-stop', 'charts.yellow'],
  interrupted: ['comment-unresolved', 'charts.purple'], paused: ['debug-pause', 'charts.yellow'],
  completed: ['pass', 'charts.green'], failed: ['error', 'charts.red'], cancelled: ['circle-slash', 'disabledForeground'],
  started: ['play', 'charts.blue'], entered: ['arrow-small-right', 'charts.blue'], joined: ['git-merge', 'charts.blue'],
  resumed: ['debug-continue', 'charts.blue'], answered: ['comment', 'charts.purple'], retrying: ['debug-restart', 'charts.yellow'],
  skipped: ['debug-step-over', 'disabledForeground'], updated: ['edit', 'charts.yellow'], forked: ['git-branch', 'charts.blue'],
  debug: ['debug', 'charts.yellow'], injected: ['insert', 'charts.yellow'], damaged: ['warning', 'charts.red'],
};

/** @param {string} status */
function iconOf(status) {
  const [icon, colour] = ICONS[status] ?? ['circle-small-filled', 'foreground'];
  return new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
}

/** @param {string} time */
function clock(time) {
  return new Date(time).toLocaleTimeString([], {hour12: false});
}

/** @template T @implements {vscode.TreeDataProvider<T>} */
class List {
  constructor() {
    /** @type {T[]} */
    this.items = [];
    this.shown = '';
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  /** @param {T} item @returns {vscode.TreeItem} */
  getTreeItem(item) {
    throw new Error(`nothing is known of ${item}`);
  }

  /** @param {T} [item] */
  getChildren(item) {
    return item ? [] : this.items;
  }

  getParent() {
    return undefined;
  }

  /**
   * What is shown already stays as it is: a click that comes while VS Code asks for rows again would be lost.
   * @param {T[]} items
   * @param {Run | null} [run] whose they are
   */
  set(items, run) {
    const shown = JSON.stringify([items, run]);
    this.items = items;
    if (shown === this.shown) return;
    this.shown = shown;
    this.changed.fire(undefined);
  }
}

/** @extends {List<Run>} */
class RunList extends List {
  /** @param {Run} run */
  getTreeItem(run) {
    const item = new vscode.TreeItem(run.thread);
    item.id = run.thread;
    item.description = `${run.workflow} · ${run.status}`;
    item.tooltip = `Run ${run.run} of ${run.workflow}: ${run.status}, at checkpoint ${run.checkpoint}, changed ${clock(run.updated)}`;
    item.iconPath = iconOf(run.status);
    item.contextValue = `run ${run.status}`;
    return item;
  }
}

/** @extends {List<Checkpoint>} */
class History extends List {
  constructor() {
    super();
    /** @type {Run | null} */
    this.run = null;
  }

  /** @param {Checkpoint} checkpoint */
  getTreeItem(checkpoint) {
    const {checkpoint: number, node = '', title, status = 'damaged', changed = [], parent, at, by, error} = checkpoint;
    const here = number === this.run?.checkpoint;
    const item = new vscode.TreeItem(`${number}  ${title ?? node}`.trim());
    item.id = `${this.run?.thread}@${number}`;
    item.description = [status, changed.join(', '), by && `by ${by}`].filter(Boolean).join(' · ') + (here ? '  ← here' : '');
    item.tooltip = error ?? [`Checkpoint ${number}${parent && parent !== number - 1 ? `, from ${parent}` : ''}: ${node} ${status}`,
      at && `at ${clock(at)}`, changed.length ? `changed ${changed.join(', ')}` : ''].filter(Boolean).join('\n');
    item.iconPath = iconOf(status);
    item.contextValue = parent ? 'checkpoint' : 'checkpoint first';
    item.command = {command: 'pawl.showState', title: 'Show State', arguments: [checkpoint]};
    return item;
  }
}

/** Both, and what keeps them fresh. */
class Runs {
  constructor() {
    this.list = new RunList();
    this.history = new History();
    const options = {showCollapseAll: false};
    this.view = vscode.window.createTreeView('pawl.runs', {treeDataProvider: this.list, ...options});
    this.historyView = vscode.window.createTreeView('pawl.history', {treeDataProvider: this.history, ...options});
    this.chosen = new vscode.EventEmitter();
    /** Fires with the run that is looked at, whenever that or anything of it changes. */
    this.onDidChoose = this.chosen.event;
    /** @type {string | null} */
    this.thread = null;
    this.asking = false;
    this.again = false;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    this.subscriptions = [
      this.view, this.historyView, this.chosen,
      this.view.onDidChangeSelection(({selection}) => selection.length && this.choose(selection[0].thread)),
      this.view.onDidChangeVisibility(() => this.soon()),
      this.historyView.onDidChangeVisibility(() => this.soon()),
    ];
    const watcher = vscode.workspace.createFileSystemWatcher('**/.pawl/pawl.db*');
    this.subscriptions.push(watcher);
    /** @type {Map<string, string>} what each database looked like when it was last heard of */
    this.looks = new Map();
    for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete]) event(uri => this.heard(uri.fsPath));
  }

  visible() {
    return this.view.visible || this.historyView.visible;
  }

  /** Looks again when there has been nothing new for a moment. */
  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), 150);
  }

  /** @param {string} thread */
  async choose(thread) {
    if (this.thread === thread) return;
    this.thread = thread;
    await this.refresh();
  }

  /**
   * Something happened to a file of a database. Whoever reads one makes and removes files beside it, and so do we: only what was
   * written counts, or each look would lead to the next.
   * @param {string} file
   */
  async heard(file) {
    const base = file.replace(/-[a-z]+$/, ''), own = await lookOf(base), log = await lookOf(`${base}-wal`);
    const look = `${own} ${log.startsWith('0 ') ? '' : log}`;
    if (this.looks.get(base) === look) return;
    this.looks.set(base, look);
    this.soon();
  }

  /** One at a time; whoever comes meanwhile has another look behind it. */
  async refresh() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    do {
      this.again = false;
      await this.look();
    } while (this.again);
    this.asking = false;
  }

  async look() {
    if (!this.visible() && !this.thread) return;
    try {
      this.list.set(await askJson(['runs', '--json', '--limit', String(RUNS), ...placeOf()]));
      this.view.message = undefined;
    } catch (error) {
      const none = error instanceof ProgramError && error.code === 2 && /There is no store/.test(error.message);
      this.view.message = none ? undefined : error instanceof Error ? error.message : String(error);
      this.list.set([]);
    }
    const run = this.list.items.find(one => one.thread === this.thread) ?? null;
    await this.lookInto(run);
  }

  /** @param {Run | null} run */
  async lookInto(run) {
    /** @type {Checkpoint[]} */
    let checkpoints = [];
    try {
      if (run) checkpoints = await askJson(['history', run.thread, '--json', '--limit', String(CHECKPOINTS), ...placeOf()], {codes: [0, 5]});
      checkpoints = checkpoints.map(one => ({...one, thread: run?.thread ?? ''})); // a click on one may come when another run is chosen
      this.historyView.message = run ? undefined : this.list.items.length ? 'Choose a run above.' : undefined;
    } catch (error) {
      this.historyView.message = error instanceof Error ? error.message : String(error);
    }
    this.history.run = run;
    this.historyView.description = run?.thread;
    this.history.set(checkpoints.slice().reverse(), run);
    this.chosen.fire(run);
  }

  dispose() {
    clearTimeout(this.timer);
    this.subscriptions.forEach(subscription => subscription.dispose());
  }
}

/** A file's size and when it was written, or '0 '. @param {string} file */
async function lookOf(file) {
  const {size, mtimeMs} = await stat(file).catch(() => ({size: 0, mtimeMs: ''}));
  return `${size} ${mtimeMs}`;
}

module.exports = {Runs};
