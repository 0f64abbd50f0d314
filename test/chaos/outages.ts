import { setTimeout as delay } from 'node:timers/promises';

/** Time limits in milliseconds: for a change to take effect, and for recovery after a database outage. */
export const bounds = { usual: 1_000, most: 2_000, afterReturn: 2_000 } as const;

type Server = Readonly<{ kill(): Promise<void>; start(): Promise<void> }>;
type Outage = { from: number; to: number };

const between = (least: number, most: number): number => least + Math.random() * (most - least);

export class Outages {
  readonly #server: Server;
  readonly #outages: Outage[] = [];
  readonly #intervalMs: number;

  constructor(server: Server, intervalMs: number) {
    this.#server = server;
    this.#intervalMs = intervalMs;
  }

  get count(): number {
    return this.#outages.length;
  }

  wasThereSince(from: number): boolean {
    return this.#outages.every(({ to }) => to < from);
  }

  /** Time by which a change that was acknowledged at `doneAt` must be in effect. */
  limitOf(doneAt: number): number {
    let limit = doneAt + bounds.most;
    for (const { from, to } of this.#outages) {
      if (from < limit && to + bounds.afterReturn > limit && to > doneAt - bounds.afterReturn)
        limit = to + bounds.afterReturn;
    }
    return limit;
  }

  async run(isOver: () => boolean): Promise<void> {
    for (;;) {
      const next = performance.now() + between(0.5, 1.5) * this.#intervalMs;
      while (performance.now() < next && !isOver()) await delay(100);
      if (isOver()) return;
      const outage: Outage = { from: performance.now(), to: Number.POSITIVE_INFINITY };
      this.#outages.push(outage);
      await this.#server.kill();
      await delay(between(200, 3_000));
      await this.#server.start();
      outage.to = performance.now();
    }
  }
}
