import type { Logger } from '../../base/log.ts';
import type { ShredFault } from '../../solana/shred/parse-shred.ts';

const noDrops = () => ({
  ...({ Length: 0, Variant: 0, Index: 0, ParentOffset: 0, Flags: 0, Size: 0, FecSet: 0 } satisfies Record<
    ShredFault,
    number
  >),
  /** Shred version of another cluster. */
  version: 0,
  /** The slot is outside the window around the newest plausible slot. */
  slotAhead: 0,
  slotBehind: 0,
  slotClosed: 0,
  /** A verified shred already has this index, or the set is complete. */
  duplicate: 0,
  /** The leader is unknown, and the packet could not wait: waiting is disabled or at capacity. */
  unknownLeader: 0,
  /** Not signed by the leader, or not under the signed merkle root. */
  invalidSignature: 0,
  /** Dropped before verification, during a flood of invalid signatures. */
  unverified: 0,
  /** Signed by the leader, but contradicts the first shreds of the set. */
  equivocation: 0,
  /** Signed by the leader, but inconsistent with its set or slot. */
  inconsistent: 0,
  /** The slot has reached its limit of sets or shreds. */
  slotFull: 0,
});

export type DropReason = keyof ReturnType<typeof noDrops>;

export const noStats = () => ({
  packets: 0,
  accepted: 0,
  drops: noDrops(),
  /** Packets held back because the slot's leader was unknown. */
  pending: 0,
  signatures: 0,
  recoveredSets: 0,
  recoveredShreds: 0,
  /** Sets whose code shreds contradict the signed root. */
  unrecoverableSets: 0,
  /** Sets whose chained root differs from the root of the previous set. */
  brokenChains: 0,
  batches: 0,
  /** Block markers and empty batches. */
  markers: 0,
  malformedBatches: 0,
  slotsCompleted: 0,
  slotsGivenUp: 0,
});

export type DeshredStats = ReturnType<typeof noStats>;

type Losses = Readonly<{
  shreds: Readonly<Pick<DeshredStats, 'drops'>> | null;
  unknownSenders: number;
  malformed: number;
  unsupportedTransactions: number;
  unresolved: number;
}>;

type DropReportOptions = Readonly<{ counts: () => Losses; log: Logger }>;

const REPORT_INTERVAL_MS = 60_000;
/** The report is a warning if at least this many drops occurred in the interval. */
const MANY = 1_000;

/** Drops that occur in normal operation. */
const USUAL: ReadonlySet<string> = new Set<DropReason>(['duplicate', 'slotClosed', 'slotBehind']);

function lossesOf(counts: Losses): Record<string, number> {
  const { shreds, unknownSenders, malformed, unsupportedTransactions, unresolved } = counts;
  const drops = Object.entries(shreds?.drops ?? {}).filter(([reason]) => !USUAL.has(reason));
  return { ...Object.fromEntries(drops), unknownSenders, malformed, unsupportedTransactions, unresolved };
}

export class DropReport {
  readonly #options: DropReportOptions;
  #before: Record<string, number>;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: DropReportOptions) {
    this.#options = options;
    this.#before = lossesOf(options.counts());
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#report(), REPORT_INTERVAL_MS).unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #report(): void {
    const now = lossesOf(this.#options.counts());
    const dropped: Record<string, number> = {};
    let sum = 0;
    for (const [reason, count] of Object.entries(now)) {
      const added = count - (this.#before[reason] ?? 0);
      if (added > 0) dropped[reason] = added;
      sum += Math.max(0, added);
    }
    this.#before = now;
    if (sum === 0) return;
    this.#options.log[sum >= MANY ? 'warn' : 'info']({ dropped }, 'Shreds dropped');
  }
}
