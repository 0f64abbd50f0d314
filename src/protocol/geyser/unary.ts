import type { Slot } from '../../solana/units.ts';
import { type Commitment, commitments } from '../commitment.ts';
import { GrpcError } from '../grpc/status.ts';
import { readSingleField } from './fields.ts';
import { ProtobufReader } from './protobuf.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

/** Unary methods. Decoders throw InvalidProtobuf. Source: geyser.proto, "non-streaming methods". */

function readCommitment(reader: ProtobufReader): Commitment {
  const number = reader.int32();
  const commitment = commitments[number];
  if (commitment === undefined)
    throw new GrpcError('UNKNOWN', `failed to create CommitmentLevel from ${number}`);
  return commitment;
}

const newWriter = (): ProtobufWriter => new ProtobufWriter(96);

/** Used for GetSlot, GetBlockHeight and GetLatestBlockhash. @throws GrpcError UNKNOWN for an unknown commitment. */
export const decodeCommitmentRequest = (bytes: Uint8Array): Commitment =>
  readSingleField<Commitment>(new ProtobufReader(bytes), readCommitment, 'processed');

/** The blockhash is not validated. @throws GrpcError UNKNOWN for an unknown commitment. */
export function decodeIsBlockhashValidRequest(
  bytes: Uint8Array,
): Readonly<{ blockhash: string; commitment: Commitment }> {
  let blockhash = '';
  let commitment: Commitment = 'processed';
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === 1) blockhash = reader.string();
    else if (reader.field === 2) commitment = readCommitment(reader);
    else reader.skipField();
  }
  return { blockhash, commitment };
}

export const decodePingRequest = (bytes: Uint8Array): number =>
  readSingleField(new ProtobufReader(bytes), (reader) => reader.int32(), 0);

export const encodePongResponse = (count: number): Uint8Array =>
  count === 0 ? new Uint8Array() : newWriter().int32(1, count).finish();

/** @param firstAvailable - lowest slot from which a stream may start; null if there is none. */
export const encodeSubscribeReplayInfoResponse = (firstAvailable: Slot | null): Uint8Array =>
  firstAvailable === null ? new Uint8Array() : newWriter().uint64(1, firstAvailable).finish();

export const encodeGetSlotResponse = (slot: Slot): Uint8Array => newWriter().nonzeroUint64(1, slot).finish();

export const encodeGetBlockHeightResponse = (blockHeight: bigint): Uint8Array =>
  newWriter().nonzeroUint64(1, blockHeight).finish();

/** @param version - as JSON text. */
export const encodeGetVersionResponse = (version: string): Uint8Array =>
  newWriter().nonemptyString(1, version).finish();

export const encodeGetLatestBlockhashResponse = (
  latest: Readonly<{ slot: Slot; blockhash: string; lastValidBlockHeight: bigint }>,
): Uint8Array =>
  newWriter()
    .nonzeroUint64(1, latest.slot)
    .nonemptyString(2, latest.blockhash)
    .nonzeroUint64(3, latest.lastValidBlockHeight)
    .finish();

export const encodeIsBlockhashValidResponse = (slot: Slot, valid: boolean): Uint8Array =>
  newWriter().nonzeroUint64(1, slot).trueBool(2, valid).finish();
