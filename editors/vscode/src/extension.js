/* The extension: what is where.
 *
 *     program.js       how the program is found and asked            (all that it knows comes from there)
 *     debug.js         breakpoints, F5, stepping: `pawl dap`
 *     problems.js      what is wrong with a workflow: `pawl check`
 *     completion.js    keys and values: `pawl schema`
 *     lens.js          Run | Debug
 *     runs.js          the runs and their history: `pawl runs`, `pawl history`
 *     states.js        the state at a checkpoint, what was printed: `pawl show`, `pawl logs`
 *     graph_view.js    the picture: `pawl graph`
 *
 * What needs no VS Code is in workflow.js, yaml.js, schema.js, paths.js, layout.js and drawing.js, and has its tests in
 * tests/editors/extension.test.js.
 */
'use strict';

const vscode = require('vscode');
const {Adapters, Configurations, Expressions, TYPE, activeWorkflow, attach, start, tracking} = require('./debug');
const {Completions, Explanations, shareSchemas} = require('./completion');
const {GraphView} = require('./graph_view');
const {Lenses} = require('./lens');
const {Problems} = require('./problems');
const {Runs} = require('./runs');
const {Documents, SCHEME, logsUri, stateUri} = require('./states');
const {askJson, complain, placeOf} = require('./program');

/** @param {vscode.ExtensionContext} context */
function activate(context) {
  const keep = (/** @type {vscode.Disposable[]} */ ...all) => context.subscriptions.push(...all);
  const yaml = [{language: 'yaml', scheme: 'file'}, {language: 'yaml', scheme: 'untitled'}];
  const runs = new Runs(), graph = new GraphView(context.extensionUri, runs);
  keep(runs, graph, new Problems());

  const dynamic = vscode.DebugConfigurationProviderTriggerKind.Dynamic;
  keep(
    vscode.debug.registerDebugConfigurationProvider(TYPE, new Configurations()),
    vscode.debug.registerDebugConfigurationProvider(TYPE, new Configurations(), dynamic),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, new Adapters()),
    vscode.debug.registerDebugAdapterTrackerFactory(TYPE, tracking(thread => {
      if (thread) runs.thread = thread;
      runs.soon();
    })),
    vscode.languages.registerEvaluatableExpressionProvider(yaml, new Expressions()),
    vscode.languages.registerCodeLensProvider(yaml, new Lenses()),
    vscode.languages.registerCompletionItemProvider(yaml, new Completions(), ' ', '\n', '{', ','),
    vscode.languages.registerHoverProvider(yaml, new Explanations()),
    vscode.window.registerWebviewViewProvider('pawl.graph', graph),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, new Documents()),
  );
  shareSchemas().then(undefined, complain);

  const inEditor = () => vscode.commands.executeCommand('setContext', 'pawl.isWorkflow', activeWorkflow() !== null);
  inEditor();
  keep(vscode.window.onDidChangeActiveTextEditor(inEditor), vscode.workspace.onDidSaveTextDocument(inEditor));

  /** @type {Record<string, (...args: any[]) => unknown>} */
  const commands = {
    'pawl.run': uri => start(uri, true),
    'pawl.debug': uri => start(uri, false),
    'pawl.debugRun': async run => {
      const thread = run?.thread ?? await pickRun();
      if (thread) await attach(thread);
    },
    'pawl.refresh': () => runs.refresh(),
    'pawl.showState': checkpoint => show(stateUri(checkpoint.thread, checkpoint.checkpoint)),
    'pawl.showRunState': run => show(stateUri(run.thread, run.checkpoint)),
    'pawl.showLogs': run => show(logsUri(run.thread)),
    'pawl.compare': compare,
    'pawl.copyName': run => vscode.env.clipboard.writeText(run.thread),
  };
  for (const [name, act] of Object.entries(commands)) {
    keep(vscode.commands.registerCommand(name, async (...args) => {
      try {
        await act(...args);
      } catch (error) {
        complain(error);
      }
    }));
  }
}

/** @param {vscode.Uri} uri */
async function show(uri) {
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, {preview: true, preserveFocus: true});
}

/** What a checkpoint changed. @param {import('./types').Checkpoint} checkpoint */
function compare({thread, checkpoint, parent = checkpoint, node = ''}) {
  return vscode.commands.executeCommand('vscode.diff', stateUri(thread, parent), stateUri(thread, checkpoint),
    `${thread}: ${parent} → ${checkpoint} ${node}`);
}

/** @returns {Promise<string | undefined>} */
async function pickRun() {
  /** @type {import('./types').Run[]} */
  const runs = await askJson(['runs', '--json', '--limit', '200', ...placeOf()]);
  const items = runs.map(run => ({label: run.thread, description: `${run.workflow} · ${run.status}`}));
  const chosen = await vscode.window.showQuickPick(items, {placeHolder: 'Which run?', matchOnDescription: true});
  return chosen?.label;
}

module.exports = {activate};
