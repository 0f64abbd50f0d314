import { fetchTransaction } from '../../decoding/transaction/fetch-transactions.ts';
import { parseTransactions } from '../../decoding/transaction/parse-transaction.ts';
import type { Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Context } from '../endpoint.ts';

type TransactionFields = Readonly<{ network: Network; txn_signature: Signature; commitment: Commitment }>;

export async function fetchAndParse(
  { network, txn_signature: signature, commitment }: TransactionFields,
  { chain, services }: Context,
) {
  const reader = chain(network, commitment);
  const transaction = await fetchTransaction(reader, signature);
  const include = { events: true, raw: false };
  const [parsed] = await parseTransactions(
    reader,
    transaction === null ? [] : [transaction],
    services,
    include,
  );
  if (transaction !== null && parsed !== undefined) return { transaction, parsed };
  throw new Failure('TRANSACTION_NOT_FOUND', { facts: { signature, network } });
}
