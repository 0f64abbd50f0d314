import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Keypair, PublicKey, Transaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newBaseAccounts } from '../../packages/localnet/src/bank/vm.ts';
import { type Program, startProgram, temporaryFolder } from './program.ts';
import { createRpcClient, type TestRpcClient } from './rpc-client.ts';

/** `solway localnet` with the options of solana-test-validator. */
const folder = temporaryFolder('validator');
const ledger = join(folder, 'ledger');
const LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const program = Keypair.generate().publicKey;
const authority = Keypair.generate().publicKey;
const mint = Keypair.generate().publicKey;

type Ready = Readonly<{ rpcPort: number; faucetPort: number }>;
let running: Program;
let ready: Ready;
let server: TestRpcClient;
beforeAll(async () => {
  const elf = newBaseAccounts().find(([address]) => address === MEMO)?.[1].data ?? new Uint8Array();
  writeFileSync(join(folder, 'memo.so'), elf);
  running = startProgram(
    [
      ...['localnet', '--ledger', ledger, '--rpc-port', '0', '--slot-ms', '50', '--json', '--quiet'],
      ...['--upgradeable-program', program.toBase58(), join(folder, 'memo.so'), authority.toBase58()],
      ...['--mint', mint.toBase58(), '--faucet-port', '0', '--gossip-port', '0', '--log'],
      ...['--warp-slot', '5000'],
      '--rpc-pubsub-enable-block-subscription',
    ],
    folder,
  );
  const [line] = await running.said(/^\{"event":"ready".*\}$/m);
  ready = JSON.parse(line) as Ready;
  server = createRpcClient(`http://127.0.0.1:${ready.rpcPort}/`, '');
});
afterAll(() => running.stop('SIGKILL'));

describe('the options of solana-test-validator', () => {
  it('load a program that its authority may upgrade', async () => {
    const [code] = PublicKey.findProgramAddressSync([program.toBuffer()], LOADER);
    const config = { encoding: 'jsonParsed', commitment: 'processed' };
    const { value } = await server.result<{ value: { data: { parsed: { info: object } } } }>(
      'getAccountInfo',
      [code.toBase58(), config],
    );
    expect(value.data.parsed.info).toMatchObject({ authority: authority.toBase58(), slot: 0 });
    const { value: account } = await server.result<{ value: object }>('getAccountInfo', [
      program.toBase58(),
      { encoding: 'base64', commitment: 'processed' },
    ]);
    expect(account).toMatchObject({ executable: true, owner: LOADER.toBase58() });
  });

  it('start at a later slot', async () => {
    expect(await server.result<number>('getSlot')).toBeGreaterThanOrEqual(5_000 - 31);
  });

  it('set the mint account', async () => {
    const { value } = await server.result<{ value: number }>('getBalance', [mint.toBase58()]);
    expect(value).toBe(500_000_000 * 1_000_000_000);
  });

  it('start the faucet server, whose transfers are valid', async () => {
    const { value } = await server.result<{ value: { blockhash: string } }>('getLatestBlockhash');
    const head = Buffer.alloc(12);
    head.writeBigUInt64LE(77_000_000n, 4);
    const receiver = Keypair.generate().publicKey;
    const request = Buffer.concat([head, receiver.toBuffer(), new PublicKey(value.blockhash).toBuffer()]);
    const answer = await new Promise<Buffer>((resolve, reject) => {
      const socket = connect(ready.faucetPort, '127.0.0.1', () => socket.write(request));
      let all: Buffer = Buffer.alloc(0);
      socket.on('error', reject);
      socket.on('data', (piece) => {
        all = Buffer.concat([all, piece]);
        if (all.length < 2 || all.length < 2 + all.readUInt16LE()) return;
        socket.destroy();
        resolve(all.subarray(2));
      });
    });
    expect(Transaction.from(answer).verifySignatures()).toBe(true);
    await server.result('sendTransaction', [answer.toString('base64'), { encoding: 'base64' }]);
  });

  it('write a validator.log that matches the RPC responses', async () => {
    const text = readFileSync(join(ledger, 'validator.log'), 'utf8');
    const version = await server.result<{ 'solana-core': string; 'feature-set': number }>('getVersion');
    const { identity } = await server.result<{ identity: string }>('getIdentity');
    const [node] = await server.result<{ shredVersion: number; gossip: string }[]>('getClusterNodes');
    expect(text).toContain(`agave-validator ${version['solana-core']} `);
    expect(text).toContain(`feat:${version['feature-set'].toString(16).padStart(8, '0')},`);
    expect(text).toContain(`identity pubkey: ${identity}\n`);
    expect(text).toContain(`genesis hash: ${await server.result<string>('getGenesisHash')}\n`);
    expect(text).toContain(`shred_version: ${node?.shredVersion}\n`);
    expect(text).toMatch(/local gossip address: 127\.0\.0\.1:[1-9]\d*\n/);
    expect(text).toContain(`local gossip address: ${node?.gossip}\n`);
    expect(text).toContain(`rpc bound to 127.0.0.1:${ready.rpcPort}\n`);
  });
});
