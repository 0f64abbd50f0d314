import type { Schema } from './schema.ts';

/** What a proxy of shreds serves. Source: jito-labs/mev-protos, shredstream.proto. */
export const shredstreamSchema: Schema = {
  name: 'shredstream.proto',
  package: 'shredstream',
  messages: {
    SubscribeEntriesRequest: [],
    Entry: ['uint64 slot = 1', 'bytes entries = 2'],
  },
  services: {
    ShredstreamProxy: { SubscribeEntries: '(SubscribeEntriesRequest) returns (stream Entry)' },
  },
};
