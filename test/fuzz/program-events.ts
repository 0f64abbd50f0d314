import { parseJson, writeJson } from '../../src/base/json.ts';
import { eventTables } from '../../src/decoding/transaction/events/event-tables.ts';
import { EVENT_CALL } from '../../src/decoding/transaction/events/layout.ts';
import { readEvents } from '../../src/decoding/transaction/events/read-events.ts';
import type {
  ExecutedInstruction,
  ExecutedTransaction,
} from '../../src/decoding/transaction/executed-transaction.ts';
import { dexParsers, liquidityTables } from '../../src/decoding/transaction/swap/dex-parsers.ts';
import { dexPrograms } from '../../src/decoding/transaction/swap/dex-programs.ts';
import { readQuote } from '../../src/decoding/transaction/swap/jupiter-route.ts';
import { recognizeSwaps } from '../../src/decoding/transaction/swap/recognize-swaps.ts';
import type { Address } from '../../src/solana/address.ts';
import { nativeMint, programs } from '../../src/solana/programs.ts';

export const from = 'transactions, through nodes';
export const covers = ['decoding/borsh.ts', 'decoding/transaction/events/', 'decoding/transaction/swap/'];

const known = [...dexPrograms.keys()];
const keys: readonly Address[] = [...known, programs.token, programs.system, nativeMint];
const readers = new Map(dexParsers);

const heads = [
  ...[...eventTables].flatMap(([program, table]) =>
    [...table.keys()].map((name) => [program, `${EVENT_CALL}${name}`] as const),
  ),
  ...[...dexPrograms].flatMap(([program, { swaps }]) =>
    [...(swaps?.keys() ?? [])].map((name) => [program, name] as const),
  ),
  ...[...liquidityTables].flatMap(([program, { creations, changes }]) =>
    [...creations.keys(), ...changes.keys()].map((name) => [program, name] as const),
  ),
];

/** An instruction of each kind, of one program: its number, how deep it is, and bytes. */
export const seeds: readonly Uint8Array[] = heads.map(([program, head]) => {
  const data = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(200)]);
  return Buffer.concat([Buffer.of(known.indexOf(program), 1, data.length), data]);
});

/** Instructions one after the other: a program, how deep it is, the length of its bytes, and the bytes. */
function readInstructions(input: Uint8Array): ExecutedInstruction[] {
  const instructions: ExecutedInstruction[] = [];
  for (let at = 0; at + 3 <= input.length; ) {
    const [which = 0, depth = 0, length = 0] = input.subarray(at, at + 3);
    const index = instructions.length;
    const inner = depth % 4 > 0 && index > 0;
    instructions.push({
      ...{ index, outer: 0, height: depth > 200 ? null : inner ? (depth % 4) + 1 : 1 },
      parentProgram: inner ? (keys[0] ?? null) : null,
      caller: inner ? index - 1 : null,
      program: keys[which % keys.length] as Address,
      accounts: keys.slice(0, depth % 40),
      data: input.subarray(at + 3, at + 3 + length),
      parsed: {
        type: 'transfer',
        info: {
          ...{ source: keys[depth % keys.length], destination: keys[length % keys.length] },
          ...{ amount: String(length), lamports: BigInt(length) },
        },
      },
    });
    at += 3 + length;
  }
  return instructions;
}

/** The bytes as logs, too: each line by a program that runs. */
function logsOf(instructions: readonly ExecutedInstruction[]): string[] {
  return instructions.flatMap(({ program, height, data }) => [
    `Program ${program} invoke [${height ?? 2}]`,
    `Program data: ${Buffer.from(data.subarray(8)).toString('base64')}`,
    `Program log: ray_log: ${Buffer.from(data).toString('base64')}`,
  ]);
}

function runOf(input: Uint8Array): ExecutedTransaction {
  const instructions = readInstructions(input);
  const tokenAccounts = keys.map((key, at) => ({
    ...{ address: key, mint: keys[at % 3] as Address, owner: keys[at % 5] as Address },
    ...{ decimals: 6, program: programs.token, before: 5n, after: BigInt(at) },
  }));
  return {
    ...{ slot: 1n, blockTime: null, signatures: [], fee: 5000n, err: null, instructions },
    ...{ feePayer: keys[0] as Address, signers: keys.slice(0, 3), accountKeys: keys },
    preBalances: keys.map(() => 7n),
    postBalances: keys.map((_, at) => BigInt(at)),
    logs: logsOf(instructions),
    tokenAccounts: new Map(tokenAccounts.map((one) => [one.address, one])),
    decimals: new Map(keys.map((key) => [key, 6])),
  };
}

/** Whatever programs leave behind, events, swaps and what is done to pools are shown as JSON, or not at all. */
export function fuzz(input: Uint8Array): boolean {
  const run = runOf(input);
  const events = readEvents(run);
  const swaps = recognizeSwaps(run, events);
  const actions = run.instructions.map((one) => readers.get(one.program)?.read(one, run) ?? null);
  for (const { data } of run.instructions) readQuote(data);
  parseJson(writeJson({ events, swaps, actions }));
  for (const { in: given, out } of swaps) {
    if (given.raw <= 0n || out.raw <= 0n) throw new Error('a swap of nothing');
  }
  return events.length + swaps.length > 0;
}
