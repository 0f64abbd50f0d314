import type { AddressInfo } from 'node:net';
import type { Logger } from '../../base/log.ts';
import type { RawKeys, RawSlot, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import { encodeWireTransaction } from '../../protocol/geyser/storage/encode-transaction.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { readTransactions } from '../../solana/entries.ts';
import { isConfigMaskValid } from '../../solana/message/transaction-config.ts';
import {
  CONFIG_MASK_AT,
  WireScanner,
  type WireTransaction,
} from '../../solana/transaction/wire-transaction.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener, DeshredTransaction, EntryBatch } from '../../streams/deshred/deshred-event.ts';
import { DeshredMerge } from '../../streams/deshred/deshred-merge.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import { DropReport } from './deshred-stats.ts';
import { Deshredder } from './deshredder.ts';
import { LeaderSchedule } from './leader-schedule.ts';
import { type LoadedAddresses, LookupTables, lookupTableRequest } from './lookup-tables.ts';
import { DeshredClient, EntriesClient } from './shred-clients.ts';
import { type DeshredLimits, type ShredLimits, type ShredsConfig, shredLimits } from './shreds-config.ts';
import { UdpShredReceiver } from './udp-shred-receiver.ts';

type BatchReaderOptions = Readonly<{
  tables: Pick<LookupTables, 'resolve'>;
  listener: Pick<DeshredListener, 'onBatch'> &
    Readonly<{
      /** Called after `onBatch` with the batch's transactions, except those that streams cannot represent. */
      transactions: (transactions: readonly DeshredTransaction[]) => void;
    }>;
}>;

const KEY_BYTES = 32;
const NO_ADDRESSES: LoadedAddresses = { writable: [], readonly: [] };

function joinedKeys(
  { bytes, keyOffsets }: WireTransaction,
  { writable, readonly }: LoadedAddresses,
): RawKeys {
  const loadedCount = writable.length + readonly.length;
  if (loadedCount === 0) return { bytes, offsets: keyOffsets };
  const [start = 0] = keyOffsets;
  const count = keyOffsets.length + loadedCount;
  const joined = Buffer.allocUnsafe(count * KEY_BYTES);
  joined.set(bytes.subarray(start, start + keyOffsets.length * KEY_BYTES));
  let at = keyOffsets.length * KEY_BYTES;
  for (const list of [writable, readonly]) {
    for (const key of list) {
      joined.set(key, at);
      at += KEY_BYTES;
    }
  }
  return { bytes: joined, offsets: Array.from({ length: count }, (_, index) => index * KEY_BYTES) };
}

class BatchTransaction implements DeshredTransaction {
  readonly slot: Slot;
  readonly at: bigint;
  readonly firstShredIndex: number;
  readonly endShredIndex: number;
  readonly signature: Uint8Array;
  readonly isVote: boolean;
  readonly keys: RawKeys;
  readonly loadedWritable: readonly Uint8Array[];
  readonly loadedReadonly: readonly Uint8Array[];
  readonly #wire: Uint8Array;
  #transaction: Uint8Array | null = null;

  constructor(batch: EntryBatch, view: WireTransaction, loaded: LoadedAddresses) {
    this.slot = batch.slot;
    this.at = batch.at;
    this.firstShredIndex = batch.firstShredIndex;
    this.endShredIndex = batch.endShredIndex;
    this.signature = view.signature;
    this.isVote = view.isVote;
    this.keys = joinedKeys(view, loaded);
    this.loadedWritable = loaded.writable;
    this.loadedReadonly = loaded.readonly;
    this.#wire = view.bytes;
  }

  get transaction(): Uint8Array {
    this.#transaction ??= encodeWireTransaction(this.#wire).transaction;
    return this.#transaction;
  }
}

const isRepresentable = ({ version, bytes }: WireTransaction): boolean =>
  version !== 1 || isConfigMaskValid(new WireScanner(bytes, CONFIG_MASK_AT).u32());

/** Emits each batch, then its transactions with their loaded addresses. */
export class BatchReader {
  readonly #options: BatchReaderOptions;
  batches = 0;
  /** Batches without readable entries. */
  malformed = 0;
  /** Transactions of version 1 with a configuration that streams cannot represent; they remain in the batch. */
  unsupportedTransactions = 0;

  constructor(options: BatchReaderOptions) {
    this.#options = options;
  }

  read(batch: EntryBatch): void {
    const { listener } = this.#options;
    const read = readTransactions(batch.entries);
    if (read === null) {
      this.malformed++;
      return;
    }
    // An Alpenglow block marker has no entries.
    if (read.entries === 0) return;
    this.batches++;
    listener.onBatch(batch);
    const emitted: DeshredTransaction[] = [];
    for (const view of read.transactions) {
      if (!isRepresentable(view)) this.unsupportedTransactions++;
      else emitted.push(new BatchTransaction(batch, view, this.#loadedAddresses(view, batch.slot)));
    }
    listener.transactions(emitted);
  }

  #loadedAddresses({ lookups }: WireTransaction, slot: Slot): LoadedAddresses {
    return lookups.length === 0
      ? NO_ADDRESSES
      : (this.#options.tables.resolve(lookups, slot) ?? NO_ADDRESSES);
  }
}

export type ShredStageOptions = Readonly<{
  config: ShredsConfig;
  limits?: Partial<ShredLimits>;
  deshredLimits?: Partial<DeshredLimits>;
  /** Reads the leader schedule, the shred version and lookup tables. */
  reader: Pick<ChainReader, 'request'>;
  log: Logger;
}>;

/** Geyser request whose updates go to `onUpdate`: lookup table writes and slots. */
export const geyserRequest: SubscribeRequest = {
  ...lookupTableRequest,
  slots: new Map([['slots', { interslotUpdates: true }]]),
};

/** Age after which the newest slot is no longer used to check the slots of shreds. */
const NEWEST_MAX_AGE_MS = 5_000;

export class ShredStage {
  readonly #merge: DeshredMerge;
  readonly #batches: BatchReader;
  readonly #tables: LookupTables;
  readonly #schedule: LeaderSchedule;
  readonly #deshredder: Deshredder;
  readonly #udp: UdpShredReceiver | null;
  readonly #report: DropReport;
  readonly #clients: readonly (EntriesClient | DeshredClient)[];
  #newest: Slot | null = null;
  #newestAt = 0;

  /** @throws RangeError for an invalid entry in `udp.senders`. */
  constructor(options: ShredStageOptions, listener: DeshredListener) {
    const { config, reader, log } = options;
    const limits = { ...shredLimits, ...options.limits };
    const { shredVersion, udp, entries, deshred } = config;
    this.#tables = new LookupTables({ reader, limits, log });
    this.#merge = new DeshredMerge(
      {
        onBatch: (batch) => this.#batches.read(batch),
        onTransaction: (transaction) => listener.onTransaction(transaction),
        onSlot: (slot) => listener.onSlot(slot),
      },
      limits,
    );
    this.#batches = new BatchReader({
      tables: this.#tables,
      listener: {
        onBatch: (batch) => listener.onBatch(batch),
        transactions: (transactions) => this.#merge.onTransactions(transactions),
      },
    });
    this.#schedule = new LeaderSchedule({ reader, limits, log, discoverShredVersion: shredVersion === null });
    this.#deshredder = new Deshredder(
      {
        shredVersion: () => shredVersion ?? this.#schedule.shredVersion,
        leaderOf: (slot) => this.#schedule.leaderOf(slot),
        newestSlot: () => (performance.now() - this.#newestAt > NEWEST_MAX_AGE_MS ? null : this.#newest),
        unknownLeader: 'hold',
        ...(options.deshredLimits === undefined ? {} : { limits: options.deshredLimits }),
      },
      this.#merge,
    );
    const onPacket = (bytes: Buffer): void => this.#deshredder.push(bytes);
    this.#udp = udp === null ? null : new UdpShredReceiver({ config: udp, limits, log, onPacket });
    this.#clients = [
      ...entries.map((server) => new EntriesClient({ server, limits, log, listener: this.#merge })),
      ...deshred.map((server) => new DeshredClient({ server, limits, log, listener: this.#merge })),
    ];
    this.#report = new DropReport({ counts: () => this.counts, log });
  }

  get udpAddress(): AddressInfo | null {
    return this.#udp?.address ?? null;
  }

  get accepted(): number {
    return this.#deshredder.stats.accepted;
  }

  /** `shreds` is live; the other counters are copies. */
  get counts() {
    const { batches, malformed, unsupportedTransactions } = this.#batches;
    return {
      shreds: this.#udp === null ? null : this.#deshredder.stats,
      unknownSenders: this.#udp?.unknownSenderPackets ?? 0,
      ...{ batches, malformed, unsupportedTransactions },
      duplicates: this.#merge.duplicates,
      unresolved: this.#tables.unresolved,
      tables: this.#tables.size,
    };
  }

  /** Does not wait for servers or nodes. @throws socket errors such as EADDRINUSE. */
  async start(): Promise<void> {
    await this.#udp?.start();
    if (this.#udp !== null) void this.#schedule.start();
    for (const client of this.#clients) client.start();
    this.#report.start();
  }

  /** Takes lookup table accounts and slots. Ignores all other updates. */
  onUpdate(update: RawUpdate): void {
    if (update.kind === 'account') this.#tables.onAccount(update);
    else if (update.kind === 'slot') this.#emitSlot(update);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    this.#report.close();
    this.#schedule.close();
    this.#tables.close();
    await this.#udp?.close();
    this.#deshredder.close();
  }

  #emitSlot({ slot, parent, status, deadError }: RawSlot): void {
    if (status === 'processed') {
      this.#newest = slot;
      this.#newestAt = performance.now();
    }
    this.#merge.onSlot({ slot, parent, status, deadError, at: BigInt(Date.now()) });
  }
}
