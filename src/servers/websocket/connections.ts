import { Failure } from '../../protocol/errors.ts';
import { OpenConnections } from '../open-connections.ts';
import type { Connection } from './connection.ts';

export type ConnectionsOptions = Readonly<{
  /** Sweep interval. */
  lookIntervalMs: number;
  /** Memory of unsent data of all clients; beyond it closing connections and then the largest queues are cut with LAGGING. */
  queuesMaxBytes: number;
}>;

/** Remaining connections get a close frame this long before the end of a drain. */
const FINAL_NOTICE_MS = 300;

export class Connections extends OpenConnections<Connection> {
  readonly #queuesMaxBytes: number;

  constructor({ lookIntervalMs, queuesMaxBytes }: ConnectionsOptions) {
    super(lookIntervalMs);
    this.#queuesMaxBytes = queuesMaxBytes;
  }

  /**
   * Ends every connection once its calls are answered; after `graceMs` the rest is terminated.
   * @returns whether none had to be terminated.
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
