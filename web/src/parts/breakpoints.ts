// How breakpoints are called and drawn.
import type {BREAKPOINT} from '$api';

export function breakpointIcon(one: BREAKPOINT): string {
  if (!one.verified) return 'b-unv';
  if (one.log_message) return 'b-log';
  if (one.type === 'exception') return 'b-error';
  if (one.condition || one.hit_condition || one.type === 'state') return 'b-cond';
  return 'b-node';
}

/** Its place, and what else it asks for. */
export function breakpointWords(one: BREAKPOINT): {place: string; rest: string} {
  const state = one.state as {path?: unknown; changed?: boolean; equals?: unknown} | undefined;
  const path = Array.isArray(state?.path) ? '.' + state.path.join('.') : typeof state?.path === 'string' ? state.path : '';
  const place = one.node ?? one.task_id ?? one.task_title ?? (one.task_index !== undefined ? `task ${one.task_index}` : undefined)
    ?? (one.task_name ? `any ${one.task_name}` : undefined) ?? (one.file ? `${one.file.split('/').at(-1)}:${one.line}` : undefined)
    ?? (one.type === 'exception' ? (one.caught ? 'any error, caught too' : 'any error')
      : state ? (state.changed ? `${path} changes` : `${path} = ${JSON.stringify(state.equals)}`) : 'anywhere');
  const rest = [one.position === 'after' && one.type !== 'state' ? 'after' : one.position === 'on_error' && one.type !== 'exception' ? 'when it fails' : '',
    one.condition ? `if ${one.condition}` : '', one.error ? `if ${one.error}` : '', one.hit_condition ? `hits ${one.hit_condition}` : '',
    one.ignore_count ? `after ${one.ignore_count}` : '', one.log_message ? `"${one.log_message}"` : '', one.once ? 'once' : ''].filter(Boolean).join(' ');
  return {place, rest};
}
