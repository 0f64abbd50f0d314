import { z } from 'zod';
import { parseTold } from '../../insight/transaction/parse-told.ts';
import { toldTransaction } from '../../insight/transaction/told-transactions.ts';
import { Failure } from '../../protocol/errors.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { network, signature } from '../fields.ts';
import { tokenNamesOf } from './token-names-of.ts';
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
  async answer({ network: name, txn_signature, commitment }, { chain, services }) {
    const reader = chain(name, commitment);
    const told = await toldTransaction(reader, txn_signature);
    const shown = { events: true, raw: false };
    const [parsed] = await parseTold(reader, told === null ? [] : [told], tokenNamesOf(services), shown);
    if (told === null || parsed === undefined) {
      throw new Failure('TRANSACTION_NOT_FOUND', { facts: { signature: txn_signature, network: name } });
    }
    return {
      message: 'Transaction details fetched successfully',
      result: { ...told.raw, parsed },
    };
  },
});
