import { OpenConnections } from '../open-connections.ts';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';

/** How often every connection and call is looked after. */
const SWEEP_INTERVAL_MS = 1_000;

/** Where there was too much for all queues, so much of it is made free at a time at least. */
const FREED_SHARE = 0.1;

/** The open connections of gRPC. */
export class Connections extends OpenConnections<Connection> {
  /** @param lookIntervalMs - never more than a second. */
  constructor(sweepIntervalMs: number) {
    super(Math.max(1, Math.min(SWEEP_INTERVAL_MS, sweepIntervalMs)));
  }

  /**
   * Tells every connection to go. After `graceMs` what is left is cut.
   * @returns whether nothing had to be cut.
   */
  async drain(graceMs: number): Promise<boolean> {
    for (const connection of this.open) connection.drain();
    if (await this.waitUntilEmpty(graceMs)) return true;
    const all = this.waitUntilEmpty();
    this.destroy();
    await all;
    return false;
  }

  /** Cuts every connection. */
  destroy(): void {
    for (const connection of this.open) connection.destroy();
  }

  /** Cuts the calls furthest behind until so many bytes are free. */
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
