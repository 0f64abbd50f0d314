import type { Address } from '../../../solana/address.ts';
import { isTokenProgram, nativeMint, programs } from '../../../solana/programs.ts';
import { addressOf, membersOf, u64Of } from '../../lenient-json.ts';
import type { SwapSide } from '../action.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';

/** Transfer between owners, in base units. SOL and wrapped SOL count as the native mint. */
export type Movement = Readonly<{
  at: number;
  mint: Address;
  /** null for minted tokens. */
  from: Address | null;
  /** null for burnt tokens. */
  to: Address | null;
  sent: bigint;
  /** Excludes the mint's transfer fee. */
  received: bigint;
  lamports: boolean;
}>;

/** Movement between accounts, before owners are resolved. */
type Moved = Readonly<{
  mint: Address | null;
  source: Address | null;
  destination: Address | null;
  amount: bigint;
  fee: bigint;
}>;

const tokenMoves: ReadonlySet<string> = new Set([
  ...['transfer', 'transferChecked', 'transferCheckedWithFee'],
  ...['mintTo', 'mintToChecked', 'burn', 'burnChecked'],
]);

function tokensMoved({ program, parsed }: ExecutedInstruction): Moved | null {
  if (parsed === null || !isTokenProgram(program) || !tokenMoves.has(parsed.type)) return null;
  const { info, type } = parsed;
  const { mint, source, destination, account, tokenAmount, feeAmount } = info;
  const amount = u64Of(info.amount) ?? u64Of(membersOf(tokenAmount).amount);
  if (amount === null) return null;
  const one = addressOf(account);
  return {
    mint: addressOf(mint),
    source: type.startsWith('burn') ? one : addressOf(source),
    destination: type.startsWith('mintTo') ? one : addressOf(destination),
    ...{ amount, fee: u64Of(membersOf(feeAmount).amount) ?? 0n },
  };
}

function lamportsMoved({ program, parsed }: ExecutedInstruction): Moved | null {
  if (parsed === null || program !== programs.system) return null;
  if (parsed.type !== 'transfer' && parsed.type !== 'transferWithSeed') return null;
  const { source, destination, lamports } = parsed.info;
  const [from, to, amount] = [addressOf(source), addressOf(destination), u64Of(lamports)];
  return from === null || to === null || amount === null
    ? null
    : { mint: nativeMint, source: from, destination: to, amount, fee: 0n };
}

const holderOf = (account: Address, { tokenAccounts }: ExecutedTransaction): Address =>
  tokenAccounts.get(account)?.owner ?? account;

/** Lamports sent to a token account are for rent, unless the account's mint is SOL. */
function paysRent(moved: Moved, { tokenAccounts }: ExecutedTransaction): boolean {
  const account = moved.destination === null ? undefined : tokenAccounts.get(moved.destination);
  return account !== undefined && account.mint !== nativeMint;
}

/** Only `transferCheckedWithFee` states the fee; otherwise the recipient's balance change shows it. */
function receivedOf(
  moved: Moved,
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
  named: ReadonlyMap<Address, number>,
): bigint {
  const { amount, fee, destination } = moved;
  if (fee > 0n && fee <= amount) return amount - fee;
  if (instruction.program !== programs.token2022 || destination === null) return amount;
  const account = transaction.tokenAccounts.get(destination);
  const gained = account === undefined || named.get(destination) !== 1 ? 0n : account.after - account.before;
  return gained > 0n && gained < amount ? gained : amount;
}

function movementFrom(
  moved: Moved,
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
  named: ReadonlyMap<Address, number>,
): Omit<Movement, 'at'> | null {
  const lamports = instruction.program === programs.system;
  if (lamports && paysRent(moved, transaction)) return null;
  const { tokenAccounts } = transaction;
  const accountOf = (account: Address | null) => (account === null ? undefined : tokenAccounts.get(account));
  const mint = moved.mint ?? accountOf(moved.source)?.mint ?? accountOf(moved.destination)?.mint;
  if (mint === undefined) return null;
  const holder = (account: Address | null) => (account === null ? null : holderOf(account, transaction));
  const [from, to] = [holder(moved.source), holder(moved.destination)];
  const received = receivedOf(moved, instruction, transaction, named);
  return { mint, from, to, sent: moved.amount, received, lamports };
}

const movedBy = (instruction: ExecutedInstruction): Moved | null =>
  tokensMoved(instruction) ?? lamportsMoved(instruction);

export function movementOf(
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
): Omit<Movement, 'at'> | null {
  const moved = movedBy(instruction);
  return moved === null ? null : movementFrom(moved, instruction, transaction, new Map());
}

export function readMovements(transaction: ExecutedTransaction): Movement[] {
  const moves = transaction.instructions.map(movedBy);
  // A balance change can be assigned to a movement only if the account occurs once.
  const occurrences = new Map<Address, number>();
  for (const moved of moves) {
    for (const account of [moved?.source, moved?.destination]) {
      if (account) occurrences.set(account, (occurrences.get(account) ?? 0) + 1);
    }
  }
  return moves.flatMap((moved, at) => {
    const instruction = transaction.instructions[at] as ExecutedInstruction;
    const movement = moved === null ? null : movementFrom(moved, instruction, transaction, occurrences);
    return movement === null ? [] : [{ at, ...movement }];
  });
}

export type Exchange = Readonly<{ in: SwapSide; out: SwapSide }>;

export function netOf(movements: readonly Movement[], owner: Address): Map<Address, bigint> {
  const net = new Map<Address, bigint>();
  for (const { mint, from, to, sent, received } of movements) {
    if (from === to) continue;
    if (from === owner) net.set(mint, (net.get(mint) ?? 0n) - sent);
    if (to === owner) net.set(mint, (net.get(mint) ?? 0n) + received);
  }
  return net;
}

export function exchangeOf(net: ReadonlyMap<Address, bigint>): Exchange | null {
  const gave = [...net].filter(([, change]) => change < 0n);
  const took = [...net].filter(([, change]) => change > 0n);
  const [[inMint, paid] = [], [outMint, taken] = []] = [gave[0], took[0]];
  if (gave.length !== 1 || took.length !== 1) return null;
  if (inMint === undefined || outMint === undefined || paid === undefined || taken === undefined) return null;
  return { in: { mint: inMint, raw: -paid }, out: { mint: outMint, raw: taken } };
}

const add = (sums: Map<Address, bigint>, owner: Address, amount: bigint): unknown =>
  sums.set(owner, (sums.get(owner) ?? 0n) + amount);

/** Lamports that each owner gained across all its accounts, not counting the fee and rent paid for others' accounts. */
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
    add(gained, source, u64Of(parsed.info.lamports) ?? 0n);
  }
  return gained;
}

function subtractMoved(lamports: Map<Address, bigint>, movements: readonly Movement[]): Map<Address, bigint> {
  for (const { mint, from, to, sent, received } of movements) {
    if (mint !== nativeMint || from === to) continue;
    if (from !== null) add(lamports, from, sent);
    if (to !== null) add(lamports, to, -received);
  }
  return lamports;
}

/** Lamports gained without a transfer: a program may change balances directly. Excludes fee and rent. */
export const unexplainedLamports = (
  transaction: ExecutedTransaction,
  movements: readonly Movement[],
): ReadonlyMap<Address, bigint> => subtractMoved(ownLamports(transaction), movements);

/** Balance changes of an owner, excluding fee, rent and SOL transfers by outer instructions, such as tips. */
export function netByBalances(
  transaction: ExecutedTransaction,
  movements: readonly Movement[],
  owner: Address,
): Map<Address, bigint> {
  const net = new Map<Address, bigint>();
  for (const { owner: accountOwner, mint, before, after } of transaction.tokenAccounts.values()) {
    if (accountOwner === owner && mint !== nativeMint) add(net, mint, after - before);
  }
  const outerMovements = movements.filter(({ at }) => transaction.instructions[at]?.caller === null);
  add(net, nativeMint, subtractMoved(ownLamports(transaction), outerMovements).get(owner) ?? 0n);
  return net;
}
