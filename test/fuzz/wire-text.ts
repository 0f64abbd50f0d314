import { decodeMessageText, decodeTransactionText } from '../../packages/localnet/src/rpc/decode-wire.ts';
import { RpcError } from '../../src/protocol/rpc-error.ts';
import { seeds as transactions } from './decode-transaction.ts';

export const from = 'clients';
export const covers = [
  'localnet/rpc/decode-wire.ts',
  'protocol/rpc/base58-text.ts',
  'protocol/rpc/base64-text.ts',
];

/** Transactions as texts. */
export const seeds: readonly Uint8Array[] = transactions.map((wire) =>
  Buffer.from(Buffer.from(wire).toString('base64')),
);

function accepts(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    if (error instanceof RpcError && error.code === -32602) return false;
    throw error;
  }
}

/** Whatever text a client sends as a transaction or a message: -32602 or a decoded value, nothing else. */
export function fuzz(input: Uint8Array): boolean {
  const text = Buffer.from(input).toString('utf8');
  const taken = [
    accepts(() => decodeTransactionText(text, 'base64')),
    accepts(() => decodeTransactionText(text, 'base58')),
    accepts(() => decodeMessageText(text)),
  ];
  return taken.includes(true);
}
