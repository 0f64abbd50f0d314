import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RedisServer, redisProgram, startRedis } from '../control/limits/redis-server.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { startProgram, temporaryFolder } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { Balancer } from './balancer.ts';

/** What a cluster stands on: null for what is not installed. */
export const clusterPrograms =
  postgresPrograms === null || redisProgram === null ? null : { postgresPrograms };

/** How long a gateway that leaves says that it is not ready before it takes no more connections. */
const NOTICE_MS = 500;
/** What a gateway may take to start, on a machine that has other work too. */
const START_MS = 120_000;

/** One way to call the cluster, and everything behind it. */
export class Cluster {
  readonly balancer = new Balancer();
  readonly gateways = new Map<string, RunningService>();
  /** The key of each product that the first gateway made. */
  keys: RunningService['ready']['keys'] = [];
  httpUrl = '';
  grpcUrl = '';
  /** Links and lines that the first gateway printed at its start. */
  firstOutput = '';
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly #database: string;
  readonly #folder = temporaryFolder('cluster');
  #ledger: ReturnType<typeof startProgram> | null = null;
  #ledgerNode = '';

  private constructor(postgres: PostgresServer, redis: RedisServer, database: string) {
    this.postgres = postgres;
    this.redis = redis;
    this.#database = database;
  }

  /** Where all gateways keep their keys. */
  get databaseUrl(): string {
    return this.#database;
  }

  /** Starts PostgreSQL, Redis, one ledger and `count` gateways behind a balancer. */
  static async start(count = 2, say: (line: string) => void = () => undefined): Promise<Cluster> {
    if (postgresPrograms === null || redisProgram === null)
      throw new Error(
        'PostgreSQL and Redis (or Valkey) must be installed: apt-get install postgresql redis-server',
      );
    say('starting PostgreSQL');
    const postgres = await startPostgres(postgresPrograms);
    say('starting Redis');
    const redis = await startRedis();
    const cluster = new Cluster(postgres, redis, await postgres.createDatabase());
    try {
      say('starting the ledger');
      await cluster.#startLedger();
      const ports = await cluster.balancer.listen();
      cluster.httpUrl = `http://127.0.0.1:${ports.httpPort}`;
      cluster.grpcUrl = `http://127.0.0.1:${ports.grpcPort}`;
      for (let nth = 1; nth <= count; nth++) {
        say(`starting gateway-${nth}`);
        await cluster.startGateway(`gateway-${nth}`);
      }
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async #startLedger(): Promise<void> {
    const args = ['localnet', '--json', '--rpc-port', '0'];
    this.#ledger = startProgram([...args, '--ledger', join(this.#folder, 'ledger')]);
    const [line] = await this.#ledger.said(/^\{"event":"ready".*\}$/m, START_MS);
    const { rpcPort, pubsubPort, grpcPort } = JSON.parse(line) as Record<string, number>;
    this.#ledgerNode = `url = "http://127.0.0.1:${rpcPort}"
ws = "ws://127.0.0.1:${pubsubPort}"
grpc = "http://127.0.0.1:${grpcPort}"`;
  }

  /** What all gateways have in common is in PostgreSQL and Redis, but for the pepper: it is a file that each has. */
  async startGateway(name: string): Promise<void> {
    const dataDir = join(this.#folder, name);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const other = [...this.gateways.values()][0];
    if (other !== undefined) copyFileSync(join(other.dataDir, 'pepper'), join(dataDir, 'pepper'));
    const service = await startService({
      dataDir,
      timeoutMs: START_MS,
      configuration: `
[server]
drain_notice_ms = ${NOTICE_MS}

[plans.default]
rpc_per_second = 100_000
rpc_burst = 200_000

[[upstream]]
network = "mainnet-beta"
name = "ledger"
${this.#ledgerNode}

[store]
database_url = "${this.#database}"

[shared]
redis_url = "${this.redis.url}"
`,
    });
    this.gateways.set(name, service);
    if (this.keys.length === 0) this.keys = service.ready.keys;
    this.firstOutput ||= service.output();
    const portOf = (url: string): number => Number(new URL(url).port);
    await this.balancer.add(name, portOf(service.ready.url), portOf(service.ready.grpcUrl));
  }

  /** SIGTERM, or the given signal, and the exit code once the gateway is gone. */
  async stopGateway(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const gateway = this.gateways.get(name);
    if (gateway === undefined) throw new Error(`there is no gateway ${name}`);
    const code = await gateway.stop(signal);
    this.balancer.remove(name);
    return code;
  }

  /** Restarts one gateway after the other, each on what it had. */
  async roll(say: (line: string) => void = () => undefined): Promise<void> {
    for (const name of [...this.gateways.keys()]) {
      say(`restarting ${name}`);
      await this.stopGateway(name);
      await this.startGateway(name);
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.gateways.values()].map((gateway) => gateway.stop()));
    await this.balancer.close();
    await this.#ledger?.stop();
    await this.redis.destroy();
    await this.postgres.destroy();
  }
}
