import { parseJson, type WritableJson, writeJson } from '../../src/base/json.ts';
import type { Confirmations, SentTransaction } from '../../src/gateway/rest/confirmations.ts';
import type { Call, RpcDispatcher } from '../../src/protocol/call.ts';
import type { Commitment } from '../../src/protocol/commitment.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import type { Signature } from '../../src/solana/signature.ts';
import type { Feed, FeedListener } from '../../src/streams/feed.ts';
import { dispatcherOf } from '../upstream/mock/dispatcher.ts';

type Request = Readonly<{ network: string; method: string; params: unknown[] }>;

/** Nodes that answer what a test sets. */
export class FakeNodes implements RpcDispatcher {
  readonly requests: Request[] = [];
  status: (signature: string) => WritableJson = () => null;
  slot = 1_000;
  tip = { absoluteSlot: 1_000, blockHeight: 900 };
  isValid = false;
  isUnavailable = false;
  #rounds = 0;
  #wake: (() => void) | null = null;

  readonly dispatch = dispatcherOf((call) => this.#respond(call)).dispatch;

  async #respond({ network, method, params }: Call) {
    const list = parseJson(String(params)) as unknown[];
    this.requests.push({ network, method, params: list });
    this.#rounds++;
    this.#wake?.();
    if (this.isUnavailable) throw new Failure('UPSTREAM_UNAVAILABLE');
    return { body: Buffer.from(writeJson(this.#answer(method, list))), errorCode: 0 };
  }

  #answer(method: string, [first]: unknown[]): WritableJson {
    const context = { slot: this.slot };
    if (method === 'getEpochInfo') return this.tip;
    if (method === 'isBlockhashValid') return { context, value: this.isValid };
    return { context, value: (first as string[]).map((one) => this.status(one)) };
  }

  count(method: string): number {
    return this.requests.filter((one) => one.method === method).length;
  }

  /** The number of requests for a network. */
  of(network: string): number {
    return this.requests.filter((one) => one.network === network).length;
  }

  /** Waits until a transaction of another network was polled `count` times. */
  async rounds(count: number, confirmations: Confirmations): Promise<void> {
    const leaving = new AbortController();
    const never = { blockhash: null, lastValidBlockHeight: null };
    const status = this.status;
    this.status = () => null;
    const wait = confirmations.wait(sent(9_999, { network: 'testnet', ...never }), leaving.signal);
    const target = this.of('testnet') + count;
    while (this.of('testnet') < target) await this.more(1);
    this.status = status;
    leaving.abort();
    await wait.catch(() => {});
  }

  /** Waits for further requests. */
  async more(calls: number): Promise<void> {
    const target = this.#rounds + calls;
    while (this.#rounds < target) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** A feed whose listeners a test can call. */
export class FakeFeed implements Feed {
  readonly listeners: FeedListener[] = [];
  ended = 0;

  async open(_: unknown, listener: FeedListener): Promise<() => void> {
    this.listeners.push(listener);
    return () => {
      this.ended++;
    };
  }
}

export const signatureOf = (n: number): Signature => {
  const bytes = new Uint8Array(64);
  new DataView(bytes.buffer).setUint32(0, n + 1);
  return encodeBase58(bytes) as Signature;
};

export const blockhash = blockhashFromBytes(new Uint8Array(32).fill(7));
export const landed = (confirmationStatus: Commitment, err: WritableJson = null): WritableJson => ({
  ...{ confirmationStatus, err, slot: 5, confirmations: 1 },
});

export const sent = (n: number, more: Partial<SentTransaction> = {}): SentTransaction => ({
  network: 'mainnet-beta',
  signature: signatureOf(n),
  commitment: 'confirmed',
  blockhash,
  lastValidBlockHeight: 1_000n,
  ...more,
});
