import { bytesKey } from '../../base/bytes-key.ts';
import type { Logger } from '../../base/log.ts';
import { type Slot, slot as slotOf } from '../../ledger/units.ts';
import { encodeSubscribeRequest, type SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GrpcCode } from '../../protocol/grpc/status.ts';
import { noReplay } from '../feeds/geyser/geyser-link.ts';
import type { EndpointLink } from './endpoint-link.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { UpdateMerge } from './update-merge.ts';
import { UpdateStream } from './update-stream.ts';
import type { Breadth } from './wish-union.ts';

type ReplayOptions = Readonly<{
  links: readonly EndpointLink[];
  merge: UpdateMerge;
  request: (breadth: Breadth) => SubscribeRequest;
  limits: GeyserSourceOptions;
  log: Logger;
  /** Ends it. */
  signal: AbortSignal;
}>;

/** What is to be told again. */
type Stretch = Readonly<{
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
export type Replayed = 'whole' | 'refused' | 'away';

/**
 * Lets servers tell slots again, one after the other until one has, on streams of their own: a server that refuses
 * a replay ends its stream.
 */
export async function replay(options: ReplayOptions, stretch: Stretch): Promise<Replayed> {
  let replayed: Replayed = 'refused';
  const { links, limits } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(limits.backfillTimeoutMs)]);
  const [up, away] = [links.filter((link) => link.isUp), links.filter((link) => !link.isUp)];
  for (const link of [...up, ...away]) {
    let { breadth } = link;
    let outcome = await replayOf(link, breadth, options, stretch, signal);
    if (outcome.code === 'INVALID_ARGUMENT' && breadth === 'exact') {
      // There are servers that replay, but no blocks.
      breadth = 'withoutCounts';
      outcome = await replayOf(link, breadth, options, stretch, signal);
    }
    const { oldest } = outcome;
    if (oldest !== null && oldest > stretch.from && oldest <= stretch.to) {
      outcome = await replayOf(link, breadth, options, { ...stretch, from: oldest }, signal);
    }
    if (outcome.code === 'whole') return 'whole';
    if (outcome.code !== 'ignored' && !noReplay.has(outcome.code)) replayed = 'away';
    if (signal.aborted) break;
  }
  return replayed;
}

function replayOf(
  { node }: EndpointLink,
  breadth: Breadth,
  { merge, request, limits, log }: ReplayOptions,
  { from, to, fillsIn }: Stretch,
  signal: AbortSignal,
): Promise<Outcome> {
  // A server that begins with the slot that it is at, whatever it is asked, must show.
  const fromSlot = from < to || from === 0n ? from : slotOf(to - 1n);
  return new Promise((resolve) => {
    const teller = merge.join({ from: fromSlot, tip: to, fillsIn, seals: breadth === 'exact' });
    const end = (code: Outcome['code'], oldest: Slot | null = null): void => {
      signal.removeEventListener('abort', abort);
      stream.close();
      merge.leave(teller);
      resolve({ code, oldest });
    };
    const abort = (): void => end('CANCELLED');
    const stream = new UpdateStream(
      { node, limits, log, teller },
      {
        opened: () => {},
        pong: () => {},
        slotTold: () => {
          if (teller.newest !== null && teller.newest >= to) end(teller.replays ? 'whole' : 'ignored');
        },
        ended: ({ code, message }) => end(code, oldestIn(message)),
      },
    );
    signal.addEventListener('abort', abort);
    const asked = request(breadth);
    teller.asked(bytesKey(encodeSubscribeRequest(asked)));
    stream.send(encodeSubscribeRequest({ ...asked, fromSlot }));
    if (signal.aborted) abort();
  });
}
