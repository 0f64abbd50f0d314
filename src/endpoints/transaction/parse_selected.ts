import { z } from 'zod';
import { parseTold } from '../../insight/transaction/parse-told.ts';
import { selectedTransactions } from '../../insight/transaction/told-transactions.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { list, network, signature } from '../fields.ts';
import { tokenNamesOf } from './token-names-of.ts';
import { parsedTransactionSchema, settledCommitment, shownBesides } from './transaction-schema.ts';

const SIGNATURES_MAX = 100;

/** Source: spec, "REST"; rest-api.md §2.18 and §3. */
export const parseSelected = endpoint({
  verb: 'POST',
  paths: ['/sol/v1/transaction/parse_selected'],
  group: 'transaction',
  name: 'transaction/parse_selected',
  summary: 'Transactions by their meaning, in the order asked for',
  description: 'Transactions that the node does not know are left out.',
  from: 'body',
  failures: ofChain,
  fields: z.object({
    network: network(),
    transaction_signatures: list(
      signature('The signature of a transaction.'),
      SIGNATURES_MAX,
      'Signatures of transactions.',
    ),
    ...shownBesides,
    commitment: settledCommitment(),
  }),
  result: z.array(parsedTransactionSchema),
  async answer(fields, { chain, services }) {
    const reader = chain(fields.network, fields.commitment);
    const told = await selectedTransactions(reader, fields.transaction_signatures);
    const shown = { events: fields.enable_events, raw: fields.enable_raw };
    const result = await parseTold(reader, told, tokenNamesOf(services), shown);
    return { message: 'Selected transactions fetched successfully', result };
  },
});
