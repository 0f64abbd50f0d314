import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import type { GrpcCall } from '../../../../src/protocol/grpc/calls.ts';

export const dimensions = ['product', 'key', 'method', 'status'] as const;
export type Dimension = (typeof dimensions)[number];

export const dimensionTitles: Readonly<Record<Dimension, string>> = {
  product: 'Product',
  key: 'API key',
  method: 'Method',
  status: 'Outcome',
};

/** Used within a sentence. */
export const dimensionNouns: Readonly<Record<Dimension, string>> = {
  product: 'product',
  key: 'API key',
  method: 'method',
  status: 'outcome',
};

/** gRPC methods as on the wire. Requests on an open stream are metered apart from its opening. */
const grpcNames: Readonly<Record<GrpcCall, string>> = {
  Subscribe: 'geyser.Geyser/Subscribe',
  SubscribeRequest: 'geyser.Geyser/Subscribe (each request)',
  SubscribeDeshred: 'geyser.Geyser/SubscribeDeshred',
  SubscribeDeshredRequest: 'geyser.Geyser/SubscribeDeshred (each request)',
  SubscribeEntries: 'shredstream.ShredstreamProxy/SubscribeEntries',
  SubscribeReplayInfo: 'geyser.Geyser/SubscribeReplayInfo',
  Ping: 'geyser.Geyser/Ping',
  GetLatestBlockhash: 'geyser.Geyser/GetLatestBlockhash',
  GetBlockHeight: 'geyser.Geyser/GetBlockHeight',
  GetSlot: 'geyser.Geyser/GetSlot',
  IsBlockhashValid: 'geyser.Geyser/IsBlockhashValid',
  GetVersion: 'geyser.Geyser/GetVersion',
};

/** Replacements for labels of the API, by series name. */
export const specialNames: Readonly<Record<string, string>> = {
  ...grpcNames,
  other: 'Other',
  notifications: 'Stream notifications',
};

export type Usage = RouteOutput<'GET /customers/{customer}/usage'>;
export type UsageSeries = Usage['series'][number];
