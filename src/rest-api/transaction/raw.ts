import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { network, signature } from '../fields.ts';
import { fetchAndParse } from './fetch-and-parse.ts';
import { rawTransactionSchema, settledCommitment } from './transaction-schema.ts';

/** Source: rest-api.md §2.16, "Sibling", and §2.23. */
export const raw = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/transaction/raw', '/sol/v1/wallet/transaction'],
  group: 'transaction',
  name: 'transaction/raw',
  summary: 'A transaction as nodes tell it in jsonParsed, with its meaning in `parsed`',
  from: 'query',
  failures: ['TRANSACTION_NOT_FOUND', ...ofChain],
  fields: z.object({
    network: network(),
    txn_signature: signature('The signature of the transaction.'),
    commitment: settledCommitment(),
  }),
  result: rawTransactionSchema,
  async answer(fields, context) {
    const { transaction, parsed } = await fetchAndParse(fields, context);
    return {
      message: 'Transaction details fetched successfully',
      result: { ...transaction.raw, parsed },
    };
  },
});
