import type { Slot } from '../../ledger/units.ts';
import { type Commitment, commitments } from '../commitment.ts';
import { GrpcError } from '../grpc/status.ts';
import { readSlot } from './fields.ts';
import { ProtobufReader } from './protobuf.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

/**
 * Requests and answers of the calls that end with one answer. Readers throw InvalidProtobuf. Source: geyser.proto.
 */

/** GetLatestBlockhash, GetBlockHeight and GetSlot; a commitment that is not named is `processed`. */
export type CommitmentRequest = Readonly<{ commitment?: Commitment }>;
export type IsBlockhashValidRequest = Readonly<{ blockhash: string; commitment?: Commitment }>;
export type LatestBlockhash = Readonly<{ slot: Slot; blockhash: string; lastValidBlockHeight: bigint }>;
export type BlockhashValidity = Readonly<{ slot: Slot; valid: boolean }>;

/** @throws GrpcError UNKNOWN, as the plugin. */
function readCommitment(reader: ProtobufReader): Commitment {
  const number = reader.int32();
  const commitment = commitments[number];
  if (commitment === undefined) {
    throw new GrpcError('UNKNOWN', `failed to create CommitmentLevel from ${number}`);
  }
  return commitment;
}

const writeCommitment = (writer: ProtobufWriter, field: number, commitment: Commitment | undefined): void => {
  if (commitment !== undefined) writer.uint32(field, commitments.indexOf(commitment));
};

/** Reads a message of one field; whatever else it holds is passed over. */
function only<T>(bytes: Uint8Array, absent: T, read: (reader: ProtobufReader) => T): T {
  let value = absent;
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === 1) value = read(reader);
    else reader.skip();
  }
  return value;
}

/** @throws GrpcError UNKNOWN for a commitment that is none. */
export const decodeCommitmentRequest = (bytes: Uint8Array): CommitmentRequest =>
  only<CommitmentRequest>(bytes, {}, (reader) => ({ commitment: readCommitment(reader) }));

export function encodeCommitmentRequest(commitment: Commitment | undefined): Uint8Array {
  const writer = new ProtobufWriter();
  writeCommitment(writer, 1, commitment);
  return writer.finish();
}

/** @throws GrpcError UNKNOWN for a commitment that is none. */
export function decodeIsBlockhashValidRequest(bytes: Uint8Array): IsBlockhashValidRequest {
  let request: IsBlockhashValidRequest = { blockhash: '' };
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === 1) request = { ...request, blockhash: reader.string() };
    else if (reader.field === 2) request = { ...request, commitment: readCommitment(reader) };
    else reader.skip();
  }
  return request;
}

export function encodeIsBlockhashValidRequest({
  blockhash,
  commitment,
}: IsBlockhashValidRequest): Uint8Array {
  const writer = new ProtobufWriter().string(1, blockhash);
  writeCommitment(writer, 2, commitment);
  return writer.finish();
}

/** `count` of a PingRequest. */
export const decodePingRequest = (bytes: Uint8Array): number => only(bytes, 0, (reader) => reader.int32());
/** @param count - an i32. */
export const encodePingRequest = (count: number): Uint8Array => new ProtobufWriter().int32(1, count).finish();
/** `count` of a PongResponse. */
export const decodePongResponse = decodePingRequest;
/** @param count - an i32. */
export const encodePongResponse = encodePingRequest;

export const encodeGetSlotResponse = (slot: Slot): Uint8Array =>
  new ProtobufWriter().uint64(1, slot).finish();
export const decodeGetSlotResponse = (bytes: Uint8Array): bigint =>
  only(bytes, 0n, (reader) => reader.uint64());

export const encodeGetBlockHeightResponse = (blockHeight: bigint): Uint8Array =>
  new ProtobufWriter().uint64(1, blockHeight).finish();
export const decodeGetBlockHeightResponse = decodeGetSlotResponse;

/** @param first - null where nothing can be told again. */
export const encodeSubscribeReplayInfoResponse = (first: Slot | null): Uint8Array =>
  first === null ? new Uint8Array() : new ProtobufWriter().uint64(1, first).finish();
export const decodeSubscribeReplayInfoResponse = (bytes: Uint8Array): Slot | null =>
  only<Slot | null>(bytes, null, readSlot);

/** @param version - JSON text. */
export const encodeGetVersionResponse = (version: string): Uint8Array =>
  new ProtobufWriter().string(1, version).finish();
export const decodeGetVersionResponse = (bytes: Uint8Array): string =>
  only(bytes, '', (reader) => reader.string());

export const encodeGetLatestBlockhashResponse = ({
  slot,
  blockhash,
  lastValidBlockHeight,
}: LatestBlockhash): Uint8Array =>
  new ProtobufWriter().uint64(1, slot).string(2, blockhash).uint64(3, lastValidBlockHeight).finish();

export function decodeGetLatestBlockhashResponse(bytes: Uint8Array): LatestBlockhash {
  let [slot, blockhash, lastValidBlockHeight] = [0n as Slot, '', 0n];
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) blockhash = reader.string();
    else if (reader.field === 3) lastValidBlockHeight = reader.uint64();
    else reader.skip();
  }
  return { slot, blockhash, lastValidBlockHeight };
}

export const encodeIsBlockhashValidResponse = ({ slot, valid }: BlockhashValidity): Uint8Array =>
  new ProtobufWriter().uint64(1, slot).bool(2, valid).finish();

export function decodeIsBlockhashValidResponse(bytes: Uint8Array): BlockhashValidity {
  let [slot, valid] = [0n as Slot, false];
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) valid = reader.bool();
    else reader.skip();
  }
  return { slot, valid };
}
