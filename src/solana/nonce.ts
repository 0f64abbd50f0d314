import { createHash } from 'node:crypto';
import type { Account } from './account/account.ts';
import type { Address } from './address.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from './blockhash.ts';
import { accountCodec, hash, InvalidEncoding, pubkey, struct, u64 } from './codec.ts';
import type { Message } from './message/message.ts';
import { isSigner, isWritable } from './message/message-keys.ts';
import { programs } from './programs.ts';

export const NONCE_BYTES = 80;

const nonceData = struct({ authority: pubkey, durableNonce: hash, lamportsPerSignature: u64 });
type NonceData = ReturnType<typeof nonceData.read>;

/** `data` is null if uninitialized. Legacy nonces no longer make transactions durable. Source: solana-nonce. */
export type Nonce = Readonly<{ version: 'legacy' | 'current'; data: NonceData | null }>;

const versions = ['legacy', 'current'] as const;

const codec = accountCodec<Nonce>(NONCE_BYTES, {
  read: (reader) => {
    const version = versions[reader.u32()];
    const state = reader.u32();
    if (version === undefined || state > 1) throw new InvalidEncoding('not a nonce account');
    return { version, data: state === 0 ? null : nonceData.read(reader) };
  },
  write: (writer, { version, data }) => {
    writer.u32(versions.indexOf(version)).u32(data === null ? 0 : 1);
    if (data !== null) nonceData.write(writer, data);
  },
});

export const decodeNonce = (data: Uint8Array): Nonce | null =>
  data.length === NONCE_BYTES ? codec.decode(data) : null;

export const encodeNonce = codec.encode;

/** Source: solana-nonce, `DurableNonce::from_blockhash`. */
export function durableNonceOf(blockhash: Blockhash): Blockhash {
  const digest = createHash('sha256').update('DURABLE_NONCE').update(blockhashBytes(blockhash)).digest();
  return blockhashFromBytes(digest);
}

/** @returns null if the nonce is legacy, uninitialized or already advanced, or if the account is not a nonce. */
export function matchingNonce(account: Account | null, durableNonce: Blockhash): NonceData | null {
  const nonce = account?.owner === programs.system ? decodeNonce(account.data) : null;
  return nonce?.version === 'current' && nonce.data?.durableNonce === durableNonce ? nonce.data : null;
}

export type NonceUse = Readonly<{
  account: Address;
  /** Authority that the instruction names; the authority stored in the account must be among `signers`. */
  authority: Address | null;
  signers: readonly Address[];
}>;

/** @returns null if the transaction uses no durable nonce. Source: agave runtime, `get_durable_nonce`. */
export function nonceOfTransaction(message: Message): NonceUse | null {
  const first = message.instructions[0];
  if (first === undefined || message.accountKeys[first.programIdIndex] !== programs.system) return null;
  // AdvanceNonceAccount has the u32 discriminant 4; trailing data is ignored.
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
