import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import { Failure } from '../../protocol/errors.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { isTokenProgram, programs } from '../../solana/programs.ts';
import { decodeTokenAccount } from '../../solana/token/token-account.ts';
import type { AccountAt, Chain } from '../chain/chain.ts';

/** What a wallet holds of a token in one token account. */
export type TokenHolding = Readonly<{
  /** The token account. */
  account: Address;
  /** Which token program keeps it. */
  program: Address;
  mint: Address;
  /** Base units, u64. */
  amount: bigint;
  isFrozen: boolean;
}>;

/** How much of a wallet one answer may tell of. */
export const holdingsLimits = {
  /** Token accounts with something in them that an answer tells of. Wallets with more are not wallets of people. */
  accountsMax: 10_000,
};

/** null for what is no token account of the wallet, whatever a node says. */
function holdingOf({ address, account }: AccountAt, wallet: Address): TokenHolding | null {
  const token = isTokenProgram(account.owner) ? decodeTokenAccount(account.data) : null;
  if (token === null || token.owner !== wallet) return null;
  const { mint, amount, state } = token;
  return { account: address, program: account.owner, mint, amount, isFrozen: state === 'frozen' };
}

/** By mint, then by account, in the order of their text, as NFTs are listed. */
function inOrder(a: TokenHolding, b: TokenHolding): number {
  if (a.mint !== b.mint) return a.mint < b.mint ? -1 : 1;
  return a.account < b.account ? -1 : 1;
}

/**
 * All token accounts of a wallet under these token programs, empty ones too, as nodes tell them: one call for each.
 * @throws Failure, NodeRefusal.
 */
export async function allHoldingsOf(
  chain: Chain,
  wallet: Address,
  programIds: readonly Address[] = [programs.token, programs.token2022],
): Promise<TokenHolding[]> {
  const holdings = await chain.each(programIds, async (programId) => {
    const accounts = await chain.tokenAccounts(wallet, { programId });
    const read = await mapTimeSliced(accounts, (account) => holdingOf(account, wallet));
    return read.flatMap((holding) => (holding?.program === programId ? [holding] : []));
  });
  return holdings.flat();
}

/**
 * What a wallet holds under both token programs, by mint and account, in two calls. Empty accounts are left out.
 * @throws Failure (ANSWER_TOO_LARGE for a wallet with more than `accountsMax`), NodeRefusal.
 */
export async function holdingsOf(
  chain: Chain,
  wallet: Address,
  { accountsMax }: typeof holdingsLimits = holdingsLimits,
): Promise<TokenHolding[]> {
  const held = (await allHoldingsOf(chain, wallet)).filter(({ amount }) => amount > 0n);
  if (held.length > accountsMax) throw new Failure('ANSWER_TOO_LARGE');
  return held.sort(inOrder);
}

/** What a wallet holds of one mint, empty accounts too, in one call. @throws Failure, NodeRefusal. */
export async function holdingsOfMint(chain: Chain, wallet: Address, mint: Address): Promise<TokenHolding[]> {
  const accounts = await chain.tokenAccounts(wallet, { mint });
  return accounts
    .flatMap((account) => holdingOf(account, wallet) ?? [])
    .filter((holding) => holding.mint === mint)
    .sort(inOrder);
}

/**
 * Where a wallet keeps a token unless it chose another account.
 * @param program - the token program of the mint.
 * @see spl-associated-token-account, `get_associated_token_address_with_program_id`
 */
export function associatedTokenAccount(wallet: Address, mint: Address, program: Address): Address {
  const seeds = [addressBytes(wallet), addressBytes(program), addressBytes(mint)];
  return findProgramAddress(seeds, programs.ata).address;
}
