import { createLogger, type Logger } from '../../../../src/base/log.ts';
import type { Call, RpcDispatcher, RpcResponse } from '../../../../src/protocol/call.ts';
import { ChainReader } from '../../../../src/upstream/feeds/chain-reader.ts';
import { type FeedLimits, feedLimits } from '../../../../src/upstream/feeds/limits.ts';
import { dispatcherOf } from '../../mock/dispatcher.ts';

const HASH = '11111111111111111111111111111111';

/** A pool whose chain has an empty block in each slot up to the tip, except skipped slots. */
export class ScriptedChain implements RpcDispatcher {
  tip: number;
  readonly skipped = new Set<number>();
  /** Slots whose block getBlocks omits. */
  readonly unlisted = new Set<number>();
  /** Slots that getBlocks lists but getBlock has no block for. */
  readonly lacking = new Set<number>();
  readonly requests: string[] = [];
  readonly logged: string[] = [];
  readonly log: Logger = createLogger('debug', (line) => this.logged.push(line));
  readonly limits: FeedLimits;

  constructor(tip: number, limits: Partial<FeedLimits> = {}) {
    this.tip = tip;
    this.limits = { ...feedLimits, ...limits };
  }

  reader(): ChainReader {
    return new ChainReader({ network: 'devnet', pool: this, limits: this.limits, log: this.log });
  }

  count(method: string): number {
    return this.requests.filter((request) => request.startsWith(`${method} `)).length;
  }

  readonly dispatch = dispatcherOf((call) => this.#respond(call)).dispatch;

  async #respond({ method, params }: Call): Promise<RpcResponse> {
    const text = params?.toString() ?? '[]';
    this.requests.push(`${method} ${text}`);
    const [first = 0, second = 0] = JSON.parse(text) as number[];
    if (method === 'getSlot') return this.#answer(this.tip);
    if (method === 'getBlocks') return this.#answer(this.#slots(first, second));
    if (this.lacking.has(first)) return { ...this.#answer({ code: -32004 }), errorCode: -32004 };
    return this.#answer(this.#block(first));
  }

  #answer(value: unknown): RpcResponse {
    return { body: Buffer.from(JSON.stringify(value)), errorCode: 0 };
  }

  #slots(from: number, to: number): number[] {
    const slots: number[] = [];
    for (let slot = from; slot <= Math.min(to, this.tip); slot++)
      if (!this.skipped.has(slot) && !this.unlisted.has(slot)) slots.push(slot);
    return slots;
  }

  #block(slot: number): unknown {
    let parentSlot = slot - 1;
    while (this.skipped.has(parentSlot)) parentSlot--;
    const header = { blockHeight: slot, blockTime: 1_700_000_000, parentSlot };
    return { ...header, blockhash: HASH, previousBlockhash: HASH, transactions: [], rewards: [] };
  }
}
