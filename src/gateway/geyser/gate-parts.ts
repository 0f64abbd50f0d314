import type { KeyDirectory } from '../../access/key-directory.ts';
import type { KeyRecord } from '../../access/key-record.ts';
import type { KeyWatch } from '../../access/key-watch.ts';
import type { MessagePace } from '../../access/message-pace.ts';
import type { RateLimiter } from '../../access/rate-limit.ts';
import type { UsageMeter } from '../../access/usage.ts';
import type { Logger } from '../../base/log.ts';
import type { StreamOpener } from '../../streams/geyser/stream-opener.ts';
import { limited } from '../outcome.ts';

/** What streams and calls of the gRPC services meet on their way. */
export type GeyserGateParts = Readonly<{
  keys: KeyDirectory;
  limiter: RateLimiter;
  usage: UsageMeter;
  pace: MessagePace;
  watch: KeyWatch;
  /** The stage of transactions that were run. */
  standard: StreamOpener;
  /** The stage before; null where nothing tells of it. */
  shred: StreamOpener | null;
  log: Logger;
}>;

/** Takes calls from the key's rate. @throws Failure RATE_LIMITED. */
export function takeRate({ limiter }: GeyserGateParts, { familyId, limits }: KeyRecord, calls = 1): void {
  const rate = limiter.take(familyId, limits, performance.now(), calls);
  if (rate !== null && !rate.allowed) throw limited(rate);
}
