import { Agent, request } from 'undici';

export class Direct {
  readonly #url: string;
  readonly #agent = new Agent({ connections: 256, pipelining: 1 });
  #nextId = 1;

  constructor(url: string) {
    this.#url = url;
  }

  async post(body: string): Promise<{ status: number; text: string }> {
    const headers = { 'content-type': 'application/json' };
    const answer = await request(this.#url, { method: 'POST', headers, body, dispatcher: this.#agent });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  /** The result of a call. @throws Error with the response if that is an error. */
  async result<Result>(method: string, params: readonly unknown[] = []): Promise<Result> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#nextId++, method, params });
    const { text } = await this.post(body);
    const answer = JSON.parse(text) as { result?: Result; error?: unknown };
    if (answer.error !== undefined) throw new Error(`${method} got ${text.slice(0, 500)}`);
    return answer.result as Result;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
