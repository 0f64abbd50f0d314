import { z } from 'zod';
import { selectedTransactions } from '../../decoding/transaction/fetch-transactions.ts';
import { parseTransactions } from '../../decoding/transaction/parse-transaction.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { list, network, signature } from '../fields.ts';
import { includeFields, parsedTransactionSchema, settledCommitment } from './transaction-schema.ts';

const SIGNATURES_MAX = 100;

/** Source: rest-api.md §2.18 and §3. */
export const parseSelected = endpoint('POST transaction/parse_selected', {
  summary: 'Parse transactions by signature, in request order',
  description: 'Transactions that the node does not have are left out.',
  from: 'body',
  failures: chainFailures,
  fields: z.object({
    network: network(),
    transaction_signatures: list(
      signature('Transaction signature.'),
      SIGNATURES_MAX,
      'Transaction signatures.',
    ),
    ...includeFields,
    commitment: settledCommitment(),
  }),
  result: z.array(parsedTransactionSchema),
  async handle(fields, { chain, services }) {
    const reader = chain(fields);
    const transactions = await selectedTransactions(reader, fields.transaction_signatures);
    const include = { events: fields.enable_events, raw: fields.enable_raw };
    const result = await parseTransactions(reader, transactions, services, include);
    return { message: 'Selected transactions fetched successfully', result };
  },
});
