import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sign, transfer } from '../../../packages/localnet/test/signed-transactions.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { START_MS, startLocalnet } from '../../programs/localnet.ts';
import { temporaryFolder } from '../../service/program.ts';
import { type RunningService, startService } from '../../service/start-service.ts';
import { Direct } from './direct.ts';
import { FaultyNode } from './faulty-node.ts';

const NODES = 3;
/** Sets of program accounts. The long response (1.4 MiB) is streamed, the medium one is not. */
const fixtures = {
  long: { accounts: 1_000, bytes: 1_024 },
  medium: { accounts: 150, bytes: 1_024 },
} as const;

/** Unchanging accounts of one owner. */
type Fixture = Readonly<{ owner: string; addresses: readonly string[] }>;

function writeFixture(folder: string, { accounts, bytes }: { accounts: number; bytes: number }): Fixture {
  const owner = Keypair.generate().address;
  const addresses = Array.from({ length: accounts }, (_, at) => {
    const address = Keypair.generate().address;
    const data = [Buffer.alloc(bytes, `${address} `).toString('base64'), 'base64'];
    const account = { lamports: 10_000_000 + at, data, owner, executable: false, rentEpoch: 0 };
    writeFileSync(join(folder, `${address}.json`), JSON.stringify({ pubkey: address, account }));
    return address;
  });
  return { owner, addresses };
}

export type ChaosFixture = Readonly<{
  payer: Keypair;
  recipients: readonly Keypair[];
  long: Fixture;
  medium: Fixture;
  ledger: Direct;
  nodes: readonly FaultyNode[];
  gateway: RunningService;
  stop: () => Promise<void>;
}>;

export async function startChaosFixture(slotMs: number): Promise<ChaosFixture> {
  const folder = temporaryFolder('chaos');
  const accounts = join(folder, 'accounts');
  mkdirSync(accounts);
  const [long, medium] = [writeFixture(accounts, fixtures.long), writeFixture(accounts, fixtures.medium)];
  const payer = Keypair.generate();
  const recipients = Array.from({ length: 4 }, () => Keypair.generate());
  const args = ['--quiet', '--account-dir', accounts, '--mint', payer.address];
  const { program, rpcPort, pubsubPort } = await startLocalnet(slotMs, args);
  const ledger = new Direct(`http://127.0.0.1:${rpcPort}/`);
  const moving = [payer, ...recipients].map(({ address }) => address);
  const nodes: FaultyNode[] = [];
  for (let nth = 1; nth <= NODES; nth++)
    nodes.push(await FaultyNode.start(`node-${nth}`, ledger, pubsubPort, moving));
  const upstreams = nodes.map(
    ({ name, url, pubsubUrl }) =>
      `[[upstream]]\nname = "${name}"\nnetwork = "mainnet-beta"\nurl = "${url}"\nws = "${pubsubUrl}"\n`,
  );
  const gateway = await startService({ configuration: upstreams.join(''), timeoutMs: START_MS });
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await Promise.all(nodes.map((node) => node.stop()));
    await ledger.close();
    await program.stop();
  };
  const fixture = { payer, recipients, long, medium, ledger, nodes, gateway, stop };
  await makeHistory(fixture);
  return fixture;
}

const HISTORY_TRANSACTIONS = 8;
const LAMPORTS = 5_000_000n;
/** Slots until a transaction is finalized, and some more for block reads. */
const FINALIZED_AFTER = 36;

/** Funds the recipients and waits for finality. The last recipient does not change afterwards. */
async function makeHistory({ ledger, payer, recipients }: ChaosFixture): Promise<void> {
  const at = { commitment: 'confirmed' };
  const { value } = await ledger.result<{ value: { blockhash: string } }>('getLatestBlockhash', [at]);
  for (let count = 0; count < HISTORY_TRANSACTIONS; count++) {
    const instructions = recipients.map(({ address }) =>
      transfer(payer.address, address, LAMPORTS + BigInt(count)),
    );
    const { base64 } = sign(payer, instructions, value.blockhash);
    const config = { encoding: 'base64', preflightCommitment: 'confirmed' };
    await ledger.result('sendTransaction', [base64, config]);
  }
  const sentAt = await ledger.result<number>('getSlot', [{ commitment: 'processed' }]);
  const finalized = (): Promise<number> => ledger.result('getSlot', [{ commitment: 'finalized' }]);
  while ((await finalized()) < sentAt + FINALIZED_AFTER) await delay(200);
}
