import { randomBytes } from 'node:crypto';
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { eventually } from './eventually.ts';
import { isRunning, ledgerPid } from './program.ts';
import { createRpcClient, type HttpRpcResponse, type TestRpcClient } from './rpc-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** The embedded ledger is a process that may die, but not because of its input. */
let service: RunningService;
let server: TestRpcClient;
const payer = Keypair.generate();
const account = payer.publicKey.toBase58();
const SOL = 1_000_000_000;

beforeAll(async () => {
  service = await startService();
  server = createRpcClient(service.ready.rpcUrl, service.key);
});
afterAll(() => service?.stop());

type Balance = { context: { slot: number }; value: number };

const balance = (commitment: string): Promise<Balance> =>
  server.result('getBalance', [account, { commitment }]);

describe('the ledger dying under load', () => {
  const BACK_MAX_MS = 10_000;
  const AFTERWARDS = 200;

  const outcomeOf = ({ status, body }: HttpRpcResponse): string =>
    body.error === undefined ? 'answered' : `${status} ${body.error.code} ${body.error.data?.code ?? ''}`;

  async function load(outcomes: string[], isOver: () => boolean): Promise<void> {
    while (!isOver()) outcomes.push(outcomeOf(await server.call('getBalance', [account])));
  }

  it('does not fail reads, and the ledger returns with everything finalized', async () => {
    await server.result('requestAirdrop', [account, 2 * SOL]);
    const before = await eventually(async () => {
      const seen = await balance('finalized');
      return seen.value > 0 && seen;
    }, 'the airdrop is finalized');
    const pid = ledgerPid(service.dataDir)!;

    const outcomes: string[] = [];
    let over = false;
    const readers = Array.from({ length: 8 }, () => load(outcomes, () => over));
    const dead = performance.now();
    process.kill(pid, 'SIGKILL');
    await eventually(async () => !isRunning(pid), 'the ledger is dead');
    const answeredAtDeath = outcomes.length;
    await eventually(
      async () =>
        outcomes.slice(answeredAtDeath).filter((outcome) => outcome === 'answered').length > AFTERWARDS,
      'reads succeed again',
      { timeoutMs: BACK_MAX_MS },
    );
    over = true;
    await Promise.all(readers);
    process.stdout.write(`reads were back after ${Math.round(performance.now() - dead)} ms\n`);

    expect(outcomes.filter((outcome) => outcome !== 'answered')).toEqual([]);
    expect(service.process.exitCode).toBeNull();
    expect(ledgerPid(service.dataDir)).not.toBe(pid);
    const after = await balance('finalized');
    expect(after.value).toBe(before.value);
    expect(after.context.slot).toBeGreaterThanOrEqual(before.context.slot);
    expect(service.output()).toContain('Embedded ledger ended; restarting it');
  });

  it('accepts transactions again afterwards', async () => {
    const to = Keypair.generate().publicKey.toBase58();
    const signature = await server.result('requestAirdrop', [to, SOL]);
    await eventually(async () => {
      type Statuses = { value: ({ err: unknown } | null)[] };
      const { value } = await server.result<Statuses>('getSignatureStatuses', [[signature]]);
      return value[0] && value[0].err === null;
    }, 'the airdrop is processed');
  });
});

describe('bytes that are no transaction', () => {
  const BATCH = 50;

  function mutated(wire: Buffer): Buffer {
    const bytes = Buffer.from(wire);
    for (const byte of randomBytes(1 + (bytes[10]! % 6))) {
      bytes[(byte * 7 + randomBytes(1)[0]!) % bytes.length] = randomBytes(1)[0]!;
    }
    return Math.random() < 0.3 ? bytes.subarray(0, Math.floor(Math.random() * bytes.length)) : bytes;
  }

  async function realTransaction(): Promise<Buffer> {
    const { value } = await server.result<{ value: { blockhash: string } }>('getLatestBlockhash');
    const transfer = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: payer.publicKey,
      lamports: 1,
    });
    const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: value.blockhash });
    transaction.add(transfer).sign(payer);
    return transaction.serialize();
  }

  /** Sends and simulates each. @returns the error codes. */
  async function sendAll(wires: readonly Buffer[]): Promise<Set<number | 'answered'>> {
    const calls = wires.flatMap((wire, index) => {
      const [data, encoding] =
        index % 2 === 0 ? [wire.toString('base64'), 'base64'] : [encodeBase58(wire), 'base58'];
      const skip = { encoding, skipPreflight: index % 3 === 0 };
      return [
        { jsonrpc: '2.0', id: 1, method: 'sendTransaction', params: [data, skip] },
        {
          jsonrpc: '2.0',
          id: 2,
          method: 'simulateTransaction',
          params: [data, { encoding, replaceRecentBlockhash: index % 2 === 0 }],
        },
      ];
    });
    const codes = new Set<number | 'answered'>();
    for (let at = 0; at < calls.length; at += BATCH) {
      const { body } = await server.post(JSON.stringify(calls.slice(at, at + BATCH)));
      for (const { error } of body as HttpRpcResponse['body'][]) codes.add(error?.code ?? 'answered');
    }
    return codes;
  }

  it('never crash the ledger, sent or simulated', async () => {
    const pid = ledgerPid(service.dataDir)!;
    const real = await realTransaction();
    const random = Array.from({ length: 150 }, (_, index) => randomBytes(1 + index * 8));
    const broken = Array.from({ length: 250 }, () => mutated(real));
    const codes = new Set([...(await sendAll(random)), ...(await sendAll(broken))]);
    expect(codes).toContain(-32602);
    // Decoded with an invalid signature, refused by the preflight, or accepted: as on a real node.
    expect([-32602, -32003, -32002, -32013, 'answered']).toEqual(expect.arrayContaining([...codes]));
    expect(ledgerPid(service.dataDir)).toBe(pid);
    expect(isRunning(pid)).toBe(true);
    expect(await server.result('getHealth')).toBe('ok');
  });
});

describe('invalid params', () => {
  it.each<[string, string, unknown, string]>([
    ['absent', 'getBalance', undefined, '`params` should have at least 1 argument(s)'],
    ['empty', 'getBalance', [], '`params` should have at least 1 argument(s)'],
    ['of another type', 'getBalance', [5], 'Invalid params: invalid type: integer `5`, expected a string.'],
    ['no address', 'getBalance', ['0OIl'], 'Invalid param: Invalid'],
    ['an address too short', 'getBalance', ['1111'], 'Invalid param: WrongSize'],
    ['a negative slot', 'getBlock', [-1], 'Invalid params: invalid value: integer `-1`, expected u64.'],
    [
      'no transaction',
      'sendTransaction',
      ['!'],
      "invalid base58 encoding: InvalidCharacter { character: '!', index: 0 }",
    ],
  ])('that are %s are refused by the ledger', async (_name, method, params, message) => {
    const { status, body } = await server.call(method, params);
    expect(status).toBe(200);
    expect(body.error).toMatchObject({ code: -32602, message });
  });
});
