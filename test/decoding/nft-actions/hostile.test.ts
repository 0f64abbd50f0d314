import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeJson } from '../../../src/base/json.ts';
import { instructionDiscriminator } from '../../../src/decoding/transaction/events/layout.ts';
import { nftPrograms } from '../../../src/decoding/transaction/nft/nft-programs.ts';
import { type Address, addressFromBytes } from '../../../src/solana/address.ts';
import { minimumOf, msOf } from '../../project/minimum-of.ts';
import { dataOf } from './instruction-rows.ts';
import { allActions, executedTransaction, holding, someone } from './transaction-builder.ts';

/** Known names, so that bytes pass the discriminator. */
const names = `sell buy buy_v2 cancel cancel_v2 execute_sale execute_sale_v2 execute_partial_sale mint_v1
  mint_to_collection_v1 mint_v2 transfer transfer_v2 burn burn_v2 create_tree buy_edition_v2 mip1_sell
  core_execute_sale_v2 withdraw_from_treasury list list_legacy delist edit bid take_bid_meta_hash
  take_bid_full_meta buy_core buy_nft buy_single_listing sol_fulfill_buy tcomp_noop tamm_noop edit_single_listing`;
const marks = names.split(/\s+/).map((name) => [...Buffer.from(instructionDiscriminator(name), 'hex')]);
const numbers = Array.from({ length: 60 }, (_, number) => [number]);

const program: fc.Arbitrary<Address> = fc.constantFrom(...nftPrograms.keys());
const account = fc.oneof(
  fc.integer({ min: 0, max: 30 }).map(someone),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes),
  program,
);
const data = fc
  .tuple(fc.constantFrom(...marks, ...numbers, []), fc.uint8Array({ maxLength: 200 }))
  .map(([mark, rest]) => Uint8Array.of(...mark, ...rest));

const instruction = fc.record({
  program,
  accounts: fc.array(account, { maxLength: 28 }),
  data,
  outer: fc.nat(3),
  height: fc.option(fc.integer({ min: 1, max: 5 })),
  caller: fc.option(fc.nat(8)),
});

const lines = fc.oneof(
  program.map((one) => `Program ${one} invoke [1]`),
  program.map((one) => `Program ${one} success`),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => `Program data: ${Buffer.from(bytes).toString('base64')}`),
  fc.string().map((text) => `Program log: {${text}`),
);

const transaction = fc
  .record({
    instructions: fc.array(instruction, { maxLength: 8 }),
    logs: fc.array(lines, { maxLength: 12 }),
    err: fc.option(fc.constant('failed')),
    holders: fc.array(fc.tuple(account, account, fc.option(account), fc.bigInt(0n, 2n)), { maxLength: 4 }),
    mints: fc.array(fc.tuple(account, fc.nat(255)), { maxLength: 6 }),
  })
  .map(({ instructions, logs, err, holders, mints }) =>
    executedTransaction(instructions, {
      ...{ logs, err, decimals: new Map(mints) },
      tokenAccounts: holders.map(([at, mint, owner, after]) => holding(at, mint, owner, [0n, after])),
    }),
  );

describe('NFT program parsers', () => {
  it('never throw and always return serializable actions', () => {
    fc.assert(
      fc.property(transaction, (ran) => {
        for (const { type, info } of allActions(ran)) {
          expect(type).toMatch(/^[A-Z_]+$/);
          writeJson(info);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['burns', 'BGUM', 'burn'],
    ['sells', 'haus', 'sell'],
    ['pool purchases', 'TSWA', 'buy_nft'],
    ['bids', 'TCMP', 'edit'],
  ])('take little time for the maximum number of %s', (_, prefix, name) => {
    const [one] = [...nftPrograms.keys()].filter((key) => key.startsWith(prefix));
    const accounts = Array.from({ length: 200 }, (__, index) => someone(index));
    const body = dataOf(name, '300*0');
    const instructions = Array.from({ length: 1_000 }, () => ({ program: one!, accounts, data: body }));
    const logs = Array.from({ length: 5_000 }, (__, at) =>
      at % 2 ? `Program ${one} invoke [1]` : 'Program data: aa',
    );
    const mints = Array.from({ length: 200 }, (__, index) => [someone(index), 6] as const);
    const tookMs = (): number =>
      msOf(() => allActions(executedTransaction(instructions, { logs, decimals: new Map(mints) })));
    expect(minimumOf(2_000, tookMs)).toBeLessThan(2_000);
  });
});
