import { Agent, request } from 'undici';

/** Concurrent requests. */
const IN_FLIGHT = 8;

export type LoadResult = Readonly<{ answered: number; failed: readonly string[] }>;

/**
 * Sequential clients with keep-alive. A connection closed between two requests is reopened; an unanswered request
 * counts as failed.
 */
export class RequestLoad {
  readonly #url: string;
  readonly #key: string;
  readonly #agent = new Agent({ connections: IN_FLIGHT, pipelining: 1 });
  readonly #failed: string[] = [];
  readonly #clients: Promise<void>[];
  readonly #waiting: { count: number; resolve: () => void }[] = [];
  #answered = 0;
  #stopped = false;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
    this.#clients = Array.from({ length: IN_FLIGHT }, () => this.#request());
  }

  /** Resolves after this many more responses. */
  answered(more: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ count: this.#answered + more, resolve }));
  }

  async stop(): Promise<LoadResult> {
    this.#stopped = true;
    await Promise.all(this.#clients);
    await this.#agent.close();
    return { answered: this.#answered, failed: this.#failed };
  }

  async #request(): Promise<void> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#key}` };
    for (let id = 1; !this.#stopped; id++) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'getSlot' });
      try {
        const answer = await request(this.#url, { method: 'POST', headers, body, dispatcher: this.#agent });
        const text = await answer.body.text();
        if (answer.statusCode === 200 && text.includes('"result"')) this.#answered++;
        else this.#failed.push(`${answer.statusCode} ${text.slice(0, 200)}`);
      } catch (error) {
        this.#failed.push(String(error));
      }
      for (const one of this.#waiting.filter(({ count }) => count <= this.#answered)) {
        this.#waiting.splice(this.#waiting.indexOf(one), 1);
        one.resolve();
      }
    }
  }
}
