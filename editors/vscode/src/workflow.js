/* What a YAML text is to Pawl: a workflow of one of its dialects, or nothing. Pure. */
'use strict';

const {outline, unquoted} = require('./yaml');

/**
 * @typedef {'graph' | 'tasks' | 'pipeline'} Dialect
 * @typedef {{dialect: Dialect, line: number, name: string, kind: boolean, nodes: {name: string, line: number}[]}} Workflow
 *   line: of its first key, from 0; kind: it is one that others use
 */

/** @type {[string, Dialect][]} */
const DIALECTS = [['nodes', 'graph'], ['tasks', 'tasks'], ['steps', 'pipeline']];
const LARGEST = 1 << 20; // characters of a file that is looked at while it is written

/**
 * What tells a workflow from the other YAML files of a folder: a list of its dialect at the top, and nothing that only
 * files of others have.
 * @param {string} text
 * @returns {Workflow | null}
 */
function workflowOf(text) {
  if (text.length > LARGEST || !/^(nodes|tasks|steps)\s*:/m.test(text)) return null;
  const top = outline(text).root.value;
  if (top?.type !== 'map') return null;
  /** @param {string} key */
  const entry = key => top.entries.find(e => e.key === key);
  const [key, dialect] = DIALECTS.find(([key]) => entry(key)) ?? [];
  const list = key ? entry(key) : undefined;
  if (!list || !dialect || entry('apiVersion') || entry('jobs') || entry('pool')) return null;
  const empty = list.value === null && (list.text === '' || list.text.startsWith('['));
  if (list.value?.type !== 'list' && !empty) return null;
  const items = list.value?.type === 'list' ? list.value.items : [];
  if (dialect === 'pipeline' && items.length && !items.some(item => has(item, 'type'))) return null;
  return {
    dialect,
    line: Math.min(...top.entries.map(e => e.line)),
    name: unquoted(entry('name')?.text ?? ''),
    kind: entry('kind') !== undefined,
    nodes: items.map(item => ({name: valueOf(item, 'name') || valueOf(item, 'id'), line: item.line})).filter(node => node.name),
  };
}

/**
 * @param {import('./yaml').Entry} item
 * @param {string} key
 */
function has(item, key) {
  return item.value?.type === 'map' ? item.value.entries.some(e => e.key === key) : new RegExp(`[{,]\\s*${key}\\s*:`).test(item.text);
}

/**
 * A scalar of a list's item, which may be written {in: flow}.
 * @param {import('./yaml').Entry} item
 * @param {string} key
 */
function valueOf(item, key) {
  if (item.value?.type === 'map') return unquoted(item.value.entries.find(e => e.key === key)?.text ?? '');
  const found = new RegExp(`^\\{(?:.*,)?\\s*${key}\\s*:\\s*("[^"]*"|'[^']*'|[^,{}]+)`).exec(item.text);
  return found ? unquoted(found[1]) : '';
}

module.exports = {workflowOf};
