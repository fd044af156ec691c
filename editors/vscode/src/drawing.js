/* A graph as a picture (SVG) with what became of its nodes in a run. Pure. */
'use strict';

const {NODE_HEIGHT, layout} = require('./layout');

/**
 * @typedef {import('./types').Graph} Graph
 * @typedef {import('./types').Checkpoint} Checkpoint
 * @typedef {import('./layout').Box} Box
 */

/** @param {unknown} text */
function escaped(text) {
  return String(text).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
}

/* The look (graph.css) that a checkpoint of each status gives its node; of others it keeps what it has. */
/** @type {Record<string, string>} */
const LOOKS = {
  started: 'goes', entered: 'goes', resumed: 'goes', answered: 'goes', retrying: 'goes',
  completed: 'done', failed: 'failed', interrupted: 'waits', paused: 'waits', skipped: 'skipped', cancelled: 'skipped',
};
const OVER = new Set(['completed', 'failed', 'cancelled']);

/**
 * Those that led to where the run stands: it may have gone back, and on from there.
 * @param {Checkpoint[]} history in order
 * @param {number} head the checkpoint where it stands
 */
function lineage(history, head) {
  let wanted = head;
  return history.slice().reverse().filter(one => {
    if (one.checkpoint !== wanted) return false;
    wanted = one.parent ?? 0;
    return true;
  }).reverse();
}

/**
 * The look of each node that the run has come to.
 * @param {Checkpoint[]} history in order
 * @param {{status: string, checkpoint: number}} run
 * @param {string[]} stands the nodes that its frames are at
 */
function looksOf(history, run, stands) {
  /** @type {Map<string, string>} */
  const looks = new Map();
  for (const {node, status} of lineage(history, run.checkpoint)) {
    const look = LOOKS[status ?? ''];
    if (node && look) looks.set(node, look);
  }
  const here = run.status === 'failed' ? 'failed' : run.status === 'running' ? 'goes' : 'waits';
  if (run.status !== 'completed' && run.status !== 'cancelled') stands.forEach(node => looks.set(node, here));
  if (OVER.has(run.status)) { // nothing goes on: what had begun ended with the run
    looks.forEach((look, node) => look === 'goes' && looks.set(node, run.status === 'failed' ? 'failed' : 'skipped'));
  }
  return looks;
}

/** @param {import('./layout').Point[]} points @param {boolean} back */
function lineOf(points, back) {
  const at = (/** @type {{x: number, y: number}} */ p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
  if (back) return `M${points.map(at).join(' L')}`;
  return points.slice(1).reduce((d, p, i) => {
    const from = points[i], middle = (from.y + p.y) / 2;
    return `${d} C${at({x: from.x, y: middle})} ${at({x: p.x, y: middle})} ${at(p)}`;
  }, `M${at(points[0])}`);
}

/**
 * @param {import('./layout').Drawing} drawing
 * @param {Map<string, string>} looks
 * @returns {string}
 */
function drawn(drawing, looks) {
  const arrows = drawing.arrows.map(({points, back, edge}) => {
    const kind = [edge.on === 'error' ? 'error' : '', edge.parallel ? 'parallel' : '', edge.when ? 'when' : ''].join(' ').trim();
    const title = edge.when ? `<title>${escaped(edge.when)}</title>` : edge.on ? '<title>on an error</title>' : '';
    return `<path class="edge ${kind}" d="${lineOf(points, back)}" marker-end="url(#tip)">${title}</path>`;
  });
  return [...arrows, ...drawing.boxes.map(box => boxDrawn(box, looks))].join('\n');
}

/** @param {Box} box @param {Map<string, string>} looks */
function boxDrawn(box, looks) {
  const {x, y, width, height, node, inside} = box;
  if (!node) {
    const end = box.name === '__end__';
    return `<circle class="end${end ? ' last' : ''}" cx="${x + width / 2}" cy="${y + height / 2}" r="${width / 2 - 2}"/>`;
  }
  const label = escaped(box.label), middle = width / 2;
  return `<g class="node ${looks.get(node.name) ?? ''}" data-line="${node.line}" tabindex="0" role="button" ` +
    `aria-label="${escaped(node.name)}, ${escaped(node.kind)}" transform="translate(${x.toFixed(1)} ${y.toFixed(1)})">` +
    `<title>${escaped(node.title || node.name)} (${escaped(node.kind)}), line ${node.line}</title>` +
    `<rect width="${width.toFixed(1)}" height="${height.toFixed(1)}" rx="5"/>` +
    `<text class="name" x="${middle.toFixed(1)}" y="15">${label}</text>` +
    `<text class="kind" x="${middle.toFixed(1)}" y="27">${escaped(node.kind)}</text>` +
    (inside ? `<g transform="translate(${((width - inside.width) / 2).toFixed(1)} ${NODE_HEIGHT})">${drawn(inside, looks)}</g>` : '') +
    '</g>';
}

/**
 * @param {Graph} graph
 * @param {Map<string, string>} looks
 */
function picture(graph, looks) {
  const cleanup = graph.cleanup?.length ? [{name: 'cleanup', kind: '', line: graph.cleanup[0].line, col: 1, tasks: graph.cleanup}] : [];
  const nodes = [...graph.nodes, ...cleanup];
  const edges = cleanup.length ? [...graph.edges.filter(edge => edge.to !== '__end__'),
    {from: graph.nodes.at(-1)?.name ?? '__start__', to: 'cleanup'}, {from: 'cleanup', to: '__end__'}] : graph.edges;
  const drawing = layout(nodes, edges);
  const width = Math.ceil(drawing.width), height = Math.ceil(drawing.height);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">` +
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">' +
    '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>' +
    `${drawn(drawing, looks)}</svg>`;
}

module.exports = {lineage, looksOf, picture};
