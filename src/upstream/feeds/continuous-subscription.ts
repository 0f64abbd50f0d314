import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Turnstile } from '../../base/turnstile.ts';
import type { Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { upstreamParams } from '../../protocol/pubsub/topic-key.ts';
import type { RpcError } from '../../protocol/rpc-error.ts';
import type { FeedListener } from '../../streams/feed.ts';
import type { ChainReader } from './chain-reader.ts';
import { type Continuity, type Gap, GapTooLong } from './gap/continuity.ts';
import { continuityOf, type PubsubSubscription } from './gap/continuity-of.ts';
import type { FeedLimits } from './limits.ts';
import type { UpstreamRequest, UpstreamSink } from './node-subscriptions.ts';
import type { PubsubConnection } from './pubsub-connection.ts';
import type { Placed, PubsubNodes } from './pubsub-nodes.ts';
import type { SlotInfo } from './slot-info.ts';

/** What all subscriptions of a network share. */
export type Surroundings = Readonly<{
  network: Network;
  nodes: PubsubNodes;
  reader: ChainReader;
  /** Through it pass those that look for a new node. */
  moves: Turnstile;
  /** And those that read what they missed. */
  fills: Turnstile;
  limits: FeedLimits;
  log: Logger;
}>;

/** Pause between looks for a node, and before a gap is read again that could not be. */
const PAUSE_MS = 200;
const PAUSE_MAX_MS = 2_000;

const jittered = (ms: number): number => ms * (0.5 + Math.random() / 2);

/** The stand of one subscription on one connection; `lost` is aborted when that is gone. */
type Stand = {
  connection: PubsubConnection | null;
  close: (() => void) | null;
  readonly lost: AbortController;
};

const isLost = ({ lost }: Stand): boolean => lost.signal.aborted;

/**
 * One subscription, carried from connection to connection while its listener stays. While it moves, what a new
 * connection tells is held back until the gap is filled, so that the listener hears everything once and in order.
 */
export class ContinuousSubscription {
  readonly #around: Surroundings;
  readonly #listener: FeedListener;
  readonly #request: UpstreamRequest;
  readonly #continuity: Continuity;
  readonly #onOver: () => void;
  readonly #end = new AbortController();
  #stand: Stand | null = null;
  /** What came live while a gap is being filled; null when notifications pass straight through. */
  #held: Buffer[] | null = null;
  /** Where the chain was when it was opened; null where nobody could tell. */
  #opened: SlotInfo | null = null;
  /** It stands on a node, and whatever becomes of that is to be mended. */
  #settled = false;

  /**
   * @param onOver - called once, when nothing more is told.
   * @param continuity - what it remembers, when another feed had it before.
   */
  constructor(
    around: Surroundings,
    subscription: PubsubSubscription,
    listener: FeedListener,
    onOver: () => void,
    continuity: Continuity = continuityOf(subscription, around.limits.seenMax),
  ) {
    this.#around = around;
    this.#listener = listener;
    this.#onOver = onOver;
    this.#request = { kind: subscription.kind, params: upstreamParams(subscription) };
    this.#continuity = continuity;
  }

  /**
   * Finds a node that feeds it.
   * @throws RpcError with a node's refusal; Failure MESSAGE_TOO_LARGE, UPSTREAM_UNAVAILABLE, or OVERLOADED when
   * every connection that nodes may have is full.
   */
  async open(): Promise<void> {
    const { limits } = this.#around;
    if (this.#request.params.length + REQUEST_ENVELOPE_BYTES > limits.requestMaxBytes) {
      throw new Failure('MESSAGE_TOO_LARGE', { facts: { messageMaxBytes: limits.requestMaxBytes } });
    }
    const stand = await this.#inTime(this.#settle(performance.now() + limits.openTimeoutMs, true));
    this.#opened = this.#position(stand);
    this.#settled = true;
    if (isLost(stand)) void this.#move(this.#position(stand));
  }

  /**
   * Takes over from a feed that cannot go on, as from a connection that was lost.
   * @param opened - where the chain was when that feed opened it.
   * @param from - the newest slot that it told to the end.
   */
  takeOver(opened: SlotInfo | null, from: SlotInfo | null): void {
    this.#opened = opened;
    void this.#move(from);
  }

  /** Ends it. Nothing is told after this. */
  close(): void {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    this.#held = null;
    this.#stand?.close?.();
    this.#onOver();
  }

  /** The attempt that the deadline finds under way is not waited for. */
  async #inTime(settling: Promise<Stand>): Promise<Stand> {
    const late = Promise.withResolvers<never>();
    const { openTimeoutMs } = this.#around.limits;
    const timer = setTimeout(() => late.reject(this.#unavailable('no node in time')), openTimeoutMs);
    try {
      return await Promise.race([settling, late.promise]);
    } finally {
      clearTimeout(timer);
      settling.catch(() => {});
    }
  }

  #position({ connection }: Stand): SlotInfo | null {
    return connection === null ? null : this.#around.nodes.position(connection);
  }

  /**
   * Stands on a node, asking one after the other until the deadline.
   * @param believe - a refusal counts once every node refused; else it is waited for a node that does not.
   */
  async #settle(deadline: number, believe: boolean): Promise<Stand> {
    const passed = new Set<string>();
    let refusal: RpcError | null = null;
    for (let pauses = 0; !this.#end.signal.aborted; ) {
      const { stand, placed } = await this.#place(passed);
      if (placed?.answer.kind === 'opened') return stand;
      if (placed?.answer.kind === 'refused') {
        refusal = placed.answer.error;
        if (believe && nodeErrorRow(refusal.code).rule === 'believe') break;
      }
      if (placed === null) {
        // Everybody was asked, or rests.
        if ((believe && refusal !== null) || performance.now() > deadline) break;
        if (believe) this.#refuseHopeless();
        passed.clear();
        await this.#pause(Math.max(this.#around.nodes.restLeft(), PAUSE_MS * 2 ** pauses++));
      } else passed.add(placed.node);
    }
    if (believe && refusal !== null) throw refusal;
    throw this.#unavailable(refusal);
  }

  /** There is nothing to wait for: no room, or no node that lets anybody in. */
  #refuseHopeless(): void {
    const { nodes, network } = this.#around;
    if (nodes.isFull) throw new Failure('OVERLOADED', { facts: { network } });
    if (!nodes.allRefuse) return;
    const retryAfter = Math.max(1, Math.ceil(nodes.restLeft() / 1_000));
    throw new Failure('UPSTREAM_UNAVAILABLE', { facts: { network }, retryAfter });
  }

  async #place(passed: ReadonlySet<string>): Promise<{ stand: Stand; placed: Placed | null }> {
    const stand: Stand = { connection: null, close: null, lost: new AbortController() };
    this.#stand = stand;
    const placed = await this.#around.nodes.subscribe(this.#request, this.#sink(stand), passed);
    if (placed?.answer.kind === 'opened') {
      stand.connection = placed.connection;
      stand.close = placed.answer.close;
      if (this.#end.signal.aborted) stand.close();
    }
    return { stand, placed };
  }

  #sink(stand: Stand): UpstreamSink {
    return {
      notify: (result) => {
        if (this.#stand === stand) this.#hear(result);
      },
      lost: () => {
        stand.lost.abort();
        if (this.#settled && this.#stand === stand) void this.#move(this.#position(stand));
      },
    };
  }

  #hear(result: Buffer): void {
    if (this.#end.signal.aborted) return;
    if (this.#held === null) this.#judge(result);
    else if (this.#held.length < this.#around.limits.heldMax) this.#held.push(result);
    else this.#fail(new Error('too much came while the gap was being filled'));
  }

  #judge(result: Buffer): void {
    const verdict = this.#continuity.judge(result);
    if (verdict === 'drop') return;
    if (verdict === 'last') this.#stand?.connection?.endedByNode(this.#request);
    this.#tell(result, verdict === 'last');
  }

  #tell(result: Buffer, last: boolean): void {
    if (this.#end.signal.aborted) return;
    if (last) this.close();
    this.#listener.notify(result, last);
  }

  #fail(cause: unknown): void {
    if (this.#end.signal.aborted) return;
    const { log, network } = this.#around;
    log.warn(
      { network, kind: this.#request.kind, cause: String(cause) },
      'gave a subscription up: its gap stays',
    );
    this.close();
    this.#listener.fail(this.#unavailable(cause));
  }

  #unavailable(cause: unknown): Failure {
    return new Failure('UPSTREAM_UNAVAILABLE', { facts: { network: this.#around.network }, cause });
  }

  /** Its connection is gone: stands elsewhere, reads what was missed, and goes on. Never rejects. */
  async #move(from: SlotInfo | null): Promise<void> {
    const { moves, limits } = this.#around;
    const deadline = performance.now() + limits.gapTimeoutMs;
    this.#settled = false;
    try {
      for (;;) {
        this.#held = [];
        const stand = await moves.run(() => this.#settle(deadline, false));
        const filled = await this.#fill(stand, from, deadline);
        if (filled && !isLost(stand)) break;
        if (performance.now() > deadline) throw new Error('the gap could not be filled in time');
      }
      this.#settled = true;
      this.#release();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  /** @returns whether the gap is filled; false when the new connection is gone too. */
  async #fill(stand: Stand, from: SlotInfo | null, deadline: number): Promise<boolean> {
    const to = await this.#firstSlot(stand);
    // Where no node and no poll tells slots, a gap has no ends.
    if (from === null || this.#opened === null) return true;
    const late = AbortSignal.timeout(Math.max(0, Math.ceil(deadline - performance.now())));
    const signal = AbortSignal.any([stand.lost.signal, this.#end.signal, late]);
    const gap = to === null ? null : this.#gap({ opened: this.#opened, from, to, signal });
    for (let pauses = 0; gap !== null && !isLost(stand); ) {
      try {
        await this.#read(gap);
        return true;
      } catch (fault) {
        if (fault instanceof GapTooLong || this.#end.signal.aborted) throw fault;
        if (late.aborted || performance.now() > deadline) throw fault;
        await this.#pause(PAUSE_MS * 2 ** pauses++);
      }
    }
    return false;
  }

  async #read(gap: Gap): Promise<void> {
    const fill = async (): Promise<void> => {
      gap.signal.throwIfAborted();
      await this.#continuity.fill(gap);
    };
    // Accounts are read a hundred at a time, which they cannot be while most of them wait.
    if (this.#request.kind === 'account') await fill();
    else await this.#around.fills.run(fill);
  }

  #gap(ends: Pick<Gap, 'opened' | 'from' | 'to' | 'signal'>): Gap {
    const { reader, limits } = this.#around;
    return {
      ...ends,
      reader,
      limits,
      held: () => this.#held ?? [],
      tell: (result, last = false) => this.#tell(result, last),
    };
  }

  /** The first slot that a connection tells of from now on: all that happens in later ones, it tells. */
  async #firstSlot({ connection }: Stand): Promise<SlotInfo | null> {
    if (connection === null) return null;
    return connection.tellsSlots ? await connection.nextSlot() : this.#around.nodes.position(connection);
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const result of held) if (!this.#end.signal.aborted) this.#judge(result);
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#end;
    await sleep(jittered(Math.min(ms, PAUSE_MAX_MS)), undefined, { signal }).catch(() => {});
  }
}

/** What stands around the parameters of a request. */
const REQUEST_ENVELOPE_BYTES = 100;
