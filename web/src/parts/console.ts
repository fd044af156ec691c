export interface Entry {
  id: number;
  frame: number;
  kind: 'in' | 'out' | 'note' | 'error';
  text: string;
}
