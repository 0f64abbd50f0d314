import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { boundTo, type Cpus, findProgram, LOAD_CPU } from './processes.ts';

const run = promisify(execFile);

/** Value of the Authorization header for a key. */
export type Authorize = (key: string) => string;

export const bearer: Authorize = (key) => `Bearer ${key}`;

export type Load = Readonly<{ requests: number; p50Ms: number; p99Ms: number }>;

/** Calls of a load, which use the keys in turn. */
export type LoadOptions = Readonly<{
  /** File to write. */
  file: string;
  keys: readonly string[];
  authorize?: Authorize | undefined;
  method: string;
  /** Raw JSON; `@` is replaced by one of `different` addresses. */
  params: string;
  different?: number;
  /** Share of the requests that use one of a few addresses, 0 to 1. */
  repeats?: number;
}>;

/** @throws Error when wrk is not installed. */
export function needWrk(): void {
  if (findProgram('wrk') === null) throw new Error('wrk is not installed: apt-get install -y wrk');
}

const TIMEOUT_SECONDS = 10;

/** Number of distinct requests that defeats caches. */
export const MANY = 65_536;

/** Addresses of the repeated requests. */
const REPEATED = 64;

/** Number of the first address. Each thread of wrk has its own addresses, or its calls would repeat those of others. */
const FIRST_ADDRESS = 100_000;

/** Writes a wrk script that posts calls. @returns its file. */
export function writeLoadScript({
  file,
  keys,
  authorize = bearer,
  method,
  params,
  different = 1,
  repeats = 0,
}: LoadOptions): string {
  const requests = Math.max(different, keys.length);
  writeFileSync(
    file,
    `local credentials = { ${keys.map((key) => `"${authorize(key)}"`).join(', ')} }
-- Ids at the end: LuaJIT hashes few bytes of a long string, among them the last, and is slow if all hashes are equal.
local body = '{"jsonrpc":"2.0","method":"${method}","params":${params},"id":10000}'
local start = "Account" .. string.rep("z", 31)
local prepared, turn, threads = {}, 0, 0
setup = function(thread)
  thread:set("first", ${FIRST_ADDRESS} + threads * ${different})
  threads = threads + 1
end
init = function()
  -- All addresses have the same length, so each key needs one formatted request.
  local sample, heads, tails = string.rep("z", 44), {}, {}
  for k = 1, #credentials do
    local text = wrk.format("POST", "/v1/rpc", {
      ["Content-Type"] = "application/json", ["Authorization"] = credentials[k] },
      (string.gsub(body, "@", sample)))
    local at = string.find(text, sample, 1, true)
    heads[k] = at and string.sub(text, 1, at - 1) or text
    tails[k] = at and string.sub(text, at + #sample, -#"10000}" - 1)
  end
  for i = 1, ${requests} do
    local k, n = (i - 1) % #credentials + 1, (i - 1) % ${different}
    local account = first + n
    if i % 100 < ${repeats * 100} then account = ${FIRST_ADDRESS} + i % ${REPEATED} end
    local address = start .. string.gsub(account, "0", "z")
    prepared[i] = tails[k] and heads[k] .. address .. tails[k] .. 10000 + n .. "}" or heads[k]
  end
end
request = function()
  turn = turn % #prepared + 1
  return prepared[turn]
end
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("RESULT %d %d %d %d\\n", summary.requests, failed,
    latency:percentile(50), latency:percentile(99)))
  io.write(string.format("FAILED connect %d, read %d, write %d, status %d, timeout %d\\n",
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
`,
  );
  return file;
}

export type LoadSettings = Readonly<{ connections: number; seconds: number; threads?: number; cpus?: Cpus }>;

/**
 * Loads a server with wrk, by default with one thread on LOAD_CPU.
 * @throws Error when a request failed.
 */
export async function load(
  script: string,
  server: Readonly<{ name: string; port: number }>,
  { connections, seconds, threads = 1, cpus = LOAD_CPU }: LoadSettings,
): Promise<Load> {
  const args = [
    ...[`-t${threads}`, `-c${connections}`, `-d${seconds}s`, '--timeout', `${TIMEOUT_SECONDS}s`],
    ...['-s', script, `http://127.0.0.1:${server.port}`],
  ];
  const { stdout } = await run(...boundTo(cpus, 'wrk', args));
  const match = /RESULT (\d+) (\d+) (\d+) (\d+)/.exec(stdout);
  if (match === null) throw new Error(`wrk gave no result:\n${stdout}`);
  const [requests = 0, failures = 0, p50 = 0, p99 = 0] = match.slice(1).map(Number);
  if (failures > 0 || requests === 0)
    throw new Error(
      `${server.name} failed ${failures} of ${requests} requests: the comparison is invalid\n${stdout.slice(stdout.indexOf('FAILED'))}`,
    );
  return { requests, p50Ms: p50 / 1000, p99Ms: p99 / 1000 };
}
