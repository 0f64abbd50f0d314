import { setTimeout as sleep } from 'node:timers/promises';

/** A node that can be taken down. */
export type Stoppable = Readonly<{ down(): Promise<void>; up(): Promise<void> }>;

export type OutageOptions = Readonly<{
  minutes: number;
  /** Seconds between outages; 0 for none. */
  every: number;
  /** Seconds that a node is down. */
  down: number;
  /** No outage starts later. */
  lastBeforeEndMs: number;
  /** Receives the nodes that go down, as text. */
  onDown: (which: string) => void;
}>;

/** Every nth outage takes all nodes down. */
const ALL_EVERY = 3;

/** Takes one node down after the other until the time is over. @returns the number of outages. */
export async function takeDownInTurn(nodes: readonly Stoppable[], options: OutageOptions): Promise<number> {
  const startedAt = performance.now();
  const endAt = startedAt + options.minutes * 60_000;
  const every = options.every === 0 ? Number.POSITIVE_INFINITY : options.every * 1_000;
  for (let count = 0; ; count++) {
    const next = startedAt + (count + 1) * every;
    await sleep(Math.max(0, Math.min(next, endAt) - performance.now()));
    if (endAt - performance.now() < options.lastBeforeEndMs) {
      await sleep(Math.max(0, endAt - performance.now()));
      return count;
    }
    const isAll = count % ALL_EVERY === ALL_EVERY - 1;
    const at = count % nodes.length;
    options.onDown(isAll ? 'all nodes' : `node ${at + 1}`);
    const affected = isAll ? nodes : [nodes[at]!];
    await Promise.all(affected.map((node) => node.down()));
    await sleep(options.down * 1_000);
    await Promise.all(affected.map((node) => node.up()));
  }
}
