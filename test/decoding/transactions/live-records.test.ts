import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../../src/base/json.ts';
import { mintsToName, type TokenLabels } from '../../../src/decoding/transaction/name-tokens.ts';
import { parsedTransaction, parseEffects } from '../../../src/decoding/transaction/parse-transaction.ts';
import { readExecutedTransaction } from '../../../src/decoding/transaction/read-executed-transaction.ts';
import type { Address } from '../../../src/solana/address.ts';
import { effectLines } from './effect-lines.ts';
import { type Recorded, type RecordedAction, RecordRebuilder } from './rebuilt-record.ts';

/**
 * ../shared/data/rest/shyft_transactions_sample.json: four live records without raw transactions.
 * Instructions are rebuilt from their indexes, balances, events and arguments; placeholders stand for the
 * rest.
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

function decoded(at: number, labels = names): Recorded {
  const transaction = readExecutedTransaction(new RecordRebuilder(recordAt(at)).result());
  if (transaction === null) throw new Error('no transaction');
  const effects = parseEffects(transaction);
  expect([...mintsToName(effects.actions)].length).toBeGreaterThan(0);
  return parseJson(writeJson(parsedTransaction(transaction, effects, labels, { events: true }))) as never;
}

const transfersOf = ({ actions }: Recorded): RecordedAction[] =>
  actions.filter(({ type }) => type === 'TOKEN_TRANSFER');

/** Trader in the program's event; the fee payer may differ. */
const swapperOf = (at: number) => recordAt(at).events[0]?.data.user;

/** Members that parsing does not change. */
const facts = ({ actions: _, type: __, protocol: ___, ...rest }: Recorded) => rest;

describe.skipIf(!present)('recorded records (../shared/data, rest/shyft_transactions_sample.json)', () => {
  it('decodes a pool sale as recorded, except for one rounded amount', () => {
    const live = recordAt(0);
    const spoilt = live.actions[2]!.info;
    expect(spoilt.amount_raw).toBe(31238.999999999996);
    // Raw amounts are integers: the balances show 31,239 lamports.
    spoilt.amount_raw = 31239;
    expect(writeJson(decoded(0) as never)).toBe(writeJson(live as never));
  });

  it.each([1, 2, 3])('number %i: matches fee, signers, balances and events', (at) => {
    expect(writeJson(facts(decoded(at)) as never)).toBe(writeJson(facts(recordAt(at)) as never));
  });

  it.each([1, 2, 3])('number %i: matches token transfers in order', (at) => {
    expect(transfersOf(decoded(at))).toEqual(transfersOf(recordAt(at)));
  });

  /** The type is that of the live interface, which misses swaps of routers and wrappers. */
  it.each([
    [
      'SWAP',
      'PUMP_FUN_AMM',
      '4 SWAP 7xWM ((31XZ 1538262280) (So11 31239)) [(FaX7 Pump.fun AMM (31XZ 1538262280) (So11 31239))] - - -',
    ],
    [
      'GETACCOUNTDATASIZE',
      'JUPITER_V_6',
      '10 SWAP CcBm ((EPjF 18000000) (31XZ 9960379125294)) [(- Tessera V (EPjF 17715600) (So11 204295438)) (FaX7 Pump.fun AMM (So11 204295438) (31XZ 9960379125294))] 5 9957896791942 -2482.333352',
    ],
    [
      'TOKEN_TRANSFER',
      'AXIOM',
      '6 SWAP 8woA ((So11 148500) (31XZ 7316701903)) [(FaX7 Pump.fun AMM (So11 148500) (31XZ 7316701903))] - - -',
    ],
    [
      'CREATE_TOKEN_ACCOUNT',
      'JUPITER_V_6',
      '7 SWAP H1Xb ((So11 120000000) (31XZ 5752336227414)) [(FaX7 Pump.fun AMM (So11 119400000) (31XZ 5752336227414))] 5 5752159946946 -176.280468',
    ],
  ])('a swap that the live interface reports as %s is by %s', (type, name, swap) => {
    const at = records.findIndex((live) => live.type === type);
    const [chief, first] = effectLines(decoded(at, new Map()) as never);
    expect([chief, first]).toEqual([`SWAP by ${name}`, swap]);
    // Beside a swap only token transfers are shown.
    expect(decoded(at).actions.slice(1)).toEqual(transfersOf(recordAt(at)));
  });

  it('matches the swap amounts with the balances', () => {
    for (const at of [0, 1, 2, 3]) {
      const { actions, token_balance_changes } = decoded(at);
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
        // A closed wrapped SOL account has no balance change.
        if (change === undefined) expect(side.token_address).toMatch(/^So1/);
        else expect(change.post_balance - change.pre_balance).toBe(sign * side.amount_raw);
      }
    }
  });
});
