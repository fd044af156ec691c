/* What the program prints with --json, as far as it is read here (docs/api.md has all of it). */

export type Status = string;

export interface Run {
  run: number;
  thread: string;
  workflow: string;
  status: Status;
  checkpoint: number;
  created: string;
  updated: string;
}

export interface Checkpoint {
  thread: string; // set here, not by the program
  checkpoint: number;
  parent?: number;
  step?: number;
  node?: string;
  title?: string;
  frame?: number;
  status?: Status;
  at?: string;
  by?: string;
  changed?: string[];
  error?: string;
}

export interface Problem {
  file: string;
  line: number;
  col: number;
  severity: 'error' | 'warning';
  message: string;
}

export interface GraphNode {
  name: string;
  kind: string;
  title?: string;
  line: number;
  col: number;
  cleanup?: boolean;
  do?: GraphNode | {nodes: GraphNode[]; edges: GraphEdge[]};
  [holds: string]: unknown;
}

export interface GraphEdge {
  from: string;
  to: string;
  when?: string;
  parallel?: boolean;
  join?: string;
  on?: 'error';
}

export interface Graph {
  name: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
  cleanup?: GraphNode[];
  file?: string;
}
