import { type Commitment, commitments } from '../../../protocol/commitment.ts';
import type { FilterKind } from '../../../protocol/geyser/request/request-faults.ts';
import type {
  DataSlice,
  NamedFilters,
  SlotsFilter,
  SubscribeDeshredRequest,
  SubscribeRequest,
  TransactionsFilter,
} from '../../../protocol/geyser/subscribe-request.ts';
import type { SlotStatus } from '../../../protocol/geyser/update/slot.ts';
import { AccountRule } from './account-rule.ts';
import { BlockSelector } from './block-selector.ts';
import { checkSlices } from './data-slices.ts';
import { compileOne, InvalidFilter, orInvalidArgument } from './invalid-filter.ts';
import { TransactionRule } from './transaction-rule.ts';

export class SlotRule {
  readonly name: string;
  readonly #isByCommitment: boolean;
  readonly #hasInterslot: boolean;
  readonly #commitment: Commitment | null;

  /** `commitment` is null if the stream has none. */
  constructor(name: string, filter: SlotsFilter, commitment: Commitment | null) {
    this.name = name;
    this.#isByCommitment = filter.filterByCommitment ?? false;
    this.#hasInterslot = filter.interslotUpdates ?? false;
    this.#commitment = commitment;
  }

  passes(status: SlotStatus): boolean {
    if (this.#isByCommitment && status !== this.#commitment) return false;
    return this.#hasInterslot || (commitments as readonly string[]).includes(status);
  }
}

export type Filters = Readonly<{
  /** Commitment of the request; null for `SubscribeDeshred`, whose requests have none. */
  commitment: Commitment | null;
  slices: readonly DataSlice[] | null;
  accounts: readonly AccountRule[];
  slots: readonly SlotRule[];
  transactions: readonly TransactionRule[];
  transactionsStatus: readonly TransactionRule[];
  blocks: readonly BlockSelector[];
  blocksMeta: readonly string[];
  entry: readonly string[];
}>;

/** Source: yellowstone-grpc-geyser config, `filter_name_size_limit`. */
const NAME_MAX_BYTES = 128;

/** @throws InvalidFilter */
function checkName(name: string): string {
  const size = Buffer.byteLength(name);
  if (size <= NAME_MAX_BYTES) return name;
  throw new InvalidFilter(`oversized filter name (max allowed size ${NAME_MAX_BYTES}), found ${size}`);
}

/** @throws InvalidFilter */
function compileNamed<Filter, Rule>(
  kind: FilterKind,
  named: NamedFilters<Filter> | undefined,
  compile: (name: string, filter: Filter) => Rule,
): readonly Rule[] {
  return Array.from(named ?? [], ([name, filter]) =>
    compileOne(kind, name, () => compile(checkName(name), filter)),
  );
}

function compile(request: SubscribeRequest): Filters {
  const commitment = request.commitment ?? 'processed';
  const transaction = (name: string, filter: TransactionsFilter) => new TransactionRule(name, filter);
  const names = (kind: FilterKind, given: readonly string[] | undefined) =>
    Array.from(new Set(given), (name) => compileOne(kind, name, () => checkName(name)));
  const slices = checkSlices(request.accountsDataSlice ?? []);
  return {
    commitment,
    slices,
    accounts: compileNamed('accounts', request.accounts, (name, filter) => new AccountRule(name, filter)),
    slots: compileNamed('slots', request.slots, (name, filter) => new SlotRule(name, filter, commitment)),
    transactions: compileNamed('transactions', request.transactions, transaction),
    transactionsStatus: compileNamed('transactions_status', request.transactionsStatus, transaction),
    blocks: compileNamed('blocks', request.blocks, (name, filter) => new BlockSelector(name, filter, slices)),
    blocksMeta: names('blocks_meta', request.blocksMeta),
    entry: names('entry', request.entry),
  };
}

/** @throws GrpcError INVALID_ARGUMENT "failed to create filter: …", with the text of the Yellowstone plugin. */
export const compileFilters = (request: SubscribeRequest): Filters =>
  orInvalidArgument('filter', () => compile(request));

/** @throws GrpcError INVALID_ARGUMENT "failed to create deshred filter: …", with the text of the Yellowstone plugin. */
export const compileDeshredFilters = (request: SubscribeDeshredRequest): Filters =>
  orInvalidArgument('deshred filter', () => ({
    commitment: null,
    slices: null,
    accounts: [],
    slots: compileNamed('slots', request.slots, (name, filter) => new SlotRule(name, filter, null)),
    transactions: compileNamed(
      'deshred_transactions',
      request.deshredTransactions,
      (name, filter) => new TransactionRule(name, filter),
    ),
    transactionsStatus: [],
    blocks: [],
    blocksMeta: [],
    entry: [],
  }));
