import { describe, expect, it } from 'vitest';
import type { AccountFilter } from '../../../protocol/rpc/account-filter.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { addressFromBytes } from '../../../solana/address.ts';
import type { Block, ExecutedTransaction } from '../../../solana/block.ts';
import { programs } from '../../../solana/programs.ts';
import { slot } from '../../../solana/units.ts';
import type { ChainReader } from '../chain-reader.ts';
import { feedLimits } from '../limits.ts';
import { AccountGap, ProgramGap } from './account-gap.ts';
import type { Gap } from './gap-recovery.ts';

const positionAt = (value: number) => ({ slot: slot(value), parent: slot(value), root: slot(value - 32) });
const state = (context: number, lamports: number) => ({
  context: { slot: context },
  value: {
    lamports,
    data: ['', 'base64'],
    owner: programs.vote,
    executable: false,
    rentEpoch: 0,
    space: 0,
  },
});
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** A gap whose notifications are collected in a list. */
const gapOf = (
  slots: Readonly<{ opened: number; from: number; to: number }>,
  reader: unknown,
  buffered: readonly Buffer[],
  emitted: unknown[],
): Gap => ({
  opened: positionAt(slots.opened),
  from: positionAt(slots.from),
  to: positionAt(slots.to),
  reader: reader as ChainReader,
  limits: feedLimits,
  signal: new AbortController().signal,
  buffered: () => buffered,
  emit: (result) => emitted.push(JSON.parse(result.toString())),
});

type States = Readonly<{
  last: ReturnType<typeof state> | null;
  read: ReturnType<typeof state>;
  /** Account written by a block in the gap. */
  written?: string;
}>;

/** Fills a gap from the last state, the read state and buffered notifications. @returns the emitted notifications. */
async function fill(
  { last, read, written = payer }: States,
  buffered: readonly Buffer[] = [],
): Promise<unknown[]> {
  const emitted: unknown[] = [];
  const { context, value } = read;
  const block = { transactions: [transaction(written)], rewards: [] } as unknown as Block;
  const reader = {
    request: async () => bytesOf({ context, value: [value] }),
    slots: async () => [slot(1_002)],
    eachBlock: async (_slots: unknown, _signal: unknown, onBlock: (read: Block) => void) => onBlock(block),
  };
  const subscription = { kind: 'account', address: one, commitment: 'confirmed' } as const;
  const gapRecovery = new AccountGap({ ...subscription, encoding: 'base64' });
  if (last !== null) gapRecovery.decide(bytesOf(last));
  await gapRecovery.fill(gapOf({ opened: 900, from: 1_000, to: 1_003 }, reader, buffered, emitted));
  return emitted;
}

describe('AccountGap', () => {
  it('emits the state when it differs from the last one and is newer', async () => {
    const last = state(1_000, 5);
    expect(await fill({ last, read: state(1_003, 6) })).toEqual([state(1_003, 6)]);
    expect(await fill({ last, read: state(1_003, 5) })).toEqual([]);
    expect(await fill({ last, read: state(999, 4) })).toEqual([]);
  });

  it('emits a first state if a block in the gap wrote the account', async () => {
    const read = state(1_003, 6);
    expect(await fill({ last: null, read, written: one })).toEqual([read]);
    expect(await fill({ last: null, read })).toEqual([]);
  });

  it('emits nothing if the new connection sent a newer state', async () => {
    const [last, read] = [state(1_000, 5), state(1_003, 6)];
    expect(await fill({ last, read }, [bytesOf(state(1_004, 7))])).toEqual([]);
    expect(await fill({ last, read }, [bytesOf(state(999, 4))])).toEqual([read]);
  });
});

const address = (byte: number) => addressFromBytes(new Uint8Array(32).fill(byte));
const [payer, one, other] = [address(1), address(2), address(3)];

const transaction = (written: string, err: unknown = null): ExecutedTransaction =>
  ({
    transaction: {
      signatures: [],
      message: {
        version: 'legacy',
        header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 },
        accountKeys: [payer, written],
        instructions: [],
        addressTableLookups: [],
      },
    },
    meta: { err, loadedAddresses: { writable: [], readonly: [] } },
  }) as unknown as ExecutedTransaction;

type State = Readonly<{ data: string; owner?: string }>;

type Scene = Readonly<{
  states: Readonly<Record<string, State>>;
  encoding?: SubscriptionOf<'program'>['encoding'];
  filters?: readonly AccountFilter[];
  transactions?: readonly ExecutedTransaction[];
  /** Buffered from the new connection. */
  buffered?: readonly Buffer[];
  /** Received from the previous connection. */
  before?: readonly Buffer[];
  /** Context slot of the read. */
  readAt?: number;
}>;

const live = (pubkey: string, context: number): Buffer =>
  Buffer.from(
    `{"context":{"slot":${context}},"value":{"pubkey":"${pubkey}","account":{"lamports":1,"data":["","base64"]}}}`,
  );

/** Fills a gap of one block at slot 129, read at slot 130. @returns the emitted notifications. */
async function fillProgramGap({
  states,
  encoding = 'base64',
  filters = [],
  transactions,
  buffered = [],
  before = [],
  readAt = 130,
}: Scene) {
  const emitted: unknown[] = [];
  const block = { slot: slot(129), transactions: transactions ?? [transaction(one)], rewards: [] };
  const reader = {
    slots: async () => [block.slot],
    eachBlock: async (_slots: unknown, _signal: unknown, onBlock: (read: Block) => void) =>
      onBlock(block as unknown as Block),
    request: async (_method: string, [addresses, config]: [string[], { encoding: string }]) => {
      const value = addresses.map((name) => {
        const { data, owner = programs.vote } = states[name] ?? { data: '', owner: programs.system };
        const shown = config.encoding === 'jsonParsed' ? { parsed: data } : [btoa(data), 'base64'];
        return { lamports: 1, data: shown, owner, executable: false, rentEpoch: 0, space: data.length };
      });
      return Buffer.from(JSON.stringify({ context: { slot: readAt }, value }));
    },
  };
  const subscription = {
    kind: 'program',
    program: programs.vote,
    commitment: 'confirmed',
    encoding,
    filters,
  };
  const gapRecovery = new ProgramGap(subscription as SubscriptionOf<'program'>, 100);
  for (const result of before) gapRecovery.decide(result);
  await gapRecovery.fill(gapOf({ opened: 80, from: 128, to: 130 }, reader, buffered, emitted));
  return emitted;
}

const accountOf = (pubkey: string, data: unknown) => ({
  context: { slot: 130 },
  value: { pubkey, account: { data, owner: programs.vote } },
});

describe('ProgramGap', () => {
  it.each([
    ['base64', ['YWI=', 'base64']],
    ['base58', ['8Qq', 'base58']],
    ['jsonParsed', { parsed: 'ab' }],
  ] as const)('emits written accounts in the subscribed encoding: %s', async (encoding, data) => {
    const emitted = await fillProgramGap({ encoding, states: { [one]: { data: 'ab' } } });
    expect(emitted).toMatchObject([accountOf(one, data)]);
  });

  it('emits only accounts of the program that match all filters', async () => {
    const filters: AccountFilter[] = [{ kind: 'memcmp', offset: 0n, bytes: Buffer.from('a') }];
    const transactions = [transaction(one), transaction(other)];
    const states = {
      [payer]: { data: 'ab', owner: programs.system },
      [one]: { data: 'ab' },
      [other]: { data: 'bb' },
    };
    for (const encoding of ['base64', 'jsonParsed'] as const) {
      const emitted = await fillProgramGap({ encoding, filters, transactions, states });
      expect(emitted).toMatchObject([{ value: { pubkey: one } }]);
    }
  });

  it('omits accounts that the new connection already sent', async () => {
    const transactions = [transaction(one), transaction(other)];
    const states = { [one]: { data: 'ab' }, [other]: { data: 'bb' } };
    const emitted = await fillProgramGap({ transactions, states, buffered: [live(one, 130)] });
    expect(emitted).toMatchObject([{ value: { pubkey: other } }]);
  });

  it('emits no account twice and no older state', async () => {
    const states = { [one]: { data: 'ab' } };
    expect(await fillProgramGap({ states, before: [live(one, 129)] })).toEqual([]);
    expect(await fillProgramGap({ states, before: [live(one, 128)], readAt: 128 })).toEqual([]);
    expect(await fillProgramGap({ states, before: [live(one, 128)] })).toMatchObject([
      accountOf(one, ['YWI=', 'base64']),
    ]);
  });

  it('emits only the fee payer of a failed transaction', async () => {
    const states = { [payer]: { data: 'ab' }, [one]: { data: 'ab' } };
    const emitted = await fillProgramGap({ transactions: [transaction(one, 'AccountInUse')], states });
    expect(emitted).toMatchObject([{ value: { pubkey: payer } }]);
  });
});
