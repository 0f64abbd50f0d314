import type { Address } from '../../solana/address.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { type Named, type SlotsFilter, writeNamed, writeSlotsFilter } from './subscribe-request.ts';

/** What is empty or absent asks nothing. Source: geyser.proto, `SubscribeRequestFilterDeshredTransactions`. */
export type DeshredTransactionsFilter = Readonly<{
  vote?: boolean;
  /** Any of them. */
  accountInclude?: readonly Address[];
  /** None of them. */
  accountExclude?: readonly Address[];
  /** All of them. */
  accountRequired?: readonly Address[];
}>;

/** All filters by their names: each request replaces the one before. Source: geyser.proto, `SubscribeDeshredRequest`. */
export type SubscribeDeshredRequest = Readonly<{
  deshredTransactions?: Named<DeshredTransactionsFilter>;
  slots?: Named<SlotsFilter>;
  /** The request is a ping and nothing else. */
  ping?: number;
}>;

function writeDeshredTransactionsFilter(writer: ProtobufWriter, filter: DeshredTransactionsFilter): void {
  if (filter.vote !== undefined) writer.bool(1, filter.vote);
  for (const address of filter.accountInclude ?? []) writer.string(2, address);
  for (const address of filter.accountExclude ?? []) writer.string(3, address);
  for (const address of filter.accountRequired ?? []) writer.string(4, address);
}

/** Writes the request of a `SubscribeDeshred` stream. */
export function encodeSubscribeDeshredRequest(request: SubscribeDeshredRequest): Uint8Array {
  const writer = new ProtobufWriter();
  writeNamed(writer, 1, request.deshredTransactions, writeDeshredTransactionsFilter);
  if (request.ping !== undefined) {
    const start = writer.open(2);
    writer.int32(1, request.ping);
    writer.close(start);
  }
  writeNamed(writer, 3, request.slots, writeSlotsFilter);
  return writer.finish();
}
