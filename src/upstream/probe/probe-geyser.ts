import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { encodeSubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { decodeSubscribeUpdate } from '../../protocol/geyser/subscribe-update.ts';
import type { GrpcCode, GrpcStatus } from '../../protocol/grpc/status.ts';
import type { Slot } from '../../solana/units.ts';
import { type GeyserNode, SUBSCRIBE } from '../geyser/geyser-node.ts';
import { geyserSourceOptions } from '../geyser/geyser-source-options.ts';
import { GrpcStream } from '../geyser/grpc-stream.ts';
import { redactMessage } from '../geyser/monitored-stream.ts';

export type GeyserReport = Readonly<{
  /** Reason without URLs and secrets; null if slots arrive. */
  fault: string | null;
  /** First slot; null if none arrived. */
  slot: Slot | null;
}>;

const faults: Partial<Readonly<Record<GrpcCode, string>>> = {
  UNAUTHENTICATED: 'it does not accept the token: check x-token in headers',
  PERMISSION_DENIED: 'the token is not allowed to subscribe',
  UNIMPLEMENTED: 'there is no Geyser at this address',
  RESOURCE_EXHAUSTED: 'it accepts no more streams: request a larger plan',
};

const faultOf = ({ code, message }: GrpcStatus, node: GeyserNode): string =>
  faults[code] ?? (message === '' ? code : `${code}: ${redactMessage(message, node.grpc, node.headers)}`);

function slotIn(bytes: Buffer): Slot | null {
  try {
    const update = decodeSubscribeUpdate(bytes)?.update ?? null;
    return update?.kind === 'slot' ? update.slot : null;
  } catch (fault) {
    if (fault instanceof InvalidProtobuf) return null;
    throw fault;
  }
}

/**
 * Opens a Geyser stream and waits for a slot. Never rejects.
 * @param timeoutMs - in total.
 */
export function probeGeyser(node: GeyserNode, timeoutMs: number): Promise<GeyserReport> {
  return new Promise((resolve) => {
    const end = (report: GeyserReport): void => {
      clearTimeout(timer);
      stream.close();
      resolve(report);
    };
    const timer = setTimeout(() => end({ fault: 'no slot received in time', slot: null }), timeoutMs);
    const { grpc: url, headers = {} } = node;
    const options = { ...geyserSourceOptions, connectTimeoutMs: timeoutMs, url, headers, method: SUBSCRIBE };
    const stream = new GrpcStream(options, {
      onOpen: () => {},
      onMessage(bytes) {
        const slot = slotIn(bytes);
        if (slot !== null) end({ fault: null, slot });
      },
      onEnd: (status) => end({ fault: faultOf(status, node), slot: null }),
    });
    stream.send(
      encodeSubscribeRequest({
        slots: new Map([['s', { interslotUpdates: true }]]),
        commitment: 'processed',
      }),
    );
  });
}
