import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { Turnstile } from '../../base/turnstile.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { Block } from '../../ledger/block.ts';
import { type BlockRead, readingBlock } from '../../ledger/encoding/read-ui-block.ts';
import { type Slot, slot as slotOf } from '../../ledger/units.ts';
import type { Answer, Network, Source } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { spreadPause } from '../retry-pause.ts';
import { KeptBlocks } from './kept-blocks.ts';
import type { FeedLimits } from './limits.ts';

/** What history is read at: Agave gives blocks from `confirmed` on. */
export type HistoryCommitment = 'confirmed' | 'finalized';

export type ChainReaderOptions = Readonly<{
  network: Network;
  pool: Source;
  limits: FeedLimits;
  log: Logger;
}>;

/** A node answered a reading question with an error of its own. */
export class ReadRefused extends Error {
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
const KEPT_IDLE_MS = 30_000;

const isSlotList = (value: JsonValue): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'number' && Number.isSafeInteger(one));

/** Reads a block without keeping everybody else waiting. */
async function readSlowly(body: Buffer, slot: Slot): Promise<BlockRead> {
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
  readonly #flights = new Map<string, Promise<readonly Slot[]>>();
  readonly #blocks: KeptBlocks;
  readonly #reads: Turnstile;

  constructor(options: ChainReaderOptions) {
    this.#options = options;
    const { blocksKept, blocksKeptBytes } = options.limits;
    this.#blocks = new KeptBlocks({ blocksMax: blocksKept, bytesMax: blocksKeptBytes, idleMs: KEPT_IDLE_MS });
    this.#reads = new Turnstile(options.limits.blockReadsMax);
  }

  /**
   * The raw result of a method.
   * @throws ReadRefused with a node's error; Failure when nobody answered.
   */
  async ask(method: MethodName, params: WritableJson, signal?: AbortSignal): Promise<Buffer> {
    const { network, pool } = this.#options;
    const call = { network, method, row: methods[method], params: Buffer.from(writeJson(params)) };
    const { body, errorCode }: Answer = await pool.ask(call, signal);
    if (errorCode !== 0) throw new ReadRefused(method, errorCode);
    return body;
  }

  /** The tip at a commitment. */
  async slot(commitment: Commitment): Promise<Slot> {
    const body = await this.ask('getSlot', [{ commitment }]);
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
      const known = await unlessAborted(this.known(from, slotOf(to + REACH), commitment), signal);
      const last = known.at(-1);
      if (last !== undefined && last >= to) return known.filter((one) => one <= to);
      await sleep(spreadPause(PAUSE_MS), undefined, { signal });
    }
  }

  /**
   * The same as far as the node that is asked knows now.
   * @throws what `ask` throws.
   */
  async known(from: Slot, to: Slot, commitment: HistoryCommitment): Promise<readonly Slot[]> {
    const key = `${from} ${to} ${commitment}`;
    const flight = this.#flights.get(key) ?? this.#getBlocks(from, to, commitment);
    this.#flights.set(key, flight);
    try {
      return await flight;
    } finally {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    }
  }

  async #getBlocks(from: Slot, to: Slot, commitment: HistoryCommitment): Promise<readonly Slot[]> {
    const list = parseJson((await this.ask('getBlocks', [from, to, { commitment }])).toString('latin1'));
    if (!isSlotList(list)) throw new ReadRefused('getBlocks', 0);
    return list.map((one) => slotOf(one));
  }

  /**
   * A confirmed block. Kept for whoever asks next: blocks do not change once they are confirmed.
   * @throws what `ask` throws; MalformedJson.
   */
  block(slot: Slot): Promise<Block> {
    const kept = this.#blocks.get(slot);
    if (kept !== undefined) return kept;
    const read = this.#reads.run(() => this.#getBlock(slot));
    this.#blocks.set(slot, read);
    // Whoever asks next, after a failure, asks the nodes again.
    read.catch(() => this.#blocks.delete(slot));
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
    const body = await this.ask('getBlock', [slot, config]);
    this.#blocks.weigh(slot, body.length);
    const { block, undecodable } = await readSlowly(body, slot);
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
    tell: (block: Block) => void | Promise<void>,
  ): Promise<void> {
    const { blockReadsMax } = this.#options.limits;
    for (let at = 0; at < slots.length; at++) {
      for (const ahead of slots.slice(at + 1, at + blockReadsMax)) void this.block(ahead).catch(() => {});
      const block = await unlessAborted(this.block(slots[at]!), signal);
      if (at > 0 && block.parentSlot !== slots[at - 1]) throw new ReadRefused('getBlocks', 0);
      await tell(block);
    }
  }
}
