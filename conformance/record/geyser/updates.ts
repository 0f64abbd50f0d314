import { encodeBase58 } from '../../../src/solana/base58.ts';
import type { Names } from '../names.ts';
import type { Message } from './client.ts';

/** Placeholders of members that differ between two ledgers that behave alike, by name. */
const placeholders: Readonly<Record<string, string>> = {
  // Order among all writes of the node.
  write_version: '<version>',
  // Position in a block, which may start with a vote.
  index: '<index>',
  starting_transaction_index: '<index>',
  executed_transaction_count: '<count>',
  updated_account_count: '<count>',
  entries_count: '<count>',
  num_hashes: '<count>',
  // Programs exist in several builds.
  compute_units_consumed: '<units>',
  cost_units: '<units>',
  block_height: '<height>',
  last_valid_block_height: '<height>',
  hash: '<hash>',
  blockhash: '<hash>',
  parent_blockhash: '<hash>',
  // Named by the step in JSON-RPC; the script does not know those of airdrops.
  recent_blockhash: '<hash>',
  block_time: '<time>',
  created_at: '<time>',
  first_available: '<slot>',
  parent_slot: '<slot>',
};

const SLOTS = new Set(['slot', 'parent']);
const [ADDRESS_BYTES, SIGNATURE_BYTES] = [32, 64];

const base58 = (bytes: unknown): string => encodeBase58(bytes as Buffer);
const members = (value: unknown): Message => value as Message;
const list = (value: unknown): readonly Message[] => (Array.isArray(value) ? (value as Message[]) : []);

function bytesText(bytes: Buffer, names: Names): string {
  if (bytes.length === ADDRESS_BYTES || bytes.length === SIGNATURE_BYTES)
    return names.replaceIn(encodeBase58(bytes));
  return names.replaceBytes(bytes).toString('base64');
}

const UNITS = /(?<=consumed )\d+ of \d+(?= compute units)/;

const withoutUnits = (text: string): string => text.replace(UNITS, '<units>');

/** Data of an instruction that creates a lookup table: it names a recent slot. */
const isTableCreation = (name: string, value: Buffer): boolean =>
  name === 'data' && value.length === 13 && value.readUInt32LE(0) === 0;

/** Replaces names' values and members that differ from ledger to ledger. */
export function normalizeMessage(value: unknown, names: Names, name = ''): unknown {
  if (value === null || value === undefined) return value;
  if (SLOTS.has(name)) return names.slot(Number(value));
  const placeholder = placeholders[name];
  if (placeholder !== undefined) return placeholder;
  if (Buffer.isBuffer(value))
    return isTableCreation(name, value) ? '<create table>' : bytesText(value, names);
  if (typeof value === 'string') return names.replaceIn(withoutUnits(value));
  // The script names the first signature of a transaction.
  if (name === 'signatures')
    return [normalizeMessage((value as unknown[])[0], names), (value as unknown[]).length];
  if (Array.isArray(value)) return value.map((item) => normalizeMessage(item, names));
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, content]) => [member, normalizeMessage(content, names, member)]),
  );
}

/** Blocks of these steps are compared in full. */
const comparedBlocks = ['transfer', 'transfer v0', 'memo', 'fail: rent', 'create mint', 'transfer tokens'];
const comparedSlots = new Set(comparedBlocks.map((step) => `<slot:${step}>`));

/** How an update is recorded; `isRepeated`: one of many alike, recorded once. */
export type DescribedUpdate = Readonly<{ content: string; isRepeated: boolean }>;

class UpdateDescriber {
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  describe(update: Message): DescribedUpdate | null {
    const kind = String(update.update_oneof);
    const value = members(update[kind]);
    const of = (content: unknown, isRepeated: boolean): DescribedUpdate => ({
      content: JSON.stringify({ [kind]: content }),
      isRepeated,
    });
    switch (kind) {
      case 'account':
        return of(...this.#account(value));
      case 'transaction':
        return of(...this.#transaction(value));
      case 'transaction_status':
        return this.#isNamed(value.signature)
          ? of(this.#normalize(value), false)
          : of({ is_vote: value.is_vote, err: value.err ?? null }, true);
      case 'slot':
        return of(
          {
            status: value.status,
            parent: value.parent !== undefined && '<slot>',
            dead_error: value.dead_error,
          },
          true,
        );
      case 'block':
        return comparedSlots.has(this.#names.slot(Number(value.slot))) ? of(this.#block(value), false) : null;
      case 'block_meta':
        return of(
          { ...members(this.#normalize({ ...value, slot: 0 })), rewards: this.#rewards(value.rewards) },
          true,
        );
      case 'entry':
        return of(Object.keys(members(this.#normalize({ ...value, slot: 0 }))), true);
      default:
        return of(this.#normalize(value), false);
    }
  }

  #normalize(value: unknown): unknown {
    return normalizeMessage(value, this.#names);
  }

  #isNamed(signature: unknown): boolean {
    if (!Buffer.isBuffer(signature)) return false;
    const text = encodeBase58(signature);
    return this.#names.replaceIn(text) !== text;
  }

  /** Writes of the script's transactions in full; of others, the account and its kind. */
  #account(value: Message): [content: unknown, isRepeated: boolean] {
    const account = members(value.account);
    if (this.#isNamed(account.txn_signature)) return [this.#normalize(value), false];
    return [this.#otherAccount(account), true];
  }

  #otherAccount(account: Message): unknown {
    const { pubkey, owner, executable, rent_epoch, data, txn_signature } = account;
    return {
      ...members(this.#normalize({ pubkey, owner, executable, rent_epoch })),
      ...{ bytes: (data as Buffer).length, has_signature: txn_signature !== undefined },
    };
  }

  #transaction(value: Message): [content: unknown, isRepeated: boolean] {
    const info = members(value.transaction);
    if (this.#isNamed(info.signature)) return [this.#normalize(value), false];
    return [this.#otherTransaction(info), true];
  }

  #otherTransaction(info: Message): unknown {
    const { message } = members(info.transaction) as { message: Message };
    const { err, log_messages } = members(info.meta);
    const accounts = list(message.account_keys).map((account) => this.#names.replaceIn(base58(account)));
    return { is_vote: info.is_vote, accounts, err: err ?? null, log_messages };
  }

  #rewards(rewards: unknown): unknown {
    const rows = list(members(rewards ?? {}).rewards).map(({ pubkey, reward_type, commission }) =>
      this.#normalize({ pubkey, reward_type, commission }),
    );
    return rewards === undefined || rewards === null ? rewards : rows;
  }

  #block(value: Message): unknown {
    const once = (rows: readonly unknown[]): unknown[] =>
      [...new Set(rows.map((row) => JSON.stringify(row)).sort())].map((row) => JSON.parse(row) as unknown);
    // Without votes and what the node writes on its own.
    const transactions = list(value.transactions).filter(({ signature }) => this.#isNamed(signature));
    const accounts = list(value.accounts).filter(({ txn_signature }) => this.#isNamed(txn_signature));
    return {
      ...members(this.#normalize({ ...value, transactions: [], accounts: [], entries: [] })),
      rewards: this.#rewards(value.rewards),
      ...{ transactions: once(transactions.map((info) => this.#normalize(info))) },
      accounts: once(accounts.map((account) => this.#normalize(account))),
      entries: list(value.entries).length > 0,
    };
  }
}

/** An update of a stream: the names of its filters, and its content. */
export type RecordedUpdate = Readonly<{ filters: string; content: string }>;

const byText = (a: RecordedUpdate, b: RecordedUpdate): number =>
  a.content < b.content ? -1 : a.content > b.content ? 1 : a.filters < b.filters ? -1 : 1;

function filtersText({ filters, created_at }: Message): string {
  const names = [...(filters as string[])].sort().join(' & ');
  return created_at === null || created_at === undefined ? `${names} without created_at` : names;
}

/**
 * Describes the updates of a stream, sorted. Content of the script's transactions is complete; what a node writes on its
 * own (votes, sysvars, statuses of slots) is listed once for each kind.
 */
export function describeUpdates(updates: readonly Message[], names: Names): RecordedUpdate[] {
  const describer = new UpdateDescriber(names);
  const repeated = new Map<string, RecordedUpdate>();
  const rows: RecordedUpdate[] = [];
  for (const update of updates) {
    const described = describer.describe(update);
    if (described === null) continue;
    const row = { filters: filtersText(update), content: described.content };
    if (described.isRepeated) repeated.set(JSON.stringify(row), row);
    else rows.push(row);
  }
  return [...rows, ...repeated.values()].sort(byText);
}
