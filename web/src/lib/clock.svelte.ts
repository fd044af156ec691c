// The time, once a second while somebody looks: running times tick by it and not by events.

class Clock {
  now = $state(Date.now());
  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1000);
  }
}

export const time = new Clock();
