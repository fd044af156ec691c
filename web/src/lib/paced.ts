// A question that is asked again and again, as often as something happens, at a rate that the server and the page can bear:
// one is under way at a time, and the next comes after a rest that grows to a quarter of a second while it goes on. After
// whatever happened last there is one more, so what is shown in the end is how things stand.
//
//     const look = new Paced(async () => { shown = await link.call(...) });
//     look.ask();           at once when nothing was asked for a while
//     await look.ask();     until an answer is there that was asked for after this
//     look.hurry();         a person waits: the rests are short again

const LEAST = 60, MOST = 250, GROWS = 1.6; // ms of rest
const FORGETS = 500; // ms without a question after which the rests are short again

export class Paced {
  #work: () => Promise<unknown>;
  #under = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = -Infinity;
  #rest = LEAST;
  #waiting: (() => void)[] = [];
  #closed = false;

  /** What the work throws is its own affair: whoever asked is told that it has ended. */
  constructor(work: () => Promise<unknown>) {
    this.#work = work;
  }

  ask(): Promise<void> {
    return new Promise(done => {
      this.#waiting.push(done);
      this.#plan();
    });
  }

  hurry(): void {
    this.#rest = LEAST;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#plan();
  }

  /** Nothing is asked any more; who waits is told. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const done of this.#waiting.splice(0)) done();
  }

  #plan(): void {
    if (this.#closed) this.close();
    if (this.#closed || this.#under || this.#timer !== undefined) return;
    const since = performance.now() - this.#ended;
    if (since > FORGETS) this.#rest = LEAST;
    if (since >= this.#rest) void this.#run();
    else {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        void this.#run();
      }, this.#rest - since);
    }
  }

  async #run(): Promise<void> {
    const told = this.#waiting.splice(0);
    this.#under = true;
    try {
      await this.#work();
    } catch {
      // said by the work, if at all
    }
    this.#under = false;
    this.#ended = performance.now();
    this.#rest = Math.min(MOST, this.#rest * GROWS);
    for (const done of told) done();
    if (this.#waiting.length) this.#plan();
  }
}
