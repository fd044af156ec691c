// Where the page is: the address, as views read it, and a way to go elsewhere without a reload. What is in the query belongs
// to a view (checkpoint, frame, node) and can be shared.

class Router {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));

  constructor() {
    addEventListener('popstate', () => this.#read());
    document.addEventListener('click', event => {
      const link = (event.target as Element | null)?.closest?.('a[href]') as HTMLAnchorElement | null;
      const plain = !event.defaultPrevented && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
      if (!link || !plain || link.origin !== location.origin || link.target || link.hasAttribute('download')) return;
      if (link.getAttribute('href')!.startsWith('#')) return;
      event.preventDefault();
      this.go(link.pathname + link.search);
    });
  }

  get parts(): string[] {
    return this.path.split('/').filter(Boolean).map(part => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
  }

  go(to: string): void {
    history.pushState(null, '', to);
    this.#read();
  }

  /** Goes there in the place of where it is: no step back leads here. */
  replace(to: string): void {
    history.replaceState(null, '', to);
    this.#read();
  }

  /** Sets what the query says of a view, without a step back to it. */
  keep(name: string, value: string | number | null): void {
    const query = new URLSearchParams(location.search);
    if (value === null) query.delete(name);
    else query.set(name, String(value));
    if (query.toString() === new URLSearchParams(location.search).toString()) return;
    const text = query.toString();
    history.replaceState(null, '', location.pathname + (text ? `?${text}` : ''));
    this.query = query;
  }

  #read(): void {
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }
}

export const router = new Router();

export const runPath = (thread: string): string => `/runs/${encodeURIComponent(thread)}`;
export const debugPath = (thread: string): string => `/debug/${encodeURIComponent(thread)}`;
export const workflowPath = (name: string): string => `/workflows/${encodeURIComponent(name)}`;
