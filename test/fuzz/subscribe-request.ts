import { CuckooFilter } from '../../src/protocol/geyser/cuckoo-filter.ts';
import {
  decodeSubscribeDeshredRequest,
  decodeSubscribeRequest,
} from '../../src/protocol/geyser/decode-subscribe-request.ts';
import { InvalidProtobuf } from '../../src/protocol/geyser/protobuf.ts';
import {
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
} from '../../src/protocol/geyser/subscribe-request.ts';
import {
  decodeCommitmentRequest,
  decodeIsBlockhashValidRequest,
  decodePingRequest,
} from '../../src/protocol/geyser/unary.ts';
import { handleReflection } from '../../src/protocol/grpc/reflection.ts';
import { GrpcError } from '../../src/protocol/grpc/status.ts';
import { checkHealth } from '../../src/servers/grpc/standard-services.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { signatureFromBytes } from '../../src/solana/signature.ts';
import { encodeIsBlockhashValidRequest } from '../geyser/unary-client.ts';
import { accepted } from './engine/accepted.ts';
import { message as anyMessage } from './engine/generate-protobuf.ts';
import type { Random } from './engine/mutate.ts';

export const from = 'clients';
export const covers = [
  'protocol/geyser/decode-subscribe-request.ts',
  'protocol/geyser/decode-subscribe-request.ts',
  'protocol/geyser/fields.ts',
  'protocol/geyser/protobuf.ts',
  'protocol/geyser/request/',
  'protocol/geyser/unary.ts',
  'protocol/grpc/reflection.ts',
  'servers/grpc/standard-services.ts',
];

const key = addressFromBytes(new Uint8Array(32).fill(7));
const signature = signatureFromBytes(new Uint8Array(64).fill(3));
const cuckoo = {
  data: new Uint8Array(16),
  bucketCount: 2,
  entriesPerBucket: 4,
  fingerprintBits: 16,
  hashSeed: 5n,
  hashAlgorithm: 0,
};

/** A request of every kind of filter, and those of the other calls. */
export const seeds: readonly Uint8Array[] = [
  encodeSubscribeRequest({
    accounts: new Map([
      [
        'a',
        {
          account: [key],
          owner: [key],
          filters: [
            { kind: 'memcmp', offset: 4n, bytes: Uint8Array.of(1, 2) },
            { kind: 'dataSize', bytes: 165n },
          ],
          cuckooAccounts: cuckoo,
        },
      ],
    ]),
    accountsDataSlice: [{ offset: 1n, length: 2n }],
  }),
  encodeSubscribeRequest({
    transactions: new Map([['t', { vote: false, accountInclude: [key], tokenAccounts: 'all' as const }]]),
    slots: new Map([['s', { interslotUpdates: true }]]),
    blocks: new Map([['b', { accountInclude: [key], includeTransactions: true }]]),
    blocksMeta: ['m'],
    commitment: 'confirmed',
  }),
  encodeSubscribeDeshredRequest({ deshredTransactions: new Map([['d', { accountRequired: [key] }]]) }),
  encodeSubscribeRequest({ transactions: new Map([['s', { signature }]]), ping: 5 }),
  encodeIsBlockhashValidRequest({ blockhash: key, commitment: 'confirmed' }),
  Uint8Array.from([0x22, 13, ...Buffer.from('geyser.Geyser')]),
];

function readSubscribe(input: Uint8Array): void {
  const { accounts } = decodeSubscribeRequest(input);
  for (const { cuckooAccounts } of accounts?.values() ?? []) {
    if (cuckooAccounts) new CuckooFilter(cuckooAccounts).has(new Uint8Array(32), 0);
  }
}

/** Messages whose fields are of any number and kind. */
export const generate = (random: Random): Uint8Array => anyMessage(random);

/** Whatever is read is read or refused, as a request of every call. */
export const fuzz = (input: Uint8Array): boolean =>
  [
    readSubscribe,
    decodeSubscribeDeshredRequest,
    decodeCommitmentRequest,
    decodeIsBlockhashValidRequest,
    decodePingRequest,
    handleReflection,
    (request: Uint8Array) => checkHealth(request, () => true),
  ]
    .map((read) => accepted(() => read(input), InvalidProtobuf, GrpcError))
    .includes(true);
