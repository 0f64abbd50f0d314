import { z } from 'zod';
import { historyOf } from '../../decoding/transaction/fetch-transactions.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, network } from '../fields.ts';
import { historyCursors, historyPage, historyStart } from '../transaction/history.ts';
import { rawTransactionSchema, settledCommitment } from '../transaction/transaction-schema.ts';

/** Source: rest-api.md §2.23, and `transactionHistory` in the official client. */
export const transactionHistory = endpoint('GET wallet/transaction_history', {
  summary: 'List jsonParsed transactions of a wallet, newest first',
  description: 'For older clients; `transaction/history` has the parsed form.',
  from: 'query',
  failures: ['TRANSACTION_NOT_FOUND', ...chainFailures],
  fields: z.object({
    network: network(),
    wallet: address('The wallet.'),
    ...historyPage,
    commitment: settledCommitment(),
  }),
  result: z.array(rawTransactionSchema),
  async handle(fields, { chain, services }) {
    const transactions = await historyOf(chain(fields), fields.wallet, {
      limit: fields.tx_num,
      ...historyCursors(fields),
      since: historyStart(services.settings),
    });
    return {
      message: 'Transaction history fetched successfully',
      result: transactions.map(({ raw }) => raw),
    };
  },
});
