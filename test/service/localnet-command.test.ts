import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Keypair, PublicKey, Transaction } from '@solana/web3.js';
import { afterAll, describe, expect, it } from 'vitest';
import { newBaseAccounts } from '../../packages/localnet/src/bank/vm.ts';
import { runHere, runSolway } from '../cli/run-solway.ts';
import { eventually } from './eventually.ts';
import { type Program, startProgram, temporaryFolder } from './program.ts';
import { createRpcClient, type TestRpcClient } from './rpc-client.ts';

/** Runs `solway localnet` alone, as a replacement for solana-test-validator. */
const folder = temporaryFolder('localnet');
const SYSTEM = '11111111111111111111111111111111';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
const LOADERS = ['BPFLoader2111111111111111111111111111111111', LOADER.toBase58()];
const SOL = 1_000_000_000;
const running = new Set<Program>();
afterAll(() => Promise.all([...running].map((program) => program.stop('SIGKILL'))));

type Localnet = Readonly<{ program: Program; server: TestRpcClient; port: number; faucetPort: number }>;

async function start(ledger: string, ...args: string[]): Promise<Localnet> {
  const fixed = ['localnet', '--ledger', ledger, '--rpc-port', '0', '--slot-ms', '50', '--json'];
  const program = startProgram([...fixed, ...args], folder);
  running.add(program);
  const [line] = await program.said(/^\{"event":"ready".*\}$/m);
  const { rpcPort, faucetPort } = JSON.parse(line) as { rpcPort: number; faucetPort: number };
  return { program, port: rpcPort, faucetPort, server: createRpcClient(`http://127.0.0.1:${rpcPort}/`, '') };
}

const ledgerOf = (name: string): string => join(folder, name);
const keyFile = (ledger: string, name: string): number[] =>
  JSON.parse(readFileSync(join(ledger, `${name}-keypair.json`), 'utf8'));
const addressOf = (ledger: string, name: string): string =>
  Keypair.fromSecretKey(Uint8Array.from(keyFile(ledger, name))).publicKey.toBase58();

type Account = { lamports: number; owner: string; data: [string, string]; executable: boolean };
type AccountInfo = { value: (Account & { space: number; rentEpoch: number }) | null };

/** Writes an account file in the format of `solana account --output json`. */
function accountFile(name: string, pubkey: string, account: Partial<Account>): string {
  const file = join(folder, name);
  const whole = { lamports: 5 * SOL, data: ['aGVsbG8=', 'base64'], owner: SYSTEM, executable: false };
  // JavaScript numbers cannot hold u64::MAX, which the command writes.
  const text = JSON.stringify({ pubkey, account: { ...whole, ...account, rentEpoch: 0 } });
  writeFileSync(file, text.replace('"rentEpoch":0', '"rentEpoch":18446744073709551615'));
  return file;
}

describe('a new ledger', () => {
  const ledger = ledgerOf('new');
  const byFile = Keypair.generate().publicKey.toBase58();
  const byOtherName = Keypair.generate().publicKey.toBase58();
  const byDir = Keypair.generate().publicKey.toBase58();
  const byKeypair = Keypair.generate();
  const byOwnName = Keypair.generate().publicKey.toBase58();
  const programKeypair = Keypair.generate();
  const program = programKeypair.publicKey.toBase58();
  const recipient = Keypair.generate().publicKey.toBase58();
  const upgradeable = Keypair.generate().publicKey;
  const authority = Keypair.generate().publicKey;
  const mint = Keypair.generate().publicKey;
  let first: Localnet;

  it('starts with the requested accounts, programs, epochs and faucet', async () => {
    const elf = newBaseAccounts().find(([address]) => address === MEMO)?.[1].data ?? new Uint8Array();
    writeFileSync(join(folder, 'memo.so'), elf);
    mkdirSync(join(folder, 'accounts'));
    accountFile('accounts/one.json', byDir, { lamports: 7 });
    const file = accountFile('account.json', byFile, {});
    const named = accountFile('named.json', byOwnName, { lamports: 8 });
    const keypairFile = (name: string, { secretKey }: Keypair): string => {
      writeFileSync(join(folder, name), JSON.stringify([...secretKey]));
      return join(folder, name);
    };
    first = await start(
      ledger,
      ...['--account', byFile, file, '--account', byOtherName, file],
      ...['--account-dir', join(folder, 'accounts')],
      ...['--account', keypairFile('account-keypair.json', byKeypair), file, '--account', '-', named],
      ...['--bpf-program', keypairFile('program-keypair.json', programKeypair), join(folder, 'memo.so')],
      ...['--upgradeable-program', upgradeable.toBase58(), join(folder, 'memo.so'), authority.toBase58()],
      ...['--slots-per-epoch', '64', '--faucet-sol', '1234', '--mint', mint.toBase58()],
      ...['--faucet-port', '0', '--gossip-port', '0', '--warp-slot', '5000'],
      '--rpc-pubsub-enable-block-subscription',
    );
    const { result } = first.server;
    const account = (address: string) =>
      result<AccountInfo>('getAccountInfo', [address, { encoding: 'base64' }]).then(({ value }) => value);
    const hello = { lamports: 5 * SOL, data: ['aGVsbG8=', 'base64'], owner: SYSTEM };
    expect(await account(byFile)).toMatchObject(hello);
    expect(await account(byOtherName)).toMatchObject(hello);
    expect(await account(byKeypair.publicKey.toBase58())).toMatchObject(hello);
    expect(await account(byOwnName)).toMatchObject({ lamports: 8 });
    expect(await account(byDir)).toMatchObject({ lamports: 7 });
    const put = await account(program);
    expect(put?.executable).toBe(true);
    expect(LOADERS).toContain(put?.owner);
    expect(await result('getEpochSchedule')).toMatchObject({ slotsPerEpoch: 64 });
    const faucet = await result<{ value: number }>('getBalance', [addressOf(ledger, 'faucet')]);
    expect(faucet.value).toBe(1234 * SOL);
  });

  it('loads a program that its authority can upgrade', async () => {
    const [code] = PublicKey.findProgramAddressSync([upgradeable.toBuffer()], LOADER);
    const config = { encoding: 'jsonParsed', commitment: 'processed' };
    const { value } = await first.server.result<{ value: { data: { parsed: { info: object } } } }>(
      'getAccountInfo',
      [code.toBase58(), config],
    );
    expect(value.data.parsed.info).toMatchObject({ authority: authority.toBase58(), slot: 0 });
    const { value: account } = await first.server.result<{ value: object }>('getAccountInfo', [
      upgradeable.toBase58(),
      { encoding: 'base64', commitment: 'processed' },
    ]);
    expect(account).toMatchObject({ executable: true, owner: LOADER.toBase58() });
  });

  it('starts at a later slot', async () => {
    expect(await first.server.result<number>('getSlot')).toBeGreaterThanOrEqual(5_000 - 31);
  });

  it('sets the mint account', async () => {
    const { value } = await first.server.result<{ value: number }>('getBalance', [mint.toBase58()]);
    expect(value).toBe(500_000_000 * 1_000_000_000);
  });

  it('is a cluster from which another ledger copies accounts and programs', async () => {
    const copy = await start(
      ledgerOf('copy'),
      ...['--url', `http://127.0.0.1:${first.port}`, '--clone', byFile, byDir, '--maybe-clone', recipient],
      ...['--clone-upgradeable-program', upgradeable.toBase58()],
    );
    const accounts = ({ server }: Localnet) =>
      server.result<{ value: (object | null)[] }>('getMultipleAccounts', [
        [byFile, byDir, recipient, upgradeable.toBase58(), byOtherName],
      ]);
    const { value } = await accounts(copy);
    expect(value).toEqual([...(await accounts(first)).value.slice(0, 4), null]);
    expect(value.slice(0, 4).map((account) => account !== null)).toEqual([true, true, false, true]);
    await copy.program.stop();
  });

  it('can be forked: another ledger reads its accounts when they are needed', async () => {
    const args = ['--url', `http://127.0.0.1:${first.port}`, '--fork'];
    const fork = await start(ledgerOf('fork'), ...args);
    const { value } = await fork.server.result<AccountInfo>('getAccountInfo', [byFile]);
    expect(value).toMatchObject({ lamports: 5 * SOL });
    await fork.program.stop();
  });

  it('has the methods for tests, which --test-methods off removes', async () => {
    const { result } = first.server;
    await result('surfnet_setAccount', [recipient, { lamports: 77 }]);
    const { value } = await result<{ value: number }>('getBalance', [recipient, { commitment: 'confirmed' }]);
    expect(value).toBe(77);
    await result('surfnet_setAccount', [recipient, { lamports: 0 }]);
    const without = await start(ledgerOf('without'), '--test-methods', 'off');
    const { body } = await without.server.call('solway_snapshot');
    expect(body.error?.code).toBe(-32601);
    await without.program.stop();
  });

  it('starts the faucet server, whose transfers are valid', async () => {
    const { value } = await first.server.result<{ value: { blockhash: string } }>('getLatestBlockhash');
    const head = Buffer.alloc(12);
    head.writeBigUInt64LE(77_000_000n, 4);
    const receiver = Keypair.generate().publicKey;
    const request = Buffer.concat([head, receiver.toBuffer(), new PublicKey(value.blockhash).toBuffer()]);
    const answer = await new Promise<Buffer>((resolve, reject) => {
      const socket = connect(first.faucetPort, '127.0.0.1', () => socket.write(request));
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
    await first.server.result('sendTransaction', [answer.toString('base64'), { encoding: 'base64' }]);
  });

  it('writes a validator.log that matches the RPC responses', async () => {
    const text = readFileSync(join(ledger, 'validator.log'), 'utf8');
    const version = await first.server.result<{ 'solana-core': string; 'feature-set': number }>('getVersion');
    const { identity } = await first.server.result<{ identity: string }>('getIdentity');
    const [node] = await first.server.result<{ shredVersion: number; gossip: string }[]>('getClusterNodes');
    expect(text).toContain(`agave-validator ${version['solana-core']} `);
    expect(text).toContain(`feat:${version['feature-set'].toString(16).padStart(8, '0')},`);
    expect(text).toContain(`identity pubkey: ${identity}\n`);
    expect(text).toContain(`genesis hash: ${await first.server.result<string>('getGenesisHash')}\n`);
    expect(text).toContain(`shred_version: ${node?.shredVersion}\n`);
    expect(text).toMatch(/local gossip address: 127\.0\.0\.1:[1-9]\d*\n/);
    expect(text).toContain(`local gossip address: ${node?.gossip}\n`);
    expect(text).toContain(`rpc bound to 127.0.0.1:${first.port}\n`);
  });

  it('writes its keys as lists of 64 numbers, readable by their owner only', async () => {
    const files = readdirSync(ledger).filter((name) => name.endsWith('-keypair.json'));
    expect(files.sort()).toEqual([
      'faucet-keypair.json',
      'stake-account-keypair.json',
      'validator-keypair.json',
      'vote-account-keypair.json',
    ]);
    for (const file of files) {
      expect(keyFile(ledger, file.replace('-keypair.json', ''))).toHaveLength(64);
      expect(statSync(join(ledger, file)).mode & 0o777).toBe(0o600);
    }
    const { identity } = await first.server.result<{ identity: string }>('getIdentity');
    expect(identity).toBe(addressOf(ledger, 'validator'));
  });

  it('rejects a second process with a clear error', async () => {
    const args = ['localnet', '--ledger', ledger, '--rpc-port', '0'];
    const { code, out, err } = await runSolway(folder, args);
    expect([code, out]).toEqual([1, '']);
    expect(err.trim().split('\n').at(-1)).toBe(
      `solway: ledger directory ${ledger} is in use by process ${first.program.process.pid}: stop it, or choose another directory with --ledger or --data-dir`,
    );
  });

  it('resumes at the next start, and resets with --reset', async () => {
    const funding = await first.server.result('requestAirdrop', [recipient, 3 * SOL]);
    await processed(first.server, funding, 'finalized');
    const slot = await first.server.result<number>('getSlot', [{ commitment: 'finalized' }]);
    const genesis = await first.server.result('getGenesisHash');
    expect(await first.program.stop()).toBe(0);

    const second = await start(ledger);
    expect(await second.server.result('getGenesisHash')).toBe(genesis);
    expect(await second.server.result<number>('getSlot')).toBeGreaterThanOrEqual(slot);
    const balance = await second.server.result<{ value: number }>('getBalance', [recipient]);
    expect(balance.value).toBe(3 * SOL);
    expect(await second.program.stop()).toBe(0);

    const third = await start(ledger, '--reset');
    expect(await third.server.result('getGenesisHash')).not.toBe(genesis);
    const gone = await third.server.result<{ value: number }>('getBalance', [recipient]);
    expect(gone.value).toBe(0);
    expect(await third.program.stop('SIGINT')).toBe(0);
  });
});

async function processed(server: TestRpcClient, signature: unknown, level = 'processed'): Promise<void> {
  type Statuses = { value: ({ err: unknown; confirmationStatus: string } | null)[] };
  await eventually(async () => {
    const { value } = await server.result<Statuses>('getSignatureStatuses', [[signature]]);
    return value[0] && (level === 'processed' || value[0].confirmationStatus === level);
  }, `the transaction is ${level}`);
}

describe('the output of solway localnet', () => {
  it("contains the ledger's address, and is empty with --quiet", async () => {
    const common = ['localnet', '--rpc-port', '0', '--slot-ms', '50'];
    const verbose = startProgram([...common, '--ledger', ledgerOf('spoken')], folder);
    running.add(verbose);
    const [, url] = await verbose.said(/^ {2}JSON-RPC: (http:\S+)$[\s\S]*Stop with Ctrl\+C/m);
    expect(await createRpcClient(`${url}/`, '').result('getHealth')).toBe('ok');
    expect(verbose.stdout()).toMatch(
      / {2}Ledger: .*spoken\n {2}Identity: \w{32,44}\n {2}Genesis hash: \w{32,44}\n/,
    );
    await verbose.stop();

    // Combined short options reset the ledger.
    const quiet = startProgram([...common, '--ledger', ledgerOf('spoken'), '-rq'], folder);
    running.add(quiet);
    await eventually(async () => isOpenBy('spoken', quiet), 'it runs');
    expect(await quiet.stop()).toBe(0);
    expect(quiet.output()).toBe('');
  });

  const isOpenBy = (name: string, { process }: Program): boolean => {
    const files = existsSync(ledgerOf(name)) ? readdirSync(ledgerOf(name)) : [];
    if (!files.includes('history.db') || !files.includes('ledger.lock')) return false;
    return readFileSync(join(ledgerOf(name), 'ledger.lock'), 'utf8').includes(`"pid":${process.pid}`);
  };

  it.each<[string[], string]>([
    [['--shreds-to', '[::1]:0'], '--shreds-to: "[::1]:0" is not a HOST:PORT such as 127.0.0.1:8001'],
    [['--faucet-sol', 'much'], '--faucet-sol: "much" is not a whole number from 0 to 500000000'],
    [['--account', SYSTEM], '--account needs two values: --account ADDRESS FILE'],
    [['--clone', SYSTEM], '--clone needs --url: the cluster to read from'],
    [['--fork'], '--fork needs --url: the cluster to read from'],
    [['--test-methods', 'yes'], '--test-methods: "yes" is neither on nor off'],
    [['--account', 'x', 'y'], '--account: "x" is neither a base58 address of 32 bytes nor a keypair file'],
  ])('explains the correct usage for %j, with exit code 2', async (args, words) => {
    expect(await runHere(folder, ['localnet', ...args])).toEqual({
      code: 2,
      out: '',
      err: `solway: ${words}\n`,
    });
  });

  it.each<[string, () => string[], RegExp]>([
    [
      'a missing account file',
      () => ['--account', SYSTEM, 'none.json'],
      /cannot read account file .*none\.json/,
    ],
    ['a missing folder', () => ['--account-dir', 'nowhere'], /cannot read account directory nowhere/],
    ['a missing program file', () => ['--bpf-program', SYSTEM, 'none.so'], /none\.so does not exist: build/],
    [
      'an invalid program file',
      () => ['--bpf-program', SYSTEM, accountFile('text.so', SYSTEM, {})],
      /text\.so is not a compiled program: pass the \.so file/,
    ],
  ])('names %s in one sentence', async (_name, args, words) => {
    const common = ['localnet', '--ledger', ledgerOf('never'), '--rpc-port', '0'];
    const { code, out, err } = await runHere(folder, [...common, ...args()]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^solway: [^\n]*\n$/);
    expect(err).toMatch(words);
    expect(err).not.toContain('ENOENT');
  });
});
