import { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { decodedOrNull } from '../../codec.ts';
import { findExtension } from '../../token/extensions.ts';
import { membersReader, type Types } from '../members.ts';
import type { Members } from '../wire-order.ts';

const UNPARSEABLE = 'unparseableExtension';

const accountStates = ['uninitialized', 'initialized', 'frozen'];

const pair = membersReader('key value string');

const own: Types = {
  accountState: (data) => accountStates[data.u8()] ?? accountStates[0],
  fee: membersReader('epoch maximumFee u64, transferFeeBasisPoints u16'),
  additionalMetadata: (data) => {
    const pairs: WritableJson[] = [];
    for (let left = data.u32(); left > 0; left--) pairs.push(Object.values(pair(data)));
    return pairs;
  },
};

type Kind = Readonly<{ name: string; of: string; read: ((data: ByteReader) => Members) | null }>;

/**
 * By u16 type: whether the extension is of mints or accounts, its name and members. A missing ElGamal key is null in
 * one extension and zeros in the others. Layouts from spl-token-2022-interface, its metadata and group interfaces.
 */
const kinds: readonly Kind[] = `
  both uninitialized
  mint transferFeeConfig: transferFeeConfigAuthority withdrawWithheldAuthority zeroable~, withheldAmount u64,
      olderTransferFee newerTransferFee fee
  account transferFeeAmount: withheldAmount u64
  mint mintCloseAuthority: closeAuthority zeroable~
  mint confidentialTransferMint: authority zeroable~, autoApproveNewAccounts flag,
      auditorElgamalPubkey elGamal~
  account confidentialTransferAccount: approved flag, elgamalPubkey elGamal,
      pendingBalanceLo pendingBalanceHi availableBalance ciphertext, decryptableAvailableBalance balance,
      allowConfidentialCredits allowNonConfidentialCredits flag,
      pendingBalanceCreditCounter maximumPendingBalanceCreditCounter u64,
      expectedPendingBalanceCreditCounter actualPendingBalanceCreditCounter u64
  mint defaultAccountState: accountState accountState
  both immutableOwner
  account memoTransfer: requireIncomingTransferMemos flag
  both nonTransferable
  mint interestBearingConfig: rateAuthority zeroable~, initializationTimestamp i64, preUpdateAverageRate i16,
      lastUpdateTimestamp i64, currentRate i16
  account cpiGuard: lockCpi flag
  mint permanentDelegate: delegate zeroable~
  both nonTransferableAccount
  mint transferHook: authority programId zeroable~
  account transferHookAccount: transferring flag
  mint confidentialTransferFeeConfig: authority zeroable~, withdrawWithheldAuthorityElgamalPubkey elGamal,
      harvestToMintEnabled flag, withheldAmount ciphertext
  account confidentialTransferFeeAmount: withheldAmount ciphertext
  mint metadataPointer: authority metadataAddress zeroable~
  mint tokenMetadata: updateAuthority zeroable~, mint pubkey, name symbol uri string,
      additionalMetadata additionalMetadata
  mint groupPointer: authority groupAddress zeroable~
  mint tokenGroup: updateAuthority zeroable~, mint pubkey, size maxSize u64
  mint groupMemberPointer: authority memberAddress zeroable~
  mint tokenGroupMember: mint group pubkey, memberNumber u64
  mint confidentialMintBurn: confidentialSupply ciphertext, decryptableSupply balance,
      supplyElgamalPubkey elGamal, pendingBurn ciphertext
  mint scaledUiAmountConfig: authority zeroable~, multiplier f64, newMultiplierEffectiveTimestamp i64,
      newMultiplier f64
  mint pausableConfig: authority zeroable~, paused flag
  both pausableAccount
  mint permissionedBurnConfig: authority zeroable~
`
  .trim()
  .split(/\n {2}(?! )/)
  .map((row) => {
    const [head = '', fields] = row.split(':');
    const [of = '', name = ''] = head.split(' ');
    return { of, name, read: fields === undefined ? null : membersReader(fields, own) };
  });

function readState({ name, read }: Kind, value: Uint8Array): Members | null {
  return decodedOrNull(() => {
    const data = new ByteReader(value);
    const state = read?.(data) ?? null;
    return data.remaining > 0 && name !== 'tokenMetadata' ? null : state;
  });
}

/**
 * Parses an extension of a Token-2022 mint or account.
 *
 * @param data - of the mint or account
 * @param type - found by `readExtensions`
 * @see account-decoder/src/parse_token_extension.rs
 */
export function parseExtension(data: Uint8Array, type: number, of: 'mint' | 'account'): Members {
  const kind = kinds[type];
  if (kind !== undefined && kind.read === null) return { extension: kind.name };
  // If a type occurs twice, nodes show the first one twice.
  const value = kind?.of === of ? findExtension(data, type) : null;
  const state = kind === undefined || value === null ? null : readState(kind, value);
  return state === null ? { extension: UNPARSEABLE } : { extension: kind?.name, state };
}
