import { type JsonValue, writeJson } from '../../base/json.ts';
import type { Answer, Call, Network } from '../../protocol/call.ts';
import type { SendFate } from '../../protocol/send-fate.ts';
import { attempt } from '../attempt.ts';
import { type StatusRoundLimits, StatusRounds } from '../confirmations/status-rounds.ts';
import type { Confirmation } from '../confirmations/watched-transaction.ts';
import type { UpstreamNode } from '../node.ts';
import type { SendLimits } from './limits.ts';
import { type Joining, PendingSend } from './pending-send.ts';
import { Rebroadcast } from './rebroadcast.ts';
import type { SendRequest } from './send-request.ts';
import type { SubmissionParts } from './submission.ts';

/** It is looked so often, in the time between two rebroadcasts of one transaction, which are due. */
const LOOKS = 20;

/** What it is done with, and within which limits. */
export type PendingParts = SubmissionParts & Readonly<{ limits: SendLimits }>;

type Fate = Omit<SendFate, 'rebroadcasts' | 'again'>;

/** The pace of asking, as it is set at the moment. */
const roundLimits = (limits: SendLimits): StatusRoundLimits => ({
  get pollMs() {
    return limits.statusPollMs;
  },
  get subscribedPollMs() {
    return limits.statusPollMs;
  },
  get expiryPollMs() {
    return limits.expiryPollMs;
  },
  get callsAtATime() {
    return limits.callsAtATime;
  },
});

const nowhere = { slot: null, err: null } as const;

/** Of nodes that may be asked, any but one, until one answers. */
async function askAnother(
  nodes: readonly UpstreamNode[],
  call: Call,
  than: string,
  timeoutMs: number,
): Promise<Answer | null> {
  for (const node of nodes) {
    if (node.name === than) continue;
    const { outcome, elapsedMs } = await attempt(node, call, timeoutMs);
    node.learn(outcome, elapsedMs);
    if (outcome.kind === 'answer' && outcome.answer.errorCode === 0) return outcome.answer;
  }
  return null;
}

/** Longer than any error of the chain. */
const ERR_MAX_LENGTH = 1_024;

/** As it is told; null for what is no error of the chain, whatever a node may say. */
function errText(err: JsonValue): string | null {
  const text = typeof err === 'string' ? err : writeJson(err);
  return text.length > ERR_MAX_LENGTH ? null : text;
}

/**
 * Transactions that were accepted: each is rebroadcast to everybody until it is confirmed or its blockhash has
 * expired. That is learned by asking for the statuses of all of them, 256 in a call: a subscription for each would
 * cost the nodes more than the sending.
 *
 * Where there is no room, those are given up first that were rebroadcast most often: they have had their chance, and
 * a flood of what cannot land does not displace what may.
 */
export class PendingSends {
  readonly #parts: PendingParts;
  readonly #byKey = new Map<string, PendingSend>();
  /** By how often they were rebroadcast, and of each number in the order in which they came to it. */
  readonly #byCount: Set<PendingSend>[] = [];
  readonly #rounds = new Map<Network, StatusRounds>();
  #timer: NodeJS.Timeout | null = null;
  #bytes = 0;
  #underWay = 0;
  #shed = 0;
  #isClosed = false;

  constructor(parts: PendingParts) {
    this.#parts = parts;
  }

  /** How many are followed. */
  get size(): number {
    return this.#byKey.size;
  }

  /** How many were given up for want of room. */
  get shed(): number {
    return this.#shed;
  }

  /** Follows a transaction that was accepted just now. */
  add(network: Network, key: string, request: SendRequest, senders: readonly Joining[]): void {
    if (this.#isClosed) return;
    const send =
      this.#byKey.get(key) ?? this.#begin(new PendingSend(network, key, request, this.#parts.limits));
    for (const sender of senders) send.join(sender);
    const { pendingMax, pendingMaxBytes } = this.#parts.limits;
    while (this.#byKey.size > pendingMax || this.#bytes > pendingMaxBytes) this.#shedOne();
  }

  /** Somebody sent one again that may still be followed. */
  join(key: string, sender: Joining): void {
    this.#byKey.get(key)?.join(sender);
  }

  /** Follows none of them any more. Nobody is told. @returns how many there were. */
  close(): number {
    this.#isClosed = true;
    const all = [...this.#byKey.values()];
    for (const send of all) this.#remove(send);
    return all.length;
  }

  #begin(send: PendingSend): PendingSend {
    this.#byKey.set(send.key, send);
    this.#bytes += send.bytes;
    this.#setOf(0).add(send);
    this.#roundsOf(send.network).add(send.watched);
    void send.watched.outcome
      .then((confirmation) => this.#landed(send, confirmation))
      .catch(() => this.#end(send, { name: 'unconfirmed', ...nowhere }));
    this.#timer ??= setInterval(() => this.#look(), Math.max(1, this.#parts.limits.rebroadcastMs / LOOKS));
    return send;
  }

  #setOf(rebroadcasts: number): Set<PendingSend> {
    let set = this.#byCount[rebroadcasts];
    if (set === undefined) {
      set = new Set();
      this.#byCount[rebroadcasts] = set;
    }
    return set;
  }

  #roundsOf(network: Network): StatusRounds {
    let rounds = this.#rounds.get(network);
    if (rounds === undefined) {
      const { limits, senders, source } = this.#parts;
      rounds = new StatusRounds(network, source, roundLimits(limits), (call, than) =>
        askAnother(senders.nodes(network), call, than, limits.attemptTimeoutMs),
      );
      this.#rounds.set(network, rounds);
    }
    return rounds;
  }

  /** Those that were rebroadcast least often come first. */
  #look(): void {
    const now = performance.now();
    const due: PendingSend[] = [];
    const over: PendingSend[] = [];
    for (const set of this.#byCount) {
      for (const send of set) {
        if (send.endsAt <= now) over.push(send);
        else if (send.isDue(now)) due.push(send);
      }
    }
    for (const send of over) this.#end(send, { name: 'unconfirmed', ...nowhere });
    const { rebroadcastsAtATime } = this.#parts.limits;
    // Each look verifies no more signatures than that.
    for (const send of due.slice(0, rebroadcastsAtATime)) {
      if (this.#underWay >= rebroadcastsAtATime) break;
      if (send.rebroadcasts === 0 && !send.isSigned()) this.#end(send, { name: 'unconfirmed', ...nowhere });
      else this.#rebroadcast(send);
    }
  }

  #rebroadcast(send: PendingSend): void {
    const { rebroadcastMs } = this.#parts.limits;
    const rebroadcast = new Rebroadcast(send, () => this.#underWay--);
    this.#underWay++;
    if (!rebroadcast.begin(this.#parts)) {
      this.#underWay--;
      send.delay(rebroadcastMs / LOOKS);
      return;
    }
    this.#setOf(send.rebroadcasts).delete(send);
    this.#setOf(++send.rebroadcasts).add(send);
    send.delay(rebroadcastMs);
  }

  #landed(send: PendingSend, { err, failure }: Confirmation): void {
    if (failure?.code === 'TRANSACTION_EXPIRED') this.#end(send, { name: 'expired', ...nowhere });
    if (failure !== null) return;
    const { slot } = send.watched;
    if (err === null) this.#end(send, { name: 'confirmed', slot, err: null });
    else this.#end(send, { name: 'failed', slot, err: errText(err) });
  }

  #shedOne(): void {
    const most = this.#byCount.findLast((set) => set.size > 0);
    const [first] = most ?? [];
    if (first === undefined) throw new RangeError('nothing is followed, and yet there is no room');
    this.#shed++;
    this.#end(first, { name: 'shed', ...nowhere });
  }

  #end(send: PendingSend, fate: Fate): void {
    if (this.#remove(send)) send.tell(fate);
  }

  /** @returns whether it was still followed. */
  #remove(send: PendingSend): boolean {
    if (this.#byKey.get(send.key) !== send) return false;
    this.#byKey.delete(send.key);
    this.#bytes -= send.bytes;
    this.#setOf(send.rebroadcasts).delete(send);
    this.#roundsOf(send.network).delete(send.watched);
    if (this.#byKey.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    return true;
  }
}
