import { parseJson } from '../../../src/base/json.ts';
import { createLogger } from '../../../src/base/log.ts';
import type { MethodName } from '../../../src/protocol/methods.ts';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import type { Address } from '../../../src/solana/address.ts';
import type { Block } from '../../../src/solana/block.ts';
import type { Slot } from '../../../src/solana/units.ts';
import type { GeyserLimits } from '../../../src/upstream/feeds/geyser/geyser-connection.ts';
import { GeyserFeed } from '../../../src/upstream/feeds/geyser/geyser-feed.ts';

/** What a listener heard. */
export class NotificationRecorder {
  /** `params.result` of each notification. */
  // biome-ignore lint/suspicious/noExplicitAny: notifications have no type of their own
  readonly results: any[] = [];
  isDone = false;
  failure: string | null = null;
  #waiting: (() => void)[] = [];

  readonly listener = {
    onNotification: (result: Buffer, last: boolean): void => {
      this.results.push(parseJson(result.toString('utf8')));
      this.isDone = last;
      this.#wake();
    },
    onError: ({ code }: { code: string }): void => {
      this.failure = code;
      this.#wake();
    },
  };

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  count(expected: number): Promise<void> {
    return this.until(() => this.results.length >= expected);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** Times that let tests run quickly. */
const quick: Partial<GeyserLimits> = {
  requestDelayMs: 1,
  ackTimeoutMs: 500,
  openTimeoutMs: 3_000,
  reconnectMs: 5,
  reconnectMaxMs: 20,
  awayMs: 20,
};

/** Reads the blocks from one slot to another, both included, in order. */
export type FillBlocks = (
  from: Slot,
  to: Slot,
  onBlock: (block: Block) => void,
  signal: AbortSignal,
) => Promise<void>;

/** A feed whose log and questions can be looked at. */
export class GeyserRig {
  readonly log: string[] = [];
  readonly requested: string[] = [];
  /** Raw results by method. */
  readonly answers: Partial<Record<MethodName, () => string>> = { getSlot: () => '90' };
  readonly feed: GeyserFeed;
  #held: Promise<unknown> | null = null;
  #waiting: (() => void)[] = [];

  constructor(
    urls: readonly string[],
    limits: Partial<GeyserLimits> = {},
    more: { fill?: FillBlocks; token?: string } = {},
  ) {
    const { token = 'a-secret-token', fill } = more;
    this.feed = new GeyserFeed({
      nodes: urls.map((grpc, index) => ({
        name: `node-${index}`,
        url: 'http://127.0.0.1:1',
        grpc,
        headers: { 'X-Token': token },
      })),
      limits: { ...quick, ...limits },
      log: createLogger('debug', (line) => this.log.push(line)),
      reader: {
        request: (method) => this.#request(method),
        slots: async (from, to) => [from, to],
        eachBlock: async ([from, to], signal, onBlock) => {
          if (fill === undefined) throw new Error('there is nobody to ask');
          await fill(from!, to!, onBlock, signal);
        },
      },
    });
  }

  async #request(method: MethodName): Promise<Buffer> {
    this.requested.push(method);
    for (const wake of this.#waiting.splice(0)) wake();
    await this.#held;
    const answer = this.answers[method];
    if (answer === undefined) throw new Error('nobody answers');
    return Buffer.from(answer());
  }

  /** Answers nothing before the promise is kept, but for what was asked already. */
  hold(until: Promise<unknown>): void {
    this.#held = until;
  }

  /** Waits until a question makes it true. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async open(subscription: Subscription): Promise<NotificationRecorder & { end: () => void }> {
    const recorder = new NotificationRecorder();
    const end = await this.feed.open(subscription, recorder.listener);
    return Object.assign(recorder, { end });
  }
}

/** An account in base64. */
export const watch = (
  address: Address,
  commitment: 'processed' | 'confirmed' | 'finalized' = 'processed',
): Subscription => ({ kind: 'account', address, commitment, encoding: 'base64' });
