import { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';
import type { Tally } from '../figures/tally.ts';
import { longTimeouts } from '../geyser/long-timeouts.ts';

export type TransactionListenerOptions = Readonly<{
  name: string;
  /** Of the gRPC server. */
  url: string;
  key: string;
  /** Such as `/geyser.Geyser/Subscribe`. */
  method: string;
  request: Uint8Array;
  /** The signature in a message; null without a transaction. */
  signatureIn: (message: Buffer) => string | null;
  /** Counts messages, and the latency of transactions. */
  tally: Tally;
  sentAt: ReadonlyMap<string, number>;
}>;

/** A gRPC stream of transactions that counts each signature. */
export class TransactionListener {
  readonly name: string;
  /** Count by signature. */
  readonly received = new Map<string, number>();
  messages = 0;
  /** Why it ended. */
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

  /** Missing transactions. */
  missed(expected: readonly string[]): string[] {
    return expected
      .filter((signature) => !this.received.has(signature))
      .map((signature) => `${this.name} did not send ${signature}`);
  }

  /** Duplicates, an early end, or no messages. */
  faults(): string[] {
    const twice = [...this.received].filter(([, times]) => times > 1);
    return [
      ...(this.ended === null ? [] : [`${this.name} ended: ${this.ended}`]),
      ...(this.messages === 0 ? [`${this.name} sent nothing`] : []),
      ...twice.map(([signature, times]) => `${this.name} sent ${signature} ${times} times`),
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
