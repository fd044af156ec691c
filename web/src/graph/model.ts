// The graph of a workflow, as the server draws it in JSON, made flat: nodes with the one that they are in, and edges.

export interface DrawnNode {
  name: string;
  kind: string;
  title?: string;
  line: number;
  col: number;
  cleanup?: boolean;
  do?: DrawnNode | {nodes: DrawnNode[]; edges: DrawnEdge[]};
  workflow?: {name: string; file: string; nodes?: DrawnNode[]; edges?: DrawnEdge[]};
  [tasks: string]: unknown;
}

export interface DrawnEdge {
  from: string;
  to: string;
  when?: string;
  parallel?: boolean;
  join?: string;
  on?: string;
}

export interface Drawing {
  name: string;
  dialect: string;
  file: string;
  state: Record<string, unknown>;
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  cleanup?: DrawnNode[];
}

export interface GraphNode {
  id: string; // its path: "publish/upload"
  name: string;
  kind: string;
  title?: string;
  file: string;
  line: number;
  parent: string; // '': none
  holds: boolean; // nodes of its own
  end?: 'start' | 'end';
}

export interface GraphEdge {
  id: string;
  from: string;
  to: string;
  label: string;
  error: boolean;
  parallel: boolean;
}

export interface Model {
  name: string;
  dialect: string;
  file: string;
  state: Record<string, unknown>;
  nodes: GraphNode[];
  edges: GraphEdge[];
  byName: Map<string, GraphNode[]>;
}

const MOST = 40_000; // nodes; a file that many others use is drawn in each of them up to there
const TERMS = ['__start__', '__end__'];

interface Work {
  nodes: DrawnNode[];
  edges: DrawnEdge[] | null; // null: one leads to the next
  file: string;
  parent: string;
  parallel?: boolean;
}

/** Files that nodes run, each as it was drawn in the first of them. */
function filesOf(drawing: Drawing): Map<string, NonNullable<DrawnNode['workflow']>> {
  const out = new Map<string, NonNullable<DrawnNode['workflow']>>();
  const work: unknown[] = [drawing.nodes, drawing.cleanup];
  while (work.length) {
    const one = work.pop();
    if (Array.isArray(one)) work.push(...one);
    else if (one && typeof one === 'object') {
      const node = one as DrawnNode;
      if (node.workflow?.nodes) out.set(node.workflow.file, node.workflow);
      for (const [key, value] of Object.entries(node)) {
        if (key === 'workflow' || key === 'do') work.push((value as {nodes?: unknown}).nodes ?? value);
        else if (Array.isArray(value)) work.push(value);
      }
    }
  }
  return out;
}

export function modelOf(drawing: Drawing): Model {
  const model: Model = {name: drawing.name, dialect: drawing.dialect, file: drawing.file, state: drawing.state,
    nodes: [], edges: [], byName: new Map()};
  const drawn = filesOf(drawing);
  const work: Work[] = [{nodes: drawing.nodes, edges: drawing.edges, file: drawing.file, parent: ''}];
  if (drawing.cleanup?.length) {
    model.nodes.push({id: '(cleanup)', name: 'cleanup', kind: 'always', file: drawing.file, line: 0, parent: '', holds: true});
    const last = drawing.nodes.at(-1)?.name;
    if (last) model.edges.push({id: '(to cleanup)', from: last, to: '(cleanup)', label: 'always', error: true, parallel: false});
    work.push({nodes: drawing.cleanup, edges: null, file: drawing.file, parent: '(cleanup)'});
  }
  const term = (id: string, end: 'start' | 'end'): GraphNode => ({id, name: '', kind: '', file: '', line: 0, parent: '', holds: false, end});
  model.nodes.unshift(term('__start__', 'start'));
  while (work.length && model.nodes.length < MOST) {
    const {nodes, edges, file, parent, parallel} = work.pop()!;
    const idOf = (name: string): string => TERMS.includes(name) && !parent ? name : parent ? `${parent}/${name}` : name;
    for (const one of nodes) {
      const id = idOf(one.name);
      const inside: Work[] = [];
      if (one.do) {
        if ('nodes' in one.do) {
          const loop = one.do as {nodes: DrawnNode[]; edges: DrawnEdge[]};
          inside.push({nodes: loop.nodes, edges: loop.edges, file, parent: id});
        } else inside.push({nodes: [one.do as DrawnNode], edges: [], file, parent: id});
      }
      if (one.workflow) {
        const whole = drawn.get(one.workflow.file);
        if (whole?.nodes) inside.push({nodes: whole.nodes, edges: whole.edges ?? null, file: whole.file, parent: id});
      }
      for (const [key, value] of Object.entries(one)) {
        if (key === 'do' || key === 'workflow' || !Array.isArray(value)) continue;
        inside.push({nodes: value as DrawnNode[], edges: null, file, parent: id,
          parallel: /concurrent|matrix|background/.test(one.kind)});
      }
      const node: GraphNode = {id, name: one.name, kind: one.kind, file, line: one.line, parent, holds: inside.length > 0,
        ...one.title ? {title: one.title} : {}};
      model.nodes.push(node);
      model.byName.set(one.name, [...model.byName.get(one.name) ?? [], node]);
      work.push(...inside);
    }
    const pairs = edges ?? (parallel ? [] : nodes.slice(1).map((one, i): DrawnEdge => ({from: nodes[i]!.name, to: one.name})));
    for (const [i, one] of pairs.entries()) {
      if (parent && (TERMS.includes(one.from) || TERMS.includes(one.to))) continue;
      const label = [one.on === 'error' ? 'error' : '', one.when ?? ''].filter(Boolean).join(': ');
      model.edges.push({id: `${parent}:${i}`, from: idOf(one.from), to: idOf(one.to), label, error: one.on === 'error',
        parallel: one.parallel ?? false});
    }
  }
  model.nodes.push(term('__end__', 'end'));
  const known = new Set(model.nodes.map(one => one.id));
  model.edges = model.edges.filter(one => known.has(one.from) && known.has(one.to));
  return model;
}
