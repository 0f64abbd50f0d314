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
  /** Reads the leader schedule, the shred version and lookup tables. */
  reader: Pick<ChainReader, 'request'>;
  log: Logger;
}>;

type ShredStageCounts = Readonly<{
  /** Null without UDP. */
  shreds: Readonly<DeshredStats> | null;
  unknownSenders: number;
  batches: number;
  malformed: number;
  /** Of an unsupported version. */
  unknown: number;
  /** Received from another source before. */
  duplicates: number;
  /** With unknown lookup tables. */
  unresolved: number;
  /** Known lookup tables. */
  tables: number;
}>;

/** Request for `onUpdate`: lookup table writes, and slots. */
export const standardRequest: SubscribeRequest = {
  ...lookupTableRequest,
  slots: new Map([['slots', { interslotUpdates: true }]]),
};

/** An older slot is no reference for new shreds. */
const NEWEST_MAX_AGE_MS = 5_000;

/** Merges all sources of the shred stage and emits each item once. */
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

  /** @throws RangeError for an invalid sender. */
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

  get udpAddress(): AddressInfo | null {
    return this.#udp?.address ?? null;
  }

  /** New verified shreds received over UDP. */
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
   * Does not wait for servers and nodes: shreds are held until their leader is known.
   * @throws socket errors such as EADDRINUSE.
   */
  async start(): Promise<void> {
    await this.#udp?.start();
    if (this.#udp !== null) void this.#schedule.start();
    for (const client of this.#clients) client.start();
    this.#report.start();
  }

  /** Processes updates of `standardRequest`; ignores others. */
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

  #newestSlot(): Slot | null {
    return performance.now() - this.#newestAt > NEWEST_MAX_AGE_MS ? null : this.#newest;
  }
}
