import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../../src/base/json.ts';
import { mintsToName, type TokenLabels } from '../../../src/decoding/transaction/name-tokens.ts';
import { parsedTransaction, parseEffects } from '../../../src/decoding/transaction/parse-transaction.ts';
import { readExecutedTransaction } from '../../../src/decoding/transaction/read-executed-transaction.ts';
import type { Address } from '../../../src/solana/address.ts';
import { JUPITER, type Recorded, type RecordedAction, RecordRebuilder } from './rebuilt-record.ts';

/**
 * ../shared/data/rest/shyft_transactions_sample.json: four records of the live interface. They come without the raw
 * transactions, which are put together again from what they tell: instructions by their indexes, balances, events and
 * arguments. What they do not tell (opened and closed accounts, the budget) stands there as something of its kind.
 */
const file = join(import.meta.dirname, '../../../../shared/data/rest/shyft_transactions_sample.json');
const present = existsSync(file);
const records: Recorded[] = present
  ? (parseJson(readFileSync(file, 'utf8')) as unknown as { result: Recorded[] }).result
  : [];

const ELON: TokenLabels = {
  name: 'The Meme Lord',
  symbol: 'ELON',
  image_uri: 'https://ipfs.io/ipfs/bafkreibetfcsmovt3rhu3oo2ypr5m3tfz4eqgma5hfzujeeudmawyyycke',
};
const SOL: TokenLabels = {
  name: 'Wrapped SOL',
  symbol: 'SOL',
  image_uri:
    'https://raw.githubusercontent.com/solana-labs/token-list/main/assets/mainnet/So11111111111111111111111111111111111111112/logo.png',
};
const names = new Map<Address, TokenLabels>([
  ['31XZwz5wszKRS3wGS5MYu6FPXWY9RE5C6oMKeDA9pump' as Address, ELON],
  ['So11111111111111111111111111111111111111112' as Address, SOL],
]);

const recordAt = (at: number): Recorded => records[at] as Recorded;

/** What Solway tells of a record's transaction, as a client reads it. */
function told(at: number): Recorded {
  const transaction = readExecutedTransaction(new RecordRebuilder(recordAt(at)).result());
  if (transaction === null) throw new Error('no transaction');
  const deeds = parseEffects(transaction);
  expect([...mintsToName(deeds.actions)].length).toBeGreaterThan(0);
  return parseJson(writeJson(parsedTransaction(transaction, deeds, names, { events: true }))) as never;
}

const transfersOf = ({ actions }: Recorded): RecordedAction[] =>
  actions.filter(({ type }) => type === 'TOKEN_TRANSFER');

/** Who traded, by the program's own event; somebody else may have paid the fee. */
const swapperOf = (at: number) => recordAt(at).events[0]?.data.user;

/** Members that no reading of a transaction changes. */
const facts = ({ actions: _, type: __, protocol: ___, ...rest }: Recorded) => rest;

describe.skipIf(!present)('recorded records (../shared/data, rest/shyft_transactions_sample.json)', () => {
  it('a sale to a pool is told to the letter, but for one number that floats have spoilt', () => {
    const live = recordAt(0);
    const spoilt = live.actions[2]!.info;
    expect(spoilt.amount_raw).toBe(31238.999999999996);
    // Raw amounts are integers: the pool moved 31,239 lamports, as the balances of the same record say.
    spoilt.amount_raw = 31239;
    expect(writeJson(told(0) as never)).toBe(writeJson(live as never));
  });

  it.each([1, 2, 3])(
    'number %i: fee, signers, balances and events are told as recorded, member for member',
    (at) => {
      expect(writeJson(facts(told(at)) as never)).toBe(writeJson(facts(recordAt(at)) as never));
    },
  );

  it.each([1, 2, 3])('number %i: transfers of tokens are told as recorded, in their places', (at) => {
    expect(transfersOf(told(at))).toEqual(transfersOf(recordAt(at)));
  });

  it.each([
    // Jupiter: its events, in the same record, say that USDC went through two pools. Live, the transaction is called
    // by how big an account is (GETACCOUNTDATASIZE), and who reads it has to find the swap among UNKNOWN pools.
    [1, 'GETACCOUNTDATASIZE', JUPITER, 'JUPITER_V_6', 10],
    // A wrapper around the pool: live, one of five transfers stands for the whole.
    [2, 'TOKEN_TRANSFER', 'FLASHX8DrLbgeR8FcfNV1F5krxYcYMUdBkrP1EPBtxB9', undefined, 6],
    // Jupiter again: live, it is called by the purse that is opened for it (CREATE_TOKEN_ACCOUNT).
    [3, 'CREATE_TOKEN_ACCOUNT', JUPITER, 'JUPITER_V_6', 7],
  ] as const)(
    'number %i: is the swap that it is, where the live interface says %s',
    (at, type, address, name, index) => {
      expect(recordAt(at).type).toBe(type);
      const ours = told(at);
      expect(ours).toMatchObject({ type: 'SWAP', protocol: { address, ...(name && { name }) } });
      const [swap, ...rest] = ours.actions;
      expect(swap).toMatchObject({ type: 'SWAP', ix_index: index, info: { swapper: swapperOf(at) } });
      // Beside a swap only transfers of tokens are told: what pools call in turn and the SOL that opens purses are its
      // parts (as the live interface has it in the record that it recognises).
      expect(rest).toEqual(transfersOf(recordAt(at)));
    },
  );

  it('what the swapper gave and got is what the balances of the record say', () => {
    for (const at of [0, 1, 2, 3]) {
      const { actions, token_balance_changes } = told(at);
      const { tokens_swapped: swapped } = actions[0]!.info as unknown as {
        tokens_swapped: Record<'in' | 'out', { token_address: string; amount_raw: number }>;
      };
      for (const [side, sign] of [
        [swapped.in, -1],
        [swapped.out, 1],
      ] as const) {
        const change = token_balance_changes.find(
          ({ owner, mint }) => owner === swapperOf(at) && mint === side.token_address,
        );
        // Of wrapped SOL nothing is left in a purse that is closed again.
        if (change === undefined) expect(side.token_address).toMatch(/^So1/);
        else expect(change.post_balance - change.pre_balance).toBe(sign * side.amount_raw);
      }
    }
  });

  it('a route tells what was quoted, and what came instead', () => {
    expect(told(1).actions[0]?.info).toMatchObject({
      slippage_in_percent: 5,
      quoted_out_amount: 9_957_896_791_942,
      // More came than was quoted.
      slippage_paid: -2482.333352,
    });
  });

  it('accounts that are opened, and calls for their sake, are told in none', () => {
    const types = records.flatMap((_, at) => told(at).actions.map(({ type }) => type));
    expect(new Set(types)).toEqual(new Set(['SWAP', 'TOKEN_TRANSFER']));
  });
});
