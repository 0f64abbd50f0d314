import type { Logger } from '../../base/log.ts';
import type { DeshredStats, DropReason } from './deshred-stats.ts';

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
