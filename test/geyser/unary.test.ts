import { describe, expect, it } from 'vitest';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import * as unary from '../../src/protocol/geyser/unary.ts';
import { GrpcError } from '../../src/protocol/grpc/status.ts';
import { slot, U64_MAX } from '../../src/solana/units.ts';
import { published } from './unary-client.ts';

const most = slot(U64_MAX);
const latest = { slot: slot(7), blockhash: 'hash', lastValidBlockHeight: 300n };

describe('a unary call', () => {
  it.each<[message: string, encoded: Uint8Array, theirs: object]>([
    ['PongResponse', unary.encodePongResponse(-5), { count: -5 }],
    [
      'IsBlockhashValidResponse',
      unary.encodeIsBlockhashValidResponse(most, true),
      { slot: `${U64_MAX}`, valid: true },
    ],
    [
      'SubscribeReplayInfoResponse',
      unary.encodeSubscribeReplayInfoResponse(null),
      { firstAvailable: undefined },
    ],
    [
      'SubscribeReplayInfoResponse',
      unary.encodeSubscribeReplayInfoResponse(slot(0)),
      { firstAvailable: '0' },
    ],
    ['GetSlotResponse', unary.encodeGetSlotResponse(most), { slot: `${U64_MAX}` }],
    ['GetBlockHeightResponse', unary.encodeGetBlockHeightResponse(0n), { blockHeight: '0' }],
    [
      'GetLatestBlockhashResponse',
      unary.encodeGetLatestBlockhashResponse(latest),
      { slot: '7', blockhash: 'hash', lastValidBlockHeight: '300' },
    ],
    ['GetVersionResponse', unary.encodeGetVersionResponse('{"é":1}'), { version: '{"é":1}' }],
  ])('writes the same bytes as the published codec: %s', (name, encoded, theirs) => {
    const codec = published[name]!;
    expect(Buffer.from(encoded).toString('hex')).toBe(
      Buffer.from(codec.encode(theirs).finish()).toString('hex'),
    );
    expect(codec.decode(encoded)).toEqual(theirs);
  });

  it.each<[message: string, theirs: object, decode: (bytes: Uint8Array) => unknown, value: unknown]>([
    ['PingRequest', { count: -5 }, unary.decodePingRequest, -5],
    ['GetSlotRequest', { commitment: undefined }, unary.decodeCommitmentRequest, 'processed'],
    ['GetBlockHeightRequest', { commitment: 1 }, unary.decodeCommitmentRequest, 'confirmed'],
    ['GetLatestBlockhashRequest', { commitment: 2 }, unary.decodeCommitmentRequest, 'finalized'],
    [
      'IsBlockhashValidRequest',
      { blockhash: 'any text', commitment: 1 },
      unary.decodeIsBlockhashValidRequest,
      { blockhash: 'any text', commitment: 'confirmed' },
    ],
    [
      'IsBlockhashValidRequest',
      {},
      unary.decodeIsBlockhashValidRequest,
      { blockhash: '', commitment: 'processed' },
    ],
  ])('reads what the published codec writes: %s %j', (name, theirs, decode, value) => {
    const codec = published[name] as unknown as { create(value: object): object };
    expect(decode(published[name]!.encode(codec.create(theirs)).finish())).toEqual(value);
  });

  it.each([3, -1])("with commitment %i is rejected with the Yellowstone plugin's message", (commitment) => {
    const refusal = new GrpcError('UNKNOWN', `failed to create CommitmentLevel from ${commitment}`);
    const wire = (field: number): Uint8Array => new ProtobufWriter().int32(field, commitment).finish();
    expect(() => unary.decodeCommitmentRequest(wire(1))).toThrow(refusal);
    expect(() => unary.decodeIsBlockhashValidRequest(wire(2))).toThrow(refusal);
  });
});
