import fc from 'fast-check';
import { expect, it } from 'vitest';
import { key, signature } from '../../../test/streams/ledger-script.ts';
import {
  type BalanceFields,
  RecordingSink,
  type TransactionFields,
  transactionUpdate,
} from '../../../test/streams/random-updates.ts';
import type {
  NamedFilters,
  SubscribeRequest,
  TransactionsFilter,
} from '../../protocol/geyser/subscribe-request.ts';
import { BlockScheduler } from './channel/block-scheduler.ts';
import { Channel, type Member } from './channel.ts';
import { compileFilters } from './filters/compile.ts';

/** Few values, so that filters match updates. */
const NUMBERS = [1, 2, 3, 4, 5, 6];
const number = fc.constantFrom(...NUMBERS);
const keys = fc.array(number.map(key), { maxLength: 3 });
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });

const rarely = <T>(values: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values });

const given = <T extends object>(record: T): { [K in keyof T]-?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never;

const transactionsFilter: fc.Arbitrary<TransactionsFilter> = fc
  .record({
    vote: maybe(fc.boolean()),
    failed: maybe(fc.boolean()),
    signature: rarely(number.map(signature)),
    accountInclude: maybe(keys),
    accountExclude: rarely(keys),
    accountRequired: maybe(keys),
    tokenAccounts: maybe(fc.constantFrom('all' as const, 'balanceChanged' as const)),
  })
  .map(given);

const namedOf = <Filter>(filters: fc.Arbitrary<Filter>): fc.Arbitrary<NamedFilters<Filter>> =>
  fc.array(filters, { maxLength: 5 }).map((list) => new Map(list.map((filter, i) => [`f${i}`, filter])));

const request: fc.Arbitrary<SubscribeRequest> = fc.record({
  transactions: namedOf(transactionsFilter),
  transactionsStatus: namedOf(transactionsFilter),
});

const balances: fc.Arbitrary<readonly BalanceFields[]> = fc.uniqueArray(
  fc.record({
    at: fc.nat(3),
    owner: fc.oneof(number, fc.constant('nobody')),
    amount: fc.constantFrom('0', '5', null),
  }),
  { maxLength: 3, selector: ({ at }) => at },
);

const transaction = fc.record({
  signature: number,
  isVote: fc.boolean(),
  hasFailed: fc.boolean(),
  keys: fc.array(number, { maxLength: 4 }),
  before: balances,
  after: balances,
});

/** Reference implementation of the rules, on values instead of bytes. */
function ownersOf(which: TransactionsFilter['tokenAccounts'], drawn: Required<TransactionFields>): string[] {
  const known = ({ owner }: BalanceFields) => typeof owner === 'number';
  const [before, after] = [drawn.before.filter(known), drawn.after.filter(known)];
  const amountIn = (list: readonly BalanceFields[], at: number) => {
    const found = list.find((balance) => balance.at === at);
    return found === undefined ? 'none' : (found.amount ?? '');
  };
  const all = [...before, ...after];
  if (which === undefined) return [];
  if (which === 'all') return all.map(({ owner }) => key(owner as number));
  // If an account occurs twice, its later owner counts.
  const later = all.filter((each) => after.includes(each) || !after.some(({ at }) => at === each.at));
  return later
    .filter(({ at }) => amountIn(before, at) !== amountIn(after, at))
    .map(({ owner }) => key(owner as number));
}

function transactionPasses(filter: TransactionsFilter, drawn: Required<TransactionFields>): boolean {
  const {
    accountInclude: include = [],
    accountExclude: exclude = [],
    accountRequired: required = [],
  } = filter;
  if (filter.vote !== undefined && filter.vote !== drawn.isVote) return false;
  if (filter.failed !== undefined && filter.failed !== drawn.hasFailed) return false;
  if (filter.signature !== undefined && filter.signature !== signature(drawn.signature)) return false;
  const counted = new Set<string>([...drawn.keys.map(key), ...ownersOf(filter.tokenAccounts, drawn)]);
  if (include.length > 0 && !include.some((each) => counted.has(each))) return false;
  if (exclude.some((each) => counted.has(each))) return false;
  return required.every((each) => counted.has(each));
}

function namesThat<Filter>(
  named: NamedFilters<Filter> | undefined,
  passes: (filter: Filter) => boolean,
): string[] {
  return [...(named ?? [])].filter(([, filter]) => passes(filter)).map(([name]) => name);
}

const messages = (...each: readonly string[][]): string[][] => each.filter((names) => names.length > 0);

type Step =
  | { kind: 'join'; request: SubscribeRequest }
  | { kind: 'replace'; who: number; request: SubscribeRequest }
  | { kind: 'leave'; who: number }
  | { kind: 'transaction'; drawn: Required<TransactionFields> };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('join' as const), request }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), who: fc.nat(9), request }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), who: fc.nat(9) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('transaction' as const), drawn: transaction }) },
);

type Stream = { member: Member; stream: RecordingSink; request: SubscribeRequest };

/** The messages that a stream should receive for one update. */
function expected({ request: wanted }: Stream, step: Step): string[][] {
  if (step.kind !== 'transaction') return [];
  const passes = (filter: TransactionsFilter) => transactionPasses(filter, step.drawn);
  return messages(namesThat(wanted.transactions, passes), namesThat(wanted.transactionsStatus, passes));
}

function runSteps(steps: readonly Step[]): number {
  const channel = new Channel(new BlockScheduler({ blocksTimeSliceMs: 60_000 }));
  const streams: Stream[] = [];
  let received = 0;
  const at = (who: number) => streams[who % Math.max(streams.length, 1)];
  for (const each of steps) {
    if (each.kind === 'join') {
      const stream = new RecordingSink();
      const member = channel.add(stream);
      member.replace(compileFilters(each.request));
      streams.push({ member, stream, request: each.request });
    } else if (each.kind === 'replace') {
      const found = at(each.who);
      found?.member.replace(compileFilters(each.request));
      if (found !== undefined) found.request = each.request;
    } else if (each.kind === 'leave') {
      at(each.who)?.member.close();
      if (streams.length > 0) streams.splice(each.who % streams.length, 1);
    } else {
      channel.emit(transactionUpdate(each.drawn));
      for (const stream of streams) {
        const names = stream.stream.take();
        expect(names).toEqual(expected(stream, each));
        received += names.length;
      }
    }
  }
  return received;
}

it('a channel with changing streams and filters emits the same as a linear scan of all filters', () => {
  let received = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      received += runSteps(steps);
    }),
    { numRuns: 200 },
  );
  expect(received).toBeGreaterThan(500);
});
