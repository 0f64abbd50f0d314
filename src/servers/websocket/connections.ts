import { Failure } from '../../protocol/errors.ts';
import { OpenConnections } from '../open-connections.ts';
import type { Connection } from './connection.ts';

export type ConnectionsOptions = Readonly<{
  /** How often every connection is looked after. */
  lookIntervalMs: number;
  /**
   * Bytes that what waits for all clients together may take; beyond them those that are ending already and then those
   * furthest behind are cut with LAGGING.
   */
  queuesMaxBytes: number;
}>;

/** How long before the end of a drain the last are told to go, so that they hear why. */
const LAST_CALL_MS = 300;

/** The open connections of WebSocket. */
export class Connections extends OpenConnections<Connection> {
  readonly #queuesMaxBytes: number;

  constructor({ lookIntervalMs, queuesMaxBytes }: ConnectionsOptions) {
    super(lookIntervalMs);
    this.#queuesMaxBytes = queuesMaxBytes;
  }

  /**
   * Tells every connection to go: at once, or when its calls are answered. After `graceMs` what is left is cut.
   * @returns whether nothing had to be cut.
   */
  async drain(graceMs: number): Promise<boolean> {
    for (const connection of this.open) connection.drain();
    if (await this.empty(Math.max(0, graceMs - LAST_CALL_MS))) return true;
    for (const connection of this.open) connection.end(new Failure('DRAINING'));
    if (await this.empty(Math.min(graceMs, LAST_CALL_MS))) return true;
    const all = this.empty();
    for (const connection of this.open) connection.terminate();
    await all;
    return false;
  }

  protected look(nowMs: number): void {
    let heldBytes = 0;
    for (const connection of this.open) {
      connection.look(nowMs);
      heldBytes += connection.heldBytes;
    }
    if (heldBytes > this.#queuesMaxBytes) this.#makeRoom(heldBytes);
  }

  #makeRoom(heldBytes: number): void {
    let left = heldBytes;
    for (const connection of [...this.open].sort(goesFirst)) {
      if (left <= this.#queuesMaxBytes) return;
      left -= connection.heldBytes;
      connection.cut({ bytes: connection.queuedBytes });
    }
  }
}

const goesFirst = (a: Connection, b: Connection): number =>
  Number(a.open) - Number(b.open) || b.heldBytes - a.heldBytes;
