import { GrpcClient, type ReceivedStream } from '../service/grpc-client.ts';
import { SocketClient } from '../service/socket-client.ts';
import { CallLoad } from './request-load.ts';

const DRAINING = 1012;

/**
 * Calls over WebSockets. A socket that a gateway closes because it restarts is opened again, and the call that has no
 * response is sent again, as docs/reference/websocket.md requires.
 */
export class SocketLoad extends CallLoad {
  readonly #counts: { closed: number; resent: number };

  constructor(url: string, key: string, concurrency: number) {
    const sockets = new Map<number, SocketClient>();
    const counts = { closed: 0, resent: 0 };
    const openedFor = async (client: number): Promise<SocketClient> => {
      const open = sockets.get(client);
      if (open?.socket.readyState === open?.socket.OPEN && open !== undefined) return open;
      if (open !== undefined) counts.closed++;
      const socket = await SocketClient.open(`${url}?api-key=${key}`);
      sockets.set(client, socket);
      return socket;
    };
    const send = async (client: number): Promise<string | null> => {
      for (;;) {
        const socket = await openedFor(client);
        const outcome = await Promise.race([socket.call('getSlot'), socket.ended]);
        if (!('at' in outcome)) return outcome.error === undefined ? null : JSON.stringify(outcome.error);
        if (outcome.code !== DRAINING) return `closed with ${outcome.code} ${outcome.reason}`;
        counts.resent++;
      }
    };
    super(send, concurrency);
    this.#counts = counts;
  }

  get counts(): Readonly<{ closed: number; resent: number }> {
    return this.#counts;
  }
}

/** Unary calls over as many connections as clients. */
export class GrpcLoad extends CallLoad {
  readonly #clients: readonly GrpcClient[];

  constructor(url: string, key: string, concurrency: number) {
    const clients = Array.from({ length: concurrency }, () => new GrpcClient(url));
    const send = async (client: number): Promise<string | null> => {
      const answer = await clients[client]!.call(key, 'GetSlot');
      return Buffer.isBuffer(answer) ? null : JSON.stringify(answer);
    };
    super(send, concurrency);
    this.#clients = clients;
  }

  override async stop() {
    const result = await super.stop();
    for (const client of this.#clients) client.close();
    return result;
  }
}

/** One gRPC stream of slots, which is opened again when it ends. */
export class StreamLoad {
  ended = 0;
  messages = 0;
  /** Longest time from the end of a stream to the first message of the next. */
  longestGapMs = 0;
  readonly #client: GrpcClient;
  #stream: ReceivedStream | null = null;
  #isStopped = false;
  readonly #done: Promise<void>;

  constructor(url: string, key: string) {
    this.#client = new GrpcClient(url);
    this.#done = this.#run(key);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stream?.close();
    await this.#done;
    this.#client.close();
  }

  async #run(key: string): Promise<void> {
    let endedAt: number | null = null;
    while (!this.#isStopped) {
      const stream = this.#client.open(key, 'Subscribe');
      this.#stream = stream;
      stream.send({ slots: new Map([['all', {}]]) });
      await Promise.race([stream.first, stream.ended]);
      if (endedAt !== null) this.longestGapMs = Math.max(this.longestGapMs, performance.now() - endedAt);
      await stream.ended;
      this.messages += stream.messages;
      if (!this.#isStopped) this.ended++;
      endedAt = performance.now();
    }
  }
}
