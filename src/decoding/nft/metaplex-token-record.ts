import type { ByteReader } from '../../base/bytes.ts';
import type { Address } from '../../solana/address.ts';
import { readAddress, readBorsh, readOption, readVariant } from '../borsh.ts';
import type { TokenRecord } from './nft.ts';

/** `Key::TokenRecord` */
const TOKEN_RECORD = 11;

const states = ['Unlocked', 'Locked', 'Listed'] as const;

/** `TokenDelegateRole` by its number: the last is 255. */
const roles = ['Sale', 'Transfer', 'Utility', 'Staking', 'Standard', 'LockedTransfer'] as const;
const MIGRATION = 255;
const allRoles: readonly string[] = Object.assign(Array.from<string>({ length: MIGRATION }), roles, {
  [MIGRATION]: 'Migration',
});

/** Accounts that are older than the field end before it. */
const readLockedTransfer = (reader: ByteReader): Address | null =>
  reader.remaining === 0 ? null : readOption(reader, readAddress);

/**
 * Decodes the data of an account of the metadata program.
 * Source: mpl-token-metadata, `state/programmable.rs`.
 * @param at - where the account is.
 * @returns null when it is no token record.
 */
export function decodeTokenRecord(at: Address, data: Uint8Array): TokenRecord | null {
  if (data[0] !== TOKEN_RECORD) return null;
  return readBorsh(data.subarray(1), (reader) => {
    reader.skipBytes(1); // The bump of its address.
    return {
      address: at,
      key: 'TokenRecord',
      state: readVariant(reader, states),
      rule_set_revision: readOption(reader, (revision) => revision.u64()),
      delegate: readOption(reader, readAddress),
      token_delegate_role: readOption(reader, (role) => readVariant(role, allRoles)),
      locked_transfer: readLockedTransfer(reader),
    };
  });
}
