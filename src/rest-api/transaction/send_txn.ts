import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { network } from '../fields.ts';
import { sendTransaction, signedTransaction } from './signed-transaction.ts';

/** Source: spec, "REST"; rest-api.md §2.19. */
export const sendTxn = endpoint({
  verb: 'POST',
  paths: ['/sol/v1/transaction/send_txn'],
  group: 'transaction',
  name: 'transaction/send_txn',
  summary: 'Sends a signed transaction',
  description:
    'Does not wait until it lands: the answer says that a node took it. A node looks first whether the transaction ' +
    'can succeed; what it has against it is 400 `TRANSACTION_REFUSED` with the error of the node. When no node said ' +
    'whether it took the transaction, the error has `outcome: "unknown"` and the `signature`: it may land, so look it ' +
    'up before you sign another.',
  from: 'body',
  failures: ['TRANSACTION_REFUSED', ...ofChain],
  fields: z.object({
    network: network(),
    encoded_transaction: signedTransaction('A signed transaction in base64.'),
  }),
  result: z.object({ signature: z.string().meta({ description: 'The first signature, which names it.' }) }),
  async answer({ network: name, encoded_transaction: transaction }, { chain }) {
    await sendTransaction(chain(name), transaction);
    return { message: 'Transaction sent successfully', result: { signature: transaction.signature } };
  },
});
