import { uiTokenAmount } from '../../encoding/ui-token-amount.ts';
import { nativeMint } from '../../programs.ts';
import { readExtensions } from '../../token/extensions.ts';
import { decodeMint, type Mint } from '../../token/mint.ts';
import { decodeMultisig } from '../../token/multisig.ts';
import { decodeTokenAccount, type TokenAccount } from '../../token/token-account.ts';
import type { Members } from '../wire-order.ts';
import type { AccountLookup, AccountParts } from './parsed-account.ts';
import { parseExtension } from './token-extension.ts';

const NATIVE_DECIMALS = 9;

/** Accounts and mints without extensions do not say so. */
function extensions(data: Uint8Array): Members[] | undefined {
  const parsed = readExtensions(data).map(parseExtension);
  return parsed.length === 0 ? undefined : parsed;
}

function parseTokenAccount(account: TokenAccount, data: Uint8Array, decimals: number): AccountParts {
  const { delegate, delegatedAmount, isNative } = account;
  return {
    type: 'account',
    info: {
      closeAuthority: account.closeAuthority ?? undefined,
      delegate: delegate ?? undefined,
      delegatedAmount: delegate === null ? undefined : uiTokenAmount(delegatedAmount, decimals),
      extensions: extensions(data),
      isNative: isNative !== null,
      mint: account.mint,
      owner: account.owner,
      rentExemptReserve: isNative === null ? undefined : uiTokenAmount(isNative, decimals),
      state: account.state,
      tokenAmount: uiTokenAmount(account.amount, decimals),
    },
  };
}

function parseMint(mint: Mint, data: Uint8Array): AccountParts {
  return {
    type: 'mint',
    info: {
      decimals: mint.decimals,
      extensions: extensions(data),
      freezeAuthority: mint.freezeAuthority,
      isInitialized: true,
      mintAuthority: mint.mintAuthority,
      supply: String(mint.supply),
    },
  };
}

/**
 * An account of either token program. A token account is shown only when its mint is known, since the mint has
 * the decimals. Source: account-decoder/src/parse_token.rs
 */
export function parseToken(data: Uint8Array, lookup: AccountLookup): AccountParts | null {
  const account = decodeTokenAccount(data);
  if (account !== null) {
    const known = account.mint === nativeMint ? NATIVE_DECIMALS : lookup.mint?.(account.mint)?.decimals;
    return known === undefined ? null : parseTokenAccount(account, data, known);
  }
  const mint = decodeMint(data);
  if (mint !== null) return parseMint(mint, data);
  const multisig = decodeMultisig(data);
  return multisig === null ? null : { type: 'multisig', info: { ...multisig, isInitialized: true } };
}
