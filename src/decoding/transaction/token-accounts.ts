import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { JsonMembers } from '../../solana/encoding/read-json.ts';
import { isTokenProgram, nativeMint, nativeMint2022, programs } from '../../solana/programs.ts';
import { rawAmount } from '../amounts.ts';
import { addressOf, countOf, decimalsOf, itemsOf, membersOf, u64Of } from '../lenient-json.ts';
import type {
  ExecutedInstruction,
  ExecutedTransaction,
  TransactionTokenAccount,
} from './executed-transaction.ts';
import { oncePerTransaction } from './once-per-transaction.ts';

const LAMPORT_DECIMALS = 9;

type Balance = Omit<TransactionTokenAccount, 'before' | 'after'> & Readonly<{ amount: bigint }>;

function balancesOf(list: JsonValue | undefined, keys: readonly Address[]): Map<Address, Balance> {
  const balances = new Map<Address, Balance>();
  for (const item of itemsOf(list)) {
    const { accountIndex, mint, owner, uiTokenAmount } = membersOf(item);
    const address = keys[countOf(accountIndex, keys.length) ?? keys.length];
    const mintAddress = addressOf(mint);
    const { amount, decimals } = membersOf(uiTokenAmount);
    const units = u64Of(amount);
    if (address === undefined || mintAddress === null || units === null) continue;
    balances.set(address, {
      ...{ address, mint: mintAddress, owner: addressOf(owner) },
      ...{ decimals: decimalsOf(decimals), amount: units },
    });
  }
  return balances;
}

/** Token accounts that an instruction creates, or uses in a transfer, mint or burn that names the mint. */
function accountsFrom({ program, parsed }: ExecutedInstruction) {
  if (parsed === null) return [];
  const { type, info } = parsed;
  const address = (name: string) => addressOf(info[name]);
  const describe = (of: string, owner: Address | null) => ({
    address: address(of),
    mint: address('mint'),
    owner,
  });
  if (program === programs.ata && (type === 'create' || type === 'createIdempotent')) {
    return [describe('account', address('wallet'))];
  }
  if (!isTokenProgram(program)) return [];
  if (/^initializeAccount[23]?$/.test(type)) return [describe('account', address('owner'))];
  if (!/^(transferChecked(WithFee)?|mintTo(Checked)?|burn(Checked)?)$/.test(type)) return [];
  return ['source', 'destination', 'account'].map((of) => describe(of, null));
}

function decimalsFrom({ program, parsed }: ExecutedInstruction): [Address, number] | null {
  if (parsed === null || !isTokenProgram(program)) return null;
  const { decimals, tokenAmount, mint } = parsed.info;
  const value = decimalsOf(decimals) ?? decimalsOf(membersOf(tokenAmount).decimals);
  const address = addressOf(mint);
  return value === null || address === null ? null : [address, value];
}

function collectDecimals(
  balances: Iterable<Balance>,
  instructions: readonly ExecutedInstruction[],
): Map<Address, number> {
  const byMint = new Map([nativeMint, nativeMint2022].map((mint) => [mint, LAMPORT_DECIMALS]));
  const learn = (mint: Address, decimals: number) => byMint.has(mint) || byMint.set(mint, decimals);
  for (const { mint, decimals } of balances) if (decimals !== null) learn(mint, decimals);
  for (const instruction of instructions) {
    const entry = decimalsFrom(instruction);
    if (entry !== null) learn(...entry);
  }
  return byMint;
}

/** Also reads instructions, because accounts created and closed within the transaction are not in the balances. */
export function collectTokens(
  meta: JsonMembers,
  keys: readonly Address[],
  instructions: readonly ExecutedInstruction[],
): Pick<ExecutedTransaction, 'tokenAccounts' | 'decimals'> {
  const before = balancesOf(meta.preTokenBalances, keys);
  const after = balancesOf(meta.postTokenBalances, keys);
  const decimals = collectDecimals([...before.values(), ...after.values()], instructions);
  const tokenAccounts = new Map<Address, TransactionTokenAccount>();
  for (const balance of [...after.values(), ...before.values()]) {
    const { address, mint, owner } = balance;
    if (tokenAccounts.has(address)) continue;
    const [pre, post] = [before.get(address), after.get(address)];
    tokenAccounts.set(address, {
      ...{ address, mint, owner, decimals: decimals.get(mint) ?? null },
      // An account reopened for another mint had no balance of that mint before.
      ...{ before: pre?.mint === mint ? pre.amount : 0n, after: post?.amount ?? 0n },
    });
  }
  for (const instruction of instructions) {
    for (const { address, mint, owner } of accountsFrom(instruction)) {
      if (address === null || mint === null) continue;
      const unseen = { address, mint, owner, decimals: decimals.get(mint) ?? null, before: 0n, after: 0n };
      const account = tokenAccounts.get(address) ?? unseen;
      tokenAccounts.set(address, { ...account, owner: account.owner ?? owner });
    }
  }
  return { tokenAccounts, decimals };
}

const multiUnitMints = oncePerTransaction(({ tokenAccounts }): ReadonlySet<Address> => {
  const multiUnitAccounts = [...tokenAccounts.values()].filter(
    ({ before, after }) => before > 1n || after > 1n,
  );
  return new Set(multiUnitAccounts.map(({ mint }) => mint));
});

/** True for one unit of an indivisible mint if no account holds more. Source: rest-api.md §3.2, point 3. */
export const isNftAmount = (transaction: ExecutedTransaction, mint: Address, amount: bigint): boolean =>
  amount === 1n && transaction.decimals.get(mint) === 0 && !multiUnitMints(transaction).has(mint);

export const tokenBalanceChanges = ({ tokenAccounts }: ExecutedTransaction) =>
  [...tokenAccounts.values()]
    .filter(({ before, after }) => before !== after)
    .map(({ address, decimals, before, after, mint, owner }) => ({
      ...{ address, decimals, change_amount: rawAmount(after - before) },
      ...{ post_balance: rawAmount(after), pre_balance: rawAmount(before), mint, owner },
    }));
