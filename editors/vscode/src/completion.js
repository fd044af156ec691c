/* Keys and values of workflows, as `pawl schema` has them: completed, and explained on hover. Where the YAML extension of Red Hat
 * is installed it gets the schema instead, and does the same with it.
 */
'use strict';

const vscode = require('vscode');
const {askJson, folderOf} = require('./program');
const {aboutOf, isList, keysOf, schemasAt, valuesOf} = require('./schema');
const {workflowOf} = require('./workflow');
const {placeAt} = require('./yaml');

const KEEP = 60_000; // milliseconds: kinds from outside come and go
const RED_HAT = 'redhat.vscode-yaml';
const SCHEME = 'pawl-schema';

/** @type {Map<string, {at: number, schema: Promise<import('./schema').Schema>}>} */
const kept = new Map();

/**
 * The schema of a dialect, with the kinds from outside of a folder.
 * @param {string} dialect
 * @param {string} cwd
 */
function schemaOf(dialect, cwd) {
  const key = `${dialect} ${cwd}`, had = kept.get(key);
  if (had && Date.now() - had.at < KEEP) return had.schema;
  const schema = askJson(['schema', dialect], {cwd});
  schema.catch(() => kept.delete(key));
  kept.set(key, {at: Date.now(), schema});
  return schema;
}

/** @param {vscode.TextDocument} document @param {vscode.Position} position */
async function looked(document, position) {
  const workflow = workflowOf(document.getText());
  const place = workflow && placeAt(document.getText(), position.line, position.character);
  if (!workflow || !place) return null;
  const schema = await schemaOf(workflow.dialect, folderOf(document.uri)).catch(() => null);
  return schema && {workflow, place, schema, schemas: schemasAt(schema, place.path, place.levels)};
}

/** @implements {vscode.CompletionItemProvider} */
class Completions {
  /** @param {vscode.TextDocument} document @param {vscode.Position} position */
  async provideCompletionItems(document, position) {
    if (vscode.extensions.getExtension(RED_HAT)) return [];
    const found = await looked(document, position);
    if (!found) return [];
    const {workflow, place, schema, schemas} = found;
    const range = new vscode.Range(position.translate(0, -place.typed.length), position);
    if (place.part === 'value') return valueItems(place, schemas, workflow, range);
    const first = place.opens && isList(schemas) && !place.flow;
    const inside = first ? schemasAt(schema, [...place.path, 0], [...place.levels, new Map()]) : schemas;
    return keysOf(schema, inside).filter(key => !place.keys.has(key.name)).map(key => keyItem(key, place, first ? '- ' : '', range));
  }
}

/**
 * @param {import('./schema').Key} key
 * @param {import('./yaml').Place} place
 * @param {string} before
 * @param {vscode.Range} range
 */
function keyItem(key, place, before, range) {
  const item = new vscode.CompletionItem(key.name, vscode.CompletionItemKind.Property);
  const tail = place.flow || key.holds === 'scalar' ? ': ' : key.holds === 'list' ? ':\n  - ' : ':\n  ';
  item.insertText = before + key.name + tail;
  item.filterText = key.name;
  item.detail = key.required ? 'required' : undefined;
  item.documentation = key.about;
  item.sortText = (key.required ? '0' : '1') + key.name;
  item.range = range;
  if (key.choices) item.command = {command: 'editor.action.triggerSuggest', title: 'Choices'};
  return item;
}

/**
 * @param {import('./yaml').Place} place
 * @param {import('./schema').Schema[]} schemas
 * @param {import('./workflow').Workflow} workflow
 * @param {vscode.Range} range
 */
function valueItems(place, schemas, workflow, range) {
  const {Value, Reference} = vscode.CompletionItemKind;
  const values = valuesOf(schemas).map(value => new vscode.CompletionItem(value, Value));
  const edge = place.path[0] === 'edges' && place.path.some(step => step === 'from' || step === 'to');
  const goto = workflow.dialect === 'graph' && place.path.includes('goto') && !place.path.includes('if');
  const ends = place.path.includes('from') ? ['__start__'] : ['__end__'];
  const names = edge || goto ? [...workflow.nodes.map(node => node.name), ...ends] : [];
  const items = [...values, ...names.map(name => new vscode.CompletionItem(name, Reference))];
  for (const item of items) item.range = range;
  return items;
}

/** @implements {vscode.HoverProvider} */
class Explanations {
  /** @param {vscode.TextDocument} document @param {vscode.Position} position */
  async provideHover(document, position) {
    if (vscode.extensions.getExtension(RED_HAT)) return null;
    const range = document.getWordRangeAtPosition(position, /[A-Za-z_][\w-]*(?=\s*:(?:\s|$))/);
    const found = range && await looked(document, range.end);
    if (!found || found.place.part !== 'key') return null;
    const {place, schema} = found, word = document.getText(range);
    const about = aboutOf(schemasAt(schema, [...place.path, word], [...place.levels, new Map()]));
    return about ? new vscode.Hover(new vscode.MarkdownString().appendText(about), range) : null;
  }
}

/** Gives Red Hat's extension the schemas, for what is a workflow of ours. */
async function shareSchemas() {
  const extension = vscode.extensions.getExtension(RED_HAT);
  const api = extension && await extension.activate();
  /** @param {string} resource */
  const schemaFor = resource => {
    const document = vscode.workspace.textDocuments.find(d => d.uri.toString() === resource);
    const workflow = document && workflowOf(document.getText());
    return workflow ? `${SCHEME}://${workflow.dialect}/${encodeURIComponent(folderOf(document.uri))}` : undefined;
  };
  /** @param {string} uri */
  const textOf = async uri => {
    const {authority, path} = vscode.Uri.parse(uri);
    return JSON.stringify(await schemaOf(authority, decodeURIComponent(path.slice(1))));
  };
  api?.registerContributor?.(SCHEME, schemaFor, textOf);
}

module.exports = {Completions, Explanations, shareSchemas};
