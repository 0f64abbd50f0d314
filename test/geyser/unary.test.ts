import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import * as unary from '../../src/protocol/geyser/unary.ts';
import { GrpcError } from '../../src/protocol/grpc/status.ts';
import { slot, U64_MAX } from '../../src/solana/units.ts';

const require = createRequire(import.meta.url);
type Codec = { encode(value: unknown): { finish(): Uint8Array }; decode(bytes: Uint8Array): unknown };
const published = require(
  join(dirname(require.resolve('@triton-one/yellowstone-grpc')), 'grpc/geyser.js'),
) as Record<string, Codec>;

/** A message, our value with what writes and reads it, and the published codec's value. */
type Row = readonly [message: string, value: unknown, encode: unknown, decode: unknown, theirs: object];
const most = slot(U64_MAX);
const latest = { slot: slot(7), blockhash: 'hash', lastValidBlockHeight: 300n };
const rows: readonly Row[] = [
  ['PingRequest', -5, unary.encodePingRequest, unary.decodePingRequest, { count: -5 }],
  ['PongResponse', 0, unary.encodePongResponse, unary.decodePongResponse, { count: 0 }],
  ...['GetSlotRequest', 'GetBlockHeightRequest', 'GetLatestBlockhashRequest'].flatMap((name): Row[] => [
    [name, {}, unary.encodeCommitmentRequest, unary.decodeCommitmentRequest, { commitment: undefined }],
    [
      name,
      { commitment: 'finalized' },
      unary.encodeCommitmentRequest,
      unary.decodeCommitmentRequest,
      { commitment: 2 },
    ],
    [
      name,
      { commitment: 'processed' },
      unary.encodeCommitmentRequest,
      unary.decodeCommitmentRequest,
      { commitment: 0 },
    ],
  ]),
  ...(['processed', 'confirmed'] as const).map(
    (commitment, number): Row => [
      'IsBlockhashValidRequest',
      { blockhash: 'any text', commitment },
      unary.encodeIsBlockhashValidRequest,
      unary.decodeIsBlockhashValidRequest,
      { blockhash: 'any text', commitment: number },
    ],
  ),
  ...[true, false].map(
    (valid): Row => [
      'IsBlockhashValidResponse',
      { slot: most, valid },
      unary.encodeIsBlockhashValidResponse,
      unary.decodeIsBlockhashValidResponse,
      { slot: String(U64_MAX), valid },
    ],
  ),
  ...[null, slot(0), slot(9)].map(
    (first): Row => [
      'SubscribeReplayInfoResponse',
      first,
      unary.encodeSubscribeReplayInfoResponse,
      unary.decodeSubscribeReplayInfoResponse,
      { firstAvailable: first === null ? undefined : String(first) },
    ],
  ),
  [
    'GetSlotResponse',
    most,
    unary.encodeGetSlotResponse,
    unary.decodeGetSlotResponse,
    { slot: String(U64_MAX) },
  ],
  [
    'GetBlockHeightResponse',
    0n,
    unary.encodeGetBlockHeightResponse,
    unary.decodeGetBlockHeightResponse,
    { blockHeight: '0' },
  ],
  [
    'GetLatestBlockhashResponse',
    latest,
    unary.encodeGetLatestBlockhashResponse,
    unary.decodeGetLatestBlockhashResponse,
    { slot: '7', blockhash: 'hash', lastValidBlockHeight: '300' },
  ],
  [
    'GetVersionResponse',
    '{"é":1}',
    unary.encodeGetVersionResponse,
    unary.decodeGetVersionResponse,
    { version: '{"é":1}' },
  ],
];

describe('a unary call', () => {
  it.each(rows)('has the bytes of the published codec: %s', (name, value, encode, decode, theirs) => {
    const wire = (encode as (value: unknown) => Uint8Array)(value);
    const codec = published[name]!;
    expect(Buffer.from(wire).toString('hex')).toBe(
      Buffer.from(codec.encode(theirs).finish()).toString('hex'),
    );
    expect(codec.decode(wire)).toEqual(theirs);
    expect((decode as (bytes: Uint8Array) => unknown)(wire)).toEqual(value);
  });

  it.each([3, -1])("is rejected with the plugin's message for the commitment %i", (commitment) => {
    const refusal = new GrpcError('UNKNOWN', `failed to create CommitmentLevel from ${commitment}`);
    const wire = (field: number): Uint8Array => new ProtobufWriter().int32(field, commitment).finish();
    expect(() => unary.decodeCommitmentRequest(wire(1))).toThrow(refusal);
    expect(() => unary.decodeIsBlockhashValidRequest(wire(2))).toThrow(refusal);
  });
});
