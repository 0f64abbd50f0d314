import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchOptions, publish } from '../results.ts';
import { startErpc } from './erpc.ts';
import { type Keys, makeKeys } from './keys.ts';
import {
  type ByServer,
  CACHED,
  ERPC,
  ERPC_CACHED,
  HALF_REPEATED,
  HAPROXY,
  type Memory,
  MOSTLY_REPEATED,
  NGINX,
  NGINX_LUA,
  NGINX_UNTUNED,
  type Round,
  type Setup,
  SOLWAY,
  UNREAD,
  UNSHARED,
} from './measured.ts';
import { LONG_ADDRESS } from './node-responses.ts';
import type { OpenLoopWord } from './open-loop-messages.ts';
import { type FullLoad, fullLoad, openLoop, warmUp } from './phases.ts';
import { bindsProcessors, endAll, forkOn, LOAD_CPU, residentMib } from './processes.ts';
import { render } from './render.ts';
import { summarize } from './report.ts';
import { rotated } from './rounds.ts';
import {
  type Server,
  startGateway,
  startHaproxy,
  startNginx,
  startNginxLua,
  startResponder,
  startUnread,
  versionOf,
} from './servers.ts';
import { bearer, MANY, needWrk, writeLoadScript } from './wrk.ts';

const CONNECTIONS = 64;
const LONG_CONNECTIONS = 16;
/** Far below the capacity of all servers, so that latency does not measure queueing. */
const RATE = 2_000;
const LONG_WARM_SECONDS = 2;

const installs: Readonly<Record<string, string>> = {
  [NGINX]: 'apt-get install -y nginx-light',
  [NGINX_LUA]:
    'apt-get install -y nginx-light libnginx-mod-http-lua lua-cjson lua-resty-core lua-resty-lrucache',
  [HAPROXY]: 'apt-get install -y haproxy',
  [ERPC]: 'a build of github.com/erpc/erpc on PATH',
};

/** Share of repeated calls in the load of a server. */
const repeats: ByServer<number> = { [HALF_REPEATED]: 0.5, [MOSTLY_REPEATED]: 0.95, [ERPC_CACHED]: 0.95 };

type Stage = Readonly<{
  node: Server;
  /** Comparable servers. */
  compared: readonly Server[];
  /** Servers that do more or less. */
  apart: readonly Server[];
  /** Servers of which only long responses are measured. */
  longApart: readonly Server[];
  loop: ChildProcess;
  keys: Keys;
  /** Load scripts by server name. */
  short: ByServer<string>;
  long: ByServer<string>;
  seconds: number;
}>;

async function openStage(dir: string, seconds: number): Promise<Stage> {
  const keys = await makeKeys(join(dir, 'keys'));
  const node = await startResponder();
  const environment = (name: string) => ({ dir: join(dir, name), nodePort: node.port, keys });
  const compared = [
    await startGateway(SOLWAY, environment('solway')),
    await startNginx(NGINX, environment('nginx')),
    await startNginxLua(NGINX_LUA, environment('nginx-lua')),
    await startHaproxy(HAPROXY, environment('haproxy')),
    await startErpc(ERPC, environment('erpc'), false),
  ].filter((server) => server !== null);
  const unread = await startUnread(UNREAD, node);
  const cached = await startGateway(CACHED, environment('cached'), { usesCache: true });
  const apart = [
    await startGateway(UNSHARED, environment('unshared'), { pipelining: 1 }),
    cached,
    { ...cached, name: HALF_REPEATED },
    { ...cached, name: MOSTLY_REPEATED },
    await startErpc(ERPC_CACHED, environment('erpc-cached'), true),
    unread,
  ].filter((server) => server !== null);
  const untuned = await startNginx(NGINX_UNTUNED, environment('untuned'), undefined, { BUFFERS: '' });
  const longApart = [untuned, unread].filter((server) => server !== null);
  return {
    ...{ node, compared, apart, longApart, keys, seconds },
    loop: forkOn(LOAD_CPU, join(import.meta.dirname, 'open-loop.ts')),
    short: scriptsOf([...compared, ...apart], (server) => shortScript(dir, server, keys)),
    long: scriptsOf([...compared, ...longApart], (server) => longScript(dir, server, keys)),
  };
}

const scriptsOf = (servers: readonly Server[], write: (server: Server) => string): ByServer<string> =>
  Object.fromEntries(servers.map((server) => [server.name, write(server)]));

const OPTIONS = '{"encoding":"base64","commitment":"confirmed"}';

const loadOf = (file: string, { authorize }: Server, { secrets }: Keys) => ({
  ...{ file, authorize, keys: secrets, method: 'getAccountInfo' },
});

let scripts = 0;

/** Writes a load script of short responses. */
export const shortScript = (dir: string, server: Server, keys: Keys): string =>
  writeLoadScript({
    ...loadOf(join(dir, `short-${++scripts}.lua`), server, keys),
    ...{ params: `["@",${OPTIONS}]`, different: MANY, repeats: repeats[server.name] ?? 0 },
  });

const longScript = (dir: string, server: Server, keys: Keys): string =>
  writeLoadScript({
    ...loadOf(join(dir, `long-${++scripts}.lua`), server, keys),
    params: `["${LONG_ADDRESS}",${OPTIONS}]`,
  });

async function each<Value>(
  servers: readonly Server[],
  measure: (server: Server) => Promise<Value>,
): Promise<ByServer<Value>> {
  const found: Record<string, Value> = {};
  for (const server of servers) found[server.name] = await measure(server);
  return found;
}

const scriptFor = ({ short }: Stage, { name }: Server): string => short[name] ?? '';

const loadShort = (stage: Stage, server: Server, seconds: number): Promise<FullLoad> =>
  fullLoad(server, stage.node, { script: scriptFor(stage, server), connections: CONNECTIONS, seconds });

const loadLong = ({ node, long }: Stage, server: Server, seconds: number): Promise<FullLoad> =>
  fullLoad(server, node, { script: long[server.name] ?? '', connections: LONG_CONNECTIONS, seconds });

const time = ({ loop, keys }: Stage, server: Server, seconds: number): Promise<OpenLoopWord> =>
  openLoop(loop, server, {
    ...{ rate: RATE, seconds, connections: CONNECTIONS },
    credentials: keys.secrets.map(server.authorize ?? bearer),
  });

/** Interleaves the servers, so that compared values are measured within seconds. */
async function measureRound(stage: Stage, round: number): Promise<Round> {
  const { node, compared, apart, longApart, seconds } = stage;
  const half = Math.max(1, Math.round(seconds / 2));
  return {
    short: await each(rotated([...compared, ...apart], round), (server) => loadShort(stage, server, seconds)),
    latency: await each(rotated([...compared, node], round), (server) => time(stage, server, seconds)),
    long: await each(rotated([...compared, ...longApart], round), (server) => loadLong(stage, server, half)),
  };
}

async function warm(stage: Stage): Promise<void> {
  const { node, compared, apart, longApart } = stage;
  await each([...compared, ...apart], (server) =>
    warmUp(server, { script: scriptFor(stage, server), connections: CONNECTIONS }),
  );
  await each([...compared, ...longApart], (server) => loadLong(stage, server, LONG_WARM_SECONDS));
  await each([...compared, node], (server) => time(stage, server, 1));
}

const memoryOf = ({ compared, apart, longApart }: Stage): ByServer<number> =>
  Object.fromEntries(
    [...compared, ...apart, ...longApart].map(({ name, process }) => [name, residentMib(process.pid ?? 0)]),
  );

function growth(start: ByServer<number>, end: ByServer<number>): ByServer<Memory> {
  return Object.fromEntries(
    Object.entries(start).map(([name, startMib]) => [name, { startMib, endMib: end[name] ?? startMib }]),
  );
}

function setupOf({ compared, seconds }: Stage): Setup {
  const has = (name: string): boolean => compared.some((server) => server.name === name);
  const names = Object.keys(installs);
  return {
    ...{ seconds, connections: CONNECTIONS, longConnections: LONG_CONNECTIONS, rate: RATE },
    bound: bindsProcessors,
    versions: Object.fromEntries(names.filter(has).map((name) => [name, versionOf(name) ?? 'unknown'])),
    missing: Object.fromEntries(
      names.filter((name) => !has(name)).map((name) => [name, installs[name] ?? '']),
    ),
  };
}

/**
 * `npm run bench -- rpc`: calls with many keys through the gateway, nginx, nginx with Lua that does the same work,
 * HAProxy, and eRPC, interleaved over several rounds: requests per CPU second, 1 MiB responses, latency at a fixed
 * rate, and memory. Reported separately: the gateway without pipelining, the default configuration with distinct and with
 * repeated calls, eRPC with its cache, node:net alone, and nginx with default buffers.
 */
export async function runRpcBench(options: BenchOptions): Promise<void> {
  needWrk();
  const dir = mkdtempSync(join(tmpdir(), 'solway-bench-'));
  try {
    const stage = await openStage(dir, options.seconds);
    await warm(stage);
    const start = memoryOf(stage);
    const rounds: Round[] = [];
    for (let round = 0; round < options.rounds; round++) {
      process.stderr.write(`round ${round + 1} of ${options.rounds}\n`);
      rounds.push(await measureRound(stage, round));
    }
    const summary = summarize(rounds, growth(start, memoryOf(stage)), setupOf(stage));
    publish('rpc', summary, options, render);
  } finally {
    await endAll();
    rmSync(dir, { recursive: true, force: true });
  }
}
