import { z } from 'zod';
import { chainFailures, endpoint } from '../endpoint.ts';
import { flag, network, signature } from '../fields.ts';
import { fetchAndParse } from './fetch-and-parse.ts';
import { parsedTransactionSchema, settledCommitment } from './transaction-schema.ts';

/** Source: rest-api.md §2.16 and §3. */
export const parsed = endpoint('GET transaction/parsed', {
  summary: 'Parse a transaction',
  description:
    'Includes the events emitted by programs. Reaches back as far as the node, unlike the history.',
  from: 'query',
  failures: ['TRANSACTION_NOT_FOUND', ...chainFailures],
  fields: z.object({
    network: network(),
    txn_signature: signature('Transaction signature.'),
    commitment: settledCommitment(),
    enable_events: flag('Ignored: events are always included.'),
  }),
  result: parsedTransactionSchema,
  async handle(fields, context) {
    const { parsed: result } = await fetchAndParse(fields, context);
    return { message: 'Transaction details fetched successfully', result };
  },
});
