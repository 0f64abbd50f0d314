import { Lru } from '../../../../src/base/cache/lru.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { type Slot, slot } from '../../../../src/solana/units.ts';
import type { BlockStore } from '../bank/ledger-state.ts';
import type { AddressSignature, History } from '../node.ts';
import type { AddressHistoryQuery } from './address-history.ts';
import { afterSlot, BEFORE_ALL, type HistoryIndex } from './history-index.ts';
import { type PerformanceSample, PerformanceSamples } from './performance-samples.ts';
import { decodeBlock, decodeRecord, encodeRecord } from './record-codec.ts';
import type { SegmentLog } from './segment-log.ts';
import { blockOf, type SlotRecord } from './slot-record.ts';

/** Cached decoded blocks. */
const CACHED_MAX = 64;

/** Reads frozen blocks from the log via the index. */
export class DiskBlocks implements BlockStore {
  readonly #log: SegmentLog;
  readonly #index: HistoryIndex;
  readonly #cache = new Lru<number, Block>(CACHED_MAX);
  readonly #samples: PerformanceSamples;

  constructor(log: SegmentLog, index: HistoryIndex) {
    this.#log = log;
    this.#index = index;
    this.#samples = new PerformanceSamples(index);
  }

  get durableSlot(): number {
    return this.#log.durableSlot;
  }

  get failure(): Error | null {
    return this.#log.failure;
  }

  get firstAvailableSlot(): Slot {
    return slot(this.#index.oldestSlot);
  }

  append(record: SlotRecord): void {
    const { header } = record;
    const position = this.#log.append(header.slot, encodeRecord(record));
    this.#index.add([[record, position]]);
    this.#cache.set(header.slot, blockOf(record));
  }

  record(at: number): SlotRecord | null {
    const position = this.#index.position(at);
    return position === null ? null : decodeRecord(this.#log.read(position));
  }

  block(at: Slot): Block | null {
    const number = numberOf(at);
    const cached = this.#cache.get(number);
    if (cached !== undefined) return cached;
    const position = this.#index.position(number);
    if (position === null) return null;
    const block = blockOf(decodeBlock(this.#log.read(position)));
    this.#cache.set(number, block);
    return block;
  }

  blockTime(at: Slot): bigint | null {
    const time = this.#index.blockTime(numberOf(at));
    return time === null ? null : BigInt(time);
  }

  transactionsOf(address: Address, query: AddressHistoryQuery): ReturnType<History['transactionsOf']> {
    return this.#index.addresses.find(address, query);
  }

  slotsInUse(newest: Slot, limit: number): Slot[] {
    return this.#index.slotsInUse(numberOf(newest), limit).map((at) => slot(at));
  }

  performanceSamples(limit: number): PerformanceSample[] {
    return this.#samples.newest(limit);
  }

  locate(signature: Signature): ReturnType<History['locate']> {
    const location = this.#index.locate(signature);
    return location === null ? null : { ...location, slot: slot(location.slot) };
  }

  signaturesForAddress(
    address: Address,
    options: Parameters<History['signaturesForAddress']>[1],
  ): AddressSignature[] {
    const newest = afterSlot(options.highestSlot);
    const before = options.before === undefined ? null : this.#index.locate(options.before);
    const until = options.until === undefined ? null : this.#index.locate(options.until);
    return this.#index.mentions(address, {
      before: before !== null && before.slot <= newest.slot ? before : newest,
      after: until ?? BEFORE_ALL,
      limit: options.limit,
    });
  }
}

/** Slots above the safe integer range do not exist. */
const numberOf = (at: Slot): number => (at < BigInt(Number.MAX_SAFE_INTEGER) ? Number(at) : -1);
