// States, as words, shapes and colours: one table for all of the page.

export type State = 'pending' | 'running' | 'paused' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped';

export const STATES: {state: State; said: string; means: string}[] = [
  {state: 'pending', said: 'Pending', means: 'has not begun, or waits for something that is not a person'},
  {state: 'running', said: 'Running', means: 'is doing its work'},
  {state: 'paused', said: 'Paused', means: 'held by the debugger; a command lets it go on'},
  {state: 'waiting', said: 'Waiting', means: 'the workflow asks a person'},
  {state: 'completed', said: 'Completed', means: 'done'},
  {state: 'failed', said: 'Failed', means: 'ended with an error'},
  {state: 'cancelled', said: 'Cancelled', means: 'ended by somebody'},
  {state: 'skipped', said: 'Skipped', means: 'passed over'},
];

export const said = (state: State): string => STATES.find(one => one.state === state)!.said;

/** The state of a run, of the word that the server has for it. */
export function ofRun(status: string): State {
  switch (status) {
    case 'running': return 'running';
    case 'paused': return 'paused';
    case 'interrupted': return 'waiting';
    case 'completed': return 'completed';
    case 'failed': return 'failed';
    case 'cancelled': return 'cancelled';
    default: return 'pending'; // pending, stopped
  }
}

/** The state of a frame, of the word that the server has for it. */
export function ofFrame(status: string): State {
  switch (status) {
    case 'paused': return 'paused';
    case 'waiting': return 'waiting';
    case 'failed': return 'failed';
    case 'done': return 'completed';
    case 'ready': case 'starting': case 'working': case 'sleeping': return 'running';
    default: return 'pending'; // it waits for frames of its own
  }
}
