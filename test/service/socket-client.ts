import { once } from 'node:events';
import { WebSocket } from 'ws';

export type SocketResponse = Readonly<{
  id: unknown;
  result?: unknown;
  error?: Readonly<{ code: number; message: string; data?: unknown }>;
}>;

type Notified = Readonly<{ method: string; result: unknown }>;

export type SocketEnd = Readonly<{ code: number; reason: string; at: number }>;

export class SocketClient {
  readonly socket: WebSocket;
  /** `at` is the time of receipt by `performance.now()`. */
  readonly ended: Promise<SocketEnd>;
  readonly #responses = new Map<unknown, (answer: SocketResponse) => void>();
  readonly #notifications = new Map<number, Notified[]>();
  readonly #waiting = new Map<number, (notified: Notified) => void>();
  #nextId = 1;

  static async open(url: string, headers: Record<string, string> = {}): Promise<SocketClient> {
    const client = new SocketClient(new WebSocket(url, { headers }));
    await once(client.socket, 'open');
    return client;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.#take(JSON.parse(String(data))));
    this.ended = new Promise((resolve) => {
      socket.once('close', (code, reason) =>
        resolve({ code, reason: String(reason), at: performance.now() }),
      );
    });
  }

  call(method: string, params: unknown = []): Promise<SocketResponse> {
    const id = this.#nextId++;
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return new Promise((resolve) => this.#responses.set(id, resolve));
  }

  /** @throws Error with the response if it is not a result. */
  async result<Result>(method: string, params: unknown = []): Promise<Result> {
    const answer = await this.call(method, params);
    if (answer.error !== undefined) throw new Error(`${method} got ${JSON.stringify(answer.error)}`);
    return answer.result as Result;
  }

  async next<Result>(id: number): Promise<{ method: string; result: Result }> {
    const known = this.#notifications.get(id)?.shift();
    const notified = known ?? (await new Promise<Notified>((resolve) => this.#waiting.set(id, resolve)));
    return notified as { method: string; result: Result };
  }

  close(): Promise<SocketEnd> {
    this.socket.close();
    return this.ended;
  }

  #take(
    message: SocketResponse & { method?: string; params?: { result: unknown; subscription: number } },
  ): void {
    if (message.params === undefined) {
      this.#responses.get(message.id)?.(message);
      this.#responses.delete(message.id);
      return;
    }
    const { result, subscription } = message.params;
    const notified = { method: message.method ?? '', result };
    const waiting = this.#waiting.get(subscription);
    this.#waiting.delete(subscription);
    if (waiting !== undefined) waiting(notified);
    else this.#notifications.set(subscription, [...(this.#notifications.get(subscription) ?? []), notified]);
  }
}
