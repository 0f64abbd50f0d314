import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { readRawUpdate } from '../../protocol/geyser/read-raw-update.ts';
import {
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
} from '../../protocol/geyser/subscribe-request.ts';
import type { GrpcCode, GrpcStatus } from '../../protocol/grpc/status.ts';
import type { Slot } from '../../solana/units.ts';
import { type GeyserNode, SUBSCRIBE } from '../geyser/geyser-node.ts';
import { geyserSourceOptions } from '../geyser/geyser-source-options.ts';
import { GrpcStream, type GrpcStreamOptions } from '../geyser/grpc-stream.ts';
import { redactMessage } from '../geyser/monitored-stream.ts';
import { ENTRIES_REQUEST, SUBSCRIBE_DESHRED, SUBSCRIBE_ENTRIES } from '../shreds/shred-clients.ts';
import { type ShredServer, shredLimits } from '../shreds/shreds-config.ts';

const shredFaults = {
  PERMISSION_DENIED: 'the token is not allowed to open this stream',
  UNIMPLEMENTED: 'there is no such stream at this address',
};

const ALL_SLOTS = new Map([['s', { interslotUpdates: true }]]);

/** Time in which a server may still reject a stream after accepting it. */
const REJECTION_MS = 500;

const calls = {
  deshred: {
    method: SUBSCRIBE_DESHRED,
    request: encodeSubscribeDeshredRequest({ slots: ALL_SLOTS }),
  },
  entries: { method: SUBSCRIBE_ENTRIES, request: ENTRIES_REQUEST },
} as const;

/**
 * Never rejects. @param timeoutMs - time for the server to accept the stream.
 * @returns the reason for a failure, without URLs or secrets; null if the stream stays open.
 */
export function probeShreds(
  { url, headers }: ShredServer,
  kind: keyof typeof calls,
  timeoutMs: number,
): Promise<string | null> {
  const { method, request } = calls[kind];
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let timer = setTimeout(() => resolve('it did not accept the stream in time'), timeoutMs);
  const options = { ...shredLimits, connectTimeoutMs: timeoutMs, url, headers, method };
  const stream = new GrpcStream(options, {
    onOpen() {
      clearTimeout(timer);
      timer = setTimeout(() => resolve(null), Math.min(REJECTION_MS, timeoutMs));
    },
    onMessage: () => resolve(null),
    onEnd: (status) => resolve(faultOf(status, options, shredFaults)),
  });
  stream.send(request);
  if (kind === 'entries') stream.finishSending();
  return promise.finally(() => {
    clearTimeout(timer);
    stream.close();
  });
}

export type GeyserReport = Readonly<{
  /** Reason for a failure, without URLs or secrets; null if a slot arrived. */
  fault: string | null;
  slot: Slot | null;
}>;

/** Describes a failure without URLs or secrets. */
function faultOf(
  { code, message }: GrpcStatus,
  { url, headers }: Pick<GrpcStreamOptions, 'url' | 'headers'>,
  faults: Partial<Readonly<Record<GrpcCode, string>>>,
): string {
  const shared: typeof faults = {
    UNAUTHENTICATED: 'it does not accept the token: check x-token in headers',
    RESOURCE_EXHAUSTED: 'it accepts no more streams: request a larger plan',
  };
  const reason = message === '' ? code : `${code}: ${redactMessage(message, url, headers)}`;
  return shared[code] ?? faults[code] ?? reason;
}

const geyserFaults = {
  PERMISSION_DENIED: 'the token is not allowed to subscribe',
  UNIMPLEMENTED: 'there is no Geyser at this address',
};

function slotIn(bytes: Buffer): Slot | null {
  try {
    const update = readRawUpdate(bytes, 0);
    return update?.kind === 'slot' ? update.slot : null;
  } catch (fault) {
    if (fault instanceof InvalidProtobuf) return null;
    throw fault;
  }
}

/** Never rejects. @param timeoutMs - timeout of the whole probe. */
export function probeGeyser(node: GeyserNode, timeoutMs: number): Promise<GeyserReport> {
  const { promise, resolve } = Promise.withResolvers<GeyserReport>();
  const timer = setTimeout(() => resolve({ fault: 'no slot received in time', slot: null }), timeoutMs);
  const { grpc: url, headers = {} } = node;
  const options = { ...geyserSourceOptions, connectTimeoutMs: timeoutMs, url, headers, method: SUBSCRIBE };
  const stream = new GrpcStream(options, {
    onOpen: () => {},
    onMessage(bytes) {
      const slot = slotIn(bytes);
      if (slot !== null) resolve({ fault: null, slot });
    },
    onEnd: (status) => resolve({ fault: faultOf(status, options, geyserFaults), slot: null }),
  });
  stream.send(encodeSubscribeRequest({ slots: ALL_SLOTS, commitment: 'processed' }));
  return promise.finally(() => {
    clearTimeout(timer);
    stream.close();
  });
}
