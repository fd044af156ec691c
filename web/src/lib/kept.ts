// What the page remembers of a person in this browser: sizes of panes, pins, history of the console. Without storage it forgets.

export function kept<T>(name: string, usual: T): T {
  try {
    const text = localStorage.getItem(`pawl.${name}`);
    return text === null ? usual : JSON.parse(text) as T;
  } catch {
    return usual;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(`pawl.${name}`, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing
  }
}
