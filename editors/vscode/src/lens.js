/* *Run | Debug* above a workflow. */
'use strict';

const vscode = require('vscode');
const {workflowOf} = require('./workflow');

/** @implements {vscode.CodeLensProvider} */
class Lenses {
  /** @param {vscode.TextDocument} document */
  provideCodeLenses(document) {
    const workflow = workflowOf(document.getText());
    if (!workflow || workflow.kind) return [];
    const range = new vscode.Range(workflow.line, 0, workflow.line, 0);
    return [
      new vscode.CodeLens(range, {title: '$(run) Run', tooltip: 'Run this workflow', command: 'pawl.run', arguments: [document.uri]}),
      new vscode.CodeLens(range, {title: '$(debug-alt) Debug', tooltip: 'Debug this workflow', command: 'pawl.debug', arguments: [document.uri]}),
    ];
  }
}

module.exports = {Lenses};
