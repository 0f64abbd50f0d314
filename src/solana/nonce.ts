import { createHash } from 'node:crypto';
import { type ByteReader, ByteWriter, readOrNull } from '../base/bytes.ts';
import type { Account } from './account/account.ts';
import { type Address, addressBytes, addressFromBytes } from './address.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from './blockhash.ts';
import type { Message } from './message/message.ts';
import { isSigner, isWritable } from './message/message-keys.ts';
import { programs } from './programs.ts';

export const NONCE_BYTES = 80;

/** Source: solana-nonce, `state::Data`. */
type NonceData = Readonly<{
  authority: Address;
  /** Replaces the recent blockhash of a transaction. */
  durableNonce: Blockhash;
  lamportsPerSignature: bigint;
}>;

/**
 * `data` is null while uninitialized. Legacy nonces no longer make transactions durable. Source:
 * solana-nonce, `versions::Versions`.
 */
export type Nonce = Readonly<{ version: 'legacy' | 'current'; data: NonceData | null }>;

/** @returns null when the data is no nonce account. */
export function decodeNonce(data: Uint8Array): Nonce | null {
  if (data.length !== NONCE_BYTES) return null;
  return readOrNull(data, (reader) => {
    const version = reader.u32();
    const state = reader.u32();
    if (version > 1 || state > 1) return null;
    return { version: version === 0 ? 'legacy' : 'current', data: state === 0 ? null : readData(reader) };
  });
}

function readData(reader: ByteReader): NonceData {
  return {
    authority: addressFromBytes(reader.bytes(32)),
    durableNonce: blockhashFromBytes(reader.bytes(32)),
    lamportsPerSignature: reader.u64(),
  };
}

/** 80 bytes; inverse of `decodeNonce`. */
export function encodeNonce(nonce: Nonce): Uint8Array {
  const writer = new ByteWriter(NONCE_BYTES).u32(nonce.version === 'legacy' ? 0 : 1);
  if (nonce.data === null) return writer.u32(0).zeros(72).finish();
  return writer
    .u32(1)
    .bytes(addressBytes(nonce.data.authority))
    .bytes(blockhashBytes(nonce.data.durableNonce))
    .u64(nonce.data.lamportsPerSignature)
    .finish();
}

/** Source: solana-nonce, `DurableNonce::from_blockhash`. */
export function durableNonceOf(blockhash: Blockhash): Blockhash {
  const hash = createHash('sha256').update('DURABLE_NONCE').update(blockhashBytes(blockhash)).digest();
  return blockhashFromBytes(hash);
}

/**
 * Nonce data if the account holds this durable nonce.
 * @returns null for legacy, uninitialized and advanced nonces and for other accounts.
 */
export function matchingNonce(account: Account | null, durableNonce: Blockhash): NonceData | null {
  const nonce = account?.owner === programs.system ? decodeNonce(account.data) : null;
  return nonce?.version === 'current' && nonce.data?.durableNonce === durableNonce ? nonce.data : null;
}

export type NonceUse = Readonly<{
  account: Address;
  /** Named by the instruction; the account's own authority must be among `signers`. */
  authority: Address | null;
  /** Signing accounts of the instruction. */
  signers: readonly Address[];
}>;

/**
 * Detects a durable nonce transaction: the first instruction is AdvanceNonceAccount on a static writable
 * key. Source: agave runtime, `get_durable_nonce`.
 * @returns null for a recent blockhash.
 */
export function nonceOfTransaction(message: Message): NonceUse | null {
  const first = message.instructions[0];
  if (first === undefined || message.accountKeys[first.programIdIndex] !== programs.system) return null;
  // AdvanceNonceAccount is 4, a u32; trailing data is ignored.
  const [a, b, c, d] = first.data;
  if (a !== 4 || b !== 0 || c !== 0 || d !== 0) return null;
  const index = first.accounts[0];
  if (index === undefined || !isWritable(message, index)) return null;
  const account = message.accountKeys[index];
  if (account === undefined) return null;
  const signers = [...first.accounts]
    .filter((at) => isSigner(message, at))
    .flatMap((at) => message.accountKeys[at] ?? []);
  const authority = message.accountKeys[first.accounts[2] ?? -1] ?? null;
  return { account, authority, signers };
}
