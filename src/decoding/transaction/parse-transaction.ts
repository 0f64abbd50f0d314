import { setImmediate } from 'node:timers/promises';
import type { Address } from '../../solana/address.ts';
import type { JsonMembers } from '../../solana/encoding/read-json.ts';
import { programs } from '../../solana/programs.ts';
import { solOf } from '../amounts.ts';
import type { Chain } from '../chain/chain.ts';
import type { NameSources, TokenName } from '../token/find-names.ts';
import { nameMints } from '../token/token-names.ts';
import { type Action, actionTypes, type ParsedAction, type ProgramEvent, type Protocol } from './action.ts';
import { readEvents } from './events/read-events.ts';
import type { ExecutedTransaction } from './executed-transaction.ts';
import type { FetchedTransaction } from './fetch-transactions.ts';
import { mintsToName, nameTokens } from './name-tokens.ts';
import { programParsers, protocolOf } from './program-parsers.ts';
import { recognizeSwaps } from './swap/recognize-swaps.ts';
import { swapAction } from './swap/swap-action.ts';
import { tokenBalanceChanges } from './token-accounts.ts';

/** Effects before token names are added. */
type TransactionEffects = Readonly<{ actions: readonly Action[]; events: readonly ProgramEvent[] }>;

const UNKNOWN: ParsedAction = { type: 'UNKNOWN', info: {} };

const tokenTransfers: ReadonlySet<string> = new Set(['TOKEN_TRANSFER', 'NFT_TRANSFER']);

/** Program actions, then token transfers, then SOL transfers, each in execution order. */
function inDisplayOrder(actions: readonly Action[]): Action[] {
  const rank = ({ type }: Action) => (tokenTransfers.has(type) ? 1 : type === 'SOL_TRANSFER' ? 2 : 0);
  return [0, 1, 2].flatMap((position) => actions.filter((action) => rank(action) === position));
}

/**
 * Decodes the effects of a transaction. If it contains swaps, the only other actions shown are token transfers. A
 * failed transaction has neither swaps nor events. Source: rest-api.md §3.
 */
export function parseEffects(transaction: ExecutedTransaction): TransactionEffects {
  const events = readEvents(transaction);
  const swaps = recognizeSwaps(transaction, events);
  const actions = transaction.instructions.flatMap((one) => {
    const { program, parentProgram, index } = one;
    const parsed = programParsers.get(program)?.read(one, transaction) ?? [UNKNOWN];
    return parsed.map(({ info, type }) => ({
      ...{ info, source_protocol: protocolOf(program), type },
      ...(parentProgram === null ? {} : { parent_protocol: parentProgram }),
      ix_index: index,
    }));
  });
  if (swaps.length === 0) return { actions: inDisplayOrder(actions), events };
  const swapActions = swaps
    .map((swap) => swapAction(swap, transaction))
    .sort((a, b) => a.ix_index - b.ix_index);
  return { actions: [...swapActions, ...actions.filter(({ type }) => tokenTransfers.has(type))], events };
}

const interfaceTypes: ReadonlySet<string> = new Set(actionTypes);

/** Protocol of a transaction without actions: its first program, other than Compute Budget if there is another. */
function mainProtocol({ instructions }: ExecutedTransaction): Protocol | Readonly<{ address: ''; name: '' }> {
  const first = instructions.find(({ program }) => program !== programs.computeBudget) ?? instructions[0];
  return first === undefined ? { address: '', name: '' } : protocolOf(first.program);
}

const SECOND_MAX = 8_640_000_000_000n;

function timestampOf(seconds: bigint | null): string | null {
  if (seconds === null || seconds > SECOND_MAX || seconds < -SECOND_MAX) return null;
  return new Date(Number(seconds) * 1000).toISOString();
}

/** Transaction as shown in a REST response, with members in this order. Source: rest-api.md §3. */
export function parsedTransaction(
  transaction: ExecutedTransaction,
  { actions, events }: TransactionEffects,
  names: ReadonlyMap<Address, TokenName>,
) {
  const { feePayer, signers, signatures, err } = transaction;
  const recognized = actions.filter(({ type }) => type !== 'UNKNOWN');
  const mainAction = recognized.find(({ type }) => interfaceTypes.has(type)) ?? recognized[0] ?? actions[0];
  return {
    ...{ timestamp: timestampOf(transaction.blockTime), fee: solOf(transaction.fee) },
    ...{ fee_payer: feePayer, signers, signatures },
    protocol: mainAction?.source_protocol ?? mainProtocol(transaction),
    type: mainAction?.type ?? 'UNKNOWN',
    status: err === null ? ('Success' as const) : ('Fail' as const),
    token_balance_changes: tokenBalanceChanges(transaction),
    actions: nameTokens(actions, names),
    events: events.map(({ data, name }) => ({ data, name })),
  };
}

type FullTransaction = ReturnType<typeof parsedTransaction>;

/** Events and the getTransaction result are included on request. */
export type ParsedTransaction = Omit<FullTransaction, 'events'> &
  Partial<Pick<FullTransaction, 'events'>> &
  Readonly<{ raw?: JsonMembers }>;

/** How long parsed results are cached. They expire because names and images of tokens may change. */
const PARSED_TTL_MS = 10 * 60_000;

/** Results whose images are all loaded. Fetching a cached finalized transaction returns the same key object. */
const parsedCache = new WeakMap<
  FetchedTransaction,
  Readonly<{ parsed: FullTransaction; expiresAt: number }>
>();

export async function parseTransactions(
  chain: Chain,
  fetched: readonly FetchedTransaction[],
  nameSources: NameSources,
  { events, raw }: Readonly<{ events: boolean; raw: boolean }>,
): Promise<ParsedTransaction[]> {
  const all = new Map<FetchedTransaction, FullTransaction>();
  const decoded: { one: FetchedTransaction; effects: TransactionEffects; mints: Set<Address> }[] = [];
  for (const one of fetched) {
    const known = parsedCache.get(one);
    if (known !== undefined && performance.now() < known.expiresAt) all.set(one, known.parsed);
    else {
      const effects = parseEffects(one.transaction);
      decoded.push({ one, effects, mints: mintsToName(effects.actions) });
      // Yield to the event loop between transactions.
      await setImmediate();
    }
  }
  const names = await nameMints(chain, new Set(decoded.flatMap(({ mints }) => [...mints])), nameSources);
  for (const { one, effects, mints } of decoded) {
    const parsed = parsedTransaction(one.transaction, effects, names);
    all.set(one, parsed);
    if ([...mints].every((mint) => names.get(mint)?.isLoading !== true))
      parsedCache.set(one, { parsed, expiresAt: performance.now() + PARSED_TTL_MS });
    await setImmediate();
  }
  return fetched.map((one) => {
    const { events: programEvents, ...parsed } = all.get(one) as FullTransaction;
    return { ...parsed, ...(events && { events: programEvents }), ...(raw && { raw: one.raw }) };
  });
}
