import { encodeBase58 } from '../../src/solana/base58.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import { parseSubmitRequest } from '../../src/upstream/submit/submit-request.ts';
import { signatureOfParams } from '../../src/upstream/transaction-signature.ts';
import { seeds as transactions } from './decode-transaction.ts';

export const from = 'clients';
export const covers = [
  'solana/transaction/wire-transaction.ts',
  'protocol/rpc/sendTransaction.ts',
  'upstream/submit/submit-request.ts',
  'upstream/transaction-signature.ts',
];

const configs = ['', ',{"encoding":"base64"}', ',{"encoding":"base64","maxRetries":3,"skipPreflight":true}'];

/** Params of sendTransaction; or a transaction as it is, which is put into some. */
export const seeds: readonly Uint8Array[] = [
  ...transactions.flatMap((wire) =>
    configs.map((config) => {
      const text = config === '' ? encodeBase58(wire) : Buffer.from(wire).toString('base64');
      return Buffer.from(`["${text}"${config}]`);
    }),
  ),
  Buffer.from('["AA==",["base64",false,null,5,7]]'),
  ...transactions,
];

function check(params: Buffer): boolean {
  const signature = signatureOfParams(params);
  const request = parseSubmitRequest(params);
  if (request === null) return false;
  const wire = Buffer.from(request.text, 'base64');
  const decoded = decodeTransaction(wire);
  const isNamed = 'fault' in decoded || decoded.transaction.signatures[0] === request.signature;
  if (!isNamed) throw new Error('sent under the name of another transaction');
  // One of version 1, which begins otherwise, has no name there.
  if (signature !== null && !('fault' in decoded) && signature !== request.signature)
    throw new Error('two names for a transaction');
  for (const sent of [request.firstNodeParams, request.otherNodeParams, request.plain]) {
    const [text] = JSON.parse(sent.toString()) as [string];
    if (sent !== request.firstNodeParams && text !== request.text)
      throw new Error('another transaction would be sent');
  }
  return true;
}

/** Whatever is to be sent: nothing, or the very transaction that was given, under its own name. */
export function fuzz(input: Uint8Array): boolean {
  const text = Buffer.from(input).toString('base64');
  const isRead = check(Buffer.from(`["${text}",{"encoding":"base64"}]`));
  return check(Buffer.from(input)) || isRead;
}
