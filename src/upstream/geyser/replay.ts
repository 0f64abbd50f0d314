import type { Logger } from '../../base/log.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import { encodeSubscribeRequest, type SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GrpcCode } from '../../protocol/grpc/status.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { noReplay } from '../feeds/geyser/geyser-connection.ts';
import type { EndpointConnection } from './endpoint-connection.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { RequestScope } from './merge-filters.ts';
import type { UpdateMerge } from './update-merge.ts';
import { UpdateStream } from './update-stream.ts';

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
