import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import type { Network, RpcDispatcher, RpcResponse } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { request } from '../../protocol/rpc-dispatcher.ts';
import type { Block } from '../../solana/block.ts';
import { type DecodedBlock, readBlockSteps } from '../../solana/encoding/read-ui-block.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { withJitter } from '../exponential-backoff.ts';
import type { FeedLimits } from './limits.ts';

type BlockCacheOptions = Readonly<{
  blocksMax: number;
  /** The newest block stays cached regardless of its size. */
  bytesMax: number;
  /** The cache is cleared after this long without a read. */
  idleMs: number;
}>;

export class BlockCache {
  readonly #options: BlockCacheOptions;
  readonly #blocks = new Map<Slot, { readonly read: Promise<Block>; bytes: number }>();
  #bytes = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  constructor(options: BlockCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#blocks.size;
  }

  get(slot: Slot): Promise<Block> | undefined {
    const cached = this.#blocks.get(slot);
    if (cached === undefined) return undefined;
    this.#blocks.delete(slot);
    this.#blocks.set(slot, cached);
    this.#idleTimer?.refresh();
    return cached.read;
  }

  /** Until `setSize` is called, the block counts as 0 bytes. */
  set(slot: Slot, read: Promise<Block>): void {
    this.delete(slot);
    this.#blocks.set(slot, { read, bytes: 0 });
    this.#trim();
    this.#idleTimer ??= setTimeout(() => this.clear(), this.#options.idleMs).unref();
    this.#idleTimer.refresh();
  }

  /** @param bytes - size of the response, which approximates the size of the decoded block. */
  setSize(slot: Slot, bytes: number): void {
    const cached = this.#blocks.get(slot);
    if (cached === undefined) return;
    this.#bytes += bytes - cached.bytes;
    cached.bytes = bytes;
    this.#trim();
  }

  delete(slot: Slot): void {
    this.#bytes -= this.#blocks.get(slot)?.bytes ?? 0;
    this.#blocks.delete(slot);
  }

  clear(): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
    this.#blocks.clear();
    this.#bytes = 0;
  }

  #trim(): void {
    const { blocksMax, bytesMax } = this.#options;
    for (const slot of this.#blocks.keys()) {
      if (this.#blocks.size <= 1) return;
      if (this.#blocks.size <= blocksMax && this.#bytes <= bytesMax) return;
      this.delete(slot);
    }
  }
}

/** @returns the raw result. @throws on an error response, or if there is no response. */
export type RequestFn = (method: MethodName, params: WritableJson, signal?: AbortSignal) => Promise<Buffer>;

/** The commitments at which Agave serves blocks. */
export type HistoryCommitment = 'confirmed' | 'finalized';

export const historyOf = (commitment: Commitment): HistoryCommitment =>
  commitment === 'finalized' ? 'finalized' : 'confirmed';

type ChainReaderOptions = Readonly<{
  network: Network;
  pool: RpcDispatcher;
  limits: FeedLimits;
  log: Logger;
}>;

/** A node returned an error or an unusable result. */
export class ReadError extends Error {
  override readonly name = 'ReadError';
  readonly code: number;
  constructor(method: string, code: number) {
    super(`${method} failed with error ${code}`);
    this.code = code;
  }
}

/** Accepts every transaction version. Transactions that cannot be decoded are omitted from the block. */
const VERSION_MAX = 255;
/** getBlocks is called for this many slots beyond the range, to detect a node that is behind. */
const LOOKAHEAD_SLOTS = 64n;
const BACKOFF_MS = 150;

const CACHE_IDLE_MS = 30_000;

const isSlotList = (value: JsonValue): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'number' && Number.isSafeInteger(one));

async function readInTimeSlices(body: Buffer, slot: Slot): Promise<DecodedBlock> {
  const reading = readBlockSteps(body, slot);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Reads the chain of one network through the node pool. Coalesces identical reads of slot lists and blocks. */
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

  async request(method: MethodName, params: WritableJson, signal?: AbortSignal): Promise<Buffer> {
    const { network, pool } = this.#options;
    const call = { network, method, row: methods[method], params: Buffer.from(writeJson(params)) };
    const { body, errorCode }: RpcResponse = await request(pool, call, signal);
    if (errorCode !== 0) throw new ReadError(method, errorCode);
    return body;
  }

  async slot(commitment: Commitment): Promise<Slot> {
    const body = await this.request('getSlot', [{ commitment }]);
    return slotOf(BigInt(body.toString('latin1')));
  }

  /** The range is inclusive. Waits for a node with a block at or after `to`: a node that is behind would omit slots. */
  async slots(
    from: Slot,
    to: Slot,
    commitment: HistoryCommitment,
    signal: AbortSignal,
  ): Promise<readonly Slot[]> {
    if (from > to) return [];
    for (;;) {
      const available = await unlessAborted(
        this.availableSlots(from, slotOf(to + LOOKAHEAD_SLOTS), commitment),
        signal,
      );
      const last = available.at(-1);
      if (last !== undefined && last >= to) return available.filter((one) => one <= to);
      await sleep(withJitter(BACKOFF_MS), undefined, { signal });
    }
  }

  /** Like `slots`, but does not wait for a node to catch up. */
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

  /** Cached, since confirmed blocks do not change. */
  block(slot: Slot): Promise<Block> {
    const cached = this.#blockCache.get(slot);
    if (cached !== undefined) return cached;
    const read = this.#readSemaphore.run(() => this.#getBlock(slot));
    this.#blockCache.set(slot, read);
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
        'Block contains transactions of an unknown version',
      );
    }
    return block;
  }

  /** Reads blocks in order, prefetching a few. @throws ReadError if a block's parent is missing from `slots`. */
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
