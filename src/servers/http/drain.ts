import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TlsEntry } from '../tls-entry.ts';
import type { Listener } from './fallback-listener.ts';
import type { HttpUpgrade } from './routes.ts';

/** While the service stops, how long a connection without a request is left for one that is on its way. */
const ARRIVAL_GRACE_MS = 300;

/** Whoever holds connections of a listener. */
export type DrainParts = Readonly<{
  server: Server;
  fastPath: Listener | null;
  tls: TlsEntry | null;
  upgrades: readonly HttpUpgrade[];
  /** Requests that are being answered. */
  inFlight: () => number;
}>;

/** How a listener stops without dropping anything. */
export class HttpDrain {
  readonly #parts: DrainParts;
  #drained: Promise<boolean> | null = null;
  #onIdle: (() => void) | null = null;

  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  get isStarted(): boolean {
    return this.#drained !== null;
  }

  /**
   * After `noticeMs` no new connections are accepted; requests in flight, and those that are just arriving on open
   * connections, have `graceMs` to finish, then what is left is cut.
   * @returns whether all of them finished. Asked again, the same drain.
   */
  start(graceMs: number, noticeMs: number): Promise<boolean> {
    this.#drained ??= this.#drain(graceMs, noticeMs);
    return this.#drained;
  }

  /** A request has ended, here or at the door in front. */
  onRequestEnd(): void {
    if (this.#parts.inFlight() === 0) this.#onIdle?.();
  }

  async #drain(graceMs: number, noticeMs: number): Promise<boolean> {
    const { server, fastPath, tls, upgrades } = this.#parts;
    if (noticeMs > 0) await sleep(noticeMs);
    const deadline = performance.now() + graceMs;
    // That of node:http would close kept connections at once, under the hands of clients that are writing.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const upgraded = Promise.all(upgrades.map((upgrade) => upgrade.drain(graceMs)));
    const waitForClose = (): Promise<unknown> => {
      const ms = Math.max(0, Math.min(ARRIVAL_GRACE_MS, deadline - performance.now()));
      return Promise.race([closed, sleep(ms, undefined, { ref: false })]);
    };
    // A kept connection that is in use gets its next answer meanwhile, and is closed by it.
    await waitForClose();
    // Not before the last answer has left: node:http takes a connection for idle that is still being written to.
    if (await this.#waitUntilIdle(graceMs)) this.#closeIdleConnections();
    await waitForClose();
    const finished = await this.#waitUntilIdle(Math.max(0, deadline - performance.now()));
    // Also those that never sent a request: node:http does not count them as idle and would wait for them.
    server.closeAllConnections();
    fastPath?.closeAll();
    tls?.destroy();
    const upgradeResults = await upgraded;
    await closed;
    server.close();
    return finished && upgradeResults.every((isClean) => isClean);
  }

  #closeIdleConnections(): void {
    this.#parts.server.closeIdleConnections();
    this.#parts.fastPath?.closeIdle();
  }

  #waitUntilIdle(graceMs: number): Promise<boolean> {
    if (this.#parts.inFlight() === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), graceMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
