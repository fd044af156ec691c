/* Where the nodes of a graph stand in a drawing: in rows from the start to the end, by the edges that lead to them, and
 * those that a node holds in a box below its name. Pure.
 *
 * A row is as far from the start as the longest way there, edges that lead back not counted. In a row the nodes stand in the
 * order of those that lead to them, which keeps branches apart; an edge that passes a row keeps a place there for itself.
 */
'use strict';

/**
 * @typedef {import('./types').GraphNode} GraphNode
 * @typedef {import('./types').GraphEdge} GraphEdge
 * @typedef {{x: number, y: number}} Point
 * @typedef {{node: GraphNode | null, name: string, label: string, x: number, y: number, width: number, height: number,
 *   inside: Drawing | null}} Box  node: null for start and end
 * @typedef {{points: Point[], back: boolean, edge: GraphEdge}} Arrow
 * @typedef {{boxes: Box[], arrows: Arrow[], width: number, height: number}} Drawing
 */

const START = '__start__', END = '__end__';
const LINE = 15, ROW_GAP = 26, COLUMN_GAP = 16, MARGIN = 10, LETTER = 6.6, NODE_HEIGHT = 34, DOT = 18, PASS = 8;
const WIDEST = 24; // characters of a name that are shown

/** @param {string} text */
function shortened(text) {
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text;
}

/** @param {GraphNode[]} nodes @returns {GraphEdge[]} */
function inOrder(nodes) {
  const names = [START, ...nodes.map(node => node.name), END];
  return names.slice(1).map((to, i) => ({from: names[i], to}));
}

/**
 * What a node holds: the graph of a loop, the node of a map, the lists of a task.
 * @param {GraphNode} node
 * @returns {Drawing | null}
 */
function insideOf(node) {
  const body = node.do;
  if (body) {
    const {nodes, edges} = /** @type {{nodes?: GraphNode[], edges: GraphEdge[]}} */ (body);
    return nodes ? layout(nodes, edges, false) : layout([/** @type {GraphNode} */ (body)], [], false);
  }
  const lists = Object.values(node).filter(value => Array.isArray(value) && value.length && value.every(x => x?.kind));
  const nodes = /** @type {GraphNode[]} */ (lists.flat());
  if (nodes.length === 0) return null;
  return layout(nodes, /concurrent|matrix|background/.test(node.kind) ? [] : inOrder(nodes), false);
}

/**
 * @param {GraphNode[]} nodes
 * @param {GraphEdge[]} edges
 * @param {boolean} ends with a start and an end
 * @returns {Drawing}
 */
function layout(nodes, edges, ends = true) {
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  const dot = (/** @type {string} */ name) => ({node: null, name, label: '', x: 0, y: 0, width: DOT, height: DOT, inside: null});
  if (ends) boxes.set(START, dot(START));
  nodes.forEach((node, i) => {
    const inside = insideOf(node);
    const label = shortened(String(node.title || node.name));
    const letters = Math.max(label.length, shortened(node.kind).length);
    boxes.set(boxes.has(node.name) ? `${node.name}\0${i}` : node.name, {
      node, name: node.name, label, x: 0, y: 0, inside,
      width: Math.max(letters * LETTER + 20, 72, inside ? inside.width + 2 * MARGIN : 0),
      height: NODE_HEIGHT + (inside ? inside.height + MARGIN : 0),
    });
  });
  if (ends) boxes.set(END, dot(END));
  const known = edges.filter(edge => boxes.has(edge.from) && boxes.has(edge.to));
  const back = leadBack([...boxes.keys()], known);
  const rows = rowsOf([...boxes.keys()], known.filter(edge => !back.has(edge)));
  return placed(boxes, known, back, rows);
}

/**
 * The edges that lead to a node on the way to which they begin.
 * @param {string[]} names
 * @param {GraphEdge[]} edges
 */
function leadBack(names, edges) {
  /** @type {Set<GraphEdge>} */
  const back = new Set();
  /** @type {Map<string, 'on the way' | 'done'>} */
  const seen = new Map();
  for (const first of names) {
    /** @type {{name: string, edges: GraphEdge[]}[]} */
    const way = [];
    const enter = (/** @type {string} */ name) => {
      seen.set(name, 'on the way');
      way.push({name, edges: edges.filter(edge => edge.from === name)});
    };
    if (!seen.has(first)) enter(first);
    while (way.length) {
      const here = way[way.length - 1], edge = here.edges.shift();
      if (!edge) seen.set(/** @type {{name: string}} */ (way.pop()).name, 'done');
      else if (seen.get(edge.to) === 'on the way') back.add(edge);
      else if (!seen.has(edge.to)) enter(edge.to);
    }
  }
  return back;
}

/**
 * How far from the start each one is.
 * @param {string[]} names
 * @param {GraphEdge[]} edges without those that lead back
 */
function rowsOf(names, edges) {
  const row = new Map(names.map(name => [name, 0]));
  for (let i = 0, changed = true; changed && i <= names.length; i++) {
    changed = false;
    for (const {from, to} of edges) {
      const least = (row.get(from) ?? 0) + 1;
      if ((row.get(to) ?? 0) < least) {
        row.set(to, least);
        changed = true;
      }
    }
  }
  if (row.has(END)) row.set(END, Math.max(...row.values(), row.size > 2 ? 1 : 0));
  return row;
}

/**
 * @param {Map<string, Box>} boxes
 * @param {GraphEdge[]} edges
 * @param {Set<GraphEdge>} back
 * @param {Map<string, number>} row
 * @returns {Drawing}
 */
function placed(boxes, edges, back, row) {
  /** @typedef {{width: number, height: number, from: number[], at: number, box: Box | null, edge: GraphEdge | null}} Place */
  /** @type {Place[][]} */
  const rows = [];
  /** @param {number} i @param {Place} place */
  const put = (i, place) => (rows[i] ??= []).push(place);
  /** @type {Map<string, Place>} */
  const placeOf = new Map();
  for (const [key, box] of boxes) {
    const place = {width: box.width, height: box.height, from: [], at: 0, box, edge: null};
    placeOf.set(key, place);
    put(row.get(key) ?? 0, place);
  }
  /** @type {Map<GraphEdge, Place[]>} the places that it keeps in the rows between */
  const passing = new Map();
  for (const edge of edges) {
    if (back.has(edge)) continue;
    const places = [];
    for (let i = (row.get(edge.from) ?? 0) + 1; i < (row.get(edge.to) ?? 0); i++) {
      const place = {width: PASS, height: 0, from: [], at: 0, box: null, edge};
      put(i, place);
      places.push(place);
    }
    passing.set(edge, places);
  }
  const width = arranged(rows, edges.filter(edge => !back.has(edge)), placeOf, passing);
  let y = MARGIN;
  for (const places of rows) {
    const height = Math.max(...places.map(place => place.height));
    for (const place of places) {
      if (place.box) Object.assign(place.box, {x: place.at - place.width / 2, y: y + (height - place.height) / 2});
      place.height = y + height / 2; // from here on, where it is
    }
    y += height + ROW_GAP;
  }
  const arrows = edges.map(edge => {
    const from = /** @type {Box} */ (boxes.get(edge.from)), to = /** @type {Box} */ (boxes.get(edge.to));
    const points = back.has(edge) ? around(from, to) : [
      {x: from.x + from.width / 2, y: from.y + from.height},
      ...(passing.get(edge) ?? []).map(place => ({x: place.at, y: place.height})),
      {x: to.x + to.width / 2, y: to.y},
    ];
    return {points, back: back.has(edge), edge};
  });
  const right = Math.max(width, ...arrows.flatMap(arrow => arrow.points.map(point => point.x + MARGIN)));
  return {boxes: [...boxes.values()], arrows, width: right, height: y - ROW_GAP + MARGIN};
}

/**
 * Says where in its row each place is (`at`, its middle); the width of all.
 * @param {any[][]} rows
 * @param {GraphEdge[]} edges
 * @param {Map<string, any>} placeOf
 * @param {Map<GraphEdge, any[]>} passing
 */
function arranged(rows, edges, placeOf, passing) {
  for (const edge of edges) {
    const way = [placeOf.get(edge.from), ...(passing.get(edge) ?? []), placeOf.get(edge.to)];
    way.slice(1).forEach((place, i) => place.from.push(way[i]));
  }
  const widthOf = (/** @type {any[]} */ places) => places.reduce((sum, place) => sum + place.width + COLUMN_GAP, -COLUMN_GAP);
  const width = Math.max(...rows.map(widthOf)) + 2 * MARGIN;
  for (const places of rows) {
    const middle = (/** @type {any} */ place) => place.from.length
      ? place.from.reduce((/** @type {number} */ sum, /** @type {any} */ from) => sum + from.at, 0) / place.from.length : width / 2;
    places.sort((a, b) => middle(a) - middle(b));
    let x = (width - widthOf(places)) / 2;
    for (const place of places) {
      place.at = x + place.width / 2;
      x += place.width + COLUMN_GAP;
    }
  }
  return width;
}

/** From the side of a box to that of one above it. @param {Box} from @param {Box} to @returns {Point[]} */
function around(from, to) {
  const right = Math.max(from.x + from.width, to.x + to.width) + COLUMN_GAP;
  return [
    {x: from.x + from.width, y: from.y + from.height / 2}, {x: right, y: from.y + from.height / 2},
    {x: right, y: to.y + NODE_HEIGHT / 2}, {x: to.x + to.width, y: to.y + NODE_HEIGHT / 2},
  ];
}

module.exports = {LINE, NODE_HEIGHT, inOrder, layout};
