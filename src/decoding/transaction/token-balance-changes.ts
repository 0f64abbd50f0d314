import type { WritableJson } from '../../base/json.ts';
import { rawAmount } from '../amounts.ts';
import type { ExecutedTransaction, TransactionTokenAccount } from './executed-transaction.ts';

/** How a token account's balance changed. Amounts in base units. Source: rest-api.md §3, `token_balance_changes`. */
export type TokenBalanceChange = Readonly<{
  /** The token account. */
  address: string;
  decimals: number | null;
  change_amount: WritableJson;
  post_balance: WritableJson;
  pre_balance: WritableJson;
  mint: string;
  owner: string | null;
}>;

const changeOf = ({
  address,
  decimals,
  before,
  after,
  mint,
  owner,
}: TransactionTokenAccount): TokenBalanceChange => ({
  ...{ address, decimals, change_amount: rawAmount(after - before) },
  ...{ post_balance: rawAmount(after), pre_balance: rawAmount(before), mint, owner },
});

/** Every token account that holds another amount than before, in the order of the token balances. */
export function tokenBalanceChanges({ tokenAccounts }: ExecutedTransaction): TokenBalanceChange[] {
  return [...tokenAccounts.values()].filter(({ before, after }) => before !== after).map(changeOf);
}
