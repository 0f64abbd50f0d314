import { z } from 'zod';
import { chainFailures, endpoint } from '../endpoint.ts';
import { network, signature } from '../fields.ts';
import { fetchAndParse } from './fetch-and-parse.ts';
import { rawTransactionSchema, settledCommitment } from './transaction-schema.ts';

/** Source: rest-api.md §2.16, "Sibling", and §2.23. */
export const raw = endpoint('GET transaction/raw', {
  paths: ['/sol/v1/transaction/raw', '/sol/v1/wallet/transaction'],
  summary: 'Get a transaction in jsonParsed, with the parsed form in `parsed`',
  from: 'query',
  failures: ['TRANSACTION_NOT_FOUND', ...chainFailures],
  fields: z.object({
    network: network(),
    txn_signature: signature('Transaction signature.'),
    commitment: settledCommitment(),
  }),
  result: rawTransactionSchema,
  async handle(fields, context) {
    const { transaction, parsed } = await fetchAndParse(fields, context);
    return {
      message: 'Transaction details fetched successfully',
      result: { ...transaction.raw, parsed },
    };
  },
});
