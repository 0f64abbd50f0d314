import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  createAssociatedTokenAccountInstruction,
  createInitializeMint2Instruction,
  createMintToCheckedInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { Connection, Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesFor } from '../../conformance/cases.ts';
import type { NodeAddress } from '../../conformance/node.ts';
import { describeRow } from '../../conformance/report.ts';
import { type Row, runConformance } from '../../conformance/run.ts';
import { type MethodName, methods } from '../../src/protocol/methods.ts';
import { eventually } from '../service/eventually.ts';
import { type Program, startProgram } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';

/** Runs against the embedded ledger, a gateway in front of it, and nodes with modified responses. */
let ledger: Program;
let service: RunningService;
let ours: NodeAddress;
let theirs: NodeAddress;

const SLOT_MS = 50;
/** Short pauses, because slots are short. */
const compare = { pauseMs: 20, triesMax: 20 };

async function reached(connection: Connection, signature: string, level: 'confirmed' | 'finalized') {
  await eventually(async () => {
    const status = (await connection.getSignatureStatuses([signature])).value[0]?.confirmationStatus;
    return status === level || status === 'finalized';
  }, `${signature} is ${level}`);
}

async function makeHistory(url: string): Promise<void> {
  const connection = new Connection(url, 'confirmed');
  const payer = Keypair.generate();
  const mint = Keypair.generate();
  await reached(connection, await connection.requestAirdrop(payer.publicKey, 5e9), 'confirmed');
  const account = getAssociatedTokenAddressSync(mint.publicKey, payer.publicKey);
  const lamports = await connection.getMinimumBalanceForRentExemption(MINT_SIZE);
  const transaction = new Transaction().add(
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint.publicKey,
      space: MINT_SIZE,
      lamports,
      programId: TOKEN_PROGRAM_ID,
    }),
    createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null),
    createAssociatedTokenAccountInstruction(payer.publicKey, account, payer.publicKey, mint.publicKey),
    createMintToCheckedInstruction(mint.publicKey, account, payer.publicKey, 1_000_000n, 6),
  );
  const signature = await connection.sendTransaction(transaction, [payer, mint]);
  await reached(connection, signature, 'finalized');
}

beforeAll(async () => {
  ledger = startProgram(['localnet', '--rpc-port', '0', '--slot-ms', String(SLOT_MS), '--json']);
  const [line] = await ledger.said(/^\{"event":"ready".*\}$/m);
  const url = `http://127.0.0.1:${(JSON.parse(line) as { rpcPort: number }).rpcPort}`;
  await makeHistory(url);
  service = await startService({ configuration: '', arguments: ['--upstream', url] });
  ours = { name: 'ledger', url, headers: {} };
  theirs = {
    name: 'gateway',
    url: service.ready.rpcUrl,
    headers: { authorization: `Bearer ${service.key}` },
  };
});
afterAll(async () => {
  await service?.stop();
  await ledger?.stop();
});

const faults = (rows: readonly Row[]): string[] =>
  rows.filter(({ result }) => result.kind !== 'same').map(describeRow);

/** A proxy that modifies some responses. */
async function startLiar(spoil: (method: string, text: string) => string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const answered = await fetch(ours.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { method } = JSON.parse(body.toString()) as { method: string };
    response.end(spoil(method, await answered.text()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Replaces the error for a long list by a result. */
const answerTooMany = (_: string, text: string): string =>
  text.replace(/"error":\{[^}]*Limit too large[^}]*\}/, '"result":[]');

async function compareWithLiar(
  only: readonly MethodName[],
  spoil: (method: string, text: string) => string,
): Promise<Row[]> {
  const server = await startLiar(spoil);
  const liar = {
    name: 'liar',
    url: urlOf(server),
    headers: {},
  };
  try {
    return await runConformance({ ours, theirs: liar, only, compare });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('the conformance runner', () => {
  it('finds no difference between the ledger and a gateway in front of it, in any method', async () => {
    const rows = await runConformance({ ours, theirs, only: [], compare });
    expect(faults(rows)).toEqual([]);
    expect(new Set(rows.map(({ plan }) => plan.method)).size).toBe(Object.keys(methods).length);
  });

  it('calls methods at every commitment', () => {
    const anchors = {
      slot: 30n,
      rangeStart: 10n,
      epoch: 1n,
      signatures: [],
      blockhash: '',
      addresses: [],
      wallet: '11111111111111111111111111111111',
      token: null,
      identity: '',
      voteAccount: null,
    };
    const names = casesFor(anchors, ['getSlot']).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['at processed', 'at confirmed', 'at finalized']));
  });

  const kindsOf = (rows: readonly Row[]): string[] => rows.map(({ result }) => result.kind);
  const pathsOf = (rows: readonly Row[]): string[] =>
    rows.flatMap(({ result }) => result.differences.map(({ path }) => path));
  const add =
    (pattern: RegExp, difference: bigint) =>
    (text: string): string =>
      text.replace(pattern, (_, head: string, value: string) => `${head}${BigInt(value) + difference}`);

  it.each<[string, MethodName, (text: string) => string, string]>([
    [
      'a last digit that was rounded',
      'getAccountInfo',
      (text) => text.replace('18446744073709551615', '18446744073709552000'),
      '.rentEpoch',
    ],
    [
      'a missing member of a block',
      'getBlock',
      (text) => text.replace('"previousBlockhash"', '"previousHash"'),
      '.previousBlockhash',
    ],
    [
      'a change of stake, which has no tolerance',
      'getVoteAccounts',
      add(/("activatedStake":)(\d+)/, 1n),
      '.current[0].activatedStake',
    ],
    [
      'another type in node-specific data',
      'getIdentity',
      (text) => text.replace(/"identity":"[^"]+"/, '"identity":5'),
      '.identity',
    ],
    [
      'a missing member of the context',
      'getBalance',
      (text) => text.replace(/"apiVersion":"[^"]+",/, ''),
      '.context.apiVersion',
    ],
    [
      'a list that is too short',
      'getSlotLeaders',
      (text) => text.replace(/,"[^"]+"\](?=,"id")/, ']'),
      '.length',
    ],
  ])('detects %s', async (_name, method, modify, path) => {
    const rows = await compareWithLiar([method], (_, text) => modify(text));
    expect(pathsOf(rows)).toContain(path);
  });

  it('detects one lamport too much in moving state', async () => {
    const rows = await compareWithLiar(['getBalance'], (_, text) => add(/("value":)(\d+)/, 1n)(text));
    expect(kindsOf(rows)).toContain('different');
  });

  it('detects another error text', async () => {
    const rows = await compareWithLiar(['getBlocksWithLimit'], (_, text) =>
      text.replace('Limit', 'The limit'),
    );
    expect(rows.find(({ plan }) => plan.name.includes('too many'))?.result.kind).toBe('different');
  });

  it('detects a node that lags more than allowed', async () => {
    const rows = await compareWithLiar(['getSlot'], (_, text) => add(/("result":)(\d+)/, -1000n)(text));
    expect(kindsOf(rows).filter((kind) => kind === 'different')).toHaveLength(3);
  });

  it.each([
    ['a later', /"slot":(\d+)/, '"slot":9$1'],
    ['an earlier', /"slot":\d+/, '"slot":1'],
  ])('is undecided about a node at %s slot', async (_name, pattern, slot) => {
    const rows = await compareWithLiar(['getStakeMinimumDelegation'], (_, text) =>
      text.replace('"value":', '"value":1').replace(pattern, slot),
    );
    expect(kindsOf(rows)).toEqual(['undecided']);
  });

  it('detects that both nodes return a result for an invalid call', async () => {
    const nodes = ['ours', 'theirs'].map((name) => ({ ...ours, name }));
    const lying = await Promise.all(nodes.map(() => startLiar(answerTooMany)));
    const [one, other] = nodes.map((node, at) => ({ ...node, url: urlOf(lying[at] as Server) }));
    const run = { ours: one as NodeAddress, theirs: other as NodeAddress, compare };
    const rows = await runConformance({ ...run, only: ['getBlocksWithLimit'] });
    expect(rows.filter(({ result }) => result.kind !== 'same').map(describeRow)).toEqual([
      expect.stringContaining('refuses too many [exact] (both return a result for an invalid call)'),
    ]);
    for (const server of lying) {
      server.close();
      server.closeAllConnections();
    }
  });

  it('reports a missing response', async () => {
    const rows = await compareWithLiar(['getIdentity'], (method, text) =>
      method === 'getIdentity' ? 'busy' : text,
    );
    expect(rows.map(({ result }) => [result.kind, result.reason])).toEqual([
      ['unanswered', 'the response is not JSON'],
    ]);
  });

  it('stops when a node rejects the key', async () => {
    const { headers: _, ...stranger } = theirs;
    const run = runConformance({ ours, theirs: { ...stranger, headers: {} }, only: [], compare });
    await expect(run).rejects.toThrow('getGenesisHash failed on gateway: No API key: send it as');
  });

  it('stops when the nodes belong to different chains', async () => {
    const run = compareWithLiar([], (_, text) => text.replace('"result":"', '"result":"1'));
    await expect(run).rejects.toThrow('belong to different chains');
  });

  it.each([
    ['0 without differences', () => [], 0],
    ['1 for an unreachable node', () => ['http://127.0.0.1:9/'], 1],
    ['2 for an unknown method', () => ['--method', 'getNothing'], 2],
  ] as const)('ends with %s', async (_, more, code) => {
    const [other = theirs.url] = more().filter((text) => text.startsWith('http'));
    const options = more().filter((text) => !text.startsWith('http'));
    const header = [
      '--header-b',
      `Authorization: ${theirs.headers.authorization}`,
      '--method',
      'getGenesisHash',
    ];
    const main = join(import.meta.dirname, '..', '..', 'conformance', 'main.ts');
    const child = spawn(process.execPath, [main, ours.url, other, ...header, ...options], {
      stdio: 'ignore',
    });
    expect(await once(child, 'exit')).toEqual([code, null]);
  });
});
