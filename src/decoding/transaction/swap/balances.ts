import type { Address } from '../../../solana/address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import { addressOf, amountOf } from '../../lenient-json.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import { holderOf, type Movement } from './movements.ts';

const add = (sums: Map<Address, bigint>, owner: Address, amount: bigint): unknown =>
  sums.set(owner, (sums.get(owner) ?? 0n) + amount);

/**
 * Lamports gained by each owner, over wallet and token accounts. Excludes the fee and rent paid for other
 * accounts.
 */
function ownLamports(transaction: ExecutedTransaction): Map<Address, bigint> {
  const { accountKeys, preBalances, postBalances, feePayer, fee, instructions } = transaction;
  const gained = new Map([[feePayer, fee]]);
  for (const [at, key] of accountKeys.entries()) {
    add(gained, holderOf(key, transaction), (postBalances[at] ?? 0n) - (preBalances[at] ?? 0n));
  }
  for (const { program, parsed } of instructions) {
    if (program !== programs.system || parsed === null || !parsed.type.startsWith('createAccount')) continue;
    const [source, made] = [addressOf(parsed.info.source), addressOf(parsed.info.newAccount)];
    if (source === null || made === null || holderOf(made, transaction) === source) continue;
    add(gained, source, amountOf(parsed.info.lamports) ?? 0n);
  }
  return gained;
}

/** Removes lamports that movements explain. */
function subtractMoved(lamports: Map<Address, bigint>, movements: readonly Movement[]): Map<Address, bigint> {
  for (const { mint, from, to, sent, received } of movements) {
    if (mint !== nativeMint || from === to) continue;
    if (from !== null) add(lamports, from, sent);
    if (to !== null) add(lamports, to, -received);
  }
  return lamports;
}

/**
 * Lamports that owners gained without a transfer, since a program may change balances directly. Excludes fee
 * and rent.
 */
export const unexplainedLamports = (
  transaction: ExecutedTransaction,
  movements: readonly Movement[],
): ReadonlyMap<Address, bigint> => subtractMoved(ownLamports(transaction), movements);

/**
 * Balance change of an owner per mint, with SOL and wrapped SOL combined. Excludes fee, rent and the owner's
 * own transfers, such as tips.
 */
export function netByBalances(
  transaction: ExecutedTransaction,
  movements: readonly Movement[],
  owner: Address,
): Map<Address, bigint> {
  const net = new Map<Address, bigint>();
  for (const { owner: accountOwner, mint, before, after } of transaction.tokenAccounts.values()) {
    if (accountOwner === owner && mint !== nativeMint) add(net, mint, after - before);
  }
  const alone = movements.filter(({ at }) => transaction.instructions[at]?.caller === null);
  add(net, nativeMint, subtractMoved(ownLamports(transaction), alone).get(owner) ?? 0n);
  return net;
}
