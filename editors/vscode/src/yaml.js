/* The outline of a YAML text, and where in it a cursor is: enough for completion in a file that is being written, and
 * so never refuses one. Block collections count by their indentation; a flow collection is followed on the
 * line of the cursor; block scalars and comments hold nothing. The program says what is wrong with a file (problems.js).
 *
 *     const place = placeAt(text, line, column);
 *     place.path      ['nodes', 3, 'retry']: the keys and places that lead to the collection the cursor is in
 *     place.levels    for each step of the path, and for the collection itself, what scalars stand beside: Map of key and text
 */
'use strict';

/**
 * @typedef {{type: 'map', column: number, entries: Entry[]} | {type: 'list', column: number, items: Entry[]}} Collection
 * @typedef {{key: string, line: number, column: number, text: string, value: Collection | null}} Entry
 *   one of a map, or of a list (its key is ''); text is what stands behind it on its line
 * @typedef {{line: number, column: number, key: string, text: string, item: boolean}} Token
 * @typedef {{
 *   path: (string | number)[],
 *   levels: Map<string, string>[],
 *   part: 'key' | 'value',
 *   key: string,
 *   typed: string,
 *   keys: Set<string>,
 *   flow: boolean,
 *   opens: boolean,
 * }} Place  part: what is written at the cursor; key: whose value, for a value; typed: the word before the cursor; keys:
 *   those that are there already; flow: inside { } or [ ]; opens: the cursor begins a collection
 */

const KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#&*!|>%@`"'{[\],}-][^#]*?|-[^\s#][^#]*?))\s*:(?=\s|$)/;
const BLOCK_SCALAR = /^(?:[&!]\S+\s+)*[|>][-+0-9]*\s*(?:#.*)?$/;
const COMMENT = /(?:^|\s)#.*$/;

/** @param {string} text */
function unquoted(text) {
  const quoted = /^(?:"(.*)"|'(.*)')$/s.exec(text.trim());
  return quoted ? quoted[1] ?? quoted[2].replace(/''/g, "'") : text.trim();
}

/**
 * What a line adds to the outline: items and at most one key.
 * @param {string} text
 * @param {number} line
 * @param {boolean} cursor a word without a colon counts as a key
 * @returns {Token[]}
 */
function tokensOf(text, line, cursor) {
  /** @type {Token[]} */
  const tokens = [];
  let column = text.length - text.trimStart().length;
  for (let item; (item = /^-(?:\s+|$)/.exec(text.slice(column))); column += item[0].length) {
    tokens.push({line, column, key: '', text: text.slice(column + item[0].length), item: true});
  }
  const rest = text.slice(column);
  const key = KEY.exec(rest);
  if (key) {
    const name = key[1] ?? key[2] ?? key[3];
    tokens.push({line, column, key: name, text: rest.slice(key[0].length).trim(), item: false});
  } else if (cursor && /^[^{["'|>]*$/.test(rest)) {
    tokens.push({line, column, key: '\0', text: '', item: false});
  }
  return tokens;
}

/**
 * @param {string} text
 * @param {{line: number, column: number} | null} cursor
 */
function outline(text, cursor = null) {
  /** @type {Entry} */
  const root = {key: '', line: 0, column: -1, text: '', value: null};
  /** @type {Entry[]} the way to the entry that was added last, from the root on */
  let way = [root];
  /** @type {Entry[] | null} */
  let at = null;
  let scalar = -1; // the column beyond which lines belong to a block scalar
  const lines = text.split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const here = cursor !== null && cursor.line === i;
    const blank = lines[i].trim() === '';
    const indent = lines[i].length - lines[i].trimStart().length;
    if (scalar >= 0 && (blank || indent > scalar)) {
      if (here) return {root, way: null};
      continue;
    }
    scalar = -1;
    const comment = lines[i].trimStart().startsWith('#');
    if (!here && (blank || comment || /^(---|\.\.\.)(\s|$)/.test(lines[i]))) continue;
    if (here && comment) return {root, way: null};
    const line = here && blank ? ' '.repeat(cursor.column) : lines[i];
    for (const token of tokensOf(line, i, here)) {
      way = added(way, token);
      if (here) at = way;
      if (BLOCK_SCALAR.test(token.text)) scalar = token.column;
    }
  }
  return {root, way: at};
}

/**
 * Adds what a token says to the collection that it belongs to, by its column.
 * @param {Entry[]} way
 * @param {Token} token
 */
function added(way, token) {
  /* An entry holds the token if its own collection begins further left: a list may begin in the column of the key that has it. */
  let depth = way.length - 1;
  const fits = (/** @type {Entry} */ e) =>
    e.column < token.column || (token.item && e.column === token.column && e.key !== '');
  while (depth > 0 && !fits(way[depth])) depth--;
  const holder = way[depth];
  const type = token.item ? 'list' : 'map';
  if (holder.value === null || holder.value.type !== type) {
    holder.value = type === 'list' ? {type, column: token.column, items: []} : {type: 'map', column: token.column, entries: []};
  }
  /** @type {Entry} */
  const entry = {key: token.key, line: token.line, column: token.column, text: token.text.replace(COMMENT, '').trim(), value: null};
  (holder.value.type === 'list' ? holder.value.items : holder.value.entries).push(entry);
  return [...way.slice(0, depth + 1), entry];
}

/**
 * Where the end of a line is in a flow collection that begins in it.
 * @param {string} text from the bracket to the cursor
 */
function flowAt(text) {
  /** @typedef {{map: boolean, keys: Map<string, string>, key: string | null, n: number, begin: number}} Open */
  /** @type {Open[]} */
  const open = [];
  let quote = '';
  const top = () => open[open.length - 1];
  const ended = (/** @type {number} */ i) => {
    const it = top();
    if (it?.map && it.key !== null) it.keys.set(it.key, unquoted(text.slice(it.begin, i)));
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quote) {
      if (c === '\\' && quote === '"') i++;
      else if (c === quote) quote = '';
    } else if ((c === '"' || c === "'") && /[\s,{[:]/.test(text[i - 1] ?? ' ')) {
      quote = c;
    } else if (c === '{' || c === '[') {
      open.push({map: c === '{', keys: new Map(), key: null, n: 0, begin: i + 1});
    } else if (c === '}' || c === ']') {
      open.pop();
    } else if (c === ',' && top()) {
      ended(i);
      Object.assign(top(), {key: null, n: top().n + 1, begin: i + 1});
    } else if (c === ':' && top()?.map && top().key === null && /\s|$/.test(text[i + 1] ?? ' ')) {
      Object.assign(top(), {key: unquoted(text.slice(top().begin, i)), begin: i + 1});
    }
  }
  return open.map((it, depth) => ({...it, typed: depth === open.length - 1 ? text.slice(it.begin).trimStart() : ''}));
}

/** @param {Entry[]} entries */
function scalars(entries) {
  return new Map(entries.map(e => [e.key, unquoted(e.text)]));
}

/**
 * @param {string} text
 * @param {number} line from 0
 * @param {number} column from 0
 * @returns {Place | null} null where nothing can be completed: in a comment, in a block scalar
 */
function placeAt(text, line, column) {
  const written = text.split(/\r?\n/)[line] ?? '';
  const before = written.slice(0, column);
  if (COMMENT.test(before)) return null;
  const {way} = outline(text, {line, column});
  if (!way) return null;
  /** @type {Place} */
  const place = {path: [], levels: [], part: 'key', key: '', typed: '', keys: new Set(), flow: false, opens: false};
  for (let i = 1; i < way.length; i++) {
    const around = /** @type {Collection} */ (way[i - 1].value);
    place.levels.push(around.type === 'map' ? scalars(around.entries) : new Map());
    place.path.push(around.type === 'map' ? way[i].key : around.items.indexOf(way[i]));
  }
  const last = way[way.length - 1];
  const begins = last.key === '\0' || last.key === '' ? last.column : written.indexOf(':', last.column) + 1;
  const inKey = last.key !== '\0' && last.key !== '' && column < begins;
  if (last.key === '\0' || inKey) {
    const entries = /** @type {{entries: Entry[]}} */ (way[way.length - 2].value).entries;
    place.path.pop();
    place.keys = new Set(entries.map(e => e.key).filter(key => key !== '\0' && key !== last.key));
    place.typed = before.slice(last.column).trimStart();
    place.opens = entries.length === 1;
    return place;
  }
  place.part = 'value';
  place.key = last.key;
  const open = before.slice(begins).search(/[{[]/);
  const between = open < 0 ? '' : before.slice(begins, begins + open).replace(/^-/, '').trim();
  if (open >= 0 && between === '') return inFlow(place, before.slice(begins + open));
  place.typed = before.slice(begins).trimStart();
  place.levels.push(new Map());
  return place;
}

/**
 * @param {Place} place that of the value which the collection is
 * @param {string} text
 */
function inFlow(place, text) {
  const opened = flowAt(text);
  for (const [i, it] of opened.entries()) {
    const inner = i === opened.length - 1;
    place.levels.push(it.keys);
    if (!inner) {
      place.path.push(it.map ? it.key ?? '' : it.n);
    } else if (!it.map) {
      place.path.push(it.n);
      place.levels.push(new Map());
    } else if (it.key !== null) {
      place.path.push(it.key);
      place.key = it.key;
      place.levels.push(new Map());
    } else {
      place.part = 'key';
      place.keys = new Set(it.keys.keys());
    }
    place.typed = it.typed;
  }
  place.flow = opened.length > 0;
  if (!place.flow) place.levels.push(new Map());
  return place;
}

module.exports = {outline, placeAt, unquoted};
