import { parseTold } from '../../insight/transaction/parse-told.ts';
import { toldTransaction } from '../../insight/transaction/told-transactions.ts';
import type { Signature } from '../../ledger/signature.ts';
import type { Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Context } from '../endpoint.ts';
import { tokenNamesOf } from './token-names-of.ts';

/** The fields that name one transaction. */
type Named = Readonly<{ network: Network; txn_signature: Signature; commitment: Commitment }>;

/**
 * One transaction as a node tells it, and what it means, with its events.
 * @throws Failure TRANSACTION_NOT_FOUND
 */
export async function toldAndParsed(
  { network, txn_signature: signature, commitment }: Named,
  { chain, services }: Context,
) {
  const reader = chain(network, commitment);
  const told = await toldTransaction(reader, signature);
  const shown = { events: true, raw: false };
  const [parsed] = await parseTold(reader, told === null ? [] : [told], tokenNamesOf(services), shown);
  if (told !== null && parsed !== undefined) return { told, parsed };
  throw new Failure('TRANSACTION_NOT_FOUND', { facts: { signature, network } });
}
