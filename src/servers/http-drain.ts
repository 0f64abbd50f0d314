import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FrontDoor } from './front-door.ts';
import type { HttpUpgrade } from './http-route.ts';
import type { TlsEntry } from './tls-entry.ts';

/** While the service stops, how long a connection without a request is left for one that is on its way. */
const LEAVING_MS = 300;

/** Whoever holds connections of a listener. */
export type DrainParts = Readonly<{
  server: Server;
  front: FrontDoor | null;
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

  get hasBegun(): boolean {
    return this.#drained !== null;
  }

  /**
   * After `noticeMs` no new connections are accepted; requests in flight, and those that are just arriving on open
   * connections, have `graceMs` to finish, then what is left is cut.
   * @returns whether all of them finished. Asked again, the same drain.
   */
  begin(graceMs: number, noticeMs: number): Promise<boolean> {
    this.#drained ??= this.#drain(graceMs, noticeMs);
    return this.#drained;
  }

  /** A request has ended, here or at the door in front. */
  requestEnded(): void {
    if (this.#parts.inFlight() === 0) this.#onIdle?.();
  }

  async #drain(graceMs: number, noticeMs: number): Promise<boolean> {
    const { server, front, tls, upgrades } = this.#parts;
    if (noticeMs > 0) await sleep(noticeMs);
    const deadline = performance.now() + graceMs;
    // That of node:http would close kept connections at once, under the hands of clients that are writing.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const upgraded = Promise.all(upgrades.map((upgrade) => upgrade.drain(graceMs)));
    const leaving = (): Promise<unknown> => {
      const ms = Math.max(0, Math.min(LEAVING_MS, deadline - performance.now()));
      return Promise.race([closed, sleep(ms, undefined, { ref: false })]);
    };
    // A kept connection that is in use gets its next answer meanwhile, and is closed by it.
    await leaving();
    // Not before the last answer has left: node:http takes a connection for idle that is still being written to.
    if (await this.#idle(graceMs)) this.#closeIdle();
    await leaving();
    const finished = await this.#idle(Math.max(0, deadline - performance.now()));
    // Also those that never sent a request: node:http does not count them as idle and would wait for them.
    server.closeAllConnections();
    front?.closeAll();
    tls?.destroy();
    const left = await upgraded;
    await closed;
    server.close();
    return finished && left.every((willingly) => willingly);
  }

  #closeIdle(): void {
    this.#parts.server.closeIdleConnections();
    this.#parts.front?.closeIdle();
  }

  #idle(graceMs: number): Promise<boolean> {
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
