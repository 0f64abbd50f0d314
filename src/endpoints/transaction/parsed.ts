import { z } from 'zod';
import { parseTold } from '../../insight/transaction/parse-told.ts';
import { toldTransaction } from '../../insight/transaction/told-transactions.ts';
import { Failure } from '../../protocol/errors.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { flag, network, signature } from '../fields.ts';
import { tokenNamesOf } from './token-names-of.ts';
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
  async answer({ network: name, txn_signature, commitment }, { chain, services }) {
    const reader = chain(name, commitment);
    const told = await toldTransaction(reader, txn_signature);
    const shown = { events: true, raw: false };
    const [result] = await parseTold(reader, told === null ? [] : [told], tokenNamesOf(services), shown);
    if (result !== undefined) return { message: 'Transaction details fetched successfully', result };
    throw new Failure('TRANSACTION_NOT_FOUND', { facts: { signature: txn_signature, network: name } });
  },
});
