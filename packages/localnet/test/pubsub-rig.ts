import { once } from 'node:events';
import pino from 'pino';
import WebSocket, { type ClientOptions } from 'ws';
import { type PubsubServer, type PubsubServerOptions, startPubsubServer } from '../src/pubsub/server.ts';
import { Lab } from './ledger/lab.ts';

export class RawClient {
  readonly socket: WebSocket;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  readonly #messages: string[] = [];
  readonly #waiting: PromiseWithResolvers<string>[] = [];
  #isClosed = false;
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => {});
    // Rejects pending reads.
    socket.on('close', () => {
      this.#isClosed = true;
      for (const waiter of this.#waiting.splice(0)) waiter.reject(new Error('the connection closed'));
    });
    socket.on('message', (data: Buffer) => {
      const waiter = this.#waiting.shift();
      if (waiter === undefined) this.#messages.push(data.toString());
      else waiter.resolve(data.toString());
    });
  }

  static async open(port: number, path = '/', protocols: string[] = [], options: ClientOptions = {}) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, options);
    const client = new RawClient(socket);
    await once(socket, 'open');
    return client;
  }

  send(message: string | Buffer): void {
    this.socket.send(message);
  }

  text(): Promise<string> {
    const message = this.#messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    if (this.#isClosed) return Promise.reject(new Error('the connection closed'));
    const waiter = Promise.withResolvers<string>();
    this.#waiting.push(waiter);
    return waiter.promise;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the tests look into messages of every shape
  async json(): Promise<any> {
    return JSON.parse(await this.text());
  }

  /** Result or error of a call, whose response must be the next message. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async call(method: string, params?: unknown): Promise<any> {
    const id = this.#nextId++;
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const answer = await this.json();
    if (answer.id !== id) throw new Error(`not the answer to ${method}: ${JSON.stringify(answer)}`);
    return answer.error ?? answer.result;
  }

  /** The result of the next message, which must be a notification of the subscription. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async received(subscription: number): Promise<any> {
    const message = await this.json();
    if (message.params?.subscription !== subscription) {
      throw new Error(`not received of subscription ${subscription}: ${JSON.stringify(message)}`);
    }
    return message.params.result;
  }

  /** Fails on any message before the response to another call. */
  async silence(): Promise<void> {
    await this.call('getVersion');
    if (this.#messages.length > 0) throw new Error(`unexpected: ${this.#messages.join('\n')}`);
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

export type PubsubRig = Readonly<{
  lab: Lab;
  server: PubsubServer;
  client(path?: string, protocols?: string[], options?: ClientOptions): Promise<RawClient>;
  close(): Promise<void>;
}>;

/** @param given - ledger to use; the rig closes it. Default: a new one. */
export async function openPubsubRig(
  options: Partial<PubsubServerOptions> = {},
  given?: Lab,
): Promise<PubsubRig> {
  const lab = given ?? (await Lab.open());
  const server = await startPubsubServer(lab.node, { port: 0, log: pino({ level: 'silent' }), ...options });
  return {
    lab,
    server,
    client: (path, protocols, given) => RawClient.open(server.port, path, protocols, given),
    close: async () => {
      await server.close();
      await lab.close();
    },
  };
}
