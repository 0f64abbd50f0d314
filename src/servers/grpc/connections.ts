import { OpenConnections } from '../open-connections.ts';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';

/** How often every connection and call is looked after. */
const LOOK_INTERVAL_MS = 1_000;

/** Where there was too much for all queues, so much of it is made free at a time at least. */
const ROOM_SHARE = 0.1;

/** The open connections of gRPC. */
export class Connections extends OpenConnections<Connection> {
  /** @param lookIntervalMs - never more than a second. */
  constructor(lookIntervalMs: number) {
    super(Math.max(1, Math.min(LOOK_INTERVAL_MS, lookIntervalMs)));
  }

  /**
   * Tells every connection to go. After `graceMs` what is left is cut.
   * @returns whether nothing had to be cut.
   */
  async drain(graceMs: number): Promise<boolean> {
    for (const connection of this.open) connection.drain();
    if (await this.empty(graceMs)) return true;
    const all = this.empty();
    this.destroy();
    await all;
    return false;
  }

  /** Cuts every connection. */
  destroy(): void {
    for (const connection of this.open) connection.destroy();
  }

  /** Cuts the calls furthest behind until so many bytes are free. */
  makeRoom(bytes: number): void {
    const behind: Call[] = [];
    let queued = 0;
    for (const connection of this.open) {
      for (const call of connection.calls) {
        queued += call.queuedBytes;
        if (call.queuedBytes > 0) behind.push(call);
      }
    }
    let left = Math.max(bytes, queued * ROOM_SHARE);
    for (const call of behind.sort((a, b) => b.queuedBytes - a.queuedBytes)) {
      if (left <= 0) return;
      left -= call.queuedBytes;
      call.cut();
    }
  }

  protected look(nowMs: number): void {
    for (const connection of this.open) connection.look(nowMs);
  }
}
