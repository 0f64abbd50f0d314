import { ByteReader } from '../../base/bytes.ts';
import { type Address, addressFromBytes } from '../address.ts';
import { isTokenState, readOption, TOKEN_ACCOUNT_BYTES } from './token-state.ts';

/** A token account of either token program. Source: spl-token, `state::Account`. */
export type TokenAccount = Readonly<{
  mint: Address;
  /** The wallet, or program address, that may spend the tokens. */
  owner: Address;
  /** Base units, u64. */
  amount: bigint;
  delegate: Address | null;
  state: 'initialized' | 'frozen';
  /** For wrapped SOL the rent-exempt reserve in lamports; null for every other token. */
  isNative: bigint | null;
  /** Base units that the delegate may spend, u64. */
  delegatedAmount: bigint;
  closeAuthority: Address | null;
}>;

/** Where the keys of a token account lie in its data; before the delegate's stand four bytes, 1 when there is one. */
export const tokenKeyOffsets = { mint: 0, owner: 32, delegate: 76 } as const;
const DELEGATE_TAG_OFFSET = 72;

/** Whether a token account has a delegate. */
export const hasDelegate = (data: Uint8Array): boolean => data[DELEGATE_TAG_OFFSET] === 1;

/** Whether the data of an account that a token program owns is that of an initialized token account. */
export function isTokenAccount(data: Uint8Array): boolean {
  return isTokenState(data, 'account') && (data[108] === 1 || data[108] === 2);
}

/**
 * Decodes the data of an account that a token program owns.
 * @returns null when it is no initialized token account.
 */
export function decodeTokenAccount(data: Uint8Array): TokenAccount | null {
  if (!isTokenAccount(data)) return null;
  const reader = new ByteReader(data.subarray(0, TOKEN_ACCOUNT_BYTES));
  const mint = addressFromBytes(reader.bytes(32));
  const owner = addressFromBytes(reader.bytes(32));
  const amount = reader.u64();
  const delegate = readOption(reader, () => addressFromBytes(reader.bytes(32)));
  const state = reader.u8() === 2 ? 'frozen' : 'initialized';
  const isNative = readOption(reader, () => reader.u64());
  const delegatedAmount = reader.u64();
  const closeAuthority = readOption(reader, () => addressFromBytes(reader.bytes(32)));
  if (delegate === undefined || isNative === undefined || closeAuthority === undefined) return null;
  return { mint, owner, amount, delegate, state, isNative, delegatedAmount, closeAuthority };
}
