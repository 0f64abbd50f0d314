import type { FaultHistory, NodeFault } from '../nodes/fault-history.ts';
import type { GatewayLog } from './gateway-log.ts';
import { Tally } from './tally.ts';

/** A completed request. Times are those of `performance.now()`. */
export type CompletedRequest = Readonly<{
  /** Protocol, session or transaction. */
  kind: string;
  /** Description of the request. */
  what: string;
  startedAt: number;
  endedAt: number;
  /** What is wrong with the response; null for a right one. */
  fault: string | null;
  /** A streamed response broke off. */
  isBrokenOff?: boolean;
}>;

/** Faults of each kind that are reported; others are counted. */
const REPORTED_MAX = 100;
/** Longer than any request or transaction takes. */
const RETENTION_MS = 180_000;

/** Compares outcomes of requests with the faults of nodes, and reports each failure with its circumstances. */
export class FaultChecker {
  /** Reported violations. */
  readonly broken: string[] = [];
  /** Including those not reported. */
  brokenCount = 0;
  readonly tallies = new Map<string, Tally>();
  /** Failed requests by fault of a node. */
  readonly faultsDuring = new Map<NodeFault, number>();
  readonly faultHistory: FaultHistory;
  readonly #log: GatewayLog;
  readonly #say: (text: string) => void;
  /** Requests that failed. */
  #failed = 0;

  constructor(faultHistory: FaultHistory, log: GatewayLog, say: (text: string) => void) {
    this.faultHistory = faultHistory;
    this.#log = log;
    this.#say = say;
  }

  tally(kind: string): Tally {
    let tally = this.tallies.get(kind);
    if (tally === undefined) {
      tally = new Tally();
      this.tallies.set(kind, tally);
    }
    return tally;
  }

  /** Records a completed request. */
  note(done: CompletedRequest): void {
    const { kind, startedAt, endedAt, fault } = done;
    const tally = this.tally(kind);
    if (done.isBrokenOff === true && this.faultHistory.kinds(startedAt, endedAt).size > 0) {
      tally.brokenOff++;
      return;
    }
    if (!this.faultHistory.wasAnswerable(startedAt, endedAt)) {
      tally.others++;
      if (fault === null) tally.othersGood++;
      return;
    }
    tally.answerable++;
    if (fault === null) {
      tally.good++;
      tally.took(endedAt - startedAt);
      return;
    }
    for (const fault of this.faultHistory.kinds(startedAt, endedAt))
      this.faultsDuring.set(fault, (this.faultsDuring.get(fault) ?? 0) + 1);
    if (++this.#failed > REPORTED_MAX) return;
    this.#report(`failed although answerable: ${kind} ${done.what}: ${fault}`, startedAt, endedAt);
  }

  /** Records a violation, whatever the faults of nodes. */
  recordViolation(what: string, from: number, to: number): void {
    if (++this.brokenCount > REPORTED_MAX) return;
    this.broken.push(what);
    this.#report(`VIOLATION: ${what}`, from, to);
  }

  /** Discards old periods. */
  forget(): void {
    this.faultHistory.forget(performance.now() - RETENTION_MS);
  }

  #report(text: string, from: number, to: number): void {
    const at = new Date(performance.timeOrigin + from).toISOString();
    this.#say(`${at} ${text}`);
    this.#say(`  after ${Math.round(to - from)} ms; ${this.faultHistory.describe(from, to)}`);
    for (const line of this.#log.between(from, to)) this.#say(`  log: ${line}`);
  }
}
