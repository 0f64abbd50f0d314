import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import published, { type SubscribeRequest, type SubscribeUpdate } from '@triton-one/yellowstone-grpc';

/** The published Yellowstone client. */

export type YellowstoneClient = InstanceType<typeof published.default>;
/** Its types describe CommonJS, but Node loads an ES module. */
const Client = published as unknown as typeof published.default;

/** A request without filters; the client requires every member. */
export const nothing = (): SubscribeRequest => ({
  accounts: {},
  slots: {},
  transactions: {},
  transactionsStatus: {},
  blocks: {},
  blocksMeta: {},
  entry: {},
  accountsDataSlice: [],
});

export class UpdateCollector<Update> {
  readonly updates: Update[] = [];
  readonly stream: Duplex;
  fault: Error | null = null;
  readonly #waiting = new Set<() => void>();

  constructor(stream: Duplex) {
    this.stream = stream;
    stream.on('data', (update: Update) => {
      this.updates.push(update);
      for (const wake of this.#waiting) wake();
    });
    stream.on('error', (error: Error) => {
      this.fault = error;
      for (const wake of this.#waiting) wake();
    });
  }

  /** The first matching update, received before or later. @throws the error of the stream. */
  async first(test: (update: Update) => boolean): Promise<Update> {
    for (;;) {
      const found = this.updates.find(test);
      if (found !== undefined) return found;
      if (this.fault !== null) throw this.fault;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
  }

  async failure(): Promise<Error> {
    while (this.fault === null) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.fault;
  }

  async send(request: unknown): Promise<void> {
    if (!this.stream.write(request)) await once(this.stream, 'drain');
  }

  close(): void {
    this.stream.on('error', () => {});
    this.stream.destroy();
  }
}

export async function listen(
  client: YellowstoneClient,
  request: SubscribeRequest,
): Promise<UpdateCollector<SubscribeUpdate>> {
  return new UpdateCollector(await client.subscribe(request));
}

export async function connected(
  url: string,
  key: string | undefined,
  reconnect?: ConstructorParameters<typeof published.default>[3],
): Promise<YellowstoneClient> {
  const client = new Client(url, key, { grpcMaxDecodingMessageSize: 64 * 1024 * 1024 }, reconnect);
  await client.connect();
  return client;
}
