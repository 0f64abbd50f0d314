import type { Address } from '../address.ts';
import type { Blockhash } from '../blockhash.ts';
import type { Message } from '../message/message.ts';

export type AccountMeta = Readonly<{ address: Address; signer: boolean; writable: boolean }>;

export type Instruction = Readonly<{
  programId: Address;
  accounts: readonly AccountMeta[];
  data: Uint8Array;
}>;

type Roles = { signer: boolean; writable: boolean };

/**
 * Compiles a legacy message. Key order: the fee payer, writable signers, readonly signers, other writable keys, other
 * readonly keys, each group in order of first mention. @throws RangeError for more than 256 keys or 127 signers.
 */
export function compileMessage({
  feePayer,
  instructions,
  recentBlockhash,
}: {
  feePayer: Address;
  instructions: readonly Instruction[];
  recentBlockhash: Blockhash;
}): Message {
  const roles = new Map<Address, Roles>([[feePayer, { signer: true, writable: true }]]);
  const mention = (key: Address, wanted: Roles): void => {
    const role = roles.get(key);
    if (role === undefined) {
      roles.set(key, { signer: wanted.signer, writable: wanted.writable });
      return;
    }
    role.signer ||= wanted.signer;
    role.writable ||= wanted.writable;
  };
  for (const { programId, accounts } of instructions) {
    for (const account of accounts) mention(account.address, account);
    mention(programId, { signer: false, writable: false });
  }
  const groupOf = (signer: boolean, writable: boolean): Address[] =>
    [...roles].filter(([, role]) => role.signer === signer && role.writable === writable).map(([key]) => key);
  const [readonlySigned, readonlyUnsigned] = [groupOf(true, false), groupOf(false, false)];
  const signed = [...groupOf(true, true), ...readonlySigned];
  const accountKeys = [...signed, ...groupOf(false, true), ...readonlyUnsigned];
  if (accountKeys.length > 256 || signed.length > 127) {
    throw new RangeError(
      `too many keys in a message: ${accountKeys.length}, ${signed.length} of them signers`,
    );
  }
  const indexes = new Map(accountKeys.map((key, index) => [key, index]));
  const indexOf = (key: Address): number => indexes.get(key) ?? 0;
  return {
    version: 'legacy',
    header: {
      numRequiredSignatures: signed.length,
      numReadonlySignedAccounts: readonlySigned.length,
      numReadonlyUnsignedAccounts: readonlyUnsigned.length,
    },
    accountKeys,
    recentBlockhash,
    instructions: instructions.map(({ programId, accounts, data }) => ({
      programIdIndex: indexOf(programId),
      accounts: Uint8Array.from(accounts, (account) => indexOf(account.address)),
      data,
    })),
    addressTableLookups: [],
  };
}
