import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { type RunningLocalnet, startLocalnet } from '../../programs/localnet.ts';
import { temporaryFolder } from '../../service/program.ts';
import { type RunningService, startService } from '../../service/start-service.ts';
import { Direct } from './direct.ts';
import { FaultyNode } from './faulty-node.ts';

const NODES = 3;
/** Program accounts. The long response of 1.4 MiB is streamed; the medium one is not. */
const fixtures = {
  long: { accounts: 1_000, bytes: 1_024 },
  medium: { accounts: 150, bytes: 1_024 },
} as const;
const START_MS = 120_000;

/** Constant accounts of one owner. */
export type Fixture = Readonly<{ owner: string; addresses: readonly string[] }>;

export type ChaosFixtureOptions = Readonly<{ slotMs: number }>;

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

/** One ledger, three nodes with injected faults, and the gateway in front of them. */
export class ChaosFixture {
  readonly payer: Keypair;
  readonly recipients: readonly Keypair[];
  readonly long: Fixture;
  readonly medium: Fixture;
  /** The ledger itself. */
  readonly ledger: Direct;
  readonly nodes: readonly FaultyNode[];
  readonly gateway: RunningService;
  readonly logFile: string;
  readonly #localnet: RunningLocalnet;

  private constructor(parts: Omit<ChaosFixture, 'stop'>, localnet: RunningLocalnet) {
    this.payer = parts.payer;
    this.recipients = parts.recipients;
    this.long = parts.long;
    this.medium = parts.medium;
    this.ledger = parts.ledger;
    this.nodes = parts.nodes;
    this.gateway = parts.gateway;
    this.logFile = parts.logFile;
    this.#localnet = localnet;
  }

  static async start({ slotMs }: ChaosFixtureOptions): Promise<ChaosFixture> {
    const folder = temporaryFolder('chaos');
    const accounts = join(folder, 'accounts');
    mkdirSync(accounts);
    const [long, medium] = [writeFixture(accounts, fixtures.long), writeFixture(accounts, fixtures.medium)];
    const payer = Keypair.generate();
    const recipients = Array.from({ length: 4 }, () => Keypair.generate());
    const args = ['--quiet', '--account-dir', accounts, '--mint', payer.address];
    const localnet = await startLocalnet(slotMs, args);
    const { pubsubPort } = localnet;
    const ledger = new Direct(`http://127.0.0.1:${localnet.rpcPort}/`);
    const moving = [payer, ...recipients].map(({ address }) => address);
    const nodes: FaultyNode[] = [];
    for (let nth = 1; nth <= NODES; nth++)
      nodes.push(await FaultyNode.start({ name: `node-${nth}`, ledger, pubsubPort, moving }));
    const logFile = join(folder, 'solway.log');
    const gateway = await startService({
      configuration: configurationFor(nodes, logFile),
      timeoutMs: START_MS,
    });
    return new ChaosFixture({ payer, recipients, long, medium, ledger, nodes, gateway, logFile }, localnet);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.ledger.close();
    await this.#localnet.program.stop();
  }
}

/** Three nodes and a log file, with default limits. */
function configurationFor(nodes: readonly FaultyNode[], logFile: string): string {
  const upstreams = nodes.map(
    ({ name, url, pubsubUrl }) => `
[[upstream]]
name = "${name}"
network = "mainnet-beta"
url = "${url}"
ws = "${pubsubUrl}"
`,
  );
  return `${upstreams.join('')}
[log]
level = "info"
file = "${logFile}"
`;
}
