/* Debugging: `pawl dap` is the adapter, and this says what it is started with. */
'use strict';

const path = require('node:path');
const vscode = require('vscode');
const {complain, findProgram, folderOf, programPath, setting} = require('./program');
const {pathAt} = require('./paths');
const {workflowOf} = require('./workflow');

const TYPE = 'pawl';

/** The configuration for a workflow. @param {vscode.Uri} uri @param {boolean} noDebug */
function launchOf(uri, noDebug) {
  const name = path.basename(uri.fsPath);
  return {type: TYPE, request: 'launch', name: `${noDebug ? 'Run' : 'Debug'} ${name}`, program: uri.fsPath, noDebug};
}

/** Whether something is asked of this workflow that it does not say itself: those are started from the editor. */
function activeWorkflow() {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'yaml' && workflowOf(document.getText()) ? document : null;
}

/** @implements {vscode.DebugConfigurationProvider} */
class Configurations {
  /** For a launch.json that is made, and for the list of what can be debugged. */
  provideDebugConfigurations() {
    const document = activeWorkflow();
    return document ? [launchOf(document.uri, false)] : [
      {type: TYPE, request: 'launch', name: 'Debug the workflow in the editor', program: '${file}'},
    ];
  }

  /**
   * F5 without a launch.json comes with nothing in it.
   * @param {vscode.WorkspaceFolder | undefined} folder
   * @param {vscode.DebugConfiguration} config
   */
  resolveDebugConfiguration(folder, config) {
    if (config.type || config.request || config.name) return config;
    const document = activeWorkflow();
    if (document) return launchOf(document.uri, config.noDebug === true);
    vscode.window.showErrorMessage('The file in the editor is no workflow: it has no list of `nodes`, `tasks` or `steps`.');
    return undefined;
  }

  /**
   * @param {vscode.WorkspaceFolder | undefined} folder
   * @param {vscode.DebugConfiguration} config
   */
  async resolveDebugConfigurationWithSubstitutedVariables(folder, config) {
    if (config.request === 'launch' && !config.program) {
      vscode.window.showErrorMessage('The configuration has no `program`: the workflow to debug, as "${file}".');
      return undefined;
    }
    const uri = config.program ? vscode.Uri.file(config.program) : undefined;
    config.cwd ??= folder?.uri.fsPath ?? folderOf(uri);
    if (!config.server && !config.store) {
      const server = setting('server', uri), store = setting('store', uri);
      if (server) config.server = server;
      else if (store) config.store = store;
    }
    try {
      await findProgram(config.cwd, config.env?.PATH);
    } catch (error) {
      complain(error);
      return undefined;
    }
    return config;
  }
}

/** @implements {vscode.DebugAdapterDescriptorFactory} */
class Adapters {
  /** @param {vscode.DebugSession} session */
  createDebugAdapterDescriptor(session) {
    const {cwd, env} = session.configuration;
    return new vscode.DebugAdapterExecutable(programPath(), ['dap'], {cwd: cwd || folderOf(), env});
  }
}

/** What the values of are shown on hover, while a run is paused. @implements {vscode.EvaluatableExpressionProvider} */
class Expressions {
  /** @param {vscode.TextDocument} document @param {vscode.Position} position */
  provideEvaluatableExpression(document, position) {
    const dialect = workflowOf(document.getText())?.dialect ?? 'graph';
    const found = pathAt(document.lineAt(position.line).text, position.character, dialect);
    if (!found) return undefined;
    const range = new vscode.Range(position.line, found.begin, position.line, found.end);
    return new vscode.EvaluatableExpression(range, found.expression);
  }
}

/**
 * Starts the workflow in a file, or in the editor.
 * @param {vscode.Uri | undefined} uri
 * @param {boolean} noDebug
 */
async function start(uri, noDebug) {
  const target = uri ?? vscode.window.activeTextEditor?.document.uri;
  if (!target) return;
  const document = vscode.workspace.textDocuments.find(one => one.uri.toString() === target.toString());
  if (document?.isDirty && !await document.save()) return;
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(target), launchOf(target, noDebug), {noDebug});
}

/** Comes to a run that is there. @param {string} thread */
async function attach(thread) {
  const config = {type: TYPE, request: 'attach', name: `Debug ${thread}`, thread};
  await vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], config);
}

/**
 * Tells when something happens to a run that is debugged here, and what it is called.
 * @param {(thread: string | null) => void} happened
 * @returns {vscode.DebugAdapterTrackerFactory}
 */
function tracking(happened) {
  const moves = new Set(['stopped', 'continued', 'terminated', 'exited', 'invalidated']);
  return {
    createDebugAdapterTracker: () => ({
      onDidSendMessage: message => {
        if (message.type !== 'event') return;
        if (message.event === 'process') happened(message.body?.thread ?? null);
        else if (moves.has(message.event)) happened(null);
      },
    }),
  };
}

module.exports = {Adapters, Configurations, Expressions, TYPE, activeWorkflow, attach, start, tracking};
