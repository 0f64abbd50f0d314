import pg from 'pg';
import { StoreHangsError } from './store-unavailable.ts';

/** A connection of its own that has so long to be made, and so long to answer. */
export type Connect = (timeoutMs: number) => pg.Client;

/** Whether an error is an answer of the server's, which then lives, as does the connection that it came over. */
export const isServerError = (error: unknown): boolean => error instanceof pg.DatabaseError;

/**
 * Tells a PostgreSQL server that hangs from one that is busy with what it was asked: work that takes long makes it look
 * whether a small question on a connection of its own is answered. Work of a busy server goes on.
 */
export class PostgresLiveness {
  readonly #connect: Connect;
  readonly #hangsAfterMs: number;
  #runningProbe: Promise<boolean> | null = null;
  /** Whether the last look found that it hangs: the next work is not given the time that was waited already. */
  #isHanging = false;

  /** @param hangsAfterMs - after which it is looked, and which the look may take. */
  constructor(connect: Connect, hangsAfterMs: number) {
    this.#connect = connect;
    this.#hangsAfterMs = hangsAfterMs;
  }

  /** Waits for work of the server. @throws StoreHangsError while it hangs; what the work throws. */
  guard<Result>(work: Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let timer: NodeJS.Timeout | null = null;
    const probeAfter = (ms: number): void => {
      timer = setTimeout(() => {
        void this.#isHung().then((hangs) => {
          if (hangs) reject(new StoreHangsError());
          else if (timer !== null) probeAfter(this.#hangsAfterMs);
        });
      }, ms);
    };
    probeAfter(this.#isHanging ? 0 : this.#hangsAfterMs);
    const end = (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    };
    work.then(resolve, reject).finally(end);
    return promise.finally(end);
  }

  /** One look for all that wait. */
  #isHung(): Promise<boolean> {
    this.#runningProbe ??= this.#probe().then((hangs) => {
      this.#runningProbe = null;
      this.#isHanging = hangs;
      return hangs;
    });
    return this.#runningProbe;
  }

  async #probe(): Promise<boolean> {
    const client = this.#connect(this.#hangsAfterMs);
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return false;
    } catch (error) {
      return !isServerError(error);
    } finally {
      client.end().catch(() => undefined);
    }
  }
}
