/** Metered operations and their credits. Source: geyser.proto, shredstream.proto. */
export const grpcCalls = {
  Subscribe: 1,
  SubscribeRequest: 1,
  SubscribeDeshred: 1,
  SubscribeDeshredRequest: 1,
  SubscribeEntries: 1,
  SubscribeReplayInfo: 1,
  Ping: 1,
  GetLatestBlockhash: 1,
  GetBlockHeight: 1,
  GetSlot: 1,
  IsBlockhashValid: 1,
  GetVersion: 1,
} as const satisfies Record<string, number>;

export type GrpcCall = keyof typeof grpcCalls;
