import { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';
import type { Tally } from '../figures/tally.ts';
import { longTimeouts } from '../geyser/long-timeouts.ts';

export type TransactionListenerOptions = Readonly<{
  name: string;
  /** Of the gRPC door. */
  url: string;
  key: string;
  /** Such as `/geyser.Geyser/Subscribe`. */
  method: string;
  request: Uint8Array;
  /** The signature of the transaction in a message; null where it is something else. */
  signatureIn: (message: Buffer) => string | null;
  /** Gets every message, and how long after its being sent a transaction came. */
  tally: Tally;
  sentAt: ReadonlyMap<string, number>;
}>;

/** A gRPC stream that tells of transactions, and how often it told of each. */
export class TransactionListener {
  readonly name: string;
  /** Times that each was told. */
  readonly received = new Map<string, number>();
  messages = 0;
  /** Why it ended, when it did. */
  ended: string | null = null;
  readonly #options: TransactionListenerOptions;
  readonly #stream: GrpcStream;

  constructor(options: TransactionListenerOptions) {
    this.name = options.name;
    this.#options = options;
    const { url, key, method, request } = options;
    this.#stream = new GrpcStream(
      { ...longTimeouts, url, method, headers: { 'x-token': key } },
      {
        onOpen: () => {},
        onMessage: (bytes) => this.#take(bytes),
        onEnd: ({ code, message }) => {
          this.ended = `${code} ${message}`;
        },
      },
    );
    this.#stream.send(request);
  }

  /** What it did not tell of what it had to tell. */
  missed(owed: readonly string[]): string[] {
    return owed
      .filter((signature) => !this.received.has(signature))
      .map((signature) => `${this.name} did not tell ${signature}`);
  }

  /** What is wrong with what it told. */
  faults(): string[] {
    const twice = [...this.received].filter(([, times]) => times > 1);
    return [
      ...(this.ended === null ? [] : [`${this.name} ended: ${this.ended}`]),
      ...(this.messages === 0 ? [`${this.name} told nothing`] : []),
      ...twice.map(([signature, times]) => `${this.name} told ${signature} ${times} times`),
    ];
  }

  close(): void {
    this.#stream.close();
  }

  #take(message: Buffer): void {
    const { signatureIn, sentAt, tally } = this.#options;
    this.messages++;
    const signature = signatureIn(message);
    const sent = signature === null ? undefined : sentAt.get(signature);
    if (sent === undefined) tally.came();
    else tally.took(performance.now() - sent);
    if (signature !== null) this.received.set(signature, (this.received.get(signature) ?? 0) + 1);
  }
}
