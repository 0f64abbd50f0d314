import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeJson } from '../../../src/base/json.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import type { ExecutedTransaction } from '../../../src/decoding/transaction/executed-transaction.ts';
import { dexParsers } from '../../../src/decoding/transaction/swap/dex-parsers.ts';
import { dexPrograms } from '../../../src/decoding/transaction/swap/dex-programs.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import type { Address } from '../../../src/solana/address.ts';
import { programs } from '../../../src/solana/programs.ts';
import { minimumOf } from '../../project/minimum-of.ts';
import { encodeEvent } from './encode-layout.ts';
import {
  anchorData,
  emitEvent,
  executedTransaction,
  type InstructionSpec,
  named,
  pay,
  tokenAccount,
  transfer,
} from './transaction-builder.ts';

const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
const OKX = '6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma';
const TITAN = 'T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT';
const PHOTON = 'BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW';
const CLMM = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK';
const user = named('user');

const tokens = ['user:A', 'user:B', 'state:A', 'state:B'].map((of) => {
  const [owner = '', mint = ''] = of.split(':');
  return tokenAccount(of, named(mint), named(owner), 1n, 2n);
});

const trade = {
  ...{ mint: named('A'), sol_amount: 1000n, token_amount: 50n, is_buy: false, user, timestamp: 1n },
  ...{ virtual_sol_reserves: 1n, virtual_token_reserves: 1n, real_sol_reserves: 1n, real_token_reserves: 1n },
};

/** Parses and renders everything. */
function readAll(run: ExecutedTransaction): number {
  const events = readEvents(run);
  const swaps = recognizeSwaps(run, events);
  const readers = new Map(dexParsers);
  const actions = run.instructions.map((one) => readers.get(one.program)?.read(one, run) ?? null);
  writeJson(events as never);
  writeJson(actions as never);
  return swaps.length + events.length;
}

/** Quadratic time would far exceed this. */
const SECONDS_MAX = 1.5;

/** CPU time, independent of other load. */
function secondsOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(before).user / 1e6;
}

const bytes = fc.uint8Array({ maxLength: 300 });
const dex = [...dexPrograms.keys()] as string[];
const tables = [...dexPrograms.values()].flatMap(({ swaps }) => [...(swaps?.keys() ?? [])]);
const height = fc.option(fc.integer({ min: 1, max: 6 }));
const addressText = fc.constantFrom<string>(...dex, user, named('A'), programs.token);

const instruction: fc.Arbitrary<InstructionSpec> = fc.oneof(
  fc.record({
    program: fc.constantFrom<string>(...dex),
    height,
    accounts: fc.array(addressText, { maxLength: 20 }),
    data: fc.oneof(
      bytes,
      fc
        .tuple(fc.constantFrom(...tables), bytes)
        .map(([head, tail]) => Buffer.concat([Buffer.from(head, 'hex'), tail])),
      bytes.map((tail) => Buffer.concat([Buffer.from('e445a52e51cb9a1d', 'hex'), tail])),
    ),
  }),
  fc
    .tuple(height, fc.constantFrom('user:A', 'user:B', 'state:A'), fc.bigInt(-5n, 2n ** 64n))
    .map(([at, source, amount]) => transfer(at, source, 'state:B', amount)),
  fc.record({
    program: fc.constantFrom<string>(programs.token, programs.token2022, programs.system),
    height,
    parsed: fc.record({
      type: fc.constantFrom('transfer', 'transferChecked', 'mintTo', 'burn', 'createAccount'),
      info: fc.dictionary(
        fc.constantFrom(
          'source',
          'destination',
          'account',
          'mint',
          'amount',
          'tokenAmount',
          'lamports',
          'newAccount',
        ),
        fc.oneof(fc.jsonValue(), addressText, fc.nat()) as fc.Arbitrary<never>,
      ),
    }),
  }),
);

const line = fc.oneof(
  fc.string({ maxLength: 60 }),
  addressText.map((program) => `Program ${program} success`),
  fc.tuple(addressText, fc.nat(9)).map(([program, at]) => `Program ${program} invoke [${at}]`),
  bytes.map((data) => `Program data: ${Buffer.from(data).toString('base64')}`),
  bytes.map((data) => `Program log: ray_log: ${Buffer.from(data).toString('base64')}`),
);

describe('hostile transactions', () => {
  it('are parsed without throwing and rendered as JSON', () => {
    fc.assert(
      fc.property(
        fc.array(instruction, { maxLength: 25 }),
        fc.array(line, { maxLength: 25 }),
        (said, logs) => {
          readAll(executedTransaction(said, { logs, tokens, signers: [user, named('other')] }));
        },
      ),
      { numRuns: 400 },
    );
  });

  const many = 10_000;
  const repeated = (...said: InstructionSpec[]): InstructionSpec[] =>
    Array.from({ length: many / said.length }, () => said).flat();
  const deep = (program: string, depth: number): InstructionSpec[] =>
    Array.from({ length: many }, (_, at) => ({
      program,
      height: (at % depth) + 1,
      data: anchorData('swap'),
    }));
  const logsOf = (one: (at: number) => string): string[] => Array.from({ length: many }, (_, at) => one(at));
  const event = Buffer.from(encodeEvent(OKX, 'SwapEvent', { dex: 1, amount_in: 1n, amount_out: 2n }));

  const scenes: [string, () => ExecutedTransaction][] = [
    [
      'curve swaps whose SOL moves without a transfer',
      () =>
        executedTransaction(
          repeated(
            { program: PUMP, height: 1, data: anchorData('sell') },
            emitEvent(2, PUMP, 'TradeEvent', trade),
          ),
          { lamports: { [user]: [1n, 900n] } },
        ),
    ],
    ['routers within routers', () => executedTransaction(deep(TITAN, 255), { tokens })],
    ['wrappers within wrappers', () => executedTransaction(deep(PHOTON, 255), { tokens })],
    ['pools within pools', () => executedTransaction(deep(CLMM, 255), { tokens })],
    [
      'pools within pools within routers within routers, and all that moves beneath the last',
      () =>
        executedTransaction(
          [
            ...Array.from({ length: 125 }, (_, at) => ({ program: TITAN, height: at + 1 })),
            ...Array.from({ length: 125 }, (_, at) => ({
              ...{ program: CLMM, height: at + 126, data: anchorData('swap') },
              accounts: [user, user, user],
            })),
            ...repeated(transfer(251, 'user:A', 'state:A', 5n)),
          ],
          { tokens },
        ),
    ],
    [
      'one router, and pools that give and take',
      () =>
        executedTransaction(
          [
            { program: TITAN, height: 1 },
            ...repeated(
              { program: CLMM, height: 2, data: anchorData('swap'), accounts: [user, user, user] },
              transfer(3, 'user:A', 'state:A', 5n),
              transfer(3, 'state:B', 'user:B', 6n),
            ),
          ],
          { tokens },
        ),
    ],
    [
      'movements of one instruction',
      () => executedTransaction([{ program: OKX, height: 1 }, ...repeated(pay(2, user, named('x'), 1n))]),
    ],
    [
      'liquidity of one pool',
      () =>
        executedTransaction(
          repeated({
            program: CLMM,
            height: 1,
            data: anchorData('increase_liquidity'),
            accounts: [user, user, user],
          }),
        ),
    ],
    [
      'calls that never end',
      () =>
        executedTransaction([{ program: OKX, height: 1 }], {
          logs: logsOf((at) => `Program ${OKX} invoke [${at % 999}]`),
        }),
    ],
    [
      'outer calls of no instruction',
      () =>
        executedTransaction(repeated({ program: OKX, height: 1 }), {
          logs: logsOf(() => `Program ${CLMM} invoke [1]`),
        }),
    ],
    [
      'events of one call',
      () =>
        executedTransaction([{ program: OKX, height: 1 }], {
          logs: [`Program ${OKX} invoke [1]`, ...logsOf(() => `Program data: ${event.toString('base64')}`)],
        }),
    ],
  ];

  it.each(scenes)('take linear time: %s', (_, build) => {
    const run = build();
    expect(minimumOf(SECONDS_MAX, () => secondsOf(() => readAll(run)))).toBeLessThan(SECONDS_MAX);
  });

  it('count each signer once', () => {
    const signers = Array.from({ length: 250 }, (_, at) => named(String(at)) as Address);
    const said = repeated({ program: CLMM, height: 1, data: anchorData('swap') });
    const run = executedTransaction(said, { signers });
    const seconds = (): number => secondsOf(() => expect(readAll(run)).toBe(0));
    expect(minimumOf(SECONDS_MAX, seconds)).toBeLessThan(SECONDS_MAX);
  });
});
