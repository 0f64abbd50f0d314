import { setTimeout as sleep } from 'node:timers/promises';
import type { Semaphore } from '../../base/concurrency/semaphore.ts';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { upstreamParams } from '../../protocol/pubsub/topic-key.ts';
import type { RpcError } from '../../protocol/rpc-error.ts';
import type { FeedListener } from '../../streams/feed.ts';
import { jsonRpcErrorText } from '../outcome.ts';
import type { ChainReader } from './chain-reader.ts';
import { type Gap, type GapRecovery, GapTooLong } from './gap/gap-recovery.ts';
import type { FeedLimits } from './limits.ts';
import type { NodeSubscriptionListener, NodeSubscriptionRequest } from './node-subscriptions.ts';
import type { PubsubConnection } from './pubsub-connection.ts';
import type { PubsubSubscription, SlotInfo } from './pubsub-message.ts';
import type { NodeSubscribeResult, PubsubNodes } from './pubsub-nodes.ts';

export type SubscriptionContext = Readonly<{
  network: Network;
  nodes: PubsubNodes;
  reader: ChainReader;
  failoverSemaphore: Semaphore;
  fillSemaphore: Semaphore;
  limits: FeedLimits;
  log: Logger;
}>;

const BACKOFF_MS = 200;
const PAUSE_MAX_MS = 2_000;

const jittered = (ms: number): number => ms * (0.5 + Math.random() / 2);

/** A subscription on one connection; `lost` is aborted when the connection ends. */
type Attachment = {
  connection: PubsubConnection | null;
  close: (() => void) | null;
  readonly lost: AbortController;
};

const isDetached = ({ lost }: Attachment): boolean => lost.signal.aborted;

/**
 * A subscription that survives the loss of its connection. During a failover, notifications from the new connection
 * are buffered until the gap is filled, so that each notification is emitted once and in order.
 */
export class ContinuousSubscription {
  readonly #context: SubscriptionContext;
  readonly #listener: FeedListener;
  readonly #request: NodeSubscriptionRequest;
  readonly #gapRecovery: GapRecovery;
  readonly #onClose: () => void;
  readonly #end = new AbortController();
  #attachment: Attachment | null = null;
  #buffered: Buffer[] | null = null;
  #opened: SlotInfo | null = null;
  /** While true, losing the connection triggers a failover. */
  #isAttached = false;

  constructor(
    context: SubscriptionContext,
    subscription: PubsubSubscription,
    gapRecovery: GapRecovery,
    listener: FeedListener,
    onClose: () => void,
  ) {
    this.#context = context;
    this.#listener = listener;
    this.#onClose = onClose;
    this.#request = { kind: subscription.kind, params: upstreamParams(subscription) };
    this.#gapRecovery = gapRecovery;
  }

  /** @throws a node's RpcError; Failure MESSAGE_TOO_LARGE, UPSTREAM_UNAVAILABLE, OVERLOADED (all nodes are full). */
  async open(): Promise<void> {
    const { limits } = this.#context;
    if (this.#request.params.length + REQUEST_ENVELOPE_BYTES > limits.requestMaxBytes) {
      throw new Failure('MESSAGE_TOO_LARGE', { facts: { messageMaxBytes: limits.requestMaxBytes } });
    }
    const attachment = await this.#withOpenTimeout(
      this.#attach(performance.now() + limits.openTimeoutMs, true),
    );
    this.#opened = this.#position(attachment);
    this.#isAttached = true;
    if (isDetached(attachment)) void this.#failOver(this.#position(attachment));
  }

  /** Continues from another feed, as if a connection had been lost. `from`: that feed's newest completed slot. */
  resume(opened: SlotInfo | null, from: SlotInfo | null): void {
    this.#opened = opened;
    void this.#failOver(from);
  }

  close(): void {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    this.#buffered = null;
    this.#attachment?.close?.();
    this.#onClose();
  }

  /** Abandons an attempt that is still in progress after `openTimeoutMs`. */
  #withOpenTimeout(attaching: Promise<Attachment>): Promise<Attachment> {
    const timeout = AbortSignal.timeout(this.#context.limits.openTimeoutMs);
    return unlessAborted(attaching, timeout).catch((fault: unknown) => {
      throw fault === timeout.reason ? this.#unavailable('no node before the timeout') : fault;
    });
  }

  #position({ connection }: Attachment): SlotInfo | null {
    return connection === null ? null : this.#context.nodes.position(connection);
  }

  /** If `isRejectionFinal` is false, keeps trying until a node accepts the subscription or the deadline passes. */
  async #attach(deadline: number, isRejectionFinal: boolean): Promise<Attachment> {
    const tried = new Set<string>();
    let rejection: RpcError | null = null;
    for (let pauses = 0; !this.#end.signal.aborted; ) {
      const startedAt = performance.now();
      const { attachment, result } = await this.#tryAttach(tried);
      if (result?.response.kind === 'opened') return attachment;
      if (result?.response.kind === 'rejected') {
        rejection = result.response.error;
        const outcome = jsonRpcErrorText(rejection.code);
        rejection.attempts = [{ node: result.node, startedAt, endedAt: performance.now(), outcome }];
        if (isRejectionFinal && nodeErrorRow(rejection.code).rule === 'accept') break;
      }
      if (result === null) {
        // Every node was tried or is unavailable.
        if ((isRejectionFinal && rejection !== null) || performance.now() > deadline) break;
        if (isRejectionFinal) this.#throwIfNoNodeAccepts();
        tried.clear();
        await this.#pause(Math.max(this.#context.nodes.backoffRemainingMs(), BACKOFF_MS * 2 ** pauses++));
      } else tried.add(result.node);
    }
    if (isRejectionFinal && rejection !== null) throw rejection;
    throw this.#unavailable(rejection);
  }

  #throwIfNoNodeAccepts(): void {
    const { nodes, network } = this.#context;
    if (nodes.isFull) throw new Failure('OVERLOADED', { facts: { network } });
    if (!nodes.allRejectHandshake) return;
    const retryAfter = Math.max(1, Math.ceil(nodes.backoffRemainingMs() / 1_000));
    throw new Failure('UPSTREAM_UNAVAILABLE', { facts: { network }, retryAfter });
  }

  async #tryAttach(
    tried: ReadonlySet<string>,
  ): Promise<{ attachment: Attachment; result: NodeSubscribeResult | null }> {
    const attachment: Attachment = { connection: null, close: null, lost: new AbortController() };
    this.#attachment = attachment;
    const result = await this.#context.nodes.subscribe(this.#request, this.#listenerFor(attachment), tried);
    if (result?.response.kind === 'opened') {
      attachment.connection = result.connection;
      attachment.close = result.response.close;
      if (this.#end.signal.aborted) attachment.close();
    }
    return { attachment, result };
  }

  #listenerFor(attachment: Attachment): NodeSubscriptionListener {
    return {
      onNotification: (result) => {
        if (this.#attachment === attachment) this.#receive(result);
      },
      onLost: () => {
        attachment.lost.abort();
        if (this.#isAttached && this.#attachment === attachment)
          void this.#failOver(this.#position(attachment));
      },
    };
  }

  #receive(result: Buffer): void {
    if (this.#end.signal.aborted) return;
    if (this.#buffered === null) this.#process(result);
    else if (this.#buffered.length < this.#context.limits.gapBufferMax) this.#buffered.push(result);
    else this.#fail(new Error('notification buffer full during the gap fill'));
  }

  #process(result: Buffer): void {
    const decision = this.#gapRecovery.decide(result);
    if (decision === 'drop') return;
    if (decision === 'last') this.#attachment?.connection?.endedByNode(this.#request);
    this.#emit(result, decision === 'last');
  }

  #emit(result: Buffer, isLast: boolean): void {
    if (this.#end.signal.aborted) return;
    if (isLast) this.close();
    this.#listener.onNotification(result, isLast);
  }

  #fail(cause: unknown): void {
    if (this.#end.signal.aborted) return;
    const { log, network } = this.#context;
    log.warn(
      { network, kind: this.#request.kind, cause: String(cause) },
      'Subscription failed: missed notifications could not be recovered',
    );
    this.close();
    this.#listener.onError(this.#unavailable(cause));
  }

  #unavailable(cause: unknown): Failure {
    return new Failure('UPSTREAM_UNAVAILABLE', { facts: { network: this.#context.network }, cause });
  }

  /** Never rejects. */
  async #failOver(from: SlotInfo | null): Promise<void> {
    const { failoverSemaphore, limits } = this.#context;
    const deadline = performance.now() + limits.gapTimeoutMs;
    this.#isAttached = false;
    try {
      for (;;) {
        this.#buffered = [];
        const attachment = await failoverSemaphore.run(() => this.#attach(deadline, false));
        const filled = await this.#fill(attachment, from, deadline);
        if (filled && !isDetached(attachment)) break;
        if (performance.now() > deadline) throw new Error('gap fill timeout');
      }
      this.#isAttached = true;
      const buffered = this.#buffered ?? [];
      this.#buffered = null;
      for (const result of buffered) if (!this.#end.signal.aborted) this.#process(result);
    } catch (fault) {
      this.#fail(fault);
    }
  }

  /** @returns false if the new connection is also lost or its position is unknown. */
  async #fill(attachment: Attachment, from: SlotInfo | null, deadline: number): Promise<boolean> {
    const to = await this.#firstSlot(attachment);
    // No node or poll has reported a slot, so the bounds of the gap are unknown.
    if (from === null || this.#opened === null) return true;
    const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(deadline - performance.now())));
    const signal = AbortSignal.any([attachment.lost.signal, this.#end.signal, timeout]);
    const gap = to === null ? null : this.#gap({ opened: this.#opened, from, to, signal });
    for (let pauses = 0; gap !== null && !isDetached(attachment); ) {
      try {
        const fill = async (): Promise<void> => {
          gap.signal.throwIfAborted();
          await this.#gapRecovery.fill(gap);
        };
        // Concurrent account reads are batched, so they must not wait for the semaphore.
        if (this.#request.kind === 'account') await fill();
        else await this.#context.fillSemaphore.run(fill);
        return true;
      } catch (fault) {
        if (fault instanceof GapTooLong || this.#end.signal.aborted) throw fault;
        if (timeout.aborted || performance.now() > deadline) throw fault;
        await this.#pause(BACKOFF_MS * 2 ** pauses++);
      }
    }
    return false;
  }

  #gap(ends: Pick<Gap, 'opened' | 'from' | 'to' | 'signal'>): Gap {
    const { reader, limits } = this.#context;
    return {
      ...ends,
      reader,
      limits,
      buffered: () => this.#buffered ?? [],
      emit: (result, isLast = false) => this.#emit(result, isLast),
    };
  }

  /** The connection's next slot or, if it sends no slots, its position. It delivers everything after that slot. */
  async #firstSlot({ connection }: Attachment): Promise<SlotInfo | null> {
    if (connection === null) return null;
    return connection.sendsSlots ? await connection.nextSlot() : this.#context.nodes.position(connection);
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#end;
    await sleep(jittered(Math.min(ms, PAUSE_MAX_MS)), undefined, { signal }).catch(() => {});
  }
}

const REQUEST_ENVELOPE_BYTES = 100;
