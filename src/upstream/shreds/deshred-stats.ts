import type { Logger } from '../../base/log.ts';
import type { ShredFault } from '../../solana/shred/parse-shred.ts';

/** Why a packet came to nothing. */
export type DropReason =
  /** No shred: one reason each of the parser's. */
  | ShredFault
  /** Of another cluster. */
  | 'version'
  /** Too far above or below the newest plausible slot. */
  | 'slotAhead'
  | 'slotBehind'
  /** Of a slot that is complete or was given up. */
  | 'slotClosed'
  /** The same place was taken by a verified shred, or its set needs no more. */
  | 'duplicate'
  /** The slot's leader is not known, and there is no room to wait for it, or no wish. */
  | 'leaderUnknown'
  /** Not signed by the leader, or not under the root that was signed. */
  | 'forged'
  /** So many were forged of late that its signature was not looked at before others took its room. */
  | 'unjudged'
  /** Signed by the leader, but not what was signed first for the same set. */
  | 'equivocation'
  /** Signed by the leader, but at odds with the rest of its set or slot. */
  | 'inconsistent'
  /** More sets or shreds than a slot may have. */
  | 'slotFull';

/** Running totals. */
export type DeshredStats = {
  packets: number;
  /** Shreds that were verified and were new. */
  accepted: number;
  drops: Record<DropReason, number>;
  /** Packets that waited, and came out again, for the slot's leader to be known. */
  pending: number;
  /** Verifications of ed25519 signatures. */
  signatures: number;
  /** Sets that were completed from code shreds, and data shreds that came of it. */
  recoveredSets: number;
  recoveredShreds: number;
  /** Sets whose code leads to what the leader did not sign: its own fault. */
  unrecoverableSets: number;
  /** Sets that do not name the root of the set before. */
  brokenChains: number;
  batches: number;
  /** Batches that were block markers, or empty. */
  markers: number;
  /** Batches of which no entries could be read: the leader's own fault. */
  malformedBatches: number;
  slotsCompleted: number;
  /** Slots that were given up before they were complete. */
  slotsGivenUp: number;
};

const noDrops = (): DeshredStats['drops'] => ({
  Length: 0,
  Variant: 0,
  Index: 0,
  ParentOffset: 0,
  Flags: 0,
  Size: 0,
  FecSet: 0,
  version: 0,
  slotAhead: 0,
  slotBehind: 0,
  slotClosed: 0,
  duplicate: 0,
  leaderUnknown: 0,
  forged: 0,
  unjudged: 0,
  equivocation: 0,
  inconsistent: 0,
  slotFull: 0,
});

/** Totals that begin at zero. */
export const noStats = (): DeshredStats => ({
  packets: 0,
  accepted: 0,
  drops: noDrops(),
  pending: 0,
  signatures: 0,
  recoveredSets: 0,
  recoveredShreds: 0,
  unrecoverableSets: 0,
  brokenChains: 0,
  batches: 0,
  markers: 0,
  malformedBatches: 0,
  slotsCompleted: 0,
  slotsGivenUp: 0,
});

/** Running totals, as `ShredStageCounts` has them. */
type Losses = Readonly<{
  shreds: Readonly<Pick<DeshredStats, 'drops'>> | null;
  unknownSenders: number;
  malformed: number;
  unknown: number;
  unresolved: number;
}>;

type DropReportOptions = Readonly<{
  counts: () => Losses;
  log: Logger;
  /** Between two looks at the totals. */
  intervalMs?: number;
}>;

/** Between two lines. */
const REPORT_INTERVAL_MS = 60_000;
/** Packets that came to nothing between two lines: from so many on it is a warning. */
const MANY = 1_000;

/** What every network brings: each shred comes more than once, and some come late. */
const USUAL: ReadonlySet<string> = new Set<DropReason>(['duplicate', 'slotClosed', 'slotBehind']);

/** What was lost so far, by reason. */
function lossesOf(counts: Losses): Record<string, number> {
  const { shreds, unknownSenders, malformed, unknown, unresolved } = counts;
  const drops = Object.entries(shreds?.drops ?? {}).filter(([reason]) => !USUAL.has(reason));
  return { ...Object.fromEntries(drops), unknownSenders, malformed, unknown, unresolved };
}

/** Tells the operator from time to time what came in and was dropped, and why; nothing where nothing was. */
export class DropReport {
  readonly #options: DropReportOptions;
  #before: Record<string, number>;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: DropReportOptions) {
    this.#options = options;
    this.#before = lossesOf(options.counts());
  }

  start(): void {
    const { intervalMs = REPORT_INTERVAL_MS } = this.#options;
    this.#timer ??= setInterval(() => this.report(), intervalMs).unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Tells what was dropped since the last time. */
  report(): void {
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
    const message = 'of what came of the shred stage this was dropped';
    if (sum >= MANY) this.#options.log.warn({ dropped }, message);
    else this.#options.log.info({ dropped }, message);
  }
}
