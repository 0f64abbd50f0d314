import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import type { Network, RpcClient, RpcResponse } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import type { Block } from '../../solana/block.ts';
import { type BlockRead, readingBlock } from '../../solana/encoding/read-ui-block.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { withJitter } from '../exponential-backoff.ts';
import { BlockCache } from './block-cache.ts';
import type { FeedLimits } from './limits.ts';

/** What history is read at: Agave gives blocks from `confirmed` on. */
export type HistoryCommitment = 'confirmed' | 'finalized';

export type ChainReaderOptions = Readonly<{
  network: Network;
  pool: RpcClient;
  limits: FeedLimits;
  log: Logger;
}>;

/** A node answered a reading question with an error of its own. */
export class ReadError extends Error {
  override readonly name = 'ReadRefused';
  readonly code: number;
  constructor(method: string, code: number) {
    super(`${method} was answered with error ${code}`);
    this.code = code;
  }
}

/** The newest version there is; transactions that cannot be decoded here are left out of the block. */
const VERSION_MAX = 255;
/** Slots beyond the last wanted one that getBlocks looks at, so that its answer shows that it knew that one. */
const REACH = 64n;
/** Pause before a node is asked again whether it has come as far. */
const PAUSE_MS = 150;

/** Blocks are kept so long after anybody asked for one. */
const CACHE_IDLE_MS = 30_000;

const isSlotList = (value: JsonValue): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'number' && Number.isSafeInteger(one));

/** Reads a block without keeping everybody else waiting. */
async function readInTimeSlices(body: Buffer, slot: Slot): Promise<BlockRead> {
  const reading = readingBlock(body, slot);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Reads the chain of one network through the pool. Equal questions that are under way are asked once. */
export class ChainReader {
  readonly #options: ChainReaderOptions;
  readonly #inFlight = new Map<string, Promise<readonly Slot[]>>();
  readonly #blockCache: BlockCache;
  readonly #readSemaphore: Semaphore;

  constructor(options: ChainReaderOptions) {
    this.#options = options;
    const { blockCacheMax, blockCacheMaxBytes } = options.limits;
    this.#blockCache = new BlockCache({
      blocksMax: blockCacheMax,
      bytesMax: blockCacheMaxBytes,
      idleMs: CACHE_IDLE_MS,
    });
    this.#readSemaphore = new Semaphore(options.limits.blockReadsMax);
  }

  /**
   * The raw result of a method.
   * @throws ReadRefused with a node's error; Failure when nobody answered.
   */
  async request(method: MethodName, params: WritableJson, signal?: AbortSignal): Promise<Buffer> {
    const { network, pool } = this.#options;
    const call = { network, method, row: methods[method], params: Buffer.from(writeJson(params)) };
    const { body, errorCode }: RpcResponse = await pool.request(call, signal);
    if (errorCode !== 0) throw new ReadError(method, errorCode);
    return body;
  }

  /** The tip at a commitment. */
  async slot(commitment: Commitment): Promise<Slot> {
    const body = await this.request('getSlot', [{ commitment }]);
    return slotOf(BigInt(body.toString('latin1')));
  }

  /**
   * The slots from one to another, both included, that hold a block. Waits until a node knows a block at or behind
   * the last: the answer of one that is behind would be short without saying so.
   * @throws what `ask` throws; AbortError.
   */
  async slots(
    from: Slot,
    to: Slot,
    commitment: HistoryCommitment,
    signal: AbortSignal,
  ): Promise<readonly Slot[]> {
    if (from > to) return [];
    for (;;) {
      const available = await unlessAborted(
        this.availableSlots(from, slotOf(to + REACH), commitment),
        signal,
      );
      const last = available.at(-1);
      if (last !== undefined && last >= to) return available.filter((one) => one <= to);
      await sleep(withJitter(PAUSE_MS), undefined, { signal });
    }
  }

  /**
   * The same as far as the node that is asked knows now.
   * @throws what `ask` throws.
   */
  async availableSlots(from: Slot, to: Slot, commitment: HistoryCommitment): Promise<readonly Slot[]> {
    const key = `${from} ${to} ${commitment}`;
    const inFlightRead = this.#inFlight.get(key) ?? this.#getBlocks(from, to, commitment);
    this.#inFlight.set(key, inFlightRead);
    try {
      return await inFlightRead;
    } finally {
      if (this.#inFlight.get(key) === inFlightRead) this.#inFlight.delete(key);
    }
  }

  async #getBlocks(from: Slot, to: Slot, commitment: HistoryCommitment): Promise<readonly Slot[]> {
    const list = parseJson((await this.request('getBlocks', [from, to, { commitment }])).toString('latin1'));
    if (!isSlotList(list)) throw new ReadError('getBlocks', 0);
    return list.map((one) => slotOf(one));
  }

  /**
   * A confirmed block. Kept for whoever asks next: blocks do not change once they are confirmed.
   * @throws what `ask` throws; MalformedJson.
   */
  block(slot: Slot): Promise<Block> {
    const cached = this.#blockCache.get(slot);
    if (cached !== undefined) return cached;
    const read = this.#readSemaphore.run(() => this.#getBlock(slot));
    this.#blockCache.set(slot, read);
    // Whoever asks next, after a failure, asks the nodes again.
    read.catch(() => this.#blockCache.delete(slot));
    return read;
  }

  async #getBlock(slot: Slot): Promise<Block> {
    const config = {
      encoding: 'base64',
      transactionDetails: 'full',
      rewards: true,
      commitment: 'confirmed',
      maxSupportedTransactionVersion: VERSION_MAX,
    };
    const body = await this.request('getBlock', [slot, config]);
    this.#blockCache.setSize(slot, body.length);
    const { block, undecodable } = await readInTimeSlices(body, slot);
    if (undecodable > 0) {
      this.#options.log.warn(
        { slot: Number(slot), undecodable },
        'a block has transactions of unknown version',
      );
    }
    return block;
  }

  /**
   * The blocks of these slots, in order.
   * @param tell - called for each in turn; the next ones are being read meanwhile.
   * @throws what `block` throws; AbortError; a list with a hole in it, which a block's parent tells, counts as not answered.
   */
  async eachBlock(
    slots: readonly Slot[],
    signal: AbortSignal,
    onBlock: (block: Block) => void | Promise<void>,
  ): Promise<void> {
    const { blockReadsMax } = this.#options.limits;
    for (let at = 0; at < slots.length; at++) {
      for (const ahead of slots.slice(at + 1, at + blockReadsMax)) void this.block(ahead).catch(() => {});
      const block = await unlessAborted(this.block(slots[at]!), signal);
      if (at > 0 && block.parentSlot !== slots[at - 1]) throw new ReadError('getBlocks', 0);
      await onBlock(block);
    }
  }
}
