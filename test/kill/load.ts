import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A node that answers everything at once with a slot. */
export async function startNode(): Promise<{ url: string; server: Server }> {
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => {
      body += chunk;
    });
    incoming.on('end', () => {
      const id = /"id":("[^"]*"|\d+)/.exec(body)?.[1] ?? 'null';
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(
        `{"jsonrpc":"2.0","result":${body.includes('getHealth') ? '"ok"' : 301234567},"id":${id}}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const BODY = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';

/** Calls that are kept going, so many at a time, and the generator's own count of them. */
export class Load {
  readonly #url: string;
  readonly #key: string;
  readonly #agent: Agent;
  readonly #workers: Promise<void>[] = [];
  #ended = false;
  #sent = 0;
  /** When each answer was complete, by the clock of `performance.now`. */
  readonly answeredAt: number[] = [];

  constructor(url: string, key: string, concurrency: number) {
    this.#url = url;
    this.#key = key;
    this.#agent = new Agent({ keepAlive: true, maxSockets: concurrency });
    for (let worker = 0; worker < concurrency; worker++) this.#workers.push(this.#work());
  }

  /** Calls that got a whole answer with a result. */
  get answered(): number {
    return this.answeredAt.length;
  }

  /** Calls that left and of which nobody knows what became: they may have been counted. */
  get unanswered(): number {
    return this.#sent - this.answered;
  }

  /** Begins no more calls, and waits for those that are under way. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#workers);
    this.#agent.destroy();
  }

  async #work(): Promise<void> {
    while (!this.#ended) {
      this.#sent++;
      if (!(await this.#call())) return;
      this.answeredAt.push(performance.now());
    }
  }

  #call(): Promise<boolean> {
    return new Promise((resolve) => {
      const headers = {
        authorization: `Bearer ${this.#key}`,
        'content-type': 'application/json',
        'content-length': BODY.length,
      };
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers }, (answer) => {
        let body = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          body += chunk;
        });
        answer.on('close', () => resolve(answer.complete && body.includes('"result"')));
      });
      sent.on('error', () => resolve(false));
      sent.end(BODY);
    });
  }
}
