import type { WritableJson } from '../../base/json.ts';
import type { Address } from '../../ledger/address.ts';
import type { Action, ProgramEvent, Protocol, Swap } from './action.ts';
import type { RunInstruction } from './instruction.ts';
import { knownPrograms, protocolOf } from './known-programs.ts';
import type { RunTransaction } from './run-transaction.ts';

/** What insight reads out of a transaction, before the names of its tokens are known. */
export type ReadTransaction = Readonly<{
  transaction: RunTransaction;
  actions: readonly Action[];
  events: readonly ProgramEvent[];
}>;

const readEvents = (_transaction: RunTransaction): ProgramEvent[] => [];
const recogniseSwaps = (_transaction: RunTransaction, _events: readonly ProgramEvent[]): Swap[] => [];
const swapAction = (_swap: Swap, _transaction: RunTransaction): Action[] => [];

const UNKNOWN: Pick<Action, 'type' | 'info'> = { type: 'UNKNOWN', info: {} };

function actionsOf(instruction: RunInstruction, transaction: RunTransaction): Action[] {
  const { program, parentProgram, index } = instruction;
  const told = knownPrograms.get(program)?.read(instruction, transaction) ?? [UNKNOWN];
  const parent = parentProgram === null ? {} : { parent_protocol: parentProgram };
  return told.map(({ info, type }) => ({
    ...{ info, source_protocol: protocolOf(program), type },
    ...parent,
    ix_index: index,
  }));
}

const tokenTransfers: ReadonlySet<string> = new Set(['TOKEN_TRANSFER', 'NFT_TRANSFER']);

/** Programs' actions, then transfers of tokens, then transfers of SOL, each in the order in which they ran. */
function inOrderOfInterface(actions: readonly Action[]): Action[] {
  const rank = ({ type }: Action) => (tokenTransfers.has(type) ? 1 : type === 'SOL_TRANSFER' ? 2 : 0);
  return [0, 1, 2].flatMap((wanted) => actions.filter((action) => rank(action) === wanted));
}

/** Reads what a transaction did. Never throws: what is not understood is UNKNOWN. */
export function readTransaction(transaction: RunTransaction): ReadTransaction {
  const events = transaction.err === null ? readEvents(transaction) : [];
  const swaps = transaction.err === null ? recogniseSwaps(transaction, events) : [];
  const actions = transaction.instructions.flatMap((one) => actionsOf(one, transaction));
  const told = swaps.flatMap((swap) => swapAction(swap, transaction));
  const kept = told.length === 0 ? actions : actions.filter(({ type }) => tokenTransfers.has(type));
  return { transaction, actions: inOrderOfInterface([...told, ...kept]), events };
}

/** A transaction as the interface shows it. Members in this order. Source: rest-api.md §3. */
export type ParsedTransaction = Readonly<{
  timestamp: string | null;
  /** SOL. */
  fee: number;
  fee_payer: Address;
  signers: readonly Address[];
  signatures: readonly string[];
  protocol: Protocol;
  type: string;
  status: 'Success' | 'Fail';
  token_balance_changes: readonly WritableJson[];
  actions: readonly Action[];
  events?: readonly Readonly<{ data: WritableJson; name: string }>[];
  raw?: WritableJson;
}>;
