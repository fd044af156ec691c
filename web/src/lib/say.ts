// Sentences about where a run or a frame stands.
import type {FRAME, PAUSE, RUN} from '$api';

const ORDINARY = ['', 'before', 'after', 'on_error', 'during'];

/** "before publish, breakpoint 1"; the node is set in mono by whoever shows it, so it comes apart. */
export function pauseWords(p: Pick<PAUSE, 'position' | 'reason' | 'breakpoints' | 'because'>): {at: string; why: string} {
  const at = p.position === 'on_error' ? 'at an error in' : p.position && ORDINARY.includes(p.position) ? p.position : 'at';
  const hit = p.breakpoints ?? [];
  const why = hit.length ? `breakpoint ${hit.join(', ')}`
    : p.reason === 'initial' ? 'at the start'
    : p.reason === 'step' ? 'step'
    : p.reason === 'user_pause' ? (p.because ? `since frame ${p.because} stopped` : 'as asked')
    : p.reason === 'interrupt' ? 'the workflow stops here'
    : p.reason === 'exception' ? 'error'
    : '';
  return {at, why: p.position === 'on_error' && why === 'error' ? '' : why};
}

export function frameWords(f: FRAME): {before: string; node: string; after: string} {
  const node = f.title ?? f.node ?? '';
  switch (f.status) {
    case 'paused': {
      const {at, why} = pauseWords(f);
      return {before: `Paused ${at}`, node, after: why};
    }
    case 'waiting': return {before: 'Waits for an answer at', node, after: ''};
    case 'failed': return {before: 'Failed at', node, after: ''};
    case 'done': return {before: 'Has ended', node: '', after: ''};
    case 'sleeping': return {before: 'Waiting in', node, after: ''};
    case 'joining': return {before: 'Joins at', node, after: ''};
    case 'ready': case 'starting': return {before: 'About to run', node, after: ''};
    case 'working': return {before: 'Running', node, after: ''};
    default: return {before: 'Waits for what is inside', node, after: ''};
  }
}

export function whereWords(run: RUN): {before: string; node: string; after: string} {
  const paused = run.frames?.find(one => one.pause), asked = run.interrupts?.[0];
  if (run.status === 'paused' && paused) {
    const {at, why} = pauseWords(paused.pause!);
    return {before: at, node: paused.title ?? paused.node ?? '', after: why};
  }
  if (run.status === 'interrupted' && asked) {
    return {before: '', node: asked.node, after: asked.prompt === undefined ? 'stops here' : String(typeof asked.prompt === 'string' ? asked.prompt : JSON.stringify(asked.prompt))};
  }
  if (run.error) return {before: '', node: run.error.node ?? '', after: run.error.message};
  if (run.status === 'running') {
    const at = run.frames?.filter(one => one.node && !one.waits?.match(/join|map|tasks/)) ?? [];
    return {before: '', node: at.map(one => one.title ?? one.node).join(', '), after: ''};
  }
  if (run.orphaned) return {before: 'its process has gone; resume it', node: '', after: ''};
  return {before: '', node: '', after: ''};
}
