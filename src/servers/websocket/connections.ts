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
const FINAL_NOTICE_MS = 300;

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
    if (await this.waitUntilEmpty(Math.max(0, graceMs - FINAL_NOTICE_MS))) return true;
    for (const connection of this.open) connection.end(new Failure('DRAINING'));
    if (await this.waitUntilEmpty(Math.min(graceMs, FINAL_NOTICE_MS))) return true;
    const all = this.waitUntilEmpty();
    for (const connection of this.open) connection.terminate();
    await all;
    return false;
  }

  protected sweep(nowMs: number): void {
    let bufferedBytes = 0;
    for (const connection of this.open) {
      connection.tick(nowMs);
      bufferedBytes += connection.bufferedBytes;
    }
    if (bufferedBytes > this.#queuesMaxBytes) this.#freeMemory(bufferedBytes);
  }

  #freeMemory(bufferedBytes: number): void {
    let remainingBytes = bufferedBytes;
    for (const connection of [...this.open].sort(compareForCut)) {
      if (remainingBytes <= this.#queuesMaxBytes) return;
      remainingBytes -= connection.bufferedBytes;
      connection.cut({ bytes: connection.queuedBytes });
    }
  }
}

const compareForCut = (a: Connection, b: Connection): number =>
  Number(a.isOpen) - Number(b.isOpen) || b.bufferedBytes - a.bufferedBytes;
