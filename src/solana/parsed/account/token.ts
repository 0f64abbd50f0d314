import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { readOrNull } from '../../codec.ts';
import { mintTokenAmount } from '../../encoding/ui-token-amount.ts';
import { nativeMint } from '../../programs.ts';
import { findExtension, readExtensions } from '../../token/extensions.ts';
import {
  decodeMint,
  decodeMultisig,
  decodeTokenAccount,
  type Mint,
  type TokenAccount,
} from '../../token/token-state.ts';
import type { MintScale } from '../../token/ui-amount.ts';
import { membersReader, type Types } from '../members.ts';
import type { Members } from '../wire-order.ts';
import type { AccountLookup, AccountParts } from './parsed-account.ts';

const UNPARSEABLE = 'unparseableExtension';

const accountStates = ['uninitialized', 'initialized', 'frozen'];

const readKeyValue = membersReader('key value string');

const extensionTypes: Types = {
  accountState: (data) => accountStates[data.u8()] ?? accountStates[0],
  fee: membersReader('epoch maximumFee u64, transferFeeBasisPoints u16'),
  additionalMetadata: (data) => {
    const pairs: WritableJson[] = [];
    for (let left = data.u32(); left > 0; left--) pairs.push(Object.values(readKeyValue(data)));
    return pairs;
  },
};

type ExtensionKind = Readonly<{ name: string; of: string; read: ((data: ByteReader) => Members) | null }>;

/**
 * Indexed by u16 type. A missing ElGamal key is null in one extension and zeros in the others. Source:
 * spl-token-2022-interface and its metadata and group interfaces.
 */
const extensionKinds: readonly ExtensionKind[] = `
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
    return { of, name, read: fields === undefined ? null : membersReader(fields, extensionTypes) };
  });

function readExtensionState({ name, read }: ExtensionKind, value: Uint8Array): Members | null {
  return readOrNull(value, (data) => {
    const state = read?.(data) ?? null;
    return data.remaining > 0 && name !== 'tokenMetadata' ? null : state;
  });
}

/** Source: account-decoder/src/parse_token_extension.rs. @param type - a type that `readExtensions` returned. */
export function parseExtension(data: Uint8Array, type: number, of: 'mint' | 'account'): Members {
  const kind = extensionKinds[type];
  if (kind !== undefined && kind.read === null) return { extension: kind.name };
  // If a type occurs twice, nodes show the first extension twice.
  const value = kind?.of === of ? findExtension(data, type) : null;
  const state = kind === undefined || value === null ? null : readExtensionState(kind, value);
  return state === null ? { extension: UNPARSEABLE } : { extension: kind?.name, state };
}

const NATIVE: MintScale = { decimals: 9 };

function extensions(data: Uint8Array, kind: 'mint' | 'account'): Members[] | undefined {
  const parsed = readExtensions(data).map(([type]) => parseExtension(data, type, kind));
  return parsed.length === 0 ? undefined : parsed;
}

function parseTokenAccount(
  account: TokenAccount,
  data: Uint8Array,
  mint: MintScale,
  now?: bigint,
): AccountParts {
  const { delegate, isNative } = account;
  const shown = (amount: bigint) => mintTokenAmount(amount, mint, now);
  return {
    type: 'account',
    info: {
      closeAuthority: account.closeAuthority ?? undefined,
      delegate: delegate ?? undefined,
      delegatedAmount: delegate === null ? undefined : shown(account.delegatedAmount),
      extensions: extensions(data, 'account'),
      isNative: isNative !== null,
      mint: account.mint,
      owner: account.owner,
      rentExemptReserve: isNative === null ? undefined : shown(isNative),
      state: account.state,
      tokenAmount: shown(account.amount),
    },
  };
}

function parseMint(mint: Mint, data: Uint8Array): AccountParts {
  return {
    type: 'mint',
    info: {
      decimals: mint.decimals,
      extensions: extensions(data, 'mint'),
      freezeAuthority: mint.freezeAuthority,
      isInitialized: true,
      mintAuthority: mint.mintAuthority,
      supply: String(mint.supply),
    },
  };
}

/** A token account is parsed only if its mint is known, because the mint sets the scale. Source: parse_token.rs. */
export function parseToken(data: Uint8Array, lookup: AccountLookup): AccountParts | null {
  const account = decodeTokenAccount(data);
  if (account !== null) {
    const scale = account.mint === nativeMint ? NATIVE : (lookup.mint?.(account.mint) ?? null);
    return scale === null ? null : parseTokenAccount(account, data, scale, lookup.unixTimestamp);
  }
  const mint = decodeMint(data);
  if (mint !== null) return parseMint(mint, data);
  const multisig = decodeMultisig(data);
  return multisig === null ? null : { type: 'multisig', info: { ...multisig, isInitialized: true } };
}
