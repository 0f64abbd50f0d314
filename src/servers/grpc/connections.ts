import { OpenConnections } from '../open-connections.ts';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';

const SWEEP_INTERVAL_MS = 1_000;

/** Share of the queued bytes that is freed at least when the budget is exceeded. */
const FREED_SHARE = 0.1;

export class Connections extends OpenConnections<Connection> {
  /** @param sweepIntervalMs - at most one second is used. */
  constructor(sweepIntervalMs: number) {
    super(Math.max(1, Math.min(SWEEP_INTERVAL_MS, sweepIntervalMs)));
  }

  /** Drains all connections and closes the rest after `graceMs`. @returns whether none had to be closed. */
  async drain(graceMs: number): Promise<boolean> {
    for (const connection of this.open) connection.drain();
    if (await this.waitUntilEmpty(graceMs)) return true;
    const all = this.waitUntilEmpty();
    this.destroy();
    await all;
    return false;
  }

  destroy(): void {
    for (const connection of this.open) connection.destroy();
  }

  /** Ends the calls with the largest queues until `bytes` are free. */
  freeBytes(bytes: number): void {
    const lagging: Call[] = [];
    let queued = 0;
    for (const connection of this.open) {
      for (const call of connection.calls) {
        queued += call.queuedBytes;
        if (call.queuedBytes > 0) lagging.push(call);
      }
    }
    let remaining = Math.max(bytes, queued * FREED_SHARE);
    for (const call of lagging.sort((a, b) => b.queuedBytes - a.queuedBytes)) {
      if (remaining <= 0) return;
      remaining -= call.queuedBytes;
      call.cut();
    }
  }

  protected sweep(nowMs: number): void {
    for (const connection of this.open) connection.tick(nowMs);
  }
}
