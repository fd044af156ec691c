// Where nodes stand and which way edges go. ELK does it, in a worker of its own, which is fetched when the first graph is
// drawn. A graph that is too large for it is laid out in layers here: less pretty, and at once.
import type {ELK as Elk, ElkExtendedEdge, ElkNode} from 'elkjs/lib/elk-api.js';
import type {GraphEdge, GraphNode} from './model';

export interface Placed {
  nodes: Map<string, {x: number; y: number; width: number; height: number}>; // inside the node that holds it
  paths: Map<string, {d: string; labelX: number; labelY: number}>; // where they are in the whole
  width: number;
  height: number;
}

export const NODE = {width: 132, height: 36}, TERM = 12;
const ELK_MOST = 400, GROUP_TOP = 26, GROUP_PAD = 10;

let elk: Promise<Elk> | null = null;

function theElk(): Promise<Elk> {
  elk ??= (async () => {
    const [{default: ELK}, {default: url}] = await Promise.all([
      import('elkjs/lib/elk-api.js'), import('elkjs/lib/elk-worker.min.js?url')]);
    return new ELK({workerUrl: url, workerFactory: at => new Worker(at!)});
  })();
  return elk;
}

export function sizeOf(node: GraphNode): {width: number; height: number} {
  if (node.end) return {width: TERM, height: TERM};
  const letters = Math.max(node.name.length * 6.9, node.kind.length * 6);
  return {width: Math.round(Math.min(Math.max(NODE.width, letters + 44), 220)), height: NODE.height};
}

const smooth = (points: {x: number; y: number}[]): string => {
  const [first, ...rest] = points;
  let d = `M${first!.x} ${first!.y}`;
  if (rest.length === 1) {
    const to = rest[0]!;
    return Math.abs(to.x - first!.x) < 2 ? `${d}L${to.x} ${to.y}` : `${d}C${first!.x} ${(first!.y + to.y) / 2} ${to.x} ${(first!.y + to.y) / 2} ${to.x} ${to.y}`;
  }
  const R = 8;
  for (let i = 0; i < rest.length - 1; i++) {
    const before = i ? rest[i - 1]! : first!, at = rest[i]!, after = rest[i + 1]!;
    const toward = (a: typeof at, b: typeof at): typeof at => {
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1, r = Math.min(R, length / 2);
      return {x: a.x + (b.x - a.x) / length * r, y: a.y + (b.y - a.y) / length * r};
    };
    const into = toward(at, before), out = toward(at, after);
    d += `L${into.x} ${into.y}Q${at.x} ${at.y} ${out.x} ${out.y}`;
  }
  const last = rest.at(-1)!;
  return `${d}L${last.x} ${last.y}`;
};

async function withElk(nodes: GraphNode[], edges: GraphEdge[]): Promise<Placed> {
  const made = new Map<string, ElkNode>();
  const root: ElkNode = {id: '(root)', children: [], edges: [], layoutOptions: {
    'elk.algorithm': 'layered', 'elk.direction': 'DOWN', 'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
    'elk.layered.spacing.nodeNodeBetweenLayers': '20', 'elk.spacing.nodeNode': '16', 'elk.spacing.edgeNode': '10',
    'elk.spacing.edgeEdge': '10', 'elk.layered.spacing.edgeNodeBetweenLayers': '8', 'elk.edgeRouting': 'ORTHOGONAL',
    'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX', 'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
    'elk.layered.feedbackEdges': 'true', 'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER', 'elk.padding': '[top=8,left=12,bottom=8,right=12]'}};
  for (const one of nodes) {
    made.set(one.id, {id: one.id, ...one.holds ? {children: [], layoutOptions: {
      'elk.padding': `[top=${GROUP_TOP},left=${GROUP_PAD},bottom=${GROUP_PAD},right=${GROUP_PAD}]`}} : sizeOf(one)});
  }
  for (const one of nodes) (made.get(one.parent) ?? root).children!.push(made.get(one.id)!);
  root.edges = edges.map((one): ElkExtendedEdge => ({id: one.id, sources: [one.from], targets: [one.to],
    ...one.label ? {labels: [{text: one.label, width: Math.min(one.label.length * 6, 130), height: 14}]} : {}}));
  const laid = await (await theElk()).layout(root);

  const placed: Placed = {nodes: new Map(), paths: new Map(), width: laid.width ?? 0, height: laid.height ?? 0};
  const at = new Map<string, {x: number; y: number}>([['(root)', {x: 0, y: 0}]]);
  const work: {node: ElkNode; x: number; y: number}[] = [{node: laid, x: 0, y: 0}];
  while (work.length) {
    const {node, x, y} = work.pop()!;
    for (const child of node.children ?? []) {
      placed.nodes.set(child.id, {x: child.x!, y: child.y!, width: child.width!, height: child.height!});
      at.set(child.id, {x: x + child.x!, y: y + child.y!});
      work.push({node: child, x: x + child.x!, y: y + child.y!});
    }
  }
  for (const edge of (laid.edges ?? []) as (ElkExtendedEdge & {container?: string})[]) {
    const origin = at.get(edge.container ?? '(root)') ?? {x: 0, y: 0};
    const section = edge.sections?.[0];
    if (!section) continue;
    const points = [section.startPoint, ...section.bendPoints ?? [], section.endPoint]
      .map(p => ({x: p.x + origin.x, y: p.y + origin.y}));
    const label = edge.labels?.[0], middle = points[Math.floor(points.length / 2)]!;
    placed.paths.set(edge.id, {d: smooth(points),
      labelX: label?.x === undefined ? middle.x : origin.x + label.x + (label.width ?? 0) / 2,
      labelY: label?.y === undefined ? middle.y : origin.y + label.y + 7});
  }
  return placed;
}

/** Layers by the longest way from the start, without the edges that lead back; nodes in the order of the file. */
function inLayers(nodes: GraphNode[], edges: GraphEdge[]): Placed {
  const top = nodes.filter(one => !one.parent), index = new Map(top.map((one, i) => [one.id, i]));
  const owner = new Map(nodes.map(one => [one.id, one]));
  const outermost = (id: string): number => {
    let one = owner.get(id);
    while (one?.parent) one = owner.get(one.parent);
    return one ? index.get(one.id)! : -1;
  };
  const order = top.map(one => one.end === 'start' ? -1 : one.end === 'end' ? Infinity : one.line);
  const layer = new Array<number>(top.length).fill(0), after: number[][] = top.map(() => []), before = new Array<number>(top.length).fill(0);
  for (const one of edges) {
    const a = outermost(one.from), b = outermost(one.to);
    if (a < 0 || b < 0 || a === b || order[a]! >= order[b]!) continue;
    after[a]!.push(b);
    before[b]!++;
  }
  const ready = top.map((_, i) => i).filter(i => !before[i]);
  for (let i = 0; i < ready.length; i++) {
    for (const b of after[ready[i]!]!) {
      layer[b] = Math.max(layer[b]!, layer[ready[i]!]! + 1);
      if (!--before[b]!) ready.push(b);
    }
  }
  const rows: number[][] = [];
  top.forEach((_, i) => (rows[layer[i]!] ??= []).push(i));
  const placed: Placed = {nodes: new Map(), paths: new Map(), width: 0, height: 0};
  const GAP_X = 24, GAP_Y = 34;
  let y = 14;
  for (const row of rows) {
    if (!row) continue;
    const width = row.reduce((sum, i) => sum + sizeOf(top[i]!).width + GAP_X, -GAP_X);
    let x = -width / 2;
    for (const i of row) {
      const size = sizeOf(top[i]!);
      placed.nodes.set(top[i]!.id, {x, y, ...size});
      x += size.width + GAP_X;
    }
    placed.width = Math.max(placed.width, width);
    y += NODE.height + GAP_Y;
  }
  placed.height = y;
  for (const one of edges) {
    const a = placed.nodes.get(one.from), b = placed.nodes.get(one.to);
    if (!a || !b) continue;
    const from = {x: a.x + a.width / 2, y: a.y + a.height}, to = {x: b.x + b.width / 2, y: b.y};
    const back = to.y < from.y, bow = Math.max(a.x + a.width, b.x + b.width) + 40;
    placed.paths.set(one.id, {labelX: (from.x + to.x) / 2, labelY: (from.y + to.y) / 2,
      d: back ? `M${a.x + a.width} ${a.y + 19}C${bow} ${a.y + 19} ${bow} ${b.y + 19} ${b.x + b.width} ${b.y + 19}` : smooth([from, to])});
  }
  return placed;
}

/** What is in groups is left out where there are too many nodes: `folded` says that. */
export async function layout(nodes: GraphNode[], edges: GraphEdge[]): Promise<Placed & {folded: boolean}> {
  if (nodes.length <= ELK_MOST) return {...await withElk(nodes, edges), folded: false};
  return {...inLayers(nodes, edges), folded: nodes.some(one => one.parent)};
}
