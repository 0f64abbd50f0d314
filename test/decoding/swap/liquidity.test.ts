import { describe, expect, it } from 'vitest';
import { writeJson } from '../../../src/base/json.ts';
import { programParsers } from '../../../src/decoding/transaction/program-parsers.ts';
import { programs } from '../../../src/solana/programs.ts';
import {
  anchorData,
  executedTransaction,
  type InstructionSpec,
  named,
  tokenAccount,
  transfer,
} from './transaction-builder.ts';

const CPMM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C';
const RAYDIUM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';
const accounts = Array.from({ length: 21 }, (_, at) => named(`account ${at}`));
const provider = accounts[0] as ReturnType<typeof named>;

const tokens = ['A', 'B'].flatMap((mint) => [
  tokenAccount(`provider:${mint}`, named(mint), provider),
  tokenAccount(`pool:${mint}`, named(mint), named('pool')),
]);

const readFirst = (specs: readonly InstructionSpec[]): string => {
  const run = executedTransaction(specs, { tokens, signers: [provider] });
  const [first] = run.instructions;
  if (first === undefined) throw new RangeError('no instruction');
  return writeJson((programParsers.get(first.program)?.read(first, run) ?? null) as never);
};

const mintShare: InstructionSpec = {
  ...{ program: programs.token, height: 2 },
  parsed: { type: 'mintTo', info: { mint: named('lp'), account: named('provider:lp'), amount: '9' } },
};

const burnt: InstructionSpec = {
  ...{ program: programs.token, height: 2 },
  parsed: { type: 'burn', info: { mint: named('A'), account: named('provider:A'), amount: '4' } },
};

describe('pool actions', () => {
  it('decode a pool creation from its accounts', () => {
    const made = (program: string, data: Uint8Array) => readFirst([{ program, height: 1, data, accounts }]);
    expect(JSON.parse(made(CPMM, anchorData('initialize')))).toEqual([
      {
        type: 'CREATE_POOL',
        info: {
          ...{ pool_creator: accounts[0], liquidity_pool_address: accounts[3] },
          ...{ token_mint_one: accounts[4], token_mint_two: accounts[5] },
          ...{ token_vault_one: accounts[10], token_vault_two: accounts[11] },
        },
      },
    ]);
    expect(JSON.parse(made(RAYDIUM, Buffer.of(1)))[0].info.liquidity_pool_address).toBe(accounts[4]);
  });

  it('are UNKNOWN with too few accounts', () => {
    const spec = {
      program: CPMM,
      height: 1,
      data: anchorData('initialize'),
      accounts: accounts.slice(0, 11),
    };
    expect(readFirst([spec])).toBe('null');
  });

  it('decode added liquidity without LP tokens', () => {
    const specs = [
      { program: CPMM, height: 1, data: anchorData('deposit'), accounts },
      transfer(2, 'provider:A', 'pool:A', 1_500_000n),
      transfer(2, 'provider:B', 'pool:B', 2n),
      mintShare,
      burnt,
      { program: CPMM, height: 1 },
      transfer(2, 'provider:A', 'pool:A', 77n),
    ];
    expect(JSON.parse(readFirst(specs))).toEqual([
      {
        type: 'ADD_LIQUIDITY',
        info: {
          ...{ liquidity_provider_address: provider, liquidity_pool_address: accounts[2] },
          liquidity_added: [
            { token_address: named('A'), amount: 1.5, amount_raw: 1_500_000 },
            { token_address: named('B'), amount: 0.000002, amount_raw: 2 },
          ],
        },
      },
    ]);
  });

  it('decode removed liquidity', () => {
    const specs = [
      { program: CPMM, height: 1, data: anchorData('withdraw'), accounts },
      transfer(2, 'pool:A', 'provider:A', 3n),
    ];
    const [action] = JSON.parse(readFirst(specs));
    expect(action).toMatchObject({
      type: 'REMOVE_LIQUIDITY',
      info: { liquidity_removed: [{ token_address: named('A'), amount_raw: 3 }] },
    });
  });

  it('are UNKNOWN without movements and for other instructions', () => {
    expect(readFirst([{ program: CPMM, height: 1, data: anchorData('deposit'), accounts }])).toBe('null');
    expect(readFirst([{ program: CPMM, height: 1, data: anchorData('swap_base_input'), accounts }])).toBe(
      'null',
    );
    expect(readFirst([{ program: CPMM, height: 1 }])).toBe('null');
  });
});
