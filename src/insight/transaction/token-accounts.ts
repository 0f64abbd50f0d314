import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../ledger/address.ts';
import type { JsonMembers } from '../../ledger/encoding/read-json.ts';
import { isTokenProgram, nativeMint, nativeMint2022, programs } from '../../ledger/programs.ts';
import { addressOf, amountOf, decimalsOf, itemsOf, membersOf, naturalOf } from '../lenient-json.ts';
import type { RunInstruction } from './instruction.ts';
import type { KnownTokenAccount } from './run-transaction.ts';

const LAMPORT_DECIMALS = 9;

/** A token balance of the meta, before or after. */
type Balance = Readonly<{
  address: Address;
  mint: Address;
  owner: Address | null;
  decimals: number | null;
  program: Address | null;
  amount: bigint;
}>;

function balancesOf(list: JsonValue | undefined, keys: readonly Address[]): Map<Address, Balance> {
  const balances = new Map<Address, Balance>();
  for (const item of itemsOf(list)) {
    const { accountIndex, mint, owner, programId, uiTokenAmount } = membersOf(item);
    const address = keys[naturalOf(accountIndex, keys.length) ?? keys.length];
    const known = addressOf(mint);
    const { amount, decimals } = membersOf(uiTokenAmount);
    const units = amountOf(amount);
    if (address === undefined || known === null || units === null) continue;
    const program = addressOf(programId);
    balances.set(address, {
      ...{ address, mint: known, owner: addressOf(owner), program },
      ...{ decimals: decimalsOf(decimals), amount: units },
    });
  }
  return balances;
}

/** What an instruction says of token accounts: those that it makes, and those that it moves with their mint. */
function toldAccounts({ program, parsed }: RunInstruction): Partial<KnownTokenAccount>[] {
  if (parsed === null) return [];
  const { type, info } = parsed;
  const address = (name: string) => addressOf(info[name]);
  const told = (of: string, owner: string | null, keeper: Address | null = program) => [
    { address: address(of), mint: address('mint'), owner: owner && address(owner), program: keeper },
  ];
  if (program === programs.ata && (type === 'create' || type === 'createIdempotent')) {
    return told('account', 'wallet', address('tokenProgram')) as Partial<KnownTokenAccount>[];
  }
  if (!isTokenProgram(program)) return [];
  if (/^initializeAccount[23]?$/.test(type)) return told('account', 'owner') as Partial<KnownTokenAccount>[];
  if (!/^(transferChecked(WithFee)?|mintTo(Checked)?|burn(Checked)?)$/.test(type)) return [];
  return ['source', 'destination', 'account'].flatMap((of) => told(of, null)) as Partial<KnownTokenAccount>[];
}

function toldDecimals({ program, parsed }: RunInstruction): [Address, number] | null {
  if (parsed === null || !isTokenProgram(program)) return null;
  const { decimals, tokenAmount, mint } = parsed.info;
  const said = decimalsOf(decimals) ?? decimalsOf(membersOf(tokenAmount).decimals);
  const address = addressOf(mint);
  return said === null || address === null ? null : [address, said];
}

/** What a transaction says of tokens: its accounts, those with balances first, and the decimals of its mints. */
export type KnownTokens = Readonly<{
  tokenAccounts: ReadonlyMap<Address, KnownTokenAccount>;
  decimals: ReadonlyMap<Address, number>;
}>;

function knowDecimals(
  balances: Iterable<Balance>,
  instructions: readonly RunInstruction[],
): Map<Address, number> {
  const known = new Map([nativeMint, nativeMint2022].map((mint) => [mint, LAMPORT_DECIMALS]));
  const learn = (mint: Address, decimals: number) => known.has(mint) || known.set(mint, decimals);
  for (const { mint, decimals } of balances) if (decimals !== null) learn(mint, decimals);
  for (const instruction of instructions) {
    const told = toldDecimals(instruction);
    if (told !== null) learn(...told);
  }
  return known;
}

/**
 * Finds every token account that a transaction names: in its balances, and, for those that it makes and closes
 * again, in the instructions that made them.
 * @param keys - static, loaded writable, loaded readonly.
 */
export function knowTokens(
  meta: JsonMembers,
  keys: readonly Address[],
  instructions: readonly RunInstruction[],
): KnownTokens {
  const before = balancesOf(meta.preTokenBalances, keys);
  const after = balancesOf(meta.postTokenBalances, keys);
  const decimals = knowDecimals([...before.values(), ...after.values()], instructions);
  const tokenAccounts = new Map<Address, KnownTokenAccount>();
  for (const balance of [...after.values(), ...before.values()]) {
    const { address, mint, owner, program } = balance;
    if (tokenAccounts.has(address)) continue;
    const [had, has] = [before.get(address), after.get(address)];
    tokenAccounts.set(address, {
      ...{ address, mint, owner, program, decimals: decimals.get(mint) ?? null },
      // Closed and opened again for another mint, it had nothing of this one.
      ...{ before: had?.mint === mint ? had.amount : 0n, after: has?.amount ?? 0n },
    });
  }
  addTold(tokenAccounts, instructions, decimals);
  return { tokenAccounts, decimals };
}

/** What balances do not say; what they say they say best. */
function addTold(
  known: Map<Address, KnownTokenAccount>,
  instructions: readonly RunInstruction[],
  decimals: ReadonlyMap<Address, number>,
): void {
  for (const instruction of instructions) {
    for (const { address, mint, owner, program } of toldAccounts(instruction)) {
      if (!address || !mint) continue;
      const had = known.get(address);
      const kept = had?.mint ?? mint;
      known.set(address, {
        address,
        mint: kept,
        owner: had?.owner ?? owner ?? null,
        program: had?.program ?? program ?? null,
        decimals: had?.decimals ?? decimals.get(kept) ?? null,
        before: had?.before ?? 0n,
        after: had?.after ?? 0n,
      });
    }
  }
}
