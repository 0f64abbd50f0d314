import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe } from 'vitest';
import type { ApiServices } from '../../src/control/api/services.ts';
import type { Store } from '../../src/control/database/store.ts';
import {
  ClickHouseLog,
  type clickHouseLogOptions,
} from '../../src/control/requests/clickhouse/clickhouse-log.ts';
import { LogTails } from '../../src/control/requests/log-tails.ts';
import { temporaryFolder } from '../service/program.ts';
import { freePort } from './limits/redis-server.ts';
import { describeOnSqlite } from './stores.ts';

/** Path of the server, or null. */
export const clickHouseProgram: string | null =
  ['/usr/sbin/clickhouse-server', '/usr/bin/clickhouse-server'].find((path) => existsSync(path)) ?? null;

export type ClickHouseServer = Readonly<{
  /** URL of a new, empty database. */
  createDatabase(): Promise<string>;
  /** Counts the rows of the log in a new database. */
  countLog(url: string): Promise<number>;
  /** Ends the process without notice. */
  kill(): Promise<void>;
  start(): Promise<void>;
  destroy(): Promise<void>;
}>;

const configuration = (folder: string, port: number) => `<yandex>
  <logger><level>none</level></logger>
  <listen_host>127.0.0.1</listen_host><http_port>${port}</http_port>
  <path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
  <mark_cache_size>67108864</mark_cache_size>
  <users_config>${folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
</yandex>`;

const users = `<yandex>
  <profiles><default><max_threads>1</max_threads></default></profiles>
  <quotas><default></default></quotas>
  <users><default>
    <password></password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota>
  </default></users>
</yandex>`;

/** Stops the server when its input ends: at the latest when this process does. */
const UNTIL_INPUT_ENDS = '"$@" & cat; kill -KILL $!; wait';

/** @param folder - existing folder whose data is reused, and which `kill` leaves; by default, a temporary one. */
export async function startClickHouse(
  program: string,
  folder: string = mkdtempSync(join(tmpdir(), 'solway-clickhouse-')),
): Promise<ClickHouseServer> {
  mkdirSync(join(folder, 'data'), { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = join(folder, 'config.xml');
  writeFileSync(file, configuration(folder, port));
  writeFileSync(join(folder, 'users.xml'), users);
  const query = async (body: string): Promise<string> => {
    const response = await fetch(url, { method: 'POST', body });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  };
  let child: ChildProcess | null = null;
  let databases = 0;
  const start = async (): Promise<void> => {
    const command = [program, `--config-file=${file}`];
    child = spawn('sh', ['-c', UNTIL_INPUT_ENDS, 'sh', ...command], { stdio: ['pipe', 'ignore', 'ignore'] });
    for (let attempt = 0; attempt < 400; attempt++) {
      const isReady = await query('select 1').then(
        () => true,
        () => false,
      );
      if (isReady) return;
      await delay(25);
    }
    throw new Error('ClickHouse did not come up');
  };
  const kill = async (): Promise<void> => {
    const ended = Promise.withResolvers<void>();
    child?.once('exit', () => ended.resolve());
    child?.stdin?.end();
    await ended.promise;
  };
  await start();
  return {
    start,
    kill,
    async createDatabase() {
      const name = `t${++databases}`;
      await query(`create database if not exists ${name}`);
      return `${url}/${name}`;
    },
    countLog: async (database) =>
      Number(await query(`select count() from ${new URL(database).pathname.slice(1)}.request_log`)),
    async destroy() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let shared: Promise<ClickHouseServer> | null = null;

/** The server shared by all tests of this process. */
export const sharedClickHouse = (): Promise<ClickHouseServer> =>
  (shared ??= startClickHouse(clickHouseProgram!));

export type OpenClickHouse = Readonly<{
  store: Store;
  logStore: ClickHouseLog;
  services: Pick<ApiServices, 'log'>;
  url: string;
  /** Folder of waiting rows. */
  folder: string;
}>;

/** Longer than the age of the entries in tests. */
export const RETENTION_HOURS = 1_000_000;

/** Passes a function that opens an empty log, which is closed after the test. */
export function describeOnClickHouse(
  name: string,
  tests: (open: (options?: Partial<typeof clickHouseLogOptions>) => Promise<OpenClickHouse>) => void,
): void {
  describe.skipIf(clickHouseProgram === null)('in ClickHouse (skipped where it is not installed)', () => {
    describeOnSqlite(name, (stores) =>
      tests(async (options = {}) => {
        const url = await (await sharedClickHouse()).createDatabase();
        const folder = temporaryFolder('log-journal');
        const logStore = new ClickHouseLog(url, folder, { retentionHours: RETENTION_HOURS, ...options });
        stores.defer(() => logStore.stop());
        const settings = { sampleRatio: 0, perSecond: 0, retentionHours: RETENTION_HOURS };
        const log = { store: logStore, settings, tails: new LogTails() };
        return { store: await stores.open(), logStore, services: { log }, url, folder };
      }),
    );
  });
}
