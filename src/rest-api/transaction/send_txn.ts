import { z } from 'zod';
import { chainFailures, endpoint } from '../endpoint.ts';
import { network } from '../fields.ts';
import { sendTransaction, signedTransaction } from './signed-transaction.ts';

/** Source: rest-api.md §2.19. */
export const sendTxn = endpoint('POST transaction/send_txn', {
  summary: 'Send a signed transaction',
  description:
    'Returns when a node has accepted the transaction, before it lands. The node simulates it ' +
    'first; a rejection is 400 `TRANSACTION_REFUSED` with the error of the node. If no node reported ' +
    'the outcome, the error has `outcome: "unknown"` and the `signature`: the transaction may land, so check it ' +
    'before you sign another.',
  from: 'body',
  failures: ['TRANSACTION_REFUSED', ...chainFailures],
  fields: z.object({
    network: network(),
    encoded_transaction: signedTransaction('A signed transaction in base64.'),
  }),
  result: z.object({
    signature: z.string().meta({ description: 'First signature, which identifies the transaction.' }),
  }),
  async handle({ encoded_transaction: transaction, ...read }, { chain }) {
    await sendTransaction(chain(read), transaction);
    return { message: 'Transaction sent successfully', result: { signature: transaction.signature } };
  },
});
