import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TlsEntry } from '../tls.ts';
import type { HttpUpgrade, Listener, ListenerLoad } from './routes.ts';

/** Time for requests in transit to arrive on idle connections before these connections close. */
const ARRIVAL_GRACE_MS = 300;

export type DrainParts = Readonly<{
  server: Server;
  fastPath: Listener | null;
  tls: TlsEntry | null;
  upgrades: readonly HttpUpgrade[];
  load: ListenerLoad;
}>;

export class HttpDrain {
  readonly #parts: DrainParts;
  #drained: Promise<boolean> | null = null;
  #onIdle: (() => void) | null = null;

  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  /** Stops listening after `noticeMs`. @returns whether all requests and upgrades finished in the next `graceMs`. */
  start(graceMs: number, noticeMs: number): Promise<boolean> {
    this.#parts.load.isDraining = true;
    this.#drained ??= this.#drain(graceMs, noticeMs);
    return this.#drained;
  }

  onRequestEnd(): void {
    if (this.#parts.load.inFlight === 0) this.#onIdle?.();
  }

  async #drain(graceMs: number, noticeMs: number): Promise<boolean> {
    const { server, fastPath, tls, upgrades } = this.#parts;
    if (noticeMs > 0) await sleep(noticeMs);
    const deadline = performance.now() + graceMs;
    const remainingMs = (): number => Math.max(0, deadline - performance.now());
    // http.Server.close would immediately close idle connections, to which clients may be writing.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const upgradesDrained = Promise.all(upgrades.map((upgrade) => upgrade.drain(graceMs)));
    const waitForClose = (): Promise<unknown> => {
      const ms = Math.min(ARRIVAL_GRACE_MS, remainingMs());
      return Promise.race([closed, sleep(ms, undefined, { ref: false })]);
    };
    // During this wait, each connection in use gets one more response, with `Connection: close`.
    await waitForClose();
    // Wait for the last response, because node:http considers a connection idle while its response is being written.
    if (await this.#waitUntilIdle(remainingMs())) this.#closeIdleConnections();
    await waitForClose();
    const finished = await this.#waitUntilIdle(remainingMs());
    // Also closes connections that never sent a request, which node:http does not consider idle.
    server.closeAllConnections();
    fastPath?.closeAll();
    tls?.destroy();
    const upgradeResults = await upgradesDrained;
    await closed;
    // Also clears the timer with which http.Server checks connections.
    server.close();
    return finished && upgradeResults.every((isClean) => isClean);
  }

  #closeIdleConnections(): void {
    this.#parts.server.closeIdleConnections();
    this.#parts.fastPath?.closeIdle();
  }

  #waitUntilIdle(graceMs: number): Promise<boolean> {
    if (this.#parts.load.inFlight === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), graceMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
