import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../../src/base/json.ts';
import type { Swap } from '../../../src/decoding/transaction/action.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import type {
  ExecutedTransaction,
  TransactionTokenAccount,
} from '../../../src/decoding/transaction/executed-transaction.ts';
import { dexPrograms } from '../../../src/decoding/transaction/swap/dex-programs.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import type { Address } from '../../../src/solana/address.ts';
import { nativeMint, programs } from '../../../src/solana/programs.ts';
import {
  anchorData,
  emitEvent,
  executedTransaction,
  type InstructionSpec,
  pay,
  tokenAccount,
  transfer,
} from './transaction-builder.ts';

/** ../shared/data/rest/shyft_transactions_sample.json: four records without their transactions. */
const file = join(import.meta.dirname, '../../../../shared/data/rest/shyft_transactions_sample.json');
const present = existsSync(file);

const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
const PUMP_AMM = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA';
const PUMP_FEES = 'pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ';
const ELON = '31XZwz5wszKRS3wGS5MYu6FPXWY9RE5C6oMKeDA9pump';
const POOL = 'FaX71QvybvdEW7mB7MbMrPocYEUVjvtKUmdP5GJXmm5y';

type Action = Readonly<{
  type: string;
  ix_index: number;
  parent_protocol?: string;
  source_protocol: { address: string };
  info: Record<string, unknown>;
}>;
type Event = Readonly<{ name: string; data: Record<string, unknown> }>;
type Record_ = Readonly<{
  signers: Address[];
  actions: Action[];
  events: Event[];
  token_balance_changes: { owner: string; mint: string; change_amount: number }[];
}>;

const records: Record_[] = present
  ? (parseJson(readFileSync(file, 'utf8')) as unknown as { result: Record_[] }).result
  : [];

const recordAt = (at: number): Record_ => records[at] as Record_;

/** Records name only the receiver's account; any other account will do. */
const accountOf = (owner: unknown, mint: unknown): string => `${owner}:${mint}`;

function sayTransfer({ info, parent_protocol }: Action, height: number): InstructionSpec {
  const amount = BigInt(Math.round(Number(info.amount_raw)));
  const depth = parent_protocol === undefined ? 1 : height;
  if (info.token_address === undefined) {
    return pay(depth, info.sender as Address, info.receiver as Address, amount);
  }
  const [source, destination] = [
    accountOf(info.sender, info.token_address),
    accountOf(info.receiver, info.token_address),
  ];
  return transfer(depth, source, destination, amount);
}

const tradeOf = ({ events }: Record_): Event =>
  events.find(({ name }) => /^(Buy|Sell)Event$/.test(name)) as Event;

/** AMM trade: pool and trader are the first accounts. */
function sayTrade(record: Record_, height: number): InstructionSpec {
  const { name, data } = tradeOf(record);
  const instruction = name === 'SellEvent' ? 'sell' : (data.ix_name as string);
  return {
    ...{ program: PUMP_AMM, height, data: anchorData(instruction, 1n, 1n) },
    accounts: [data.pool as string, data.user as string],
  };
}

/** Route with accounts and arguments in IDL order. */
function sayRoute({ info }: Action): InstructionSpec {
  const head = Buffer.alloc(6);
  for (const [at, name] of ['slippage_bps', 'platform_fee_bps', 'positive_slippage_bps'].entries()) {
    head.writeUInt16LE(info[name] as number, 2 * at);
  }
  const amounts = [info.in_amount, info.quoted_out_amount].map((one) => BigInt(one as number));
  const plan = Buffer.alloc(4);
  return {
    ...{ program: JUPITER, height: 1 },
    accounts: Object.values(info).filter((value) => typeof value === 'string') as string[],
    data: Buffer.concat([anchorData('route_v2', ...amounts), head, plan]),
  };
}

/** Placeholder for instructions missing in the record. */
const placeholder: InstructionSpec = { program: programs.computeBudget, height: 1 };

/** Instruction of an action; events follow their program's instruction as UNKNOWN. */
function sayAction(record: Record_, action: Action, seen: Set<string>): InstructionSpec {
  const program = action.source_protocol.address;
  const inner = action.parent_protocol !== undefined;
  if (action.type.endsWith('_TRANSFER')) {
    const after = action.info.token_address === undefined || seen.has('SwapsEvent');
    return sayTransfer(action, after ? 2 : 3);
  }
  if (action.type === 'ROUTE_V2') return sayRoute(action);
  if (action.type === 'SWAP') return sayTrade(record, 1);
  if (program === PUMP_AMM && !seen.has(program)) return sayTrade(record, 2);
  if (program === PUMP_AMM) return emitEvent(3, program, tradeOf(record).name, tradeOf(record).data);
  if (program === JUPITER && inner) {
    seen.add('SwapsEvent');
    const event = record.events.find(({ name }) => name === 'SwapsEvent') as Event;
    return emitEvent(2, program, event.name, event.data);
  }
  if (program === PUMP_FEES) return { program, height: 3 };
  return { program, height: inner ? 2 : 1 };
}

function accountsOf(record: Record_): TransactionTokenAccount[] {
  return record.actions.flatMap(({ info }) =>
    info.token_address === undefined || info.sender === undefined
      ? []
      : [info.sender, info.receiver].map((owner) =>
          tokenAccount(accountOf(owner, info.token_address), info.token_address as Address, owner as Address),
        ),
  );
}

function rebuild(record: Record_): ExecutedTransaction {
  const said: InstructionSpec[] = [];
  const seen = new Set<string>();
  for (const action of record.actions.toSorted((one, other) => one.ix_index - other.ix_index)) {
    while (said.length < action.ix_index)
      said.push(said.length > 4 ? { program: PUMP_FEES, height: 3 } : placeholder);
    said.push(sayAction(record, action, seen));
    seen.add(action.source_protocol.address);
  }
  if (!said.some(({ data }) => data !== undefined && data.length > 100)) {
    said.push(emitEvent(2, PUMP_AMM, tradeOf(record).name, tradeOf(record).data));
  }
  return executedTransaction(said, { signers: record.signers, tokens: accountsOf(record) });
}

const swapsOf = (at: number): Swap[] => {
  const run = rebuild(recordAt(at));
  return recognizeSwaps(run, readEvents(run));
};

const gained = (at: number, owner: string, mint: string): bigint | undefined => {
  const change = recordAt(at).token_balance_changes.find((one) => one.owner === owner && one.mint === mint);
  return change === undefined ? undefined : BigInt(change.change_amount);
};

describe.skipIf(!present)('recorded records (../shared/data, rest/shyft_transactions_sample.json)', () => {
  it.each([0, 1, 2, 3])('number %i: reads its events from their bytes', (at) => {
    const events = readEvents(rebuild(recordAt(at))).map(({ data, name }) => ({ data, name }));
    expect(writeJson(events)).toBe(writeJson(recordAt(at).events as never));
  });

  it('decodes a sale to the pool', () => {
    const [swap, ...others] = swapsOf(0);
    const recorded = recordAt(0).actions.find(({ type }) => type === 'SWAP') as Action;
    type Side = { token_address: string; amount_raw: number };
    const side = (given: unknown) => {
      const { token_address, amount_raw } = given as Side;
      return { mint: token_address, raw: BigInt(amount_raw) };
    };
    const {
      swapper,
      tokens_swapped: ends,
      swaps,
    } = recorded.info as {
      swapper: string;
      tokens_swapped: { in: Side; out: Side };
      swaps: { liquidity_pool_address: string; source: string; in: Side; out: Side }[];
    };
    expect(others).toEqual([]);
    expect(swap).toEqual({
      ...{ index: recorded.ix_index, program: PUMP_AMM, parentProgram: null, swapper },
      ...{ in: side(ends.in), out: side(ends.out), slippagePercent: null, quotedOut: null },
      pools: swaps.map((one) => ({
        ...{ pool: one.liquidity_pool_address, source: one.source, in: side(one.in), out: side(one.out) },
      })),
    });
  });

  it('decodes a route through two pools that the record lacks', () => {
    const [swap, ...others] = swapsOf(1);
    const user = 'CcBmy9UULwC4KTzTVejcucxhLmRiN57dXAMPRgcbTz7E';
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    expect(others).toEqual([]);
    expect(swap).toMatchObject({
      ...{ index: 10, program: JUPITER, swapper: user },
      in: { mint: usdc, raw: 18_000_000n },
      out: { mint: ELON, raw: 9_960_379_125_294n },
      ...{ slippagePercent: 5, quotedOut: 9_957_896_791_942n },
    });
    expect(swap?.pools.map(({ source, pool, out }) => [source, pool, out.raw])).toEqual([
      ['Tessera V', null, 204_295_438n],
      ['Pump.fun AMM', POOL, 9_960_379_125_294n],
    ]);
    expect(gained(1, user, usdc)).toBe(-18_000_000n);
    expect(gained(1, user, ELON)).toBe(9_960_379_125_294n);
  });

  it('excludes the fee of a wrapper', () => {
    const [swap, ...others] = swapsOf(2);
    const user = '8woAfWABSsgbfbBBk86EWZjPxX5AjyGeBNupfGudgX2e';
    expect(others).toEqual([]);
    expect(swap).toMatchObject({
      ...{ index: 6, program: 'FLASHX8DrLbgeR8FcfNV1F5krxYcYMUdBkrP1EPBtxB9', swapper: user },
      in: { mint: nativeMint, raw: 148_500n },
      out: { mint: ELON, raw: 7_316_701_903n },
      pools: [{ pool: POOL, source: 'Pump.fun AMM' }],
    });
    expect(gained(2, user, ELON)).toBe(7_316_701_903n);
  });

  it('includes the platform fee of a SOL route in the input', () => {
    const [swap, ...others] = swapsOf(3);
    const user = 'H1XbNYE74ybmeah7efNejFe8K5R1usK5fqRPKZpHJTxm';
    expect(others).toEqual([]);
    expect(swap).toMatchObject({
      ...{ index: 7, program: JUPITER, swapper: user },
      in: { mint: nativeMint, raw: 120_000_000n },
      out: { mint: ELON, raw: 5_752_336_227_414n },
      ...{ slippagePercent: 5, quotedOut: 5_752_159_946_946n },
      pools: [{ pool: POOL, source: 'Pump.fun AMM', in: { raw: 119_400_000n } }],
    });
    expect(gained(3, user, ELON)).toBe(5_752_336_227_414n);
  });

  it('names programs as the records do', () => {
    const shown = records.flatMap(({ actions }) => actions.map(({ source_protocol }) => source_protocol));
    for (const { address, name } of shown as { address: Address; name: string }[]) {
      if (name !== '' && dexPrograms.has(address)) expect(dexPrograms.get(address)?.protocol).toBe(name);
    }
  });
});
