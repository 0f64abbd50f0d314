import { mintTokenAmount } from '../../encoding/ui-token-amount.ts';
import { nativeMint } from '../../programs.ts';
import { type MintScale, readExtensions } from '../../token/extensions.ts';
import {
  decodeMint,
  decodeMultisig,
  decodeTokenAccount,
  type Mint,
  type TokenAccount,
} from '../../token/token-state.ts';
import type { Members } from '../wire-order.ts';
import type { AccountLookup, AccountParts } from './parsed-account.ts';
import { parseExtension } from './token-extension.ts';

const NATIVE: MintScale = { decimals: 9 };

/** Omitted without extensions. */
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

/**
 * A token account is parsed only when its mint is known, which sets the scale. Source:
 * account-decoder/src/parse_token.rs
 */
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
