import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const VERSIONS = '/usr/lib/postgresql';

/** Folder of the newest installed PostgreSQL programs, or null. */
export const postgresPrograms: string | null = existsSync(VERSIONS)
  ? (readdirSync(VERSIONS)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(VERSIONS, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null)
  : null;

export type PostgresServer = Readonly<{
  /** URL of the database that exists from the start. */
  url: string;
  /** @param template - URL of a database to copy, which is not in use. @returns the URL of the new database. */
  createDatabase(template?: string): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  destroy(): Promise<void>;
}>;

type Identity = { uid?: number; gid?: number };

/** Another user if the tests run as root, which PostgreSQL rejects. */
function unprivileged(): Identity {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = ['-u', '-g'].map((flag) =>
        Number(execFileSync('id', [flag, name], { stdio: 'pipe' })),
      );
      return { uid: uid!, gid: gid! };
    } catch {
      // The directory of the next name may exist.
    }
  }
  throw new Error('root needs a user "postgres" or "nobody" to run PostgreSQL as');
}

function urlOf(folder: string, database: string): string {
  return `postgres://solway@localhost/${database}?host=${encodeURIComponent(folder)}`;
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

async function query(folder: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(folder, 'postgres') });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

async function untilReady(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const ready = await query(folder, 'select 1').then(
      () => true,
      () => false,
    );
    if (ready) return;
    await delay(25);
  }
  throw new Error('PostgreSQL did not come up');
}

/** SIGQUIT requests an immediate shutdown, with recovery at the next start. */
const UNTIL_INPUT_ENDS = '"$@" & cat; kill -QUIT $!; wait';

/** Starts PostgreSQL, which stops when its input ends: at the latest when this process does. */
function launch(programs: string, folder: string, identity: Identity): ChildProcess {
  const settings = ['listen_addresses=', 'fsync=off', 'max_connections=60', 'log_min_messages=fatal'];
  const command = [join(programs, 'postgres'), '-D', join(folder, 'data'), '-k', folder];
  return spawn(
    'sh',
    ['-c', UNTIL_INPUT_ENDS, 'sh', ...command, ...settings.flatMap((setting) => ['-c', setting])],
    { ...identity, stdio: ['pipe', 'ignore', 'ignore'], cwd: folder },
  );
}

function ended(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

const caches = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

const versionOf = (programs: string): number => Number(programs.split('/').at(-2));

/** Copies a cached initdb result, because initdb takes ten times as long. */
function clusterOf(programs: string, identity: Identity): string {
  const made = join(caches, `postgres-${versionOf(programs)}-${identity.uid ?? process.getuid?.() ?? 0}`);
  if (existsSync(made)) return made;
  const folder = mkdtempSync(join(tmpdir(), 'solway-initdb-'));
  if (identity.uid !== undefined) chownSync(folder, identity.uid, identity.gid!);
  const options = ['-U', 'solway', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C'];
  const data = join(folder, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, ...options], {
    ...identity,
    stdio: 'ignore',
    cwd: folder,
  });
  mkdirSync(caches, { recursive: true });
  const beside = `${made}.${process.pid}`;
  cpSync(data, beside, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(beside, made);
  } catch {
    // Another test created it first.
    rmSync(beside, { recursive: true, force: true });
  }
  return made;
}

function createCluster(programs: string, folder: string, identity: Identity): void {
  cpSync(clusterOf(programs, identity), join(folder, 'data'), { recursive: true });
  // PostgreSQL requires a folder that only its owner can access.
  chmodSync(join(folder, 'data'), 0o700);
  if (identity.uid !== undefined) execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, folder]);
}

/** @param folder - existing folder whose data is reused, and which `kill` leaves; by default, a temporary one. */
export async function startPostgres(
  programs: string,
  folder: string = mkdtempSync(join(tmpdir(), 'solway-pg-')),
): Promise<PostgresServer> {
  const identity = unprivileged();
  if (!existsSync(join(folder, 'data'))) createCluster(programs, folder, identity);
  let child: ChildProcess | null = null;
  let databases = 0;
  // Faster than the default of PostgreSQL 15, and the only way of older versions.
  const strategy = versionOf(programs) < 15 ? '' : 'strategy file_copy';
  const start = async () => {
    child = launch(programs, folder, identity);
    await untilReady(folder);
  };
  const kill = async () => {
    const gone = ended(child);
    child?.stdin?.end();
    await gone;
  };
  await start();
  return {
    url: urlOf(folder, 'postgres'),
    start,
    kill,
    async createDatabase(template = urlOf(folder, 'template1')) {
      const name = `t${++databases}`;
      await query(folder, `create database ${name} template ${nameOf(template)} ${strategy}`);
      return urlOf(folder, name);
    },
    dropDatabase: (url) => query(folder, `drop database ${nameOf(url)} with (force)`),
    async destroy() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let shared: Promise<PostgresServer> | null = null;

/** The server shared by all tests of this process. */
export const sharedPostgres = (): Promise<PostgresServer> => (shared ??= startPostgres(postgresPrograms!));
