import { ProtobufReader } from './protobuf.ts';
import { readDeshredTransactionsFilter, readSlotsFilter } from './request/filters.ts';
import { readNamed, readPingId } from './request/named-filters.ts';
import { type RequestBounds, requestBounds } from './request/request-bounds.ts';
import { RequestFaults } from './request/request-faults.ts';
import type { DeshredTransactionsFilter, SubscribeDeshredRequest } from './subscribe-deshred-request.ts';
import type { SlotsFilter } from './subscribe-request.ts';

/**
 * Reads the request of a `SubscribeDeshred` stream, as `decodeSubscribeRequest` does.
 * @throws InvalidProtobuf when the bytes are none.
 * @throws GrpcError INVALID_ARGUMENT when a filter says what cannot be.
 * @throws Failure FILTER_LIMIT when there is more in it than the bounds say.
 */
export function decodeSubscribeDeshredRequest(
  bytes: Uint8Array,
  bounds: RequestBounds = requestBounds,
): SubscribeDeshredRequest {
  const faults = new RequestFaults(bounds);
  const deshredTransactions = new Map<string, DeshredTransactionsFilter>();
  const slots = new Map<string, SlotsFilter>();
  let ping: number | undefined;
  const reader = new ProtobufReader(bytes, 0, bytes.length, faults);
  while (reader.next()) {
    if (reader.field === 1)
      readNamed(
        'deshred_transactions',
        deshredTransactions,
        reader.message(),
        readDeshredTransactionsFilter,
        faults,
      );
    else if (reader.field === 2) ping = readPingId(reader.message());
    else if (reader.field === 3) readNamed('slots', slots, reader.message(), readSlotsFilter, faults);
    else reader.skipField();
  }
  if (ping !== undefined) return { ping };
  faults.throwFirst('failed to create deshred filter');
  return {
    ...(deshredTransactions.size === 0 ? {} : { deshredTransactions }),
    ...(slots.size === 0 ? {} : { slots }),
  };
}
