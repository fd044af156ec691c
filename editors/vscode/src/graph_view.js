/* The picture of a workflow in the side bar: of the run that is looked at, or of the file in the editor. */
'use strict';

const path = require('node:path');
const vscode = require('vscode');
const {askJson, ask, folderOf, placeOf} = require('./program');
const {looksOf, picture} = require('./drawing');
const {workflowOf} = require('./workflow');

/**
 * @typedef {import('./types').Run} Run
 * @typedef {import('./types').Graph} Graph
 */

/** @implements {vscode.WebviewViewProvider} */
class GraphView {
  /** @param {vscode.Uri} extension @param {import('./runs').Runs} runs */
  constructor(extension, runs) {
    this.extension = extension;
    this.runs = runs;
    /** @type {vscode.WebviewView | null} */
    this.view = null;
    /** @type {string | null} the file that is drawn */
    this.file = null;
    this.number = 0; // of the latest that was asked for: older answers come to nothing
    this.subscriptions = [
      runs.onDidChoose(run => this.draw(run)),
      vscode.window.onDidChangeActiveTextEditor(() => !this.runs.history.run && this.draw(null)),
      vscode.workspace.onDidSaveTextDocument(() => !this.runs.history.run && this.draw(null)),
    ];
  }

  /** @param {vscode.WebviewView} view */
  resolveWebviewView(view) {
    this.view = view;
    view.webview.options = {enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.extension, 'media')]};
    view.webview.onDidReceiveMessage(message => this.open(message.line));
    view.onDidChangeVisibility(() => this.draw(this.runs.history.run));
    view.onDidDispose(() => (this.view = null));
    this.draw(this.runs.history.run);
  }

  /** @param {unknown} line */
  async open(line) {
    if (!this.file || typeof line !== 'number') return;
    const at = new vscode.Range(line - 1, 0, line - 1, 0);
    await vscode.window.showTextDocument(vscode.Uri.file(this.file), {selection: at}).then(undefined, () => {});
  }

  /** @param {Run | null} run */
  async draw(run) {
    const view = this.view, number = ++this.number;
    if (!view?.visible) return;
    const drawn = await (run ? this.ofRun(run) : this.ofEditor()).catch(error => ({text: error.message, name: '', file: null}));
    if (number !== this.number || this.view !== view) return;
    this.file = drawn.file;
    view.description = drawn.name;
    view.webview.html = this.page(view.webview, drawn.text);
  }

  /** @param {Run} run */
  async ofRun(run) {
    const [graph, status] = await Promise.all([
      askJson(['graph', '--run', run.thread, '--json', ...placeOf()]),
      askJson(['status', run.thread, '--json', ...placeOf()]),
    ]);
    const history = this.runs.history.items.slice().reverse();
    /** @type {{node?: string, waits?: string}[]} */
    const frames = status.frames ?? [];
    const stands = frames.flatMap(({node, waits}) => node && waits !== 'join' ? [node] : []); // one that waits for its branches is done there
    return {text: picture(graph, looksOf(history, run, stands)), name: run.thread, file: graph.file ? path.resolve(folderOf(), graph.file) : null};
  }

  async ofEditor() {
    const document = vscode.window.activeTextEditor?.document;
    const workflow = document?.languageId === 'yaml' && workflowOf(document.getText());
    if (!document || !workflow) return {text: '<p>Choose a run, or open a workflow.</p>', name: '', file: null};
    const inFile = document.uri.scheme === 'file';
    const cwd = inFile ? path.dirname(document.uri.fsPath) : folderOf();
    const text = await ask(['graph', '--json', '-'], {cwd, input: document.getText(), codes: [0, 1]});
    const graph = JSON.parse(text);
    if (!graph.nodes) return {text: '<p>The workflow has errors.</p>', name: '', file: null};
    return {text: picture(graph, new Map()), name: graph.name === '-' ? '' : graph.name, file: inFile ? document.uri.fsPath : null};
  }

  /** @param {vscode.Webview} webview @param {string} body */
  page(webview, body) {
    const of = (/** @type {string} */ name) => webview.asWebviewUri(vscode.Uri.joinPath(this.extension, 'media', name));
    const safe = body.startsWith('<') ? body : `<p>${body.replace(/[&<>]/g, c => `&#${c.charCodeAt(0)};`)}</p>`;
    return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${webview.cspSource}; script-src ${webview.cspSource}">
<link rel="stylesheet" href="${of('graph.css')}"></head><body>${safe}<script src="${of('graph.js')}"></script></body></html>`;
  }

  dispose() {
    this.subscriptions.forEach(subscription => subscription.dispose());
  }
}

module.exports = {GraphView};
