import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { flag, network, signature } from '../fields.ts';
import { fetchAndParse } from './fetch-and-parse.ts';
import { parsedTransactionSchema, settledCommitment } from './transaction-schema.ts';

/** Source: spec, "REST"; rest-api.md §2.16 and §3. */
export const parsed = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/transaction/parsed'],
  group: 'transaction',
  name: 'transaction/parsed',
  summary: 'A transaction by its meaning',
  description:
    'With the events that its programs emitted. Unlike the history it reaches back as far as the node does.',
  from: 'query',
  failures: ['TRANSACTION_NOT_FOUND', ...ofChain],
  fields: z.object({
    network: network(),
    txn_signature: signature('The signature of the transaction.'),
    commitment: settledCommitment(),
    enable_events: flag('Taken and without effect: the events are always there.'),
  }),
  result: parsedTransactionSchema,
  async answer(fields, context) {
    const { parsed: result } = await fetchAndParse(fields, context);
    return { message: 'Transaction details fetched successfully', result };
  },
});
