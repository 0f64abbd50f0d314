import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import { rawBlockMeta } from '../../protocol/geyser/encode/raw-block-meta.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { rawTransaction } from '../../protocol/geyser/encode/raw-transaction.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';
import type { RawBlockMeta, RawSlot, RawTransaction, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import { encodeSubscribeRequest, type SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
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
import type { RequestedKinds, RequestScope } from './merge-filters.ts';
import type { SlotRange, UpdateMerge } from './update-merge.ts';

type ReplayOptions = Readonly<{
  connections: readonly EndpointConnection[];
  merge: UpdateMerge;
  request: (scope: RequestScope) => SubscribeRequest;
  limits: GeyserSourceOptions;
  log: Logger;
  /** Ends it. */
  signal: AbortSignal;
}>;

/** What is to be told again. */
type ReplayRange = Readonly<{
  from: Slot;
  /** The newest slot there is, or the last one that is wanted. */
  to: Slot;
  /** Also what was not told of slots that were. */
  fillsIn: boolean;
}>;

type Outcome = Readonly<{
  code: 'whole' | 'ignored' | GrpcCode;
  /** The oldest slot that the server says it has; null where it does not say. */
  oldest: Slot | null;
}>;

/** Source: yellowstone-grpc, "broadcast from {slot} is not available, last available: {slot}". */
function oldestIn(message: string): Slot | null {
  const [, digits] = /last available: (\d{1,19})/.exec(message) ?? [];
  return digits === undefined ? null : slotOf(BigInt(digits));
}

/** Whether slots were told again; else whether no server does that, or some were away. */
export type ReplayResult = 'whole' | 'refused' | 'away';

/**
 * Lets servers tell slots again, one after the other until one has, on streams of their own: a server that refuses
 * a replay ends its stream.
 */
export async function replay(options: ReplayOptions, range: ReplayRange): Promise<ReplayResult> {
  let result: ReplayResult = 'refused';
  const { connections, limits } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(limits.backfillTimeoutMs)]);
  const [up, down] = [
    connections.filter((connection) => connection.isUp),
    connections.filter((connection) => !connection.isUp),
  ];
  for (const connection of [...up, ...down]) {
    let { scope } = connection;
    let outcome = await replayOf(connection, scope, options, range, signal);
    if (outcome.code === 'INVALID_ARGUMENT' && scope === 'exact') {
      // There are servers that replay, but no blocks.
      scope = 'withoutCounts';
      outcome = await replayOf(connection, scope, options, range, signal);
    }
    const { oldest } = outcome;
    if (oldest !== null && oldest > range.from && oldest <= range.to) {
      outcome = await replayOf(connection, scope, options, { ...range, from: oldest }, signal);
    }
    if (outcome.code === 'whole') return 'whole';
    if (outcome.code !== 'ignored' && !noReplay.has(outcome.code)) result = 'away';
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
  // A server that begins with the slot that it is at, whatever it is asked, must show.
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
          if (reader.newest !== null && reader.newest >= to) end(reader.isReplaying ? 'whole' : 'ignored');
        },
        onEnd: ({ code, message }) => end(code, oldestIn(message)),
      },
    );
    signal.addEventListener('abort', abort);
    const subscribeRequest = request(scope);
    reader.setRequest(bytesKey(encodeSubscribeRequest(subscribeRequest)));
    stream.send(encodeSubscribeRequest({ ...subscribeRequest, fromSlot }));
    if (signal.aborted) abort();
  });
}

/**
 * What a confirmed block tells of its slot, in order. It knows neither writes of accounts nor entries, and not how
 * many there were.
 */
export function* updatesOf(block: Block): Generator<RawSlot | RawTransaction | RawBlockMeta> {
  const { slot, parentSlot: parent, transactions, previousBlockhash: parentBlockhash } = block;
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
  const { blockhash, rewards, numRewardPartitions = null, blockTime, blockHeight, parentSlot } = block;
  const executedTransactionCount = transactions.length;
  const header = { slot, blockhash, rewards, numRewardPartitions, blockTime, blockHeight, parentSlot };
  const counts = { parentBlockhash, executedTransactionCount, entriesCount: 0 };
  yield rawBlockMeta({ kind: 'blockMeta', ...header, ...counts }, createdAt, null);
  yield statusIs('processed');
  yield statusIs('confirmed');
}

type GapRepairOptions = Readonly<{
  merge: UpdateMerge;
  /** Lets servers tell slots again. */
  replay: (range: SlotRange) => Promise<ReplayResult>;
  reader: Pick<ChainReader, 'slots' | 'eachBlock'>;
  requestedKinds: () => RequestedKinds;
  listener: Pick<GeyserListener, 'onLost'>;
  limits: Pick<GeyserSourceOptions, 'fillTimeoutMs' | 'fillSlotsMax' | 'stallMs'>;
  log: Logger;
}>;

/** Between two attempts. */
const PAUSE_MS = 250;

const logFields = ({ from, to }: SlotRange): object => ({ from: Number(from), to: Number(to) });

/** Slots that nobody is about to tell: a server replays them, or blocks are read, or they are given up. */
export class GapRepair {
  readonly #options: GapRepairOptions;
  readonly #end = new AbortController();
  #isBusy = false;

  constructor(options: GapRepairOptions) {
    this.#options = options;
  }

  /** Repairs what keeps slots waiting, if anything does. */
  check(): void {
    if (this.#isBusy || this.#end.signal.aborted) return;
    const range = this.#options.merge.missingRange(performance.now());
    if (range === null) return;
    this.#isBusy = true;
    void this.#repair(range)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.name : 'unknown';
        this.#options.log.warn({ ...logFields(range), reason }, 'missing slots are given up');
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

  /** Tries for as long as it may take: what is away now may be back soon. */
  async #repair(range: SlotRange): Promise<void> {
    const { merge, log, limits } = this.#options;
    const { signal } = this.#end;
    log.warn(logFields(range), 'slots are missing in what Geyser servers tell');
    const startedAt = performance.now();
    for (;;) {
      const remaining = merge.missingRange(performance.now());
      if (remaining === null || remaining.to !== range.to || signal.aborted) return;
      const triedMs = performance.now() - startedAt;
      if (triedMs > limits.fillTimeoutMs) {
        log.warn(logFields(remaining), 'missing slots are given up');
        merge.giveUp(remaining);
        return;
      }
      await this.#tryOnce(remaining, triedMs);
      if (merge.missingRange(performance.now()) === null) return;
      const pause = withJitter(PAUSE_MS);
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  /** A server that is away, and may replay when it is back, is better than blocks. */
  async #tryOnce(range: SlotRange, triedMs: number): Promise<void> {
    const { merge, log, limits, replay, requestedKinds } = this.#options;
    const result = await replay(range);
    const remaining = merge.missingRange(performance.now());
    if (remaining === null || this.#end.signal.aborted) return;
    const { accounts, entries } = requestedKinds();
    if (result === 'away' && (accounts || entries) && triedMs < limits.stallMs) return;
    try {
      await this.#fill(remaining);
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const reason = error instanceof Error ? error.name : 'unknown';
      log.warn({ ...logFields(remaining), reason }, 'missing slots cannot be read from blocks');
    }
  }

  /** Blocks say all but what became of accounts, and where entries begin. @throws what reading the chain does. */
  async #fill({ from, to }: SlotRange): Promise<void> {
    const { reader, merge, limits, requestedKinds, listener } = this.#options;
    if (to - from >= BigInt(limits.fillSlotsMax)) return;
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(limits.fillTimeoutMs)]);
    const slots = await reader.slots(from, to, 'confirmed', signal);
    const streamReader = merge.addReader({ from: null, tip: null, fillsIn: false, seals: false });
    const { accounts, entries } = requestedKinds();
    const missing = new Set<RawUpdate['kind']>([
      ...(accounts ? (['account'] as const) : []),
      ...(entries ? (['entry'] as const) : []),
    ]);
    try {
      await reader.eachBlock(slots, signal, (block) => {
        if (merge.record(block.slot)?.isSettled !== false) return;
        if (missing.size > 0) listener.onLost(block.slot, block.slot, missing);
        for (const update of updatesOf(block)) streamReader.take(update);
      });
    } finally {
      merge.removeReader(streamReader);
    }
  }
}
