import type { AddressInfo } from 'node:net';
import type { Logger } from '../../base/log.ts';
import type { RawSlot, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener } from '../../streams/deshred/deshred-event.ts';
import { DeshredMerge } from '../../streams/deshred/deshred-merge.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import { BatchReader } from './batch-reader.ts';
import { type DeshredStats, DropReport } from './deshred-stats.ts';
import { Deshredder } from './deshredder.ts';
import { LeaderSchedule } from './leader-schedule.ts';
import { LookupTables, lookupTableRequest } from './lookup-tables.ts';
import { DeshredClient, EntriesClient } from './shred-clients.ts';
import { type DeshredLimits, type ShredLimits, type ShredsConfig, shredLimits } from './shreds-config.ts';
import { UdpShredReceiver } from './udp-shred-receiver.ts';

export type ShredStageOptions = Readonly<{
  config: ShredsConfig;
  limits?: Partial<ShredLimits>;
  deshredLimits?: Partial<DeshredLimits>;
  /** Asks the network's nodes: for the leader schedule, the shred version and lookup tables. */
  reader: Pick<ChainReader, 'request'>;
  log: Logger;
}>;

/** Running totals of a stage. */
type ShredStageCounts = Readonly<{
  /** Of shreds; null without UDP. */
  shreds: Readonly<DeshredStats> | null;
  /** Packets of senders that are not on the list. */
  unknownSenders: number;
  /** Batches of entries that were told. */
  batches: number;
  /** Batches that could not be read. */
  malformed: number;
  /** Transactions of a version that streams have no form for. */
  unknown: number;
  /** Transactions that another source had told before. */
  duplicates: number;
  /** Transactions whose lookup tables were not known. */
  unresolved: number;
  /** Lookup tables that are known now. */
  tables: number;
}>;

/**
 * What `tell` should be told of the standard stage: every write of a lookup table, and how far slots come after their
 * shreds.
 */
export const standardRequest: SubscribeRequest = {
  ...lookupTableRequest,
  slots: new Map([['slots', { interslotUpdates: true }]]),
};

/** A slot that was told longer ago says nothing about shreds that come now. */
const NEWEST_MAX_AGE_MS = 5_000;

/**
 * All sources of the shred stage and what they need, made one: whatever they tell, the listener hears each thing once.
 */
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

  /** @throws RangeError for a list of senders that is none. */
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
    this.#schedule = new LeaderSchedule({ reader, limits, log, learnShredVersion: shredVersion === null });
    this.#deshredder = new Deshredder(
      {
        shredVersion: () => shredVersion ?? this.#schedule.shredVersion,
        leaderOf: (slot) => this.#schedule.leaderOf(slot),
        newestSlot: () => this.#newestSlot(),
        unverified: 'hold',
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

  /** Where shreds are heard; null where they are not. */
  get udpAddress(): AddressInfo | null {
    return this.#udp?.address ?? null;
  }

  /** Shreds that came in over UDP so far and were worth something. */
  get accepted(): number {
    return this.#deshredder.stats.accepted;
  }

  get counts(): ShredStageCounts {
    const { batches, malformed, unknown } = this.#batches;
    return {
      shreds: this.#udp === null ? null : this.#deshredder.stats,
      unknownSenders: this.#udp?.rejected ?? 0,
      ...{ batches, malformed, unknown },
      duplicates: this.#merge.duplicates,
      unresolved: this.#tables.unresolved,
      tables: this.#tables.size,
    };
  }

  /**
   * Begins to listen. Does not wait for servers and nodes: shreds are held until their leader is known.
   * @throws what the UDP socket says, such as EADDRINUSE.
   */
  async start(): Promise<void> {
    await this.#udp?.start();
    if (this.#udp !== null) void this.#schedule.start();
    for (const client of this.#clients) client.start();
    this.#report.start();
  }

  /** Takes in what the standard stage tells of what `standardRequest` asks for; anything else is passed over. */
  onUpdate(update: RawUpdate): void {
    if (update.kind === 'account') this.#tables.onAccount(update);
    else if (update.kind === 'slot') this.#emitSlot(update);
  }

  /** Ends all sources. Harmless when they are over. */
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

  #newestSlot(): Slot | null {
    return performance.now() - this.#newestAt > NEWEST_MAX_AGE_MS ? null : this.#newest;
  }
}
