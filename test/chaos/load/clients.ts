import { Agent, request } from 'undici';
import { SocketClient } from '../../service/socket-client.ts';

/** Outcome of a call. `broken`: the response broke off. */
export type Reply =
  | Readonly<{ kind: 'result'; result: unknown }>
  | Readonly<{ kind: 'error'; code: number; text: string; data: Readonly<Record<string, unknown>> }>
  | Readonly<{ kind: 'broken' | 'none'; text: string }>;

export type RpcCallInput = Readonly<{ method: string; params: readonly unknown[] }>;

/** A protocol of the gateway. Returns a reply for each call and never throws. */
export interface TestClient {
  readonly name: string;
  send(calls: readonly RpcCallInput[], session?: string): Promise<Reply[]>;
  close(): Promise<unknown>;
}

/** Longer than the gateway's own limit. */
const WAIT_MS = 45_000;
const TEXT_MAX = 300;

type Answer = Readonly<{
  id?: unknown;
  result?: unknown;
  error?: Readonly<{ code: number; message: string; data?: unknown }>;
}>;

function replyOf(answer: Answer | undefined): Reply {
  if (answer?.error !== undefined) {
    const { code, data } = answer.error;
    const text = JSON.stringify(answer.error).slice(0, TEXT_MAX);
    return { kind: 'error', code, text, data: (data ?? {}) as Readonly<Record<string, unknown>> };
  }
  if (answer === undefined || !('result' in answer))
    return { kind: 'none', text: `no answer: ${JSON.stringify(answer)}` };
  return { kind: 'result', result: answer.result };
}

const sameFor = (calls: readonly RpcCallInput[], reply: Reply): Reply[] => calls.map(() => reply);

/** JSON-RPC over HTTP, a batch where there are several calls. */
export class HttpTestClient implements TestClient {
  readonly name = 'http';
  readonly #url: string;
  readonly #key: string;
  /** One connection per request: no queue in the client. */
  readonly #agent = new Agent({ pipelining: 1, headersTimeout: WAIT_MS, bodyTimeout: WAIT_MS });

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async send(calls: readonly RpcCallInput[], session?: string): Promise<Reply[]> {
    const all = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    let received = 0;
    try {
      const answer = await request(this.#url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${this.#key}`,
          ...(session !== undefined && { 'x-solway-session': session }),
        },
        body: JSON.stringify(all.length === 1 ? all[0] : all),
        dispatcher: this.#agent,
      });
      const pieces: Buffer[] = [];
      for await (const piece of answer.body) {
        pieces.push(piece as Buffer);
        received += (piece as Buffer).length;
      }
      return repliesOf(calls, Buffer.concat(pieces).toString());
    } catch (fault) {
      const kind = received > 0 ? 'broken' : 'none';
      return sameFor(calls, { kind, text: `${String(fault)} after ${received} bytes` });
    }
  }

  close(): Promise<unknown> {
    return this.#agent.destroy();
  }
}

function repliesOf(calls: readonly RpcCallInput[], text: string): Reply[] {
  try {
    const answer = JSON.parse(text) as Answer | Answer[];
    // One error for a rejected batch.
    if (!Array.isArray(answer)) return sameFor(calls, replyOf(answer));
    const byId = new Map(answer.map((one) => [one.id, one]));
    return calls.map((_, id) => replyOf(byId.get(id)));
  } catch {
    return sameFor(calls, { kind: 'none', text: `no JSON: ${text.slice(0, TEXT_MAX)}` });
  }
}

/** JSON-RPC over one WebSocket, which is reopened after a close. */
export class WebSocketTestClient implements TestClient {
  readonly name = 'websocket';
  readonly #url: string;
  readonly #waiting = new Set<(reply: Reply) => void>();
  #opening: Promise<SocketClient> | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  send(calls: readonly RpcCallInput[]): Promise<Reply[]> {
    return Promise.all(calls.map((call) => this.#call(call)));
  }

  async close(): Promise<unknown> {
    return (await this.#opening)?.close();
  }

  async #call({ method, params }: RpcCallInput): Promise<Reply> {
    try {
      this.#opening ??= this.#open();
      const client = await this.#opening;
      return await this.#within(client.call(method, params));
    } catch (fault) {
      this.#opening = null;
      return { kind: 'none', text: String(fault) };
    }
  }

  /** The response, a timeout, or the close of the socket. */
  #within(answer: Promise<Answer>): Promise<Reply> {
    return new Promise((resolve) => {
      const settle = (reply: Reply): void => {
        clearTimeout(timer);
        this.#waiting.delete(settle);
        resolve(reply);
      };
      const timer = setTimeout(settle, WAIT_MS, { kind: 'none', text: `no answer in ${WAIT_MS} ms` });
      this.#waiting.add(settle);
      void answer.then((one) => settle(replyOf(one)));
    });
  }

  async #open(): Promise<SocketClient> {
    const client = await SocketClient.open(this.#url);
    void client.ended.then(({ code, reason }) => {
      this.#opening = null;
      for (const settle of this.#waiting)
        settle({ kind: 'none', text: `the socket was closed with ${code} ${reason}` });
    });
    return client;
  }
}
