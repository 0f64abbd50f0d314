import type { Account } from '../../../solana/account/account.ts';
import type { Address } from '../../../solana/address.ts';
import type { Signature } from '../../../solana/signature.ts';
import { lamports, type Slot } from '../../../solana/units.ts';
import { readAddress, readLamports, readSignature, required } from '../fields.ts';
import { NO_BYTES, type ProtobufReader } from '../protobuf.ts';

/** State of an account after a write. Source: geyser.proto, `SubscribeUpdateAccountInfo`. */
export type AccountWrite = Readonly<{
  address: Address;
  /** Has 0 lamports if the account was closed. */
  account: Account;
  /** Increases with each write on a node; not comparable across nodes. */
  writeVersion: bigint;
  /** null if no transaction wrote the account. */
  signature: Signature | null;
}>;

export type AccountUpdate = Readonly<{
  kind: 'account';
  slot: Slot;
  isStartup: boolean;
  write: AccountWrite;
}>;

export function readAccountWrite(reader: ProtobufReader): AccountWrite {
  let address: Address | null = null;
  let owner: Address | null = null;
  let [balance, executable, rentEpoch, data] = [lamports(0), false, 0n, NO_BYTES];
  let writeVersion = 0n;
  let signature: Signature | null = null;
  while (reader.next()) {
    if (reader.field === 1) address = readAddress(reader);
    else if (reader.field === 2) balance = readLamports(reader);
    else if (reader.field === 3) owner = readAddress(reader);
    else if (reader.field === 4) executable = reader.bool();
    else if (reader.field === 5) rentEpoch = reader.uint64();
    else if (reader.field === 6) data = reader.bytes();
    else if (reader.field === 7) writeVersion = reader.uint64();
    else if (reader.field === 8) signature = readSignature(reader);
    else reader.skipField();
  }
  return {
    address: required(address, 'the address of an account'),
    account: {
      lamports: balance,
      data,
      owner: required(owner, 'the owner of an account'),
      executable,
      rentEpoch,
    },
    writeVersion,
    signature,
  };
}
