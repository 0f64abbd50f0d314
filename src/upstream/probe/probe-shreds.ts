import { encodeSubscribeDeshredRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GrpcCode } from '../../protocol/grpc/status.ts';
import { GrpcStream } from '../geyser/grpc-stream.ts';
import { redactMessage } from '../geyser/monitored-stream.ts';
import { ENTRIES_REQUEST, SUBSCRIBE_DESHRED, SUBSCRIBE_ENTRIES } from '../shreds/shred-clients.ts';
import { type ShredServer, shredLimits } from '../shreds/shreds-config.ts';

const faults: Partial<Readonly<Record<GrpcCode, string>>> = {
  UNAUTHENTICATED: 'it does not accept the token: check x-token in headers',
  PERMISSION_DENIED: 'the token is not allowed to open this stream',
  UNIMPLEMENTED: 'there is no such stream at this address',
  RESOURCE_EXHAUSTED: 'it accepts no more streams: request a larger plan',
};

/** Time for a server to reject an accepted stream. */
const REJECTION_MS = 500;

/** Method by configured kind. */
const calls = {
  deshred: {
    method: SUBSCRIBE_DESHRED,
    request: encodeSubscribeDeshredRequest({ slots: new Map([['s', { interslotUpdates: true }]]) }),
  },
  entries: { method: SUBSCRIBE_ENTRIES, request: ENTRIES_REQUEST },
} as const;

/**
 * Opens a stream of a shred stage server and checks that it stays open. Never rejects.
 * @param timeoutMs - in total.
 * @returns the reason without URLs and secrets; null if it stays open.
 */
export function probeShreds(
  { url, headers }: ShredServer,
  kind: keyof typeof calls,
  timeoutMs: number,
): Promise<string | null> {
  const { method, request } = calls[kind];
  return new Promise((resolve) => {
    const end = (fault: string | null): void => {
      clearTimeout(timer);
      stream.close();
      resolve(fault);
    };
    let timer = setTimeout(() => end('it did not accept the stream in time'), timeoutMs);
    const options = { ...shredLimits, connectTimeoutMs: timeoutMs, url, headers, method };
    const stream = new GrpcStream(options, {
      onOpen() {
        clearTimeout(timer);
        timer = setTimeout(() => end(null), Math.min(REJECTION_MS, timeoutMs));
      },
      onMessage: () => end(null),
      onEnd: ({ code, message }) => {
        const reason = message === '' ? code : `${code}: ${redactMessage(message, url, headers)}`;
        end(faults[code] ?? reason);
      },
    });
    stream.send(request);
    if (kind === 'entries') stream.finishSending();
  });
}
