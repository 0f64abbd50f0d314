import type { GrpcCode } from '../../protocol/grpc/status.ts';
import type { NodeConfig } from '../node.ts';

export type GeyserNode = NodeConfig & Readonly<{ grpc: string }>;

export const hasGeyser = (node: NodeConfig): node is GeyserNode => typeof node.grpc === 'string';

/** Source: geyser.proto. */
export const SUBSCRIBE = '/geyser.Geyser/Subscribe';

/** Id of the ping that answers a server's ping. Pings that follow requests use greater ids. */
export const PONG_ID = 1;

/** Status codes from servers that cannot replay from the requested slot. */
export const noReplay: ReadonlySet<GrpcCode> = new Set([
  'OUT_OF_RANGE',
  'INTERNAL',
  'INVALID_ARGUMENT',
  'UNIMPLEMENTED',
]);
