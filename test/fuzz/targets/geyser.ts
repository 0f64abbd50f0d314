import { gzipSync, zstdCompressSync } from 'node:zlib';
import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { Failure } from '../../../src/protocol/errors.ts';
import { CuckooFilter } from '../../../src/protocol/geyser/cuckoo-filter.ts';
import {
  decodeSubscribeDeshredRequest,
  decodeSubscribeRequest,
} from '../../../src/protocol/geyser/decode-subscribe-request.ts';
import { blockTail } from '../../../src/protocol/geyser/encode/block.ts';
import { slicedAccountTail } from '../../../src/protocol/geyser/encode/raw-account.ts';
import { InvalidProtobuf } from '../../../src/protocol/geyser/protobuf.ts';
import type { RawBlock, RawBlockMeta } from '../../../src/protocol/geyser/raw-update.ts';
import { type RawMessage, readRawUpdate } from '../../../src/protocol/geyser/read-raw-update.ts';
import {
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
} from '../../../src/protocol/geyser/subscribe-request.ts';
import {
  decodeCommitmentRequest,
  decodeIsBlockhashValidRequest,
  decodePingRequest,
} from '../../../src/protocol/geyser/unary.ts';
import { encodeFrame, GrpcFrames, InvalidGrpc } from '../../../src/protocol/grpc/frames.ts';
import { decodeToJson, encodeFromJson } from '../../../src/protocol/grpc/json-codec.ts';
import { handleReflection } from '../../../src/protocol/grpc/reflection.ts';
import { GrpcError } from '../../../src/protocol/grpc/status.ts';
import { RequestBudget, RequestFrames } from '../../../src/servers/grpc/decode.ts';
import { checkHealth } from '../../../src/servers/grpc/standard-services.ts';
import { addressFromBytes } from '../../../src/solana/address.ts';
import { TokenOwners } from '../../../src/streams/geyser/filters/token-owners.ts';
import { updates } from '../../geyser/arbitrary.ts';
import { deshredRequest, request } from '../../geyser/arbitrary-request.ts';
import { decodedUpdate } from '../../geyser/re-encode.ts';
import { encodeIsBlockhashValidRequest } from '../../geyser/unary-client.ts';
import { accepted, inPieces, jsonIn, type Target, texts } from '../engine/target.ts';

/** Valid values with any of their fields. */
const sample = <Value>(arbitrary: fc.Arbitrary<Value>): Value[] =>
  fc.sample(arbitrary, { seed: 7, numRuns: 6 });
const key = addressFromBytes(new Uint8Array(32).fill(7));

const owners = new TokenOwners();
const slices = [{ offset: 0n, length: 1n }];

function blockOf(meta: RawBlockMeta): RawBlock {
  const { slot, createdAt } = meta;
  const lists = { transactions: [], accounts: [], entries: [] };
  return { kind: 'block', slot, createdAt, meta, ...lists, updatedAccountCount: 0 };
}

/** Forwards an update as streams do, without decoding all of it. */
function forward(raw: RawMessage): void {
  if (raw.kind === 'account') slicedAccountTail(raw, slices);
  if (raw.kind === 'blockMeta')
    blockTail(blockOf(raw), { transactions: [], accounts: [], entries: [], slices });
  if (raw.kind !== 'transaction') return;
  for (const offset of raw.keys.offsets)
    if (offset + 32 > raw.keys.bytes.length) throw new RangeError('a key lies outside its bytes');
  for (const which of ['all', 'balanceChanged'] as const) owners.of(raw, which);
}

export const subscribeUpdateTarget: Target = {
  seeds: Object.values(updates)
    .flatMap((update) => sample(update))
    .map((update) => SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update)).finish()),
  /** Every input is decoded or refused; keys lie inside it, and it can be forwarded. */
  fuzz(input: Uint8Array): boolean {
    const update = accepted(() => decodedUpdate(input), InvalidProtobuf);
    const raw = accepted(() => {
      const read = readRawUpdate(input, 0);
      if (read !== null) forward(read);
    }, InvalidProtobuf);
    return update || raw;
  },
};

function readSubscribe(input: Uint8Array): void {
  const { accounts } = decodeSubscribeRequest(input);
  for (const { cuckooAccounts } of accounts?.values() ?? []) {
    if (cuckooAccounts) new CuckooFilter(cuckooAccounts).has(new Uint8Array(32), 0);
  }
}

export const subscribeRequestTarget: Target = {
  /** Requests with filters of every kind, and requests of the other calls. */
  seeds: [
    ...sample(request).map(encodeSubscribeRequest),
    ...sample(deshredRequest).map(encodeSubscribeDeshredRequest),
    encodeIsBlockhashValidRequest({ blockhash: key, commitment: 'confirmed' }),
    Uint8Array.from([0x22, 13, ...Buffer.from('geyser.Geyser')]),
  ],
  /** Every input is decoded or refused as a request of every call. */
  fuzz: (input: Uint8Array): boolean =>
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
      .includes(true),
};

const MESSAGE_MAX_BYTES = 4_096;

const BUDGET_BYTES = MESSAGE_MAX_BYTES + 1_024;
const SIZES = { messageMaxBytes: MESSAGE_MAX_BYTES, decompressionRatioMax: 16, ratioExemptBytes: 256 };

function packed(message: Uint8Array): Buffer {
  const frame = encodeFrame(message);
  frame[0] = 1;
  return frame;
}

type Frames = Readonly<{ push(bytes: Buffer): void; next(): Buffer | Readonly<{ message: Buffer }> | null }>;
type Outcome = { readonly messages: string[]; refusal: string | null };

function cut(frames: Frames, bytes: Uint8Array, length: number): Outcome {
  const outcome: Outcome = { messages: [], refusal: null };
  try {
    for (const piece of inPieces(bytes, length)) {
      frames.push(piece);
      for (let next = frames.next(); next !== null; next = frames.next()) {
        const message = Buffer.isBuffer(next) ? next : next.message;
        if (message.length > MESSAGE_MAX_BYTES) throw new RangeError('a message is larger than the limit');
        outcome.messages.push(message.toString('latin1'));
      }
    }
  } catch (error) {
    if (!(error instanceof GrpcError || error instanceof Failure || error instanceof InvalidGrpc))
      throw error;
    outcome.refusal = error.message;
  }
  return outcome;
}

/** Piece boundaries do not change the messages; those before a rejected one in the same piece are lost. */
function compare(single: Outcome, { messages, refusal }: Outcome): void {
  const isSame =
    refusal === null ? messages.length === single.messages.length : messages.length <= single.messages.length;
  if (!isSame || refusal !== single.refusal || messages.some((each, at) => each !== single.messages[at]))
    throw new Error('pieces change the messages');
}

function ofClient(bytes: Uint8Array, length: number): Outcome {
  const budget = new RequestBudget(BUDGET_BYTES);
  const frames = new RequestFrames('gzip', SIZES, budget);
  const outcome = cut(frames, bytes, length);
  frames.close();
  // All of the budget is released.
  budget.reserve(BUDGET_BYTES);
  return outcome;
}

function ofNode(bytes: Uint8Array, encoding: string, length: number): Outcome {
  const frames = new GrpcFrames({ ...SIZES, ratioExemptBytes: 2_048 });
  frames.encoding = encoding;
  return cut(frames, bytes, length);
}

export const requestFramesTarget: Target = {
  /** Plain and compressed messages. The first byte is the length of the pieces. */
  seeds: [
    ...subscribeRequestTarget.seeds.map((request, index) =>
      Buffer.of(index * 50, ...encodeFrame(request), ...encodeFrame(request)),
    ),
    ...subscribeRequestTarget.seeds.map((request) =>
      Buffer.of(7, ...packed(gzipSync(request)), ...encodeFrame(request)),
    ),
    Buffer.of(0, ...packed(gzipSync(new Uint8Array(MESSAGE_MAX_BYTES + 1)))),
  ],
  fuzz(input: Uint8Array): boolean {
    const [length = 0] = input;
    const pieces = ofClient(input.subarray(1), length + 1);
    compare(ofClient(input.subarray(1), 1), pieces);
    return pieces.refusal === null;
  },
};

const messages = [new Uint8Array(3), Buffer.from('{"version":"12.1.0"}'), new Uint8Array(400).fill(7)];

export const geyserAnswersTarget: Target = {
  /** Responses in frames. The first byte selects the compression, the second is the length of the pieces. */
  seeds: [
    ...messages.map((message, at) => Buffer.of(0, at * 3, ...encodeFrame(message), ...encodeFrame(message))),
    ...messages.map((message) => Buffer.of(1, 9, ...packed(gzipSync(message)), ...encodeFrame(message))),
    ...messages.map((message) => Buffer.of(2, 2, ...packed(zstdCompressSync(message)))),
    Buffer.of(1, 255, ...packed(gzipSync(new Uint8Array(MESSAGE_MAX_BYTES + 1)))),
  ],
  fuzz(input: Uint8Array): boolean {
    const [which = 0, length = 0] = input;
    const encoding = ['identity', 'gzip', 'zstd'][which % 3]!;
    const single = ofNode(input.subarray(2), encoding, 1);
    compare(single, ofNode(input.subarray(2), encoding, length + 1));
    return single.messages.length > 0;
  },
};

const REQUEST = '.geyser.SubscribeRequest';

export const grpcJsonTarget: Target = {
  /** The JSON of a request, or the bytes of an update. */
  seeds: [
    ...texts([
      '{"accounts":{"a":{"account":["x"],"filters":[{"memcmp":{"offset":"1","bytes":"AQI="}}]}},"commitment":"CONFIRMED"}',
      '{"from_slot":18446744073709551615,"ping":{"id":1}}',
    ]),
    ...Object.values(updates)
      .flatMap((update) => sample(update))
      .map((update) => SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update)).finish()),
  ],
  /** Accepted JSON survives a round trip; bytes are shown or refused. */
  fuzz(input: Uint8Array): boolean {
    const shown = accepted(
      () => JSON.stringify(decodeToJson('.geyser.SubscribeUpdate', input)),
      InvalidProtobuf,
    );
    const value = jsonIn(input);
    if (value === undefined) return shown;
    return accepted(() => {
      const bytes = encodeFromJson(REQUEST, value);
      const again = encodeFromJson(REQUEST, decodeToJson(REQUEST, bytes));
      if (!Buffer.from(bytes).equals(again)) throw new Error('a request changes in a round trip');
    }, GrpcError);
  },
};
