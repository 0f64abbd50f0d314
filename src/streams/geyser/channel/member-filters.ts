import type { SlotStatus } from '../../../protocol/geyser/update/slot.ts';
import type { AccountRule } from '../filters/account-rule.ts';
import type { BlockSelector } from '../filters/block-selector.ts';
import type { Filters, SlotRule } from '../filters/compile.ts';
import type { TransactionRule } from '../filters/transaction-rule.ts';
import type { GeyserSink } from '../geyser-sink.ts';
import { FilterGroup, Listener, sharedNames, Watcher } from './filter-group.ts';

class SlotFilterGroup {
  readonly #rules: readonly SlotRule[];
  readonly #names = new Map<SlotStatus, Uint8Array | null>();

  constructor(rules: readonly SlotRule[]) {
    this.#rules = rules;
  }

  namesOf(status: SlotStatus): Uint8Array | null {
    const existing = this.#names.get(status);
    if (existing !== undefined) return existing;
    const passed = this.#rules.filter((rule) => rule.passes(status)).map(({ name }) => name);
    const names = passed.length === 0 ? null : sharedNames(passed);
    this.#names.set(status, names);
    return names;
  }
}

function watchers<Rule extends { name: string }>(
  listener: Listener,
  rules: readonly Rule[],
): readonly Watcher<Rule>[] {
  if (rules.length === 0) return [];
  const group = new FilterGroup(
    listener,
    rules.map(({ name }) => name),
  );
  return rules.map((rule, ordinal) => new Watcher(rule, group, ordinal));
}

const allNames = (names: readonly string[]): Uint8Array | null =>
  names.length === 0 ? null : sharedNames(names);

export class MemberFilters {
  readonly listener: Listener;
  readonly accounts: readonly Watcher<AccountRule>[];
  readonly transactions: readonly Watcher<TransactionRule>[];
  readonly statuses: readonly Watcher<TransactionRule>[];
  /** `slots`, `blocksMeta` and `entry` are null if there are no such filters. The latter two are encoded names. */
  readonly slots: SlotFilterGroup | null;
  readonly blocksMeta: Uint8Array | null;
  readonly entry: Uint8Array | null;
  /** Each filter gets its own message. */
  readonly blocks: readonly Readonly<{ names: Uint8Array; selector: BlockSelector }>[];

  constructor(sink: GeyserSink, filters: Filters) {
    const listener = new Listener(sink, filters.slices);
    this.listener = listener;
    this.accounts = watchers(listener, filters.accounts);
    this.transactions = watchers(listener, filters.transactions);
    this.statuses = watchers(listener, filters.transactionsStatus);
    this.slots = filters.slots.length === 0 ? null : new SlotFilterGroup(filters.slots);
    this.blocksMeta = allNames(filters.blocksMeta);
    this.entry = allNames(filters.entry);
    this.blocks = filters.blocks.map((selector) => ({ names: sharedNames([selector.name]), selector }));
  }
}
