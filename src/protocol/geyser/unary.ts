import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { GrpcError } from '../grpc/status.ts';
import { readOnlyField, readSlot } from './fields.ts';
import { ProtobufReader } from './protobuf.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { commitments } from './subscribe-request.ts';

/**
 * Requests and answers of the calls that stream nothing, both ways. Every reading function throws InvalidProtobuf
 * for bytes that are none. Source: geyser.proto, "non-streaming methods".
 */

/** Absent, a commitment is `processed`. */
export type CommitmentRequest = Readonly<{ commitment?: Commitment }>;

function readCommitment(reader: ProtobufReader): Commitment {
  const number = reader.int32();
  const commitment = commitments[number];
  if (commitment === undefined)
    throw new GrpcError('UNKNOWN', `failed to create CommitmentLevel from ${number}`);
  return commitment;
}

/** Calls back for each field, which must read it or return false. */
function eachField(bytes: Uint8Array, read: (reader: ProtobufReader) => boolean): void {
  const reader = new ProtobufReader(bytes);
  while (reader.next()) if (!read(reader)) reader.skipField();
}

/** A message of which only field 1 is known. */
const readOnly = <T>(bytes: Uint8Array, absent: T, read: (reader: ProtobufReader) => T): T =>
  readOnlyField(new ProtobufReader(bytes), read, absent);

const small = (): ProtobufWriter => new ProtobufWriter(96);

/**
 * Reads the request of GetSlot, GetBlockHeight and GetLatestBlockhash.
 * @throws GrpcError UNKNOWN for a commitment that is none.
 */
export function decodeCommitmentRequest(bytes: Uint8Array): CommitmentRequest {
  const commitment = readOnly<Commitment | undefined>(bytes, undefined, readCommitment);
  return commitment === undefined ? {} : { commitment };
}

/** What `decodeCommitmentRequest` reads. */
export function encodeCommitmentRequest({ commitment }: CommitmentRequest): Uint8Array {
  const writer = small();
  if (commitment !== undefined) writer.uint32(1, commitments.indexOf(commitment));
  return writer.finish();
}

/** The hash is any text. @throws GrpcError UNKNOWN for a commitment that is none. */
export function decodeIsBlockhashValidRequest(
  bytes: Uint8Array,
): Readonly<{ blockhash: string }> & CommitmentRequest {
  let blockhash = '';
  let commitment: Commitment | undefined;
  eachField(bytes, (reader) => {
    if (reader.field === 1) blockhash = reader.string();
    else if (reader.field === 2) commitment = readCommitment(reader);
    else return false;
    return true;
  });
  return { blockhash, ...(commitment === undefined ? {} : { commitment }) };
}

/** What `decodeIsBlockhashValidRequest` reads. */
export function encodeIsBlockhashValidRequest({
  blockhash,
  commitment,
}: Readonly<{ blockhash: string }> & CommitmentRequest): Uint8Array {
  const writer = small().stringOrNone(1, blockhash);
  if (commitment !== undefined) writer.uint32(2, commitments.indexOf(commitment));
  return writer.finish();
}

/** Reads `PingRequest`: the count, i32, that is said back. */
export const decodePingRequest = (bytes: Uint8Array): number =>
  readOnly(bytes, 0, (reader) => reader.int32());

/** What `decodePingRequest` reads. @param count - i32. */
export const encodePingRequest = (count: number): Uint8Array =>
  count === 0 ? new Uint8Array() : small().int32(1, count).finish();

/** Reads `PongResponse`, which looks as its request does. */
export const decodePongResponse = decodePingRequest;
/** What `decodePongResponse` reads. */
export const encodePongResponse = encodePingRequest;

/** The lowest slot that a stream may begin at; null for none. */
export const decodeSubscribeReplayInfoResponse = (bytes: Uint8Array): Slot | null =>
  readOnly<Slot | null>(bytes, null, readSlot);

/** What `decodeSubscribeReplayInfoResponse` reads. */
export const encodeSubscribeReplayInfoResponse = (firstAvailable: Slot | null): Uint8Array =>
  firstAvailable === null ? new Uint8Array() : small().uint64(1, firstAvailable).finish();

/** Reads `GetSlotResponse`: the newest slot. */
export const decodeGetSlotResponse = (bytes: Uint8Array): Slot => readOnly(bytes, slotOf(0), readSlot);

/** What `decodeGetSlotResponse` reads. */
export const encodeGetSlotResponse = (slot: Slot): Uint8Array => small().uint64OrNone(1, slot).finish();

/** Reads `GetBlockHeightResponse`: the blocks under the newest one. */
export const decodeGetBlockHeightResponse = (bytes: Uint8Array): bigint =>
  readOnly(bytes, 0n, (reader) => reader.uint64());

/** What `decodeGetBlockHeightResponse` reads. */
export const encodeGetBlockHeightResponse = (blockHeight: bigint): Uint8Array =>
  small().uint64OrNone(1, blockHeight).finish();

/** Reads `GetVersionResponse`: JSON text. */
export const decodeGetVersionResponse = (bytes: Uint8Array): string =>
  readOnly(bytes, '', (reader) => reader.string());

/** What `decodeGetVersionResponse` reads. */
export const encodeGetVersionResponse = (version: string): Uint8Array =>
  small().stringOrNone(1, version).finish();

/** A blockhash as base58 text, the slot whose block it ended, and the last block height at which it is valid. */
export type LatestBlockhash = Readonly<{ slot: Slot; blockhash: string; lastValidBlockHeight: bigint }>;

/** Reads `GetLatestBlockhashResponse`. */
export function decodeGetLatestBlockhashResponse(bytes: Uint8Array): LatestBlockhash {
  let [slot, blockhash, lastValidBlockHeight] = [slotOf(0), '', 0n];
  eachField(bytes, (reader) => {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) blockhash = reader.string();
    else if (reader.field === 3) lastValidBlockHeight = reader.uint64();
    else return false;
    return true;
  });
  return { slot, blockhash, lastValidBlockHeight };
}

/** What `decodeGetLatestBlockhashResponse` reads. */
export const encodeGetLatestBlockhashResponse = (latest: LatestBlockhash): Uint8Array =>
  small()
    .uint64OrNone(1, latest.slot)
    .stringOrNone(2, latest.blockhash)
    .uint64OrNone(3, latest.lastValidBlockHeight)
    .finish();

/** Whether a blockhash is valid, as of a slot. */
export type BlockhashValidity = Readonly<{ slot: Slot; valid: boolean }>;

/** Reads `IsBlockhashValidResponse`. */
export function decodeIsBlockhashValidResponse(bytes: Uint8Array): BlockhashValidity {
  let [slot, valid] = [slotOf(0), false];
  eachField(bytes, (reader) => {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) valid = reader.bool();
    else return false;
    return true;
  });
  return { slot, valid };
}

/** What `decodeIsBlockhashValidResponse` reads. */
export const encodeIsBlockhashValidResponse = ({ slot, valid }: BlockhashValidity): Uint8Array =>
  small().uint64OrNone(1, slot).boolOrNone(2, valid).finish();
