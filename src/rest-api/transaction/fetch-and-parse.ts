import { fetchTransaction } from '../../decoding/transaction/fetch-transactions.ts';
import { type ParsedTransaction, parseTransactions } from '../../decoding/transaction/parse-transaction.ts';
import type { Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Context } from '../endpoint.ts';

type TransactionFields = Readonly<{ network: Network; txn_signature: Signature; commitment: Commitment }>;

export async function fetchAndParse(fields: TransactionFields, { chain, services }: Context) {
  const reader = chain(fields);
  const { network, txn_signature: signature } = fields;
  const transaction = await fetchTransaction(reader, signature);
  if (transaction === null) throw new Failure('TRANSACTION_NOT_FOUND', { facts: { signature, network } });
  const include = { events: true, raw: false };
  const parsed = await parseTransactions(reader, [transaction], services, include);
  return { transaction, parsed: parsed[0] as ParsedTransaction };
}
