import type { Address } from '../address.ts';
import type { Blockhash } from '../blockhash.ts';

/** Source: solana-message, `MessageHeader`. Each count fits a u8. */
export type MessageHeader = Readonly<{
  numRequiredSignatures: number;
  numReadonlySignedAccounts: number;
  numReadonlyUnsignedAccounts: number;
}>;

/** One instruction; indexes point into the static keys followed by the loaded ones. */
export type CompiledInstruction = Readonly<{
  programIdIndex: number;
  accounts: Uint8Array;
  data: Uint8Array;
}>;

/** A lookup of addresses from an on-chain table (v0 messages only). */
export type AddressTableLookup = Readonly<{
  accountKey: Address;
  writableIndexes: Uint8Array;
  readonlyIndexes: Uint8Array;
}>;

export type MessageVersion = 'legacy' | 0;

/** A decoded message. Source: solana-message, `legacy::Message` and `v0::Message`. */
export type Message = Readonly<{
  version: MessageVersion;
  header: MessageHeader;
  /** Static keys, signers first. */
  accountKeys: readonly Address[];
  recentBlockhash: Blockhash;
  instructions: readonly CompiledInstruction[];
  /** Empty for legacy messages. */
  addressTableLookups: readonly AddressTableLookup[];
}>;

/** Keys that a v0 message loaded from lookup tables, in the order in which instructions index them. */
export type LoadedAddresses = Readonly<{
  writable: readonly Address[];
  readonly: readonly Address[];
}>;
