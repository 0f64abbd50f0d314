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

/** The runner between the embedded ledger itself and the gateway in front of it, and against nodes that lie. */
let ledger: Program;
let service: RunningService;
let ours: NodeAddress;
let theirs: NodeAddress;

const SLOT_MS = 50;
/** Slots pass quickly here: what moved is soon asked again. */
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

/** A node that passes every call on and spoils some of the answers. */
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

/** A list in place of the refusal of one that is too long. */
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
  it('finds no difference between the ledger and the gateway in front of it, in any method', async () => {
    const rows = await runConformance({ ours, theirs, only: [], compare });
    expect(faults(rows)).toEqual([]);
    expect(new Set(rows.map(({ plan }) => plan.method)).size).toBe(Object.keys(methods).length);
  });

  it('puts a method to the nodes at every commitment that it takes', () => {
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

  it('sees one lamport too much in moving state', async () => {
    const rows = await compareWithLiar(['getBalance'], (_, text) =>
      text.replace(/"value":(\d+)/, (_all, value: string) => `"value":${BigInt(value) + 1n}`),
    );
    expect(rows.some(({ result }) => result.kind === 'different')).toBe(true);
  });

  it('sees a last digit that was rounded away', async () => {
    const rows = await compareWithLiar(['getAccountInfo'], (_, text) =>
      text.replace('18446744073709551615', '18446744073709552000'),
    );
    const paths = rows.flatMap(({ result }) => result.differences.map(({ path }) => path));
    expect(paths).toContain('.rentEpoch');
  });

  it('sees a member that is missing from a block', async () => {
    const rows = await compareWithLiar(['getBlock'], (_, text) =>
      text.replace('"previousBlockhash"', '"previousHash"'),
    );
    const paths = rows.flatMap(({ result }) => result.differences.map(({ path }) => path));
    expect(paths).toContain('.previousBlockhash');
  });

  it('sees another error text', async () => {
    const rows = await compareWithLiar(['getBlocksWithLimit'], (_, text) =>
      text.replace('Limit', 'The limit'),
    );
    expect(rows.find(({ plan }) => plan.name.includes('too many'))?.result.kind).toBe('different');
  });

  it('sees a node that lags further than allowed', async () => {
    const lagging = await compareWithLiar(['getSlot'], (_, text) =>
      text.replace(/"result":(\d+)/, (_all, value: string) => `"result":${BigInt(value) - 1000n}`),
    );
    expect(lagging.filter(({ result }) => result.kind === 'different')).toHaveLength(3);
  });

  it('allows no slack to stake, which does not grow with slots', async () => {
    const rows = await compareWithLiar(['getVoteAccounts'], (_, text) =>
      text.replace(
        /"activatedStake":(\d+)/,
        (_all, value: string) => `"activatedStake":${BigInt(value) + 1n}`,
      ),
    );
    const paths = rows.flatMap(({ result }) => result.differences.map(({ path }) => path));
    expect(paths).toEqual(['.current[0].activatedStake']);
  });

  it('decides nothing about a node that stands at another slot', async () => {
    const rows = await compareWithLiar(['getStakeMinimumDelegation'], (_, text) =>
      text.replace('"value":', '"value":1').replace(/"slot":(\d+)/, '"slot":9$1'),
    );
    expect(rows.map(({ result }) => result.kind)).toEqual(['undecided']);
  });

  it('decides nothing about a node that stands at an earlier slot', async () => {
    const rows = await compareWithLiar(['getStakeMinimumDelegation'], (_, text) =>
      text.replace('"value":', '"value":1').replace(/"slot":\d+/, '"slot":1'),
    );
    expect(rows.map(({ result }) => result.kind)).toEqual(['undecided']);
  });

  const pathsOf = (rows: readonly Row[]): string[] =>
    rows.flatMap(({ result }) => result.differences.map(({ path }) => path));

  it('sees a member of another type among what is the node’s own', async () => {
    const rows = await compareWithLiar(['getIdentity'], (_, text) =>
      text.replace(/"identity":"[^"]+"/, '"identity":5'),
    );
    expect(pathsOf(rows)).toEqual(['.identity']);
  });

  it('sees a member that is missing from the context', async () => {
    const rows = await compareWithLiar(['getBalance'], (_, text) =>
      text.replace(/"apiVersion":"[^"]+",/, ''),
    );
    expect(new Set(pathsOf(rows))).toEqual(new Set(['.context.apiVersion']));
  });

  it('sees a list that is too short', async () => {
    const rows = await compareWithLiar(['getSlotLeaders'], (_, text) =>
      text.replace(/,"[^"]+"\](?=,"id")/, ']'),
    );
    expect(pathsOf(rows)).toEqual(['.length']);
  });

  it('sees what both nodes answer although a node refuses it', async () => {
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

  it('says so when a node does not answer a method', async () => {
    const rows = await compareWithLiar(['getIdentity'], (method, text) =>
      method === 'getIdentity' ? 'busy' : text,
    );
    expect(rows.map(({ result }) => [result.kind, result.reason])).toEqual([
      ['unanswered', 'the response is not JSON'],
    ]);
  });

  it('stops at once where a node does not let it in, with its words', async () => {
    const { headers: _, ...stranger } = theirs;
    const run = runConformance({ ours, theirs: { ...stranger, headers: {} }, only: [], compare });
    await expect(run).rejects.toThrow('getGenesisHash failed on gateway: No API key: send it as');
  });

  it('stops at once where the nodes belong to different chains', async () => {
    const run = compareWithLiar([], (_, text) => text.replace('"result":"', '"result":"1'));
    await expect(run).rejects.toThrow('belong to different chains');
  });

  it.each([
    ['0 when all is the same', () => [], 0],
    ['1 when a node cannot be reached', () => ['http://127.0.0.1:9/'], 1],
    ['2 for a method that is none', () => ['--method', 'getNothing'], 2],
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
