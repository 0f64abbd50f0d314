import type { FaultHistory, NodeFault } from '../nodes/fault-history.ts';
import type { GatewayLog } from './gateway-log.ts';
import { Tally } from './tally.ts';

/** One request that is over. Times are those of `performance.now()`. */
export type CompletedRequest = Readonly<{
  /** What it counts as: a door, a session, a transaction. */
  kind: string;
  /** What was asked, for whoever looks for the fault. */
  what: string;
  startedAt: number;
  endedAt: number;
  /** What is wrong with the answer, or came in place of one; null when it is as it must be. */
  fault: string | null;
  /** A long answer had begun and broke off. */
  isBrokenOff?: boolean;
}>;

/** Faults of each sort that are told in full; the others are counted. */
const REPORTED_MAX = 100;
/** What is over for so long is asked for no more: longer than any request and any transaction takes. */
const RETENTION_MS = 180_000;

/** Holds what came of requests against what the nodes had meanwhile, and names each fault with all that is known of it. */
export class FaultChecker {
  /** Promises that were broken, as they are told. */
  readonly broken: string[] = [];
  /** All of them, also those beyond what is told. */
  brokenCount = 0;
  readonly tallies = new Map<string, Tally>();
  /** Faults while some node had an illness. */
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

  /** A request is over. An answer that is wrong is a fault whatever the nodes had: nobody may be told what is not so. */
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
    for (const illness of this.faultHistory.kinds(startedAt, endedAt))
      this.faultsDuring.set(illness, (this.faultsDuring.get(illness) ?? 0) + 1);
    if (++this.#failed > REPORTED_MAX) return;
    this.#report(
      `failed although a node could have answered: ${kind} ${done.what}: ${fault}`,
      startedAt,
      endedAt,
    );
  }

  /** Something that must never be. */
  recordViolation(what: string, from: number, to: number): void {
    if (++this.brokenCount > REPORTED_MAX) return;
    this.broken.push(what);
    this.#report(`MUST NOT BE: ${what}`, from, to);
  }

  /** Forgets what nobody asks for any more. */
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
