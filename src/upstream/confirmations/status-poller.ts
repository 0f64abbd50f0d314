import { isDeepStrictEqual } from 'node:util';
import { chunk } from '../../base/chunk.ts';
import { mapConcurrent } from '../../base/concurrency/map-concurrent.ts';
import { parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Call, CallTrace, Network, RpcDispatcher, RpcResponse } from '../../protocol/call.ts';
import type { CallAttempt } from '../../protocol/errors.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { STATUSES_MAX } from '../../protocol/rpc/parameters.ts';
import { request } from '../../protocol/rpc-dispatcher.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { objectOf, u64Of } from '../../solana/encoding/read-json.ts';
import type { Signature } from '../../solana/signature.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { type LandedStatus, readSignatureStatuses } from '../feeds/signature-statuses.ts';
import type { Tip, WatchedTransaction } from './watched-transaction.ts';

export type StatusPollLimits = Readonly<{
  pollMs: number;
  /** For transactions with a subscription. Defaults to `pollMs`. */
  subscribedPollMs?: number;
  expiryPollMs: number;
  callConcurrency: number;
}>;

/** Number of blocks for which a blockhash is valid. Source: Agave, `MAX_PROCESSING_AGE`. */
const BLOCKHASH_AGE_MAX = 150n;

/** The chain tip and the blockhashes expired at that tip. A status read at an earlier slot does not prove expiry. */
type ChainView = Readonly<{ tip: Tip | null; expired: ReadonlySet<Blockhash> }>;

const UNKNOWN_VIEW: ChainView = { tip: null, expired: new Set() };

/**
 * Polls the statuses of all watched transactions of one network, 256 per call. Also polls the block height to detect
 * expired blockhashes. Rounds never overlap. Failed calls are repeated in the next round.
 */
export class StatusPoller {
  readonly #network: Network;
  readonly #source: RpcDispatcher;
  readonly #limits: StatusPollLimits;
  readonly #queryOtherNode: OtherNodeQuery | null;
  readonly #watched = new Set<WatchedTransaction>();
  #timer: NodeJS.Timeout | null = null;
  #isPolling = false;
  #tip: Tip | null = null;
  #tipDueAt = 0;

  /** @param queryOtherNode - confirms a landed status with another node; null: one node suffices. */
  constructor(
    network: Network,
    source: RpcDispatcher,
    limits: StatusPollLimits,
    queryOtherNode: OtherNodeQuery | null = null,
  ) {
    this.#queryOtherNode = queryOtherNode;
    this.#network = network;
    this.#source = source;
    this.#limits = limits;
  }

  add(watched: WatchedTransaction): void {
    this.#watched.add(watched);
    this.#schedule();
  }

  delete(watched: WatchedTransaction): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(): void {
    if (this.#timer !== null || this.#isPolling || this.#watched.size === 0) return;
    this.#timer = setTimeout(() => void this.#poll(), this.#limits.pollMs);
  }

  async #poll(): Promise<void> {
    this.#timer = null;
    this.#isPolling = true;
    try {
      await this.#pollDue();
    } catch {
      // The next poll requests the statuses again.
    }
    this.#isPolling = false;
    this.#schedule();
  }

  async #pollDue(): Promise<void> {
    const now = performance.now();
    const due = [...this.#watched].filter(({ dueAt }) => dueAt <= now);
    const { pollMs, subscribedPollMs = pollMs } = this.#limits;
    // `dueAt` is half an interval early, since timers may fire early. Set before the calls: `onError` may reset it.
    for (const one of due) one.dueAt = now + (one.isSubscribed ? subscribedPollMs : pollMs) - pollMs / 2;
    const view = await this.#findExpired(due, now);
    const signatures = [...new Set(due.map(({ signature }) => signature))];
    const watchedOf = Map.groupBy(due, ({ signature }) => signature);
    await mapConcurrent(chunk(signatures, STATUSES_MAX), this.#limits.callConcurrency, (batch) =>
      this.#queryStatuses(batch, watchedOf, view),
    );
  }

  async #queryStatuses(
    signatures: readonly Signature[],
    watchedOf: ReadonlyMap<Signature, readonly WatchedTransaction[]>,
    { tip, expired }: ChainView,
  ): Promise<void> {
    const responding = this.#queryOtherNode === null ? null : new RespondingNode();
    const read = await this.#read('getSignatureStatuses', [signatures], readSignatureStatuses, responding);
    if (read?.statuses.length !== signatures.length) return;
    const statuses = await this.#crossCheck(signatures, read.statuses, responding?.node ?? null);
    const isAtTip = tip !== null && read.slot >= tip.slot;
    for (const [at, signature] of signatures.entries()) {
      const isUnknown = read.statuses[at] == null;
      for (const watched of watchedOf.get(signature) ?? []) {
        watched.onStatus(statuses[at] ?? null);
        const isExpired = watched.lifetime !== null && expired.has(watched.lifetime.blockhash);
        if (isUnknown && isAtTip && isExpired) watched.expire();
      }
    }
  }

  /**
   * Combines the statuses from two nodes, so that a wrong status, or one from a fork, does not settle a transaction.
   * A lagging node delays the result by a round. Without a second response, the first response counts.
   */
  async #crossCheck(
    signatures: readonly Signature[],
    reported: readonly (LandedStatus | null)[],
    respondingNode: string | null,
  ): Promise<readonly (LandedStatus | null)[]> {
    const landed = signatures.filter((_, at) => reported[at] != null);
    if (this.#queryOtherNode === null || respondingNode === null || landed.length === 0) return reported;
    try {
      const call = this.#call('getSignatureStatuses', [landed]);
      const response = await this.#queryOtherNode(call, respondingNode);
      if (response === null) return reported;
      const { statuses } = readSignatureStatuses(response.body);
      const secondStatuses = new Map(landed.map((signature, at) => [signature, statuses[at]]));
      return signatures.map((signature, at) => agreedStatus(reported[at], secondStatuses.get(signature)));
    } catch {
      // An invalid second response does not contradict the first.
      return reported;
    }
  }

  #call(method: MethodName, params: readonly WritableJson[]): Call {
    const call = { network: this.#network, method, row: methods[method] };
    return { ...call, params: Buffer.from(writeJson(params)) };
  }

  async #findExpired(due: readonly WatchedTransaction[], now: number): Promise<ChainView> {
    const lifetimes = due.flatMap(({ lifetime, status }) => (status === null && lifetime) || []);
    if (lifetimes.length === 0) return UNKNOWN_VIEW;
    const tip = await this.#confirmedTip(now);
    if (tip === null) return UNKNOWN_VIEW;
    for (const lifetime of lifetimes) lifetime.lastValidBlockHeight ??= tip.blockHeight + BLOCKHASH_AGE_MAX;
    const expiring = lifetimes.filter(
      ({ lastValidBlockHeight: last }) => last !== null && tip.blockHeight > last,
    );
    const blockhashes = [...new Set(expiring.map(({ blockhash }) => blockhash))];
    const expired = new Set<Blockhash>();
    await mapConcurrent(blockhashes, this.#limits.callConcurrency, async (blockhash) => {
      if (await this.#isExpired(blockhash, tip.slot)) expired.add(blockhash);
    });
    return { tip, expired };
  }

  async #confirmedTip(now: number): Promise<Tip | null> {
    if (now < this.#tipDueAt) return this.#tip;
    this.#tipDueAt = now + this.#limits.expiryPollMs;
    const tip = await this.#read('getEpochInfo', [{ commitment: 'confirmed' }], readTip);
    if (tip !== null) this.#tip = tip;
    return this.#tip;
  }

  /** The block height may come from a lagging node, so isBlockhashValid decides. */
  async #isExpired(blockhash: Blockhash, minContextSlot: Slot): Promise<boolean> {
    const params = [blockhash, { commitment: 'confirmed', minContextSlot }];
    return (await this.#read('isBlockhashValid', params, readValidity)) === false;
  }

  async #read<T>(
    method: MethodName,
    params: readonly WritableJson[],
    read: (body: Buffer) => T,
    trace: CallTrace | null = null,
  ): Promise<T | null> {
    try {
      const { body, errorCode } = await request(this.#source, { ...this.#call(method, params), trace });
      return errorCode === 0 ? read(body) : null;
    } catch {
      return null;
    }
  }
}

function readTip(body: Buffer): Tip {
  const { absoluteSlot, blockHeight } = objectOf(parseJson(body.toString('latin1')), 'an epoch');
  return { slot: slotOf(u64Of(absoluteSlot, 'a slot')), blockHeight: u64Of(blockHeight, 'a height') };
}

const readValidity = (body: Buffer): boolean =>
  objectOf(parseJson(body.toString('latin1')), 'response').value === true;

/** @returns null if no node other than `excludedNode` responds. */
export type OtherNodeQuery = (call: Call, excludedNode: string) => Promise<RpcResponse | null>;

class RespondingNode implements CallTrace {
  node: string | null = null;

  onAttempt({ node, outcome }: CallAttempt): void {
    if (outcome === 'ok') this.node = node;
  }
}

/** Combines two statuses at their lower commitment; null if either is missing or their errors differ. */
function agreedStatus(
  one: LandedStatus | null | undefined,
  other: LandedStatus | null | undefined,
): LandedStatus | null {
  if (one == null || other == null || !isDeepStrictEqual(one.err, other.err)) return null;
  return {
    ...one,
    hasCommitment: (commitment) => one.hasCommitment(commitment) && other.hasCommitment(commitment),
  };
}
