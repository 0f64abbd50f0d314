import type { Logger } from '../../base/log.ts';
import { type Address, addressBytes, parseAddress } from '../../solana/address.ts';
import { type Epoch, epoch as epochOf, type Slot } from '../../solana/units.ts';
import { exponentialBackoff } from '../exponential-backoff.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { ShredLimits } from './shreds-config.ts';

type LeaderScheduleOptions = Readonly<{
  reader: Pick<ChainReader, 'request'>;
  limits: Pick<ShredLimits, 'scheduleIntervalMs' | 'scheduleRetryMs' | 'scheduleRetryMaxMs'>;
  log: Logger;
  discoverShredVersion: boolean;
}>;

type EpochLeaders = Readonly<{
  first: bigint;
  leaders: readonly Uint8Array[];
  /** Index into `leaders` by position in the epoch, or NO_LEADER. */
  positions: Uint32Array;
}>;

/** Times are on the `performance.now()` clock. */
type CachedLeaders = EpochLeaders & Readonly<{ readAt: number }>;

const NO_LEADER = 0xffff_ffff;
/** Maximum slots per epoch: more than twice as many as on any public cluster. */
const POSITIONS_MAX = 1_000_000;
/** The previous epoch (for late shreds), the current epoch and the next epoch. */
const EPOCHS_RETAINED = 3;

/** A schedule is read again at this age, because a response may have been wrong or incomplete. */
const SCHEDULE_MAX_AGE_MS = 5 * 60_000;

/** Not `finalized`: if epochs are short, finalized state is an epoch behind. */
const processed = { commitment: 'processed' };

const isCount = (value: unknown, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;

export function readEpochInfo(json: string): Readonly<{ epoch: Epoch; first: bigint; slots: number }> | null {
  const info: unknown = JSON.parse(json);
  if (typeof info !== 'object' || info === null) return null;
  const { absoluteSlot, epoch, slotIndex, slotsInEpoch } = info as Record<string, unknown>;
  if (!isCount(absoluteSlot, Number.MAX_SAFE_INTEGER) || !isCount(slotIndex, absoluteSlot)) return null;
  if (!isCount(epoch, absoluteSlot) || !isCount(slotsInEpoch, POSITIONS_MAX)) return null;
  return { epoch: epochOf(epoch), first: BigInt(absoluteSlot - slotIndex), slots: slotsInEpoch };
}

const positionMax = (lists: readonly (readonly unknown[])[]): number =>
  lists.reduce((most, list) => list.reduce<number>((max, one) => Math.max(max, Number(one)), most), -1);

/** `first` is the epoch's first slot. Null if the response is malformed or the node does not know the schedule. */
export function readLeaderSchedule(json: string, first: bigint): EpochLeaders | null {
  const schedule: unknown = JSON.parse(json);
  if (typeof schedule !== 'object' || schedule === null) return null;
  const entries = Object.entries(schedule as Record<string, unknown>);
  if (entries.length === 0) return null;
  if (!entries.every(([name, list]) => 'address' in parseAddress(name) && isPositions(list))) return null;
  const lists = entries.map(([, list]) => list as number[]);
  const positions = new Uint32Array(positionMax(lists) + 1).fill(NO_LEADER);
  lists.forEach((list, leader) => {
    for (const position of list) positions[position] = leader;
  });
  return { first, leaders: entries.map(([name]) => addressBytes(name as Address)), positions };
}

const isPositions = (list: unknown): boolean =>
  Array.isArray(list) && list.every((position) => isCount(position, POSITIONS_MAX - 1));

/** The most common shred version in a getClusterNodes response. */
export function readShredVersion(json: string): number | null {
  const nodes: unknown = JSON.parse(json);
  if (!Array.isArray(nodes)) return null;
  const votes = new Map<number, number>();
  for (const node of nodes) {
    const version = (node as { shredVersion?: unknown } | null)?.shredVersion;
    if (isCount(version, 0xffff) && version > 0) votes.set(version, (votes.get(version) ?? 0) + 1);
  }
  const [mostCommon] = [...votes].sort(([, a], [, b]) => b - a);
  return mostCommon?.[0] ?? null;
}

/** Leaders of the previous, the current and, once known, the next epoch. Lookups never wait. */
export class LeaderSchedule {
  readonly #options: LeaderScheduleOptions;
  readonly #epochs = new Map<Epoch, CachedLeaders>();
  readonly #abort = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #isRefreshing = false;
  #failures = 0;
  #notBefore = 0;
  shredVersion: number | null = null;

  constructor(options: LeaderScheduleOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#epochs.size;
  }

  /** Resolves after the first refresh, successful or not. */
  start(): Promise<void> {
    return this.#refresh();
  }

  close(): void {
    this.#abort.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** The leader's public key (32 bytes); null if unknown. Within a schedule, all slots of a leader share one object. */
  leaderOf(slot: Slot): Uint8Array | null {
    for (const { first, positions, leaders } of this.#epochs.values()) {
      if (slot < first || slot - first >= BigInt(positions.length)) continue;
      return leaders[positions[Number(slot - first)]!] ?? null;
    }
    this.#refreshSoon();
    return null;
  }

  /** Refreshes early if a slot is unknown, because short epochs last only seconds. */
  #refreshSoon(): void {
    const now = performance.now();
    if (this.#timer === null || this.#failures > 0 || now < this.#notBefore) return;
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    if (this.#isRefreshing || this.#abort.signal.aborted) return;
    const { scheduleIntervalMs, scheduleRetryMs, scheduleRetryMaxMs } = this.#options.limits;
    this.#isRefreshing = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const isRead = await this.#read();
    this.#isRefreshing = false;
    if (this.#abort.signal.aborted) return;
    this.#failures = isRead ? 0 : this.#failures + 1;
    const retryMs = exponentialBackoff(scheduleRetryMs, scheduleRetryMaxMs, this.#failures - 1);
    this.#notBefore = performance.now() + scheduleRetryMs;
    const delayMs = isRead ? scheduleIntervalMs : retryMs;
    this.#timer = setTimeout(() => void this.#refresh(), delayMs * (0.75 + Math.random() / 4));
    this.#timer.unref();
  }

  async #read(): Promise<boolean> {
    try {
      const info = readEpochInfo(await this.#request('getEpochInfo', [processed]));
      if (info === null) return false;
      const hasVersion = await this.#readShredVersion();
      const isKnown = await this.#readEpoch(info.epoch, info.first);
      // Nodes know the next schedule only after some point in the current epoch.
      await this.#readEpoch(epochOf(info.epoch + 1n), info.first + BigInt(info.slots));
      const current = info.epoch;
      for (const epoch of this.#epochs.keys()) {
        const isOld = epoch + BigInt(EPOCHS_RETAINED) <= current + 1n;
        if (isOld || epoch > current + 1n) this.#epochs.delete(epoch);
      }
      return isKnown && hasVersion;
    } catch (error) {
      if (this.#abort.signal.aborted) return true;
      if (this.#failures === 0) {
        const reason = error instanceof Error ? error.message : 'unknown';
        this.#options.log.warn({ reason }, 'Failed to read the leader schedule; shreds wait for it');
      }
      return false;
    }
  }

  async #request(
    method: 'getEpochInfo' | 'getLeaderSchedule' | 'getClusterNodes',
    params: (string | bigint | { commitment: string })[],
  ): Promise<string> {
    const body = await this.#options.reader.request(method, params, this.#abort.signal);
    return body.toString('latin1');
  }

  async #readEpoch(epoch: Epoch, first: bigint): Promise<boolean> {
    const known = this.#epochs.get(epoch);
    if (known !== undefined && performance.now() - known.readAt < SCHEDULE_MAX_AGE_MS) return true;
    const leaders = readLeaderSchedule(await this.#request('getLeaderSchedule', [first, processed]), first);
    if (leaders === null) return known !== undefined;
    this.#epochs.set(epoch, { ...leaders, readAt: performance.now() });
    if (known === undefined) {
      const facts = { epoch: Number(epoch), leaders: leaders.leaders.length };
      this.#options.log.info(facts, 'Leader schedule loaded');
    }
    return true;
  }

  async #readShredVersion(): Promise<boolean> {
    if (!this.#options.discoverShredVersion || this.shredVersion !== null) return true;
    this.shredVersion = readShredVersion(await this.#request('getClusterNodes', []));
    return this.shredVersion !== null;
  }
}
