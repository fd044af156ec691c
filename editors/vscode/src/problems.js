/* What `pawl check` has against a workflow, while it is written: the text in the editor is checked, not the file. */
'use strict';

const path = require('node:path');
const vscode = require('vscode');
const {askJson, complain, ProgramError, setting} = require('./program');
const {workflowOf} = require('./workflow');

/** @typedef {import('./types').Problem} Problem */

const PAUSE = 300; // milliseconds in which nothing is typed
const HAS_PROBLEMS = [0, 1, 2]; // exit codes that come with a list

class Problems {
  constructor() {
    this.shown = vscode.languages.createDiagnosticCollection('pawl');
    /** @type {Map<string, {timer?: NodeJS.Timeout, asked?: AbortController}>} what is under way, by document */
    this.going = new Map();
    /** @type {Map<string, Map<string, vscode.Diagnostic[]>>} by the document that was checked, and the file they are in */
    this.found = new Map();
    this.complained = false;
    this.subscriptions = [
      this.shown,
      vscode.workspace.onDidOpenTextDocument(document => this.later(document, 0)),
      vscode.workspace.onDidChangeTextDocument(({document}) => this.when() === 'type' && this.later(document, PAUSE)),
      vscode.workspace.onDidSaveTextDocument(() => vscode.workspace.textDocuments.forEach(d => this.later(d, 0))),
      vscode.workspace.onDidCloseTextDocument(document => this.forget(document)),
      vscode.workspace.onDidChangeConfiguration(change => {
        if (change.affectsConfiguration('pawl')) vscode.workspace.textDocuments.forEach(d => this.later(d, 0));
      }),
    ];
    vscode.workspace.textDocuments.forEach(document => this.later(document, 0));
  }

  when() {
    return setting('check');
  }

  /** @param {vscode.TextDocument} document @param {number} pause */
  later(document, pause) {
    if (document.languageId !== 'yaml' || !['file', 'untitled'].includes(document.uri.scheme)) return;
    const key = document.uri.toString(), before = this.going.get(key);
    clearTimeout(before?.timer);
    before?.asked?.abort();
    this.going.set(key, {timer: setTimeout(() => this.check(document), pause)});
  }

  /** @param {vscode.TextDocument} document */
  async check(document) {
    const key = document.uri.toString();
    if (document.isClosed || this.when() === 'off' || !workflowOf(document.getText())) return this.forget(document);
    const asked = new AbortController();
    this.going.set(key, {asked});
    const cwd = document.uri.scheme === 'file' ? path.dirname(document.uri.fsPath) : undefined;
    try {
      /** @type {Problem[]} */
      const problems = await askJson(['check', '--json', '-'], {cwd, input: document.getText(), codes: HAS_PROBLEMS, signal: asked.signal});
      if (asked.signal.aborted || !Array.isArray(problems)) return;
      this.found.set(key, this.sorted(document, cwd, problems));
      this.show();
    } catch (error) {
      if (asked.signal.aborted || this.complained) return;
      this.complained = error instanceof ProgramError && error.code === null; // once: it is checked at every key
      complain(error);
    }
  }

  /**
   * By the file that each is in.
   * @param {vscode.TextDocument} document
   * @param {string | undefined} cwd
   * @param {Problem[]} problems
   */
  sorted(document, cwd, problems) {
    /** @type {Map<string, vscode.Diagnostic[]>} */
    const byFile = new Map([[document.uri.toString(), []]]);
    for (const problem of problems) {
      const here = problem.file === '-';
      if (!here && !cwd) continue;
      const uri = here ? document.uri : vscode.Uri.file(path.resolve(cwd ?? '', problem.file));
      const diagnostic = new vscode.Diagnostic(rangeOf(here ? document : null, problem), problem.message,
        problem.severity === 'warning' ? vscode.DiagnosticSeverity.Warning : vscode.DiagnosticSeverity.Error);
      diagnostic.source = 'pawl';
      byFile.set(uri.toString(), [...byFile.get(uri.toString()) ?? [], diagnostic]);
    }
    return byFile;
  }

  /** A file that is open itself has what was found in it; others what was found on the way to them. */
  show() {
    this.shown.clear();
    /** @type {Map<string, vscode.Diagnostic[]>} */
    const all = new Map();
    for (const [checked, byFile] of this.found) {
      for (const [file, diagnostics] of byFile) {
        if (file !== checked && this.found.has(file)) continue;
        const known = all.get(file) ?? [];
        const fresh = diagnostics.filter(d => !known.some(k => k.message === d.message && k.range.isEqual(d.range)));
        all.set(file, [...known, ...fresh]);
      }
    }
    all.forEach((diagnostics, file) => this.shown.set(vscode.Uri.parse(file), diagnostics));
  }

  /** @param {vscode.TextDocument} document */
  forget(document) {
    const key = document.uri.toString(), going = this.going.get(key);
    clearTimeout(going?.timer);
    going?.asked?.abort();
    this.going.delete(key);
    if (this.found.delete(key)) this.show();
  }

  dispose() {
    for (const {timer, asked} of this.going.values()) {
      clearTimeout(timer);
      asked?.abort();
    }
    this.subscriptions.forEach(subscription => subscription.dispose());
  }
}

/**
 * From the place of the problem to the end of the word there.
 * @param {vscode.TextDocument | null} document
 * @param {Problem} problem
 */
function rangeOf(document, problem) {
  const line = Math.max(problem.line - 1, 0);
  if (!document || line >= document.lineCount) return new vscode.Range(line, Math.max(problem.col - 1, 0), line, 1000);
  const text = document.lineAt(line).text;
  const begin = [...text].slice(0, Math.max(problem.col - 1, 0)).join('').length; // columns count characters
  const word = /^(?:"[^"]*"|'[^']*'|[^\s,:{}[\]]+)/.exec(text.slice(begin));
  return new vscode.Range(line, begin, line, word ? begin + word[0].length : text.length);
}

module.exports = {Problems};
