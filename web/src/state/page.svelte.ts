// What the view that is shown gives to the frame around it: its place in the top bar, and commands for the palette.
import type {Snippet} from 'svelte';

export interface Command {
  label: string;
  key?: string;
  act: () => void;
}

class Page {
  crumb = $state.raw<Snippet | undefined>(undefined);
  commands = $state.raw<Command[]>([]);
}

export const page = new Page();
