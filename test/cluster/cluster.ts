import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RedisServer, redisProgram, startRedis } from '../control/limits/redis-server.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { START_MS, startLocalnet } from '../programs/localnet.ts';
import { type Program, temporaryFolder } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { Balancer, haproxyProgram, type Ports, restartablePort } from './balancer.ts';

/** Whether PostgreSQL, Redis and HAProxy are installed. */
export const canRunCluster = postgresPrograms !== null && redisProgram !== null && haproxyProgram !== null;

/** `server.drain_notice_ms` of packaging/compose/solway.toml. */
const NOTICE_MS = 2_000;
const SLOT_MS = 400;

export class Cluster {
  readonly gateways = new Map<string, RunningService>();
  /** The keys of the first start, one per product. */
  keys: RunningService['ready']['keys'] = [];
  httpUrl = '';
  grpcUrl = '';
  firstOutput = '';
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly databaseUrl: string;
  readonly #folder = temporaryFolder('cluster');
  #ledger: Program | null = null;
  #ledgerNode = '';
  readonly #ports = new Map<string, Ports>();
  #balancer: Balancer | null = null;

  private constructor(postgres: PostgresServer, redis: RedisServer, database: string) {
    this.postgres = postgres;
    this.redis = redis;
    this.databaseUrl = database;
  }

  /**
   * Starts PostgreSQL, Redis, one ledger and `count` gateways behind a balancer.
   * @param count - at most 3.
   * @param clone - another clone, whose program the gateways run.
   */
  static async start(
    count = 2,
    say: (line: string) => void = () => undefined,
    clone?: string,
  ): Promise<Cluster> {
    if (!canRunCluster || postgresPrograms === null)
      throw new Error(
        'PostgreSQL, Redis (or Valkey) and HAProxy must be installed: apt-get install postgresql redis-server haproxy',
      );
    say('starting PostgreSQL');
    const postgres = await startPostgres(postgresPrograms);
    say('starting Redis');
    const redis = await startRedis();
    const cluster = new Cluster(postgres, redis, await postgres.createDatabase());
    try {
      say('starting the ledger');
      await cluster.#startLedger();
      for (let nth = 1; nth <= count; nth++) {
        say(`starting gateway-${nth}`);
        await cluster.startGateway(`gateway-${nth}`, clone);
      }
      cluster.#balancer = await Balancer.start(cluster.#ports);
      const { http, grpc } = cluster.#balancer.ports;
      cluster.httpUrl = `http://127.0.0.1:${http}`;
      cluster.grpcUrl = `http://127.0.0.1:${grpc}`;
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async #startLedger(): Promise<void> {
    const { program, rpcPort, pubsubPort, grpcPort } = await startLocalnet(SLOT_MS);
    this.#ledger = program;
    this.#ledgerNode = `url = "http://127.0.0.1:${rpcPort}"
ws = "ws://127.0.0.1:${pubsubPort}"
grpc = "http://127.0.0.1:${grpcPort}"`;
  }

  /** Gateways share state in PostgreSQL and Redis, and get a copy of the pepper file. */
  async startGateway(name: string, clone?: string): Promise<void> {
    const ports = this.#ports.get(name) ?? { http: await restartablePort(), grpc: await restartablePort() };
    this.#ports.set(name, ports);
    const dataDir = join(this.#folder, name);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const other = [...this.gateways.values()][0];
    if (other !== undefined) copyFileSync(join(other.dataDir, 'pepper'), join(dataDir, 'pepper'));
    const service = await startService({
      dataDir,
      arguments: ['--port', String(ports.http), '--grpc-port', String(ports.grpc)],
      timeoutMs: START_MS,
      ...(clone === undefined ? {} : { clone }),
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
database_url = "${this.databaseUrl}"

[shared]
redis_url = "${this.redis.url}"
`,
    });
    this.gateways.set(name, service);
    if (this.keys.length === 0) this.keys = service.ready.keys;
    this.firstOutput ||= service.output();
  }

  /** @returns the exit code. */
  async stopGateway(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const gateway = this.gateways.get(name);
    if (gateway === undefined) throw new Error(`there is no gateway ${name}`);
    return gateway.stop(signal);
  }

  /** Restarts the gateways one after the other, keeping their data. */
  async roll(say: (line: string) => void = () => undefined): Promise<void> {
    for (const name of [...this.gateways.keys()]) {
      say(`restarting ${name}`);
      await this.stopGateway(name);
      await this.startGateway(name);
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.gateways.values()].map((gateway) => gateway.stop()));
    await this.#balancer?.close();
    await this.#ledger?.stop();
    await this.redis.destroy();
    await this.postgres.destroy();
  }
}
