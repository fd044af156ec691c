/* Documents that the program writes: the state of a run at a checkpoint, and what its nodes printed. */
'use strict';

const vscode = require('vscode');
const {ask, placeOf} = require('./program');

const SCHEME = 'pawl';

/** @implements {vscode.TextDocumentContentProvider} */
class Documents {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChange = this.changed.event;
  }

  /** @param {vscode.Uri} uri pawl:WHAT/NAME?PLACE */
  async provideTextDocumentContent(uri) {
    const what = uri.path.split('/')[0];
    try {
      return await ask([what === 'logs' ? 'logs' : 'show', uri.query, ...placeOf()]);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** @param {string} thread @param {number} checkpoint */
function stateUri(thread, checkpoint) {
  return vscode.Uri.from({scheme: SCHEME, path: `state/${thread}@${checkpoint}.json`, query: `${thread}@${checkpoint}`});
}

/** @param {string} thread */
function logsUri(thread) {
  return vscode.Uri.from({scheme: SCHEME, path: `logs/${thread}.log`, query: thread});
}

module.exports = {Documents, SCHEME, logsUri, stateUri};
