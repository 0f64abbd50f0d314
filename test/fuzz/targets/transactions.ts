import { decodeMessageText, decodeTransactionText } from '../../../packages/localnet/src/rpc/decode-wire.ts';
import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import type { TokenName } from '../../../src/decoding/token/find-names.ts';
import { eventTables } from '../../../src/decoding/transaction/events/event-tables.ts';
import { EVENT_CALL } from '../../../src/decoding/transaction/events/layout.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import type {
  ExecutedInstruction,
  ExecutedTransaction,
} from '../../../src/decoding/transaction/executed-transaction.ts';
import { mintsToName } from '../../../src/decoding/transaction/name-tokens.ts';
import { parsedTransaction, parseEffects } from '../../../src/decoding/transaction/parse-transaction.ts';
import { programParsers } from '../../../src/decoding/transaction/program-parsers.ts';
import { readExecutedTransaction } from '../../../src/decoding/transaction/read-executed-transaction.ts';
import { dexParsers, liquidityTables } from '../../../src/decoding/transaction/swap/dex-parsers.ts';
import { dexPrograms } from '../../../src/decoding/transaction/swap/dex-programs.ts';
import { readQuote } from '../../../src/decoding/transaction/swap/jupiter-route.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import { RpcError } from '../../../src/protocol/rpc-error.ts';
import type { Address } from '../../../src/solana/address.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { blockhashFromBytes } from '../../../src/solana/blockhash.ts';
import { Keypair, verifyTransaction } from '../../../src/solana/ed25519.ts';
import { decodeMessage, encodeMessage, type Message } from '../../../src/solana/message/message.ts';
import { allKeys, isWritable } from '../../../src/solana/message/message-keys.ts';
import { nonceOfTransaction } from '../../../src/solana/nonce.ts';
import { nativeMint, programs } from '../../../src/solana/programs.ts';
import { signatureBytes } from '../../../src/solana/signature.ts';
import { compileMessage } from '../../../src/solana/transaction/compile-message.ts';
import { feeOf } from '../../../src/solana/transaction/compute-budget.ts';
import { decodeTransaction } from '../../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../../src/solana/transaction/encode-transaction.ts';
import { memoOf } from '../../../src/solana/transaction/memo.ts';
import { sanitizeTransaction } from '../../../src/solana/transaction/sanitize-transaction.ts';
import { parseSubmitRequest } from '../../../src/upstream/submit/submit-request.ts';
import { signatureOfParams } from '../../../src/upstream/transaction-signature.ts';
import { createRandom, type Random, randomBytes } from '../engine/mutate.ts';
import { accepted, jsonIn, type Target } from '../engine/target.ts';

const payer = Keypair.fromSeed(new Uint8Array(32).fill(7));
const other = Keypair.fromSeed(new Uint8Array(32).fill(8)).address;

const legacy = compileMessage({
  feePayer: payer.address,
  recentBlockhash: blockhashFromBytes(new Uint8Array(32).fill(9)),
  instructions: [
    {
      programId: programs.system,
      accounts: [
        { address: payer.address, signer: true, writable: true },
        { address: other, signer: false, writable: true },
      ],
      data: Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0),
    },
    { programId: programs.memoV3, accounts: [], data: new TextEncoder().encode('hello') },
    { programId: programs.computeBudget, accounts: [], data: Uint8Array.of(2, 64, 13, 3, 0) },
  ],
});

const versioned: Message = {
  ...legacy,
  version: 0,
  addressTableLookups: [
    { accountKey: other, writableIndexes: Uint8Array.of(1, 2), readonlyIndexes: Uint8Array.of(3) },
  ],
};

const version1: Message = {
  ...legacy,
  version: 1,
  config: {
    priorityFee: 5n,
    computeUnitLimit: 200_000,
    loadedAccountsDataSizeLimit: 1_000,
    heapSize: 65_536,
  },
};

export const decodeTransactionTarget: Target = {
  seeds: [legacy, versioned, version1].map((message) => {
    const bytes = encodeMessage(message);
    return encodeTransaction([payer.sign(bytes)], bytes);
  }),
  /** An accepted transaction has exactly one encoding, and no reader throws. */
  fuzz(input: Uint8Array): boolean {
    decodeMessage(input);
    const decoded = decodeTransaction(input);
    if ('fault' in decoded) return false;
    const { signatures, message } = decoded.transaction;
    const again = encodeTransaction(signatures.map(signatureBytes), encodeMessage(message));
    if (!Buffer.from(again).equals(input)) throw new Error('an accepted transaction has a second encoding');
    sanitizeTransaction(decoded.transaction);
    verifyTransaction(decoded.transaction);
    nonceOfTransaction(message);
    memoOf(message);
    feeOf(message);
    for (const index of allKeys(message).keys()) isWritable(message, index);
    return true;
  },
};

const configs = ['', ',{"encoding":"base64"}', ',{"encoding":"base64","maxRetries":3,"skipPreflight":true}'];

function check(params: Buffer): boolean {
  const signature = signatureOfParams(params);
  const request = parseSubmitRequest(params);
  if (request === null) return false;
  const wire = Buffer.from(request.text, 'base64');
  const decoded = decodeTransaction(wire);
  const isNamed = 'fault' in decoded || decoded.transaction.signatures[0] === request.signature;
  if (!isNamed) throw new Error('the signature of another transaction');
  if (signature !== null && !('fault' in decoded) && signature !== request.signature)
    throw new Error('two signatures of a transaction');
  for (const sent of [request.firstNodeParams, request.otherNodeParams, request.bareParams]) {
    const [text] = JSON.parse(sent.toString()) as [string];
    if (sent !== request.firstNodeParams && text !== request.text)
      throw new Error('would send another transaction');
  }
  return true;
}

export const sendRequestTarget: Target = {
  /** Params of sendTransaction, transactions to put into params, and their texts. */
  seeds: [
    ...decodeTransactionTarget.seeds.flatMap((wire) =>
      configs.map((config) => {
        const text = config === '' ? encodeBase58(wire) : Buffer.from(wire).toString('base64');
        return Buffer.from(`["${text}"${config}]`);
      }),
    ),
    Buffer.from('["AA==",["base64",false,null,5,7]]'),
    ...decodeTransactionTarget.seeds,
    ...decodeTransactionTarget.seeds.map((wire) => Buffer.from(Buffer.from(wire).toString('base64'))),
  ],
  /** Nothing is sent, or the given transaction with its signature; texts are read or refused. */
  fuzz(input: Uint8Array): boolean {
    const given = Buffer.from(input).toString();
    for (const encoding of ['base64', 'base58'] as const)
      accepted(() => decodeTransactionText(given, encoding), RpcError);
    accepted(() => decodeMessageText(given), RpcError);
    const text = Buffer.from(input).toString('base64');
    const isRead = check(Buffer.from(`["${text}",{"encoding":"base64"}]`));
    return check(Buffer.from(input)) || isRead;
  },
};

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

/** Instructions: program, depth, length and bytes of each. */
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
    ...{ decimals: 6, before: 5n, after: BigInt(at) },
  }));
  return {
    ...{ blockTime: null, signatures: [], fee: 5000n, err: null, instructions },
    ...{ feePayer: keys[0] as Address, signers: keys.slice(0, 3), accountKeys: keys },
    preBalances: keys.map(() => 7n),
    postBalances: keys.map((_, at) => BigInt(at)),
    logs: logsOf(instructions),
    tokenAccounts: new Map(tokenAccounts.map((one) => [one.address, one])),
    decimals: new Map(keys.map((key) => [key, 6])),
  };
}

export const programEventsTarget: Target = {
  seeds: heads.map(([program, head]) => {
    const data = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(200)]);
    return Buffer.concat([Buffer.of(known.indexOf(program), 1, data.length), data]);
  }),
  /** Events, swaps and pool actions become valid JSON. */
  fuzz(input: Uint8Array): boolean {
    const run = runOf(input);
    const events = readEvents(run);
    const swaps = recognizeSwaps(run, events);
    const actions = run.instructions.map((one) => readers.get(one.program)?.read(one, run) ?? null);
    for (const { data } of run.instructions) readQuote(data);
    parseJson(writeJson({ events, swaps, actions }));
    for (const { in: given, out } of swaps) {
      if (given.raw <= 0n || out.raw <= 0n) throw new Error('an empty swap');
    }
    return events.length + swaps.length > 0;
  },
};

const allPrograms: readonly string[] = [
  ...programParsers.keys(),
  nativeMint,
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((fill) => encodeBase58(new Uint8Array(32).fill(fill))),
];
const SIGNATURE = encodeBase58(new Uint8Array(64).fill(9));

const keyOf = (random: Random): string => allPrograms[random() % allPrograms.length]!;
const listOf = (random: Random, most: number, make: (random: Random) => JsonValue): JsonValue[] =>
  Array.from({ length: random() % most }, () => make(random));

function instructionOf(random: Random): JsonValue {
  const byte = random() & 0xff;
  // A valid, missing or invalid height.
  const stackHeight = [byte % 7, null, byte * 1e6, -byte, String(byte), 2][random() % 6] ?? null;
  const accounts = Array.from({ length: random() % 24 }, () => keyOf(random));
  const common = { data: encodeBase58(randomBytes(random, random() & 0xff)), stackHeight };
  if (byte % 4 === 0)
    return { ...common, programIdIndex: byte, accounts: accounts.map((_, at) => at * byte) };
  return { ...common, programId: keyOf(random), accounts };
}

const balanceOf = (random: Random): JsonValue => ({
  ...{ accountIndex: random() & 0xff, mint: keyOf(random), programId: keyOf(random) },
  owner: random() % 3 === 0 ? null : keyOf(random),
  uiTokenAmount: { amount: String((random() & 0xff) ** 7), decimals: (random() & 0xff) * (random() % 5) },
});

function transactionOf(random: Random): Uint8Array {
  const message = {
    accountKeys: allPrograms.map((pubkey, at) => ({ pubkey, signer: at < 2 })),
    instructions: listOf(random, 8, instructionOf),
  };
  const innerInstructions = listOf(random, 8, () => ({
    index: random() % 8,
    instructions: listOf(random, 32, instructionOf),
  }));
  const [preTokenBalances, postTokenBalances] = [listOf(random, 6, balanceOf), listOf(random, 6, balanceOf)];
  const logMessages = innerInstructions.map(() => {
    return `Program data: ${Buffer.from(randomBytes(random, random() & 0xff)).toString('base64')}`;
  });
  const shown = {
    ...{ slot: 5, blockTime: 1e9, transaction: { signatures: [SIGNATURE], message } },
    meta: { err: null, fee: 5000, innerInstructions, logMessages, preTokenBalances, postTokenBalances },
  };
  return Buffer.from(writeJson(shown));
}

function shown(result: JsonValue): boolean {
  const transaction = readExecutedTransaction(result);
  if (transaction === null) return false;
  const effects = parseEffects(transaction);
  const labels: TokenName = { name: 'a', symbol: 'b', image: 'c' };
  const names = new Map(
    [...mintsToName(effects.actions)].map((mint): [Address, TokenName] => [mint, labels]),
  );
  parseJson(writeJson(parsedTransaction(transaction, effects, names)));
  return true;
}

export const runTransactionTarget: Target = {
  seeds: [1, 2, 3, 4, 5, 6].map((seed) => transactionOf(createRandom(seed))),
  generate: transactionOf,
  fuzz(input: Uint8Array): boolean {
    const result = jsonIn(input);
    return result !== undefined && shown(result);
  },
};
