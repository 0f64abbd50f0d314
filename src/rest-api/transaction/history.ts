import { z } from 'zod';
import { type HistoryPart, historyOf } from '../../decoding/transaction/fetch-transactions.ts';
import { parseTransactions } from '../../decoding/transaction/parse-transaction.ts';
import type { Signature } from '../../solana/signature.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, integer, network, optional, signature } from '../fields.ts';
import type { RestSettings } from '../services.ts';
import { includeFields, parsedTransactionSchema, settledCommitment } from './transaction-schema.ts';

const SECONDS_PER_DAY = 86_400;

export const historyStart = ({ historyDays }: RestSettings): bigint =>
  BigInt(Math.floor(Date.now() / 1000 - historyDays * SECONDS_PER_DAY));

export const historyPage = {
  tx_num: integer(1, 100, 10, 'Maximum number of transactions.'),
  before_tx_signature: optional(signature('Only transactions older than this one.')),
  until_tx_signature: optional(signature('Only transactions newer than this one.')),
  before: optional(signature('Alias of `before_tx_signature`.')),
  until: optional(signature('Alias of `until_tx_signature`.')),
};

type CursorName = 'before_tx_signature' | 'until_tx_signature' | 'before' | 'until';

/** If both names are given, the long name takes precedence. */
export const historyCursors = (
  cursors: Readonly<{ [Name in CursorName]?: Signature | undefined }>,
): Pick<HistoryPart, 'before' | 'until'> => ({
  before: cursors.before_tx_signature ?? cursors.before,
  until: cursors.until_tx_signature ?? cursors.until,
});

/** Source: rest-api.md §2.17 and §3. */
export const history = endpoint('GET transaction/history', {
  paths: ['/sol/v1/transaction/history', '/sol/v1/wallet/parsed_transaction_history'],
  summary: 'List parsed transactions of an account, newest first',
  description:
    'Covers only recent days; the operator configures how many. Pass the last signature of a page as ' +
    '`before_tx_signature` to get the next page.',
  from: 'query',
  failures: ['TRANSACTION_NOT_FOUND', ...chainFailures],
  fields: z.object({
    network: network(),
    account: address('A wallet, token account, program or any other account.'),
    ...historyPage,
    ...includeFields,
    commitment: settledCommitment(),
  }),
  result: z.array(parsedTransactionSchema),
  async handle(fields, { chain, services }) {
    const reader = chain(fields);
    const transactions = await historyOf(reader, fields.account, {
      limit: fields.tx_num,
      ...historyCursors(fields),
      since: historyStart(services.settings),
    });
    const include = { events: fields.enable_events, raw: fields.enable_raw };
    const result = await parseTransactions(reader, transactions, services, include);
    return { message: 'Transaction history fetched successfully', result };
  },
});
