import { writeJson } from '../../src/base/json.ts';
import { instructionDiscriminator } from '../../src/decoding/transaction/events/layout.ts';
import type { ExecutedTransaction } from '../../src/decoding/transaction/executed-transaction.ts';
import { nftPrograms } from '../../src/decoding/transaction/nft/nft-programs.ts';
import { addressFromBytes } from '../../src/solana/address.ts';

export const from = 'transactions, through nodes';
export const covers = ['decoding/borsh.ts', 'decoding/transaction/nft/'];

/** Readers of what programs of NFTs do: whatever bytes and accounts they get, they only tell or do not know. */

const programs = [...nftPrograms.entries()];
const people = Array.from({ length: 256 }, (_, seed) => addressFromBytes(new Uint8Array(32).fill(seed)));

/** The first byte says which program, the second how many accounts; the rest is data. */
const named = (program: number, name: string): Uint8Array =>
  Uint8Array.of(program, 30, ...Buffer.from(instructionDiscriminator(name), 'hex'), ...new Uint8Array(160));

const names = [
  ...[
    'mint_v1',
    'mint_v2',
    'transfer_v2',
    'burn_v2',
    'create_tree',
    'sell',
    'buy',
    'buy_v2',
    'cancel',
    'list',
  ],
  ...['execute_sale', 'execute_partial_sale', 'execute_sale_v2', 'mip1_sell', 'bid', 'edit', 'buy_spl'],
  ...['take_bid_meta_hash', 'buy_nft', 'list_wns', 'sol_fulfill_buy', 'withdraw_from_treasury'],
];

export const seeds: readonly Uint8Array[] = [
  ...programs.flatMap((_, program) => names.map((name) => named(program, name))),
  ...Array.from({ length: 58 }, (_, number) => Uint8Array.of(0, 20, number)),
];

/** Feeds one instruction to the reader of its program. */
export function fuzz(input: Uint8Array): boolean {
  const [at = 0, count = 0] = input;
  const [program, { read }] = programs[at % programs.length] as (typeof programs)[number];
  const data = input.subarray(2);
  const place = { index: 0, outer: 0, height: 1, parentProgram: null, caller: null, parsed: null };
  const accounts = people.slice(at, at + (count % 40));
  const instruction = { ...place, program, accounts, data };
  const beneath = { ...instruction, index: 1, height: 2, caller: 0 };
  const transaction: ExecutedTransaction = {
    ...{ slot: 0n, blockTime: null, signatures: [], feePayer: program, signers: [], fee: 0n, err: null },
    ...{ accountKeys: [], preBalances: [], postBalances: [], logs: [] },
    ...{ instructions: [instruction, beneath], tokenAccounts: new Map(), decimals: new Map() },
  };
  const reported = read(instruction, transaction);
  for (const { info } of reported ?? []) writeJson(info);
  return reported !== null;
}
