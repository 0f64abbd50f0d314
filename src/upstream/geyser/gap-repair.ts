import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/envelope.ts';
import { rawBlockMeta, rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { rawTransaction } from '../../protocol/geyser/encode/raw-transaction.ts';
import type { RawBlockMeta, RawSlot, RawTransaction, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import { encodeSubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { GrpcCode } from '../../protocol/grpc/status.ts';
import type { Block } from '../../solana/block.ts';
import { isSimpleVote } from '../../solana/transaction/simple-vote.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { GeyserListener } from '../../streams/geyser/geyser-source.ts';
import { withJitter } from '../exponential-backoff.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import { type EndpointConnection, UpdateStream } from './endpoint-connection.ts';
import { noReplay } from './geyser-node.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { EncodedRequest, RequestScope } from './merge-filters.ts';
import type { SlotRange, UpdateMerge } from './update-merge.ts';

type ReplayOptions = Readonly<{
  connections: readonly EndpointConnection[];
  merge: UpdateMerge;
  request: (scope: RequestScope) => EncodedRequest;
  limits: GeyserSourceOptions;
  log: Logger;
  signal: AbortSignal;
}>;

type ReplayRange = Readonly<{
  from: Slot;
  /** The newest slot or, in a repair, the last missing slot. */
  to: Slot;
  /** Whether to also emit missing updates of slots that were already emitted. */
  fillsIn: boolean;
}>;

type Outcome = Readonly<{ code: 'complete' | 'ignored' | GrpcCode; oldest: Slot | null }>;

function oldestIn(message: string): Slot | null {
  const [, digits] = /last available: (\d{1,19})/.exec(message) ?? [];
  return digits === undefined ? null : slotOf(BigInt(digits));
}

/** `unsupported`: no server can replay the range. `unreachable`: a server failed for another reason. */
export type ReplayResult = 'complete' | 'unsupported' | 'unreachable';

/** Replays on separate streams, because a server that rejects a replay ends the stream. */
export async function replay(options: ReplayOptions, range: ReplayRange): Promise<ReplayResult> {
  let result: ReplayResult = 'unsupported';
  const { connections, limits } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(limits.backfillTimeoutMs)]);
  for (const connection of connections.toSorted((a, b) => Number(b.isUp) - Number(a.isUp))) {
    let { scope } = connection;
    let outcome = await replayOf(connection, scope, options, range, signal);
    if (outcome.code === 'INVALID_ARGUMENT' && scope === 'exact') {
      // Some servers support replay but reject block filters.
      scope = 'withoutCounts';
      outcome = await replayOf(connection, scope, options, range, signal);
    }
    const { oldest } = outcome;
    if (oldest !== null && oldest > range.from && oldest <= range.to) {
      outcome = await replayOf(connection, scope, options, { ...range, from: oldest }, signal);
    }
    if (outcome.code === 'complete') return 'complete';
    if (outcome.code !== 'ignored' && !noReplay.has(outcome.code)) result = 'unreachable';
    if (signal.aborted) break;
  }
  return result;
}

function replayOf(
  { node }: EndpointConnection,
  scope: RequestScope,
  { merge, request, limits, log }: ReplayOptions,
  { from, to, fillsIn }: ReplayRange,
  signal: AbortSignal,
): Promise<Outcome> {
  // A single slot is requested together with its predecessor, to detect servers that ignore `from_slot`.
  const fromSlot = from < to || from === 0n ? from : slotOf(to - 1n);
  return new Promise((resolve) => {
    const reader = merge.addReader({ from: fromSlot, tip: to, fillsIn, seals: scope === 'exact' });
    const end = (code: Outcome['code'], oldest: Slot | null = null): void => {
      signal.removeEventListener('abort', abort);
      stream.close();
      merge.removeReader(reader);
      resolve({ code, oldest });
    };
    const abort = (): void => end('CANCELLED');
    const stream = new UpdateStream(
      { node, limits, log, reader },
      {
        onOpen: () => {},
        onPong: () => {},
        onSlot: () => {
          if (reader.newest !== null && reader.newest >= to) end(reader.isReplaying ? 'complete' : 'ignored');
        },
        onEnd: ({ code, message }) => end(code, oldestIn(message)),
      },
    );
    signal.addEventListener('abort', abort);
    const subscribeRequest = request(scope);
    reader.setRequest(subscribeRequest);
    // Concatenated protobuf messages merge into one.
    stream.send(Buffer.concat([subscribeRequest.bytes, encodeSubscribeRequest({ fromSlot })]));
    if (signal.aborted) abort();
  });
}

/** A block's updates in stream order. Blocks contain no account writes, no entries, and no counts of either. */
export function* updatesOf(block: Block): Generator<RawSlot | RawTransaction | RawBlockMeta> {
  const { slot, parentSlot: parent, transactions } = block;
  const createdAt = encodeTimestamp(BigInt(Date.now()));
  const statusIs = (status: SlotStatus): RawSlot =>
    rawSlot({ kind: 'slot', slot, parent, status, deadError: null }, createdAt);
  yield statusIs('createdBank');
  for (const [index, executed] of transactions.entries()) {
    const signature = executed.transaction.signatures[0];
    if (signature === undefined) continue;
    const isVote = isSimpleVote(executed.transaction);
    yield rawTransaction({ slot, createdAt, info: { signature, isVote, executed, index } });
  }
  yield rawBlockMeta(block, 0, createdAt);
  yield statusIs('processed');
  yield statusIs('confirmed');
}

type GapRepairOptions = Readonly<{
  merge: UpdateMerge;
  replay: (range: SlotRange) => Promise<ReplayResult>;
  reader: Pick<ChainReader, 'slots' | 'eachBlock'>;
  requestedKinds: () => ReadonlySet<RawUpdate['kind']>;
  listener: Pick<GeyserListener, 'onLost'>;
  limits: Pick<GeyserSourceOptions, 'fillTimeoutMs' | 'fillSlotsMax' | 'stallMs'>;
  log: Logger;
}>;

const PAUSE_MS = 250;
const missingInBlocks = ['account', 'entry'] as const;

const logFields = ({ from, to }: SlotRange): object => ({ from: Number(from), to: Number(to) });

/** Repairs missing slots by a replay from a server or by reading blocks. If both fail, reports the slots as lost. */
export class GapRepair {
  readonly #options: GapRepairOptions;
  readonly #end = new AbortController();
  #isBusy = false;

  constructor(options: GapRepairOptions) {
    this.#options = options;
  }

  check(): void {
    if (this.#isBusy || this.#end.signal.aborted) return;
    const range = this.#options.merge.missingRange(performance.now());
    if (range === null) return;
    this.#isBusy = true;
    void this.#repair(range)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.name : 'unknown';
        this.#options.log.warn({ ...logFields(range), reason }, 'Giving up on missing slots');
        this.#options.merge.giveUp(range);
      })
      .finally(() => {
        this.#isBusy = false;
        this.check();
      });
  }

  close(): void {
    this.#end.abort();
  }

  async #repair(range: SlotRange): Promise<void> {
    const { merge, log, limits } = this.#options;
    const { signal } = this.#end;
    log.warn(logFields(range), 'Geyser stream is missing slots; requesting them again');
    const startedAt = performance.now();
    for (;;) {
      const remaining = merge.missingRange(performance.now());
      if (remaining === null || remaining.to !== range.to || signal.aborted) return;
      const triedMs = performance.now() - startedAt;
      if (triedMs > limits.fillTimeoutMs) {
        log.warn(logFields(remaining), 'Giving up on missing slots');
        merge.giveUp(remaining);
        return;
      }
      await this.#tryOnce(remaining, triedMs);
      if (merge.missingRange(performance.now()) === null) return;
      await sleep(withJitter(PAUSE_MS), undefined, { signal }).catch(() => {});
    }
  }

  /** Before reading blocks, waits some time for an unreachable server that may be able to replay the slots. */
  async #tryOnce(range: SlotRange, triedMs: number): Promise<void> {
    const { merge, log, limits, replay, requestedKinds } = this.#options;
    const result = await replay(range);
    const remaining = merge.missingRange(performance.now());
    if (remaining === null || this.#end.signal.aborted) return;
    const kinds = requestedKinds();
    const isIncomplete = missingInBlocks.some((kind) => kinds.has(kind));
    if (result === 'unreachable' && isIncomplete && triedMs < limits.stallMs) return;
    try {
      await this.#fill(remaining);
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const reason = error instanceof Error ? error.name : 'unknown';
      log.warn({ ...logFields(remaining), reason }, 'Failed to read missing slots from blocks');
    }
  }

  /** Emits slots from blocks. Account writes and entries are reported as lost. @throws the reader's errors. */
  async #fill({ from, to }: SlotRange): Promise<void> {
    const { reader, merge, limits, requestedKinds, listener } = this.#options;
    if (to - from >= BigInt(limits.fillSlotsMax)) return;
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(limits.fillTimeoutMs)]);
    const slots = await reader.slots(from, to, 'confirmed', signal);
    const streamReader = merge.addReader({ from: null, tip: null, fillsIn: false, seals: false });
    const kinds = requestedKinds();
    const missing = new Set(missingInBlocks.filter((kind) => kinds.has(kind)));
    try {
      await reader.eachBlock(slots, signal, (block) => {
        if (merge.record(block.slot)?.isSettled !== false) return;
        if (missing.size > 0) listener.onLost(block.slot, block.slot, missing);
        for (const update of updatesOf(block)) streamReader.handleUpdate(update);
      });
    } finally {
      merge.removeReader(streamReader);
    }
  }
}
