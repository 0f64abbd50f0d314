import type { JsonValue } from '../../../../src/base/json.ts';
import { readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import { optionalMember, readPlainStruct, readString, readU64 } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { decodeTokenAccount } from '../../../../src/solana/token/token-state.ts';
import { lamports } from '../../../../src/solana/units.ts';

/** `undefined` where the field stays as it is; `null` removes the address. */
export type TokenAccountUpdate = Readonly<{
  amount?: bigint | undefined;
  delegate?: Address | null | undefined;
  state?: number | undefined;
  delegatedAmount?: bigint | undefined;
  closeAuthority?: Address | null | undefined;
}>;

const FIELDS = ['amount', 'delegate', 'state', 'delegatedAmount', 'closeAuthority'];
const states: readonly string[] = ['uninitialized', 'initialized', 'frozen'];

function readState(value: JsonValue): number {
  const text = readString(value);
  const state = states.indexOf(text);
  if (state === -1) throw invalidParams(`Invalid token account state ${text.slice(0, 64)}`);
  return state;
}

/** The text "null" removes an address, because null means that the field stays as it is. */
function readAddressOrNone(value: JsonValue): { address: Address | null } {
  const text = readString(value);
  return { address: text === 'null' ? null : readAddress(text) };
}

export function readTokenAccountUpdate(value: JsonValue): TokenAccountUpdate {
  const struct = readPlainStruct(value, 'TokenAccountUpdate', FIELDS);
  return {
    amount: optionalMember(struct, 'amount', readU64) ?? undefined,
    delegate: optionalMember(struct, 'delegate', readAddressOrNone)?.address,
    state: optionalMember(struct, 'state', readState) ?? undefined,
    delegatedAmount: optionalMember(struct, 'delegatedAmount', readU64) ?? undefined,
    closeAuthority: optionalMember(struct, 'closeAuthority', readAddressOrNone)?.address,
  };
}

/** Offsets in a token account. An optional address is a u32 tag and 32 bytes. Source: spl-token, `state::Account`. */
const offsets = { amount: 64, delegate: 72, state: 108, delegatedAmount: 121, closeAuthority: 129 } as const;

function setOptional(data: Buffer, offset: number, address: Address | null): void {
  data.writeUInt32LE(address === null ? 0 : 1, offset);
  data.set(address === null ? new Uint8Array(32) : addressBytes(address), offset + 4);
}

/** The balance of wrapped SOL follows from its amount. @throws RpcError -32602 if it is not a token account */
export function withTokenUpdate(account: Account, update: TokenAccountUpdate): Account {
  const token = decodeTokenAccount(account.data);
  if (token === null) throw invalidParams('Failed to unpack token account data');
  const { amount, delegate, state, delegatedAmount, closeAuthority } = update;
  const data = Buffer.from(account.data);
  if (amount !== undefined) data.writeBigUInt64LE(amount, offsets.amount);
  if (delegate !== undefined) setOptional(data, offsets.delegate, delegate);
  if (state !== undefined) data.writeUInt8(state, offsets.state);
  if (delegatedAmount !== undefined) data.writeBigUInt64LE(delegatedAmount, offsets.delegatedAmount);
  if (closeAuthority !== undefined) setOptional(data, offsets.closeAuthority, closeAuthority);
  const wrapped = token.isNative === null ? null : token.isNative + (amount ?? token.amount);
  const balance = wrapped === null ? account.lamports : lamports(wrapped);
  return { ...account, lamports: balance, data: new Uint8Array(data) };
}
