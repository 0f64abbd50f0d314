import type { Address } from '../../ledger/address.ts';
import type { JsonMembers } from '../../ledger/encoding/read-json.ts';
import { programs } from '../../ledger/programs.ts';
import { solOf } from '../amounts.ts';
import type { Action, ProgramEvent, Protocol } from './action.ts';
import { actionTypes } from './action.ts';
import { readEvents } from './events/read-events.ts';
import type { RunInstruction } from './instruction.ts';
import { knownPrograms, protocolOf } from './known-programs.ts';
import { nameTokens, type TokenWords } from './name-tokens.ts';
import type { RunTransaction } from './run-transaction.ts';
import { recogniseSwaps } from './swap/recognise-swaps.ts';
import { swapAction } from './swap-action.ts';
import { type TokenBalanceChange, tokenBalanceChanges } from './token-balance-changes.ts';

/** What a transaction did, before the names of its tokens are known. */
export type Deeds = Readonly<{ actions: readonly Action[]; events: readonly ProgramEvent[] }>;

const UNKNOWN: Pick<Action, 'type' | 'info'> = { type: 'UNKNOWN', info: {} };

function actionsOf(instruction: RunInstruction, transaction: RunTransaction): Action[] {
  const { program, parentProgram, index } = instruction;
  const told = knownPrograms.get(program)?.read(instruction, transaction) ?? [UNKNOWN];
  return told.map(({ info, type }) => ({
    ...{ info, source_protocol: protocolOf(program), type },
    ...(parentProgram === null ? {} : { parent_protocol: parentProgram }),
    ix_index: index,
  }));
}

const tokenTransfers: ReadonlySet<string> = new Set(['TOKEN_TRANSFER', 'NFT_TRANSFER']);

/** Programs' actions, then transfers of tokens, then transfers of SOL, each in the order in which they ran. */
function inOrderOfInterface(actions: readonly Action[]): Action[] {
  const rank = ({ type }: Action) => (tokenTransfers.has(type) ? 1 : type === 'SOL_TRANSFER' ? 2 : 0);
  return [0, 1, 2].flatMap((wanted) => actions.filter((action) => rank(action) === wanted));
}

/**
 * Reads what a transaction did. What is not understood is UNKNOWN. Beside a swap transfers of tokens are told, all that
 * the transaction made, and nothing else. One that failed has neither swaps nor events. Source: rest-api.md §3.
 */
export function readDeeds(transaction: RunTransaction): Deeds {
  const events = readEvents(transaction);
  const swaps = recogniseSwaps(transaction, events);
  const actions = transaction.instructions.flatMap((one) => actionsOf(one, transaction));
  if (swaps.length === 0) return { actions: inOrderOfInterface(actions), events };
  const told = swaps.map((swap) => swapAction(swap, transaction)).sort((a, b) => a.ix_index - b.ix_index);
  return { actions: [...told, ...actions.filter(({ type }) => tokenTransfers.has(type))], events };
}

/** A transaction as the interface shows it. Members in this order. Source: rest-api.md §3. */
export type ParsedTransaction = Readonly<{
  /** ISO 8601; null where the node does not know when it ran. */
  timestamp: string | null;
  /** SOL. */
  fee: number;
  fee_payer: string;
  signers: readonly string[];
  signatures: readonly string[];
  /** Of the action that `type` is taken from. */
  protocol: Protocol | Readonly<{ address: ''; name: '' }>;
  type: string;
  status: 'Success' | 'Fail';
  token_balance_changes: readonly TokenBalanceChange[];
  actions: readonly Action[];
  events?: readonly Readonly<{ data: ProgramEvent['data']; name: string }>[];
  raw?: JsonMembers;
}>;

const interfaceTypes: ReadonlySet<string> = new Set(actionTypes);

/**
 * The action that a transaction is called by: the first that the interface has a type for; else the first that has
 * any; else the first.
 */
function chiefAction(actions: readonly Action[]): Action | undefined {
  const known = actions.filter(({ type }) => type !== 'UNKNOWN');
  return known.find(({ type }) => interfaceTypes.has(type)) ?? known[0] ?? actions[0];
}

/** Where nothing is told, the transaction is called by the program that it ran first. */
function chiefProtocol({ instructions }: RunTransaction): ParsedTransaction['protocol'] {
  const first = instructions.find(({ program }) => program !== programs.computeBudget) ?? instructions[0];
  return first === undefined ? { address: '', name: '' } : protocolOf(first.program);
}

const SECOND_MAX = 8_640_000_000_000n;

/** Unix seconds as ISO 8601; null for what no calendar has. */
function timestampOf(seconds: bigint | null): string | null {
  if (seconds === null || seconds > SECOND_MAX || seconds < -SECOND_MAX) return null;
  return new Date(Number(seconds) * 1000).toISOString();
}

/** What to show of a transaction besides what is always there. */
export type Shown = Readonly<{
  events: boolean;
  /** The transaction as the node told it, in jsonParsed; undefined where it is not wanted. */
  raw?: JsonMembers;
}>;

/** A transaction as the interface shows it, with the names of tokens as far as they are known. */
export function parsedTransaction(
  transaction: RunTransaction,
  deeds: Deeds,
  names: ReadonlyMap<Address, TokenWords>,
  { events, raw }: Shown,
): ParsedTransaction {
  const { feePayer, signers, signatures, err } = transaction;
  const chief = chiefAction(deeds.actions);
  return {
    ...{ timestamp: timestampOf(transaction.blockTime), fee: solOf(transaction.fee) },
    ...{ fee_payer: feePayer, signers, signatures },
    protocol: chief?.source_protocol ?? chiefProtocol(transaction),
    type: chief?.type ?? 'UNKNOWN',
    status: err === null ? 'Success' : 'Fail',
    token_balance_changes: tokenBalanceChanges(transaction),
    actions: nameTokens(deeds.actions, names),
    ...(events && { events: deeds.events.map(({ data, name }) => ({ data, name })) }),
    ...(raw !== undefined && { raw }),
  };
}
