import { Agent, request } from 'undici';

const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot' });

export type LoadResult = Readonly<{
  /** When each response was complete, by `performance.now`. */
  answeredAt: readonly number[];
  failed: readonly string[];
}>;

/**
 * Sequential clients with keep-alive. They reopen connections closed between two requests; a request without a
 * response counts as failed.
 */
export class RequestLoad {
  readonly #url: string;
  readonly #key: string;
  readonly #endsAtFailure: boolean;
  readonly #agent: Agent;
  readonly #failed: string[] = [];
  readonly #answeredAt: number[] = [];
  readonly #clients: Promise<void>[];
  readonly #waiting: { count: number; resolve: () => void }[] = [];
  #stopped = false;

  /** @param endsAtFailure - whether a client stops after its first failed request. */
  constructor(url: string, key: string, concurrency = 8, endsAtFailure = false) {
    this.#url = url;
    this.#key = key;
    this.#endsAtFailure = endsAtFailure;
    this.#agent = new Agent({ connections: concurrency, pipelining: 1 });
    this.#clients = Array.from({ length: concurrency }, () => this.#run());
  }

  answered(more: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ count: this.#answeredAt.length + more, resolve }));
  }

  /** Sends no more requests and waits for those in flight. */
  async stop(): Promise<LoadResult> {
    this.#stopped = true;
    await Promise.all(this.#clients);
    await this.#agent.close();
    return { answeredAt: this.#answeredAt, failed: this.#failed };
  }

  async #run(): Promise<void> {
    while (!this.#stopped && !(this.#endsAtFailure && this.#failed.length > 0)) {
      const fault = await this.#request().catch(String);
      if (fault === null) this.#answeredAt.push(performance.now());
      else this.#failed.push(fault);
      for (const one of this.#waiting.filter(({ count }) => count <= this.#answeredAt.length)) {
        this.#waiting.splice(this.#waiting.indexOf(one), 1);
        one.resolve();
      }
    }
  }

  async #request(): Promise<string | null> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#key}` };
    const options = { method: 'POST', headers, body: BODY, dispatcher: this.#agent } as const;
    const { statusCode, body } = await request(this.#url, options);
    const text = await body.text();
    return statusCode === 200 && text.includes('"result"') ? null : `${statusCode} ${text.slice(0, 200)}`;
  }
}
