import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';

const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot' });

/** Pause of each client in tests. About 400 calls a second suffice to detect a short outage. */
export const TEST_PAUSE_MS = 20;

/** Number of failures after which a load ends. */
const FAILURES_MAX = 1_000;

export type LoadResult = Readonly<{
  /** When each response was complete, by `performance.now`. */
  answeredAt: readonly number[];
  failed: readonly string[];
  slowestMs: number;
}>;

/** Clients that send one call after the other. */
export class CallLoad {
  readonly #send: (client: number) => Promise<string | null>;
  readonly #failuresMax: number;
  readonly #pauseMs: number;
  readonly #failed: string[] = [];
  readonly #answeredAt: number[] = [];
  readonly #clients: Promise<void>[];
  readonly #waiting: { count: number; resolve: () => void }[] = [];
  #slowestMs = 0;
  #stopped = false;

  /**
   * @param send - sends a call and resolves to null, or to what failed.
   * @param endsAtFailure - whether a client stops after its first failed call.
   * @param pauseMs - pause of each client after a response.
   */
  constructor(
    send: (client: number) => Promise<string | null>,
    concurrency: number,
    endsAtFailure = false,
    pauseMs = 0,
  ) {
    this.#send = send;
    this.#pauseMs = pauseMs;
    this.#failuresMax = endsAtFailure ? 1 : FAILURES_MAX;
    this.#clients = Array.from({ length: concurrency }, (_, client) => this.#run(client));
  }

  /** @throws Error if the clients end before. */
  answered(more: number): Promise<void> {
    const done = new Promise<void>((resolve) =>
      this.#waiting.push({ count: this.#answeredAt.length + more, resolve }),
    );
    const ended = Promise.all(this.#clients).then(() => {
      throw new Error(`the calls fail: ${this.#failed[0]}`);
    });
    return Promise.race([done, ended]);
  }

  /** Sends no more requests and waits for those in flight. */
  async stop(): Promise<LoadResult> {
    this.#stopped = true;
    await Promise.all(this.#clients);
    return { answeredAt: this.#answeredAt, failed: this.#failed, slowestMs: this.#slowestMs };
  }

  async #run(client: number): Promise<void> {
    while (!this.#stopped && this.#failed.length < this.#failuresMax) {
      const sentAt = performance.now();
      const fault = await this.#send(client).catch(String);
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - sentAt);
      if (fault === null) this.#answeredAt.push(performance.now());
      else this.#failed.push(fault);
      for (const one of this.#waiting.filter(({ count }) => count <= this.#answeredAt.length)) {
        this.#waiting.splice(this.#waiting.indexOf(one), 1);
        one.resolve();
      }
      if (this.#pauseMs > 0 && !this.#stopped) await delay(this.#pauseMs);
    }
  }
}

/**
 * Calls over HTTP with keep-alive. Connections closed between two calls are reopened; a call without a response counts
 * as failed.
 */
export class RequestLoad extends CallLoad {
  readonly #agent: Agent;

  constructor(url: string, key: string, concurrency = 8, endsAtFailure = false, pauseMs = 0) {
    const agent = new Agent({ connections: concurrency, pipelining: 1 });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const options = { method: 'POST', headers, body: BODY, dispatcher: agent } as const;
    const send = async (): Promise<string | null> => {
      const { statusCode, body } = await request(url, options);
      const text = await body.text();
      return statusCode === 200 && text.includes('"result"') ? null : `${statusCode} ${text.slice(0, 200)}`;
    };
    super(send, concurrency, endsAtFailure, pauseMs);
    this.#agent = agent;
  }

  override async stop(): Promise<LoadResult> {
    const result = await super.stop();
    await this.#agent.close();
    return result;
  }
}
